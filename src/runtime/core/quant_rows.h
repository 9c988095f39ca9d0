// The layout of a value of quantize_rows: activations as int8 in blocks of 32 with a scale each.
#pragma once

#include <cstdint>

namespace axon::runtime {

// A row of K values, K a multiple of 32, is one record of quantised_row_bytes(K) bytes:
//   int8  codes[K]           padded with zeros to a multiple of 64
//   f32   scales[K/32]       value = code * scale; scale = max|value| / 127
//   i32   sums[K/32]         sum of the codes of a block (for formats with a minimum)
// The record is a multiple of 64 bytes, so rows of an aligned buffer are aligned.
constexpr int64_t kQuantBlock = 32;

constexpr int64_t quantised_codes_bytes(int64_t k) { return (k + 63) / 64 * 64; }
constexpr int64_t quantised_row_bytes(int64_t k) {
  const int64_t blocks = (k + kQuantBlock - 1) / kQuantBlock;
  return (quantised_codes_bytes(k) + 8 * blocks + 63) / 64 * 64;
}

}  // namespace axon::runtime
