// Kernels that hand raw pointers to the functions of one instruction set; T::api() gives them.
#pragma once

#include "runtime/core/kernel.h"
#include "runtime/kernels/simd/api.h"

namespace axon::runtime::simd {

struct UseAvx2 {
  static const Api& api() { return avx2(); }
};
struct UseAvx512 {
  static const Api& api() { return avx512(); }
};
struct UseVnni {
  static const Api& api() { return avx512_vnni(); }
};

// A view as rows of contiguous elements at one stride; false when the leading axes do not fold.
struct Rows {
  int64_t count = 0, stride = 0, width = 0;
};
bool fold_rows(const View& view, Rows& out);
bool is_f32_rows(const View& view, Rows& out);

template <class T>
struct Entry {
  static bool supports_linear(const KernelArgs& args);  // panels, f32 rows
  static int64_t linear_workspace(const KernelArgs& args, int parts);
  static void linear(const KernelArgs& args, int part, int parts);
  static bool supports_block_linear(const KernelArgs& args);  // panels of blocks, int8 rows
  static int64_t block_linear_workspace(const KernelArgs& args, int parts);
  static void block_linear(const KernelArgs& args, int part, int parts);
  static bool supports_quantize_rows(const KernelArgs& args);
  static void quantize_rows(const KernelArgs& args, int part, int parts);
  static bool supports_norm(const KernelArgs& args);
  static void rms_norm(const KernelArgs& args, int part, int parts);
  static void layer_norm(const KernelArgs& args, int part, int parts);
  static int64_t norm_workspace(const KernelArgs& args, int parts);
  static bool supports_rope(const KernelArgs& args);
  static void rope(const KernelArgs& args, int part, int parts);
  static bool supports_attention(const KernelArgs& args);
  static int64_t attention_workspace(const KernelArgs& args, int parts);
  static void attention(const KernelArgs& args, int part, int parts);
  static bool supports_store_write(const KernelArgs& args);
  static void store_write(const KernelArgs& args, int part, int parts);
  static bool supports_unary(const KernelArgs& args);
  static void unary(const KernelArgs& args, int part, int parts);
  static bool supports_binary(const KernelArgs& args);
  static void binary(const KernelArgs& args, int part, int parts);
  static bool supports_softmax(const KernelArgs& args);
  static void softmax(const KernelArgs& args, int part, int parts);
};

}  // namespace axon::runtime::simd
