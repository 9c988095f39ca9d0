// Packs block-quantised weights as panels: 16 rows by 32 elements, codes and scales as stored.
#include <algorithm>
#include <cstring>

#include "runtime/core/number.h"
#include "runtime/kernels/simd/pack.h"

namespace axon::runtime::simd {
namespace {

// 32 elements of one row: element i is scale[g] * (codes[i] - zero) + minimum[g], g = i / (32 /
// groups). Scales of the 32-element formats keep their f16 bits.
struct Piece {
  uint8_t codes[kBlock];
  uint16_t scale_bits[2] = {}, min_bits[2] = {};
  float scale[2] = {}, minimum[2] = {};
};

uint16_t bits16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}
float half_at(const uint8_t* p) { return load_float(Storage::F16, p); }

void nibbles(const uint8_t* from, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    codes[i] = from[i] & 15;
    codes[16 + i] = from[i] >> 4;
  }
}

void fifth_bits(const uint8_t* from, uint8_t* codes) {
  uint32_t high;
  std::memcpy(&high, from, 4);
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(codes[i] | (high >> i & 1) << 4);
}

// Six-bit scale and minimum of sub-block j of Q4_K and Q5_K: 8 of each in 12 bytes.
void k_scale(const uint8_t* packed, int j, int& scale, int& minimum) {
  if (j < 4) {
    scale = packed[j] & 63;
    minimum = packed[j + 4] & 63;
  } else {
    scale = (packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4;
    minimum = packed[j + 4] >> 4 | (packed[j] >> 6) << 4;
  }
}

// Piece `part` (of 8) of a block of 256.
void k4_k5(const uint8_t* block, int part, bool five, Piece& out) {
  const uint8_t* scales = block + 4;
  const uint8_t* high = block + 16;
  const uint8_t* low = block + (five ? 48 : 16) + part / 2 * 32;
  int scale, minimum;
  k_scale(scales, part, scale, minimum);
  for (int i = 0; i < 32; ++i) {
    int code = part % 2 == 0 ? low[i] & 15 : low[i] >> 4;
    if (five) code |= (high[i] >> part & 1) << 4;
    out.codes[i] = static_cast<uint8_t>(code);
  }
  out.scale[0] = half_at(block) * static_cast<float>(scale);
  out.minimum[0] = -(half_at(block + 2) * static_cast<float>(minimum));
}

void k6(const uint8_t* block, int part, Piece& out) {
  const int half = part / 4, quarter = part % 4;  // 128 elements each, in four runs of 32
  const uint8_t* low = block + half * 64 + (quarter % 2) * 32;
  const uint8_t* high = block + 128 + half * 32;
  const auto* scales = reinterpret_cast<const int8_t*>(block + 192 + half * 8 + quarter * 2);
  for (int i = 0; i < 32; ++i) {
    const int four = quarter < 2 ? low[i] & 15 : low[i] >> 4;
    out.codes[i] = static_cast<uint8_t>(four | (high[i] >> (2 * quarter) & 3) << 4);
  }
  const float d = half_at(block + 208);
  for (int g = 0; g < 2; ++g) out.scale[g] = d * static_cast<float>(scales[g]);
}

bool read_piece(Storage storage, const uint8_t* block, int part, Piece& out) {
  switch (storage) {
    case Storage::Q5_0:
      out.scale_bits[0] = bits16(block);
      nibbles(block + 6, out.codes);
      fifth_bits(block + 2, out.codes);
      return true;
    case Storage::Q5_1:
      out.scale_bits[0] = bits16(block);
      out.min_bits[0] = bits16(block + 2);
      nibbles(block + 8, out.codes);
      fifth_bits(block + 4, out.codes);
      return true;
    case Storage::Q4_K:
      k4_k5(block, part, false, out);
      return true;
    case Storage::Q5_K:
      k4_k5(block, part, true, out);
      return true;
    case Storage::Q6_K:
      k6(block, part, out);
      return true;
    default:
      return false;
  }
}

// Where a row's blocks begin; the parts of a joined weight are whole rows.
const uint8_t* row_blocks(const View& w, int64_t row) {
  const View* from = &w;
  if (w.part_count > 0) {
    from = w.parts;
    for (; row >= from->shape[0]; ++from) row -= from->shape[0];
  }
  const StorageInfo& info = storage_info(from->storage);
  return from->data + row * from->stride[0] / info.block * info.block_bytes;
}

// The codes of one row of a block (see BlockForm).
void put_codes(const BlockForm& form, uint8_t* block, int64_t r, const uint8_t (&codes)[kBlock]) {
  if (form.bits == 8) {
    for (int64_t j = 0; j < 8; ++j) std::memcpy(block + 64 * j + 4 * r, codes + 4 * j, 4);
    return;
  }
  uint8_t both[kBlock / 2];
  for (int64_t i = 0; i < kBlock / 2; ++i)
    both[i] = static_cast<uint8_t>(codes[i] | codes[16 + i] << 4);
  for (int64_t j = 0; j < 4; ++j) std::memcpy(block + 64 * j + 4 * r, both + 4 * j, 4);
}

void put_scales(const BlockForm& form, uint8_t* block, int64_t r, const Piece& piece) {
  uint8_t* scales = block + form.code_bytes();
  uint8_t* minima = scales + form.scale_bytes();
  for (int g = 0; g < form.groups; ++g) {
    const int64_t at = g * kPanel + r;
    if (form.wide_scales) {
      std::memcpy(scales + at * 4, &piece.scale[g], 4);
      if (form.has_min) std::memcpy(minima + at * 4, &piece.minimum[g], 4);
    } else {
      std::memcpy(scales + at * 2, &piece.scale_bits[g], 2);
      if (form.has_min) std::memcpy(minima + at * 2, &piece.min_bits[g], 2);
    }
  }
}

// Formats whose codes stand in the file as a panel wants them, but for the sign: they are moved as
// words. In a block stand the scale, the minimum where there is one, and the codes.
template <int64_t kWords, bool kHasMin, uint32_t kFlip>
void move_row(const uint8_t* from, int64_t count, uint8_t* panel, int64_t r) {
  constexpr int64_t kCodes = kWords * kPanel * 4, kHead = kHasMin ? 4 : 2;
  constexpr int64_t kStored = kHead + kWords * 4, kPacked = kCodes + kHead * kPanel;
  for (int64_t b = 0; b < count; ++b, from += kStored, panel += kPacked) {
    std::memcpy(panel + kCodes + 2 * r, from, 2);
    if (kHasMin) std::memcpy(panel + kCodes + 2 * kPanel + 2 * r, from + 2, 2);
    for (int64_t j = 0; j < kWords; ++j) {
      uint32_t word;
      std::memcpy(&word, from + kHead + 4 * j, 4);
      word ^= kFlip;
      std::memcpy(panel + 4 * kPanel * j + 4 * r, &word, 4);
    }
  }
}

// One row's codes and scales, `count` blocks of the panel.
void pack_row(Storage storage, const BlockForm& form, const uint8_t* blocks, int64_t count,
              uint8_t* panel, int64_t r) {
  if (storage == Storage::Q4_0) return move_row<4, false, 0>(blocks, count, panel, r);
  if (storage == Storage::Q4_1) return move_row<4, true, 0>(blocks, count, panel, r);
  if (storage == Storage::Q8_0) return move_row<8, false, 0x80808080u>(blocks, count, panel, r);
  const StorageInfo& info = storage_info(storage);
  const int pieces = static_cast<int>(info.block / kBlock);
  for (int64_t b = 0; b < count; ++b) {
    Piece piece;
    read_piece(storage, blocks + b / pieces * info.block_bytes, static_cast<int>(b % pieces),
               piece);
    uint8_t* block = panel + b * form.bytes();
    put_codes(form, block, r, piece.codes);
    put_scales(form, block, r, piece);
  }
}

Storage storage_of(const View& w) { return w.part_count > 0 ? w.parts[0].storage : w.storage; }

}  // namespace

std::optional<BlockForm> block_form(Storage storage) {
  //                          bits groups min wide zero
  switch (storage) {
    case Storage::Q4_0:
      return BlockForm{4, 1, false, false, 8};
    case Storage::Q4_1:
      return BlockForm{4, 1, true, false, 0};
    case Storage::Q5_0:
      return BlockForm{8, 1, false, false, 16};
    case Storage::Q5_1:
      return BlockForm{8, 1, true, false, 0};
    case Storage::Q8_0:
      return BlockForm{8, 1, false, false, 128};
    case Storage::Q4_K:
      return BlockForm{4, 1, true, true, 0};
    case Storage::Q5_K:
      return BlockForm{8, 1, true, true, 0};
    case Storage::Q6_K:
      return BlockForm{8, 2, false, true, 32};
    default:
      return {};
  }
}

bool accepts_blocks(const View& w, const NumericPolicy&) {
  if (w.rank != 2 || w.shape[0] <= 0 || !block_form(storage_of(w))) return false;
  if (w.part_count > 0) {
    if (w.join != View::PartJoin::Concat || w.join_axis != 0) return false;
    for (int32_t p = 1; p < w.part_count; ++p) {
      if (w.parts[p].storage != w.parts[0].storage) return false;
    }
  }
  return w.shape[1] % storage_info(storage_of(w)).block == 0;
}

int64_t bytes_blocks(const View& w) {
  return (w.shape[0] + kPanel - 1) / kPanel * panel_bytes(kPanelBlocks, storage_of(w), w.shape[1]);
}

void pack_blocks(const View& w, uint8_t* packed, int part, int parts) {
  const Storage storage = storage_of(w);
  const BlockForm form = *block_form(storage);
  const int64_t k = w.shape[1], panel_size = panel_bytes(kPanelBlocks, storage, k);
  const Share share = share_of((w.shape[0] + kPanel - 1) / kPanel, 1, part, parts);
  for (int64_t p = share.begin; p < share.end; ++p) {
    uint8_t* panel = packed + p * panel_size;
    const int64_t rows = std::min<int64_t>(kPanel, w.shape[0] - p * kPanel);
    if (rows < kPanel) std::memset(panel, 0, static_cast<size_t>(panel_size));
    for (int64_t r = 0; r < rows; ++r)
      pack_row(storage, form, row_blocks(w, p * kPanel + r), k / kBlock, panel, r);
  }
}

}  // namespace axon::runtime::simd
