// Decoders of the block formats, one function per format. Layouts are little-endian, fields in the
// order in which each function reads them.
#include "runtime/kernels/quant/blocks.h"

#include <cmath>

#include "runtime/core/number.h"
#include "support/check.h"

namespace axon::runtime {
namespace {

float half_at(const uint8_t* at) { return f16_to_float(load_as<uint16_t>(at)); }

// d, then 16 bytes: low nibbles are elements 0-15, high nibbles 16-31.
void q4_0(const uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((b[2 + i] & 15) - 8);
    out[16 + i] = d * static_cast<float>((b[2 + i] >> 4) - 8);
  }
}

// d, m, nibbles.
void q4_1(const uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(b[4 + i] & 15) + m;
    out[16 + i] = d * static_cast<float>(b[4 + i] >> 4) + m;
  }
}

// d, 32 fifth bits, nibbles.
void q5_0(const uint8_t* b, float* out) {
  const float d = half_at(b);
  const uint32_t high = load_as<uint32_t>(b + 2);
  for (int i = 0; i < 16; ++i) {
    const int low = (b[6 + i] & 15) | static_cast<int>((high >> i & 1) << 4);
    const int top = (b[6 + i] >> 4) | static_cast<int>((high >> (i + 16) & 1) << 4);
    out[i] = d * static_cast<float>(low - 16);
    out[16 + i] = d * static_cast<float>(top - 16);
  }
}

// d, m, 32 fifth bits, nibbles.
void q5_1(const uint8_t* b, float* out) {
  const float d = half_at(b), m = half_at(b + 2);
  const uint32_t high = load_as<uint32_t>(b + 4);
  for (int i = 0; i < 16; ++i) {
    const int low = (b[8 + i] & 15) | static_cast<int>((high >> i & 1) << 4);
    const int top = (b[8 + i] >> 4) | static_cast<int>((high >> (i + 16) & 1) << 4);
    out[i] = d * static_cast<float>(low) + m;
    out[16 + i] = d * static_cast<float>(top) + m;
  }
}

// d, 32 signed bytes.
void q8_0(const uint8_t* b, float* out) {
  const float d = half_at(b);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<int8_t>(b[2 + i]));
}

// 16 bytes (scale | minimum << 4) of 16 elements each, 64 bytes of 2-bit codes, d, dmin.
// Codes: each half of 128 elements has 32 bytes; bits 2j of byte i are element 32j + i of the half.
void q2_k(const uint8_t* b, float* out) {
  const uint8_t* codes = b + 16;
  const float d = half_at(b + 80), dmin = half_at(b + 82);
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, shift = e % 128 / 32 * 2, byte = half * 32 + e % 32;
    const int code = codes[byte] >> shift & 3;
    const uint8_t scale = b[e / 16];
    out[e] = d * static_cast<float>(scale & 15) * static_cast<float>(code) -
             dmin * static_cast<float>(scale >> 4);
  }
}

// 32 bytes of third bits, 64 bytes of 2-bit codes, 12 bytes of sixteen 6-bit scales, d.
void q3_k(const uint8_t* b, float* out) {
  const uint8_t *high = b, *codes = b + 32, *packed = b + 96;
  const float d = half_at(b + 108);
  int scales[16];
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
    const int top = packed[8 + i % 4] >> (i / 4 * 2) & 3;
    scales[i] = (low | top << 4) - 32;
  }
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, shift = e % 128 / 32 * 2, byte = half * 32 + e % 32;
    const int bit = high[e % 32] >> (e / 32) & 1;
    const int code = (codes[byte] >> shift & 3) - (bit != 0 ? 0 : 4);
    out[e] = d * static_cast<float>(scales[e / 16]) * static_cast<float>(code);
  }
}

// Eight 6-bit scales and minima in 12 bytes, as Q4_K and Q5_K have them.
void scale_and_minimum(const uint8_t* p, int i, float& scale, float& minimum) {
  if (i < 4) {
    scale = static_cast<float>(p[i] & 63);
    minimum = static_cast<float>(p[i + 4] & 63);
  } else {
    scale = static_cast<float>((p[i + 4] & 15) | (p[i - 4] >> 6) << 4);
    minimum = static_cast<float>((p[i + 4] >> 4) | (p[i] >> 6) << 4);
  }
}

// d, dmin, 12 bytes of scales, 128 bytes: each 32 bytes hold 32 low and 32 high nibbles.
void q4_k(const uint8_t* b, float* out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  for (int group = 0; group < 8; ++group) {
    float scale = 0, minimum = 0;
    scale_and_minimum(b + 4, group, scale, minimum);
    const uint8_t* codes = b + 16 + group / 2 * 32;
    const int shift = group % 2 * 4;
    for (int i = 0; i < 32; ++i) {
      out[group * 32 + i] = d * scale * static_cast<float>(codes[i] >> shift & 15) - dmin * minimum;
    }
  }
}

// As Q4_K, with 32 bytes of fifth bits between the scales and the nibbles.
void q5_k(const uint8_t* b, float* out) {
  const float d = half_at(b), dmin = half_at(b + 2);
  for (int group = 0; group < 8; ++group) {
    float scale = 0, minimum = 0;
    scale_and_minimum(b + 4, group, scale, minimum);
    const uint8_t *high = b + 16, *codes = b + 48 + group / 2 * 32;
    const int shift = group % 2 * 4;
    for (int i = 0; i < 32; ++i) {
      const int code = (codes[i] >> shift & 15) | (high[i] >> group & 1) << 4;
      out[group * 32 + i] = d * scale * static_cast<float>(code) - dmin * minimum;
    }
  }
}

// 128 bytes of low nibbles, 64 bytes of high 2-bit parts, 16 signed scales, d.
void q6_k(const uint8_t* b, float* out) {
  const uint8_t *low = b, *high = b + 128;
  const float d = half_at(b + 208);
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, quarter = e % 128 / 32, i = e % 32;
    const int nibble = low[half * 64 + quarter % 2 * 32 + i] >> (quarter / 2 * 4) & 15;
    const int top = high[half * 32 + i] >> (quarter * 2) & 3;
    const int scale = static_cast<int8_t>(b[192 + e / 16]);
    out[e] = d * static_cast<float>(scale) * static_cast<float>((nibble | top << 4) - 32);
  }
}

// d, nibbles into a fixed table.
void iq4_nl(const uint8_t* b, float* out) {
  constexpr int8_t kTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113};
  const float d = half_at(b);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(kTable[b[2 + i] & 15]);
    out[16 + i] = d * static_cast<float>(kTable[b[2 + i] >> 4]);
  }
}

// A power-of-two scale (exponent biased by 127), nibbles of 4-bit floats (sign, 2 exponent, 1
// mantissa). The table holds doubled values, the scale is halved: the largest exponent stays finite
// that way.
void mxfp4(const uint8_t* b, float* out) {
  constexpr int8_t kTable[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const float d = std::ldexp(1.0f, static_cast<int>(b[0]) - 128);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(kTable[b[1 + i] & 15]);
    out[16 + i] = d * static_cast<float>(kTable[b[1 + i] >> 4]);
  }
}

using Decoder = void (*)(const uint8_t*, float*);
Decoder decoder_of(Storage storage) {
  switch (storage) {
    case Storage::Q4_0:
      return q4_0;
    case Storage::Q4_1:
      return q4_1;
    case Storage::Q5_0:
      return q5_0;
    case Storage::Q5_1:
      return q5_1;
    case Storage::Q8_0:
      return q8_0;
    case Storage::Q2_K:
      return q2_k;
    case Storage::Q3_K:
      return q3_k;
    case Storage::Q4_K:
      return q4_k;
    case Storage::Q5_K:
      return q5_k;
    case Storage::Q6_K:
      return q6_k;
    case Storage::IQ4_NL:
      return iq4_nl;
    case Storage::MXFP4:
      return mxfp4;
    default:
      AXON_UNREACHABLE("not a block format");
  }
}

}  // namespace

void dequantise_blocks(Storage storage, const uint8_t* from, int64_t blocks, float* out) {
  const StorageInfo& info = storage_info(storage);
  const Decoder decode = decoder_of(storage);
  for (int64_t i = 0; i < blocks; ++i) decode(from + i * info.block_bytes, out + i * info.block);
}

}  // namespace axon::runtime
