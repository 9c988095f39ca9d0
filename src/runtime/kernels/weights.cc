// Dense reading of weights: joined parts, block formats, strides.
#include <algorithm>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/quant/blocks.h"
#include "runtime/kernels/ref/loops.h"

namespace axon::runtime {
namespace {

// Whole blocks that cover [from, from + count) are decoded one at a time.
void read_blocks(const View& view, int64_t row, int64_t from, int64_t count, float* out) {
  const StorageInfo& info = storage_info(view.storage);
  const int64_t block = info.block;
  const uint8_t* base = view.data + row / block * info.block_bytes;
  float decoded[kMaxBlock];
  while (count > 0) {
    const int64_t inside = from % block;
    const int64_t n = std::min(block - inside, count);
    const uint8_t* at = base + from / block * info.block_bytes;
    if (inside == 0 && n == block) {
      dequantise_blocks(view.storage, at, 1, out);
    } else {
      dequantise_blocks(view.storage, at, 1, decoded);
      std::copy(decoded + inside, decoded + inside + n, out);
    }
    from += n;
    out += n;
    count -= n;
  }
}

void read_joined(const View& weight, int64_t outer, int64_t from, int64_t count, float* out) {
  int64_t index[kMaxRank] = {};
  for (int a = weight.rank - 2; a >= 0; --a) {
    index[a] = outer % weight.shape[a];
    outer /= weight.shape[a];
  }
  const bool stack = weight.join == View::PartJoin::Stack;
  const int axis = stack ? 0 : weight.join_axis;
  if (axis == weight.rank - 1) {  // the row itself is joined
    for (int32_t p = 0; p < weight.part_count && count > 0; ++p) {
      const View& part = weight.parts[p];
      if (from >= part.last()) {
        from -= part.last();
        continue;
      }
      int64_t row = 0;
      for (int a = 0; a + 1 < part.rank; ++a) row = row * part.shape[a] + index[a];
      const int64_t n = std::min(part.last() - from, count);
      read_weight_row(part, row, from, n, out);
      out += n;
      count -= n;
      from = 0;
    }
    return;
  }
  int64_t at = index[axis];
  const View* part = weight.parts;
  if (stack) {
    part += at;
  } else {
    for (; at >= part->shape[axis]; ++part) at -= part->shape[axis];
  }
  int64_t row = 0;
  for (int a = 0, own = 0; a + 1 < weight.rank; ++a) {
    if (stack && a == 0) continue;
    row = row * part->shape[own++] + (a == axis ? at : index[a]);
  }
  read_weight_row(*part, row, from, count, out);
}

}  // namespace

void read_weight_row(const View& weight, int64_t outer, int64_t from, int64_t count, float* out) {
  if (weight.part_count > 0) return read_joined(weight, outer, from, count, out);
  const int64_t row = ref::row_offset(weight, outer);
  if (storage_info(weight.storage).quantised) return read_blocks(weight, row, from, count, out);
  const int64_t step = weight.rank > 0 ? weight.stride[weight.rank - 1] : 1;
  ref::load_run(weight, row + from * step, step, count, out);
}

}  // namespace axon::runtime
