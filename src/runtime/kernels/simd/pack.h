// Packed forms of matrix weights for the fast products: panels of 16 outputs.
#pragma once

#include <optional>

#include "runtime/core/kernel.h"
#include "runtime/kernels/simd/api.h"

namespace axon::runtime::simd {

// Stable numbers of pack_formats.def.
enum PanelFormat : int32_t { kPanelF32 = 1, kPanelF16 = 2, kPanelBF16 = 3, kPanelBlocks = 4 };

// How a block format looks in panels; nothing for storages that have no such form.
std::optional<BlockForm> block_form(Storage storage);
// Bytes of one packed panel of a weight of inner width k.
int64_t panel_bytes(int32_t format, Storage storage, int64_t k);

bool accepts_f32(const View& weight, const NumericPolicy& policy);
bool accepts_f16(const View& weight, const NumericPolicy& policy);
bool accepts_bf16(const View& weight, const NumericPolicy& policy);
bool accepts_blocks(const View& weight, const NumericPolicy& policy);
int64_t bytes_f32(const View& weight);
int64_t bytes_f16(const View& weight);
int64_t bytes_bf16(const View& weight);
int64_t bytes_blocks(const View& weight);
void pack_f32(const View& weight, uint8_t* packed, int part, int parts);
void pack_f16(const View& weight, uint8_t* packed, int part, int parts);
void pack_bf16(const View& weight, uint8_t* packed, int part, int parts);
void pack_blocks(const View& weight, uint8_t* packed, int part, int parts);

// Rows of a packed table.
bool supports_embedding(const KernelArgs& args);
void embedding(const KernelArgs& args, int part, int parts);

}  // namespace axon::runtime::simd
