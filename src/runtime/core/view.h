// Raw strided views: how kernels see values, weights and stores. Nothing here owns memory.
#pragma once

#include <cstdint>

#include "types/dtype.h"

namespace axon::runtime {

constexpr int kMaxRank = 6;

// The storage of a value of an element type.
constexpr Storage plain_storage(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return Storage::Bool;
    case DType::I32:
      return Storage::I32;
    case DType::I64:
      return Storage::I64;
    case DType::F16:
      return Storage::F16;
    case DType::BF16:
      return Storage::BF16;
    case DType::F32:
    case DType::Unknown:
      return Storage::F32;
  }
  return Storage::F32;
}

// A tensor in memory. Loads must be legal at any alignment. Strides count elements; for a block
// format every stride but the last is a whole number of blocks and the last is 1.
//
// A weight may be held in several stored tensors: then `data` is null and `parts` are views that
// are joined along `join_axis` (PartJoin::Concat), or are the items of axis 0 (PartJoin::Stack: a
// bank); parts have no parts. A part of a Stack has one axis less than the whole.
struct View {
  enum class PartJoin : uint8_t { None, Concat, Stack };
  const uint8_t* data = nullptr;
  Storage storage = Storage::F32;
  int8_t rank = -1;             // -1: an absent operand
  bool quantised_rows = false;  // result of quantize_rows, see core/quant_rows.h
  PartJoin join = PartJoin::None;
  int8_t join_axis = 0;
  int64_t shape[kMaxRank] = {};
  int64_t stride[kMaxRank] = {};
  const View* parts = nullptr;
  int32_t part_count = 0;
  const uint8_t* packed = nullptr;  // the whole weight in the form of `pack_format`, or null
  int32_t pack_format = 0;          // kernels/kernel.h; 0: none

  bool present() const { return rank >= 0; }
  uint8_t* out() const { return const_cast<uint8_t*>(data); }
  int64_t count() const {
    int64_t n = 1;
    for (int a = 0; a < rank; ++a) n *= shape[a];
    return n;
  }
  int64_t last() const { return rank > 0 ? shape[rank - 1] : 1; }
  bool contiguous() const {
    int64_t expected = 1;
    for (int a = rank - 1; a >= 0; --a) {
      if (shape[a] != 1 && stride[a] != expected) return false;
      expected *= shape[a];
    }
    return true;
  }
};

// Sets row-major strides from the shape.
inline void set_contiguous(View& view) {
  int64_t step = 1;
  for (int a = view.rank - 1; a >= 0; --a) {
    view.stride[a] = step;
    step *= view.shape[a];
  }
}

// Keys or values as attention reads them: token t of row b, head h starts at
//   data + (block(b, t) * block_stride + h * head_stride + (t mod block_size) * token_stride)
//   elements,
// where block(b, t) is block_table[b * blocks_per_row + t / block_size], or b without a table.
struct StoreView {
  const uint8_t* data = nullptr;
  Storage storage = Storage::F32;
  const int32_t* block_table = nullptr;
  int64_t blocks_per_row = 1;
  int64_t block_size = 0;    // tokens in a block; the capacity without a table
  int64_t block_stride = 0;  // elements
  int64_t head_stride = 0;
  int64_t token_stride = 0;
  int64_t base_position = 0;     // position of the token in slot 0
  int64_t modulus = 0;           // slots of a ring; 0: slots are positions - base_position
  int64_t heads = 0, width = 0;  // HK and D (or E)

  const uint8_t* at(int64_t row, int64_t head, int64_t position, size_t element_bytes) const {
    int64_t slot = position - base_position;
    if (modulus > 0) slot %= modulus;
    const int64_t block =
        block_table != nullptr ? block_table[row * blocks_per_row + slot / block_size] : row;
    const int64_t inside = block_table != nullptr ? slot % block_size : slot;
    return data +
           static_cast<size_t>(block * block_stride + head * head_stride + inside * token_stride) *
               element_bytes;
  }
};

// Which token rows belong to which sequence. Null pointers mean the same for every row.
struct RowTable {
  int64_t rows = 0;                    // B
  int64_t tokens = 0;                  // tokens of every row, when row_start is null
  int64_t q_first = 0;                 // position of a row's first query, when q_start is null
  int64_t k_count = 0;                 // keys of every row, when k_len is null
  const int64_t* row_start = nullptr;  // [B+1] first token row
  const int64_t* q_start = nullptr;    // [B]
  const int64_t* k_len = nullptr;      // [B]

  int64_t begin(int64_t b) const { return row_start != nullptr ? row_start[b] : b * tokens; }
  int64_t size(int64_t b) const {
    return row_start != nullptr ? row_start[b + 1] - row_start[b] : tokens;
  }
  int64_t query(int64_t b) const { return q_start != nullptr ? q_start[b] : q_first; }
  int64_t keys(int64_t b) const { return k_len != nullptr ? k_len[b] : k_count; }
};

}  // namespace axon::runtime
