// Block-quantised storage (the GGUF formats): decoding to f32, the meaning of every format.
#pragma once

#include <cstdint>

#include "types/dtype.h"

namespace axon::runtime {

constexpr int64_t kMaxBlock = 256;  // elements of the longest block

// Writes storage_info(storage).block values for each of `blocks` blocks.
void dequantise_blocks(Storage storage, const uint8_t* from, int64_t blocks, float* out);

}  // namespace axon::runtime
