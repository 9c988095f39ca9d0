// api.h for AVX-512 with VNNI: the int8 products by intrinsics, everything else as AVX-512.
#include <immintrin.h>

#include <cmath>

#include "runtime/kernels/simd/api.h"

namespace axon::runtime::simd::n_avx512_vnni {
namespace {

inline __m512i spread(const uint8_t* codes, int64_t at) {
  int32_t four;
  __builtin_memcpy(&four, codes + at, 4);
  return _mm512_set1_epi32(four);
}

inline __m512 scales_at(const uint8_t* from, bool wide) {
  if (wide) return _mm512_loadu_ps(from);
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

// The 8 registers of codes of a block: register j holds elements 4j … 4j+3 of 16 rows.
template <int kBits>
inline void load_codes(const uint8_t* block, __m512i (&codes)[8]) {
  if (kBits == 4) {
    const __m512i mask = _mm512_set1_epi8(15);
    for (int j = 0; j < 4; ++j) {
      const __m512i packed = _mm512_loadu_si512(block + 64 * j);
      codes[j] = _mm512_and_si512(packed, mask);
      codes[4 + j] = _mm512_and_si512(_mm512_srli_epi16(packed, 4), mask);
    }
  } else {
    for (int j = 0; j < 8; ++j) codes[j] = _mm512_loadu_si512(block + 64 * j);
  }
}

// Sum of the codes of elements 16 … 31 of a record's block; the first half is the rest.
inline int32_t second_half(const uint8_t* codes) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + 16));
  const __m128i ones = _mm_set1_epi8(1);
  const __m128i sums = _mm_dpbusd_epi32(_mm_setzero_si128(), ones, x);
  const __m128i pairs = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 0xB1)));
}

// R records against one panel.
template <int R, int kBits, int kGroups, bool kMin>
inline void tile(const BlockGemmJob& job, const uint8_t* panel, int64_t row, int64_t column) {
  __m512 sum[R];
  for (int r = 0; r < R; ++r) sum[r] = _mm512_setzero_ps();
  const int64_t blocks = job.k / kBlock, block_bytes = job.form.bytes();
  const int64_t group_bytes = job.form.scale_bytes() / kGroups;
  const bool wide = job.form.wide_scales;
  const int32_t zero = job.form.zero;
  for (int64_t b = 0; b < blocks; ++b, panel += block_bytes) {
    __m512i codes[8];
    load_codes<kBits>(panel, codes);
    const uint8_t* scales = panel + job.form.code_bytes();
    __m512 scale[kGroups], minimum[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      scale[g] = scales_at(scales + g * group_bytes, wide);
      if (kMin) minimum[g] = scales_at(scales + (kGroups + g) * group_bytes, wide);
    }
    for (int r = 0; r < R; ++r) {
      const uint8_t* record = job.records + (row + r) * job.record_bytes;
      const float x_scale = reinterpret_cast<const float*>(record + job.codes_bytes)[b];
      const int32_t x_sum =
          reinterpret_cast<const int32_t*>(record + job.codes_bytes + 4 * blocks)[b];
      const uint8_t* x = record + b * kBlock;
      const int32_t high = kGroups == 2 ? second_half(x) : 0;
      for (int g = 0; g < kGroups; ++g) {
        const int32_t group_sum = kGroups == 1 ? x_sum : g == 0 ? x_sum - high : high;
        __m512i products = _mm512_set1_epi32(-zero * group_sum);
        constexpr int kEach = 8 / kGroups;
        for (int j = 0; j < kEach; ++j) {
          products =
              _mm512_dpbusd_epi32(products, codes[g * kEach + j], spread(x, 4 * (g * kEach + j)));
        }
        const __m512 both = _mm512_mul_ps(scale[g], _mm512_set1_ps(x_scale));
        sum[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), both, sum[r]);
        if (kMin) {
          const __m512 weight = _mm512_set1_ps(x_scale * static_cast<float>(group_sum));
          sum[r] = _mm512_fmadd_ps(minimum[g], weight, sum[r]);
        }
      }
    }
  }
  const int64_t left = job.columns - column;
  const __mmask16 valid = left >= kPanel ? 0xFFFF : static_cast<__mmask16>((1u << left) - 1);
  for (int r = 0; r < R; ++r)
    _mm512_mask_storeu_ps(job.out + (row + r) * job.out_stride + column, valid, sum[r]);
}

template <int kBits, int kGroups, bool kMin>
void panels(const BlockGemmJob& job) {
  const int64_t panel_bytes = job.k / kBlock * job.form.bytes();
  for (int64_t p = job.first; p < job.last; ++p) {
    const uint8_t* panel = job.packed + p * panel_bytes;
    int64_t row = 0;
    for (; row + 8 <= job.rows; row += 8)
      tile<8, kBits, kGroups, kMin>(job, panel, row, p * kPanel);
    if (row + 4 <= job.rows) tile<4, kBits, kGroups, kMin>(job, panel, row, p * kPanel), row += 4;
    if (row + 2 <= job.rows) tile<2, kBits, kGroups, kMin>(job, panel, row, p * kPanel), row += 2;
    if (row < job.rows) tile<1, kBits, kGroups, kMin>(job, panel, row, p * kPanel);
  }
}

void block_gemm(const BlockGemmJob& job) {
  const BlockForm& form = job.form;
  if (form.bits == 4) {
    if (form.has_min) return panels<4, 1, true>(job);
    return panels<4, 1, false>(job);
  }
  if (form.groups == 2) {
    if (form.has_min) return panels<8, 2, true>(job);
    return panels<8, 2, false>(job);
  }
  if (form.has_min) return panels<8, 1, true>(job);
  return panels<8, 1, false>(job);
}

}  // namespace
}  // namespace axon::runtime::simd::n_avx512_vnni

#define AXON_SIMD_NAMESPACE n_avx512_vnni
#define AXON_SIMD_BLOCK_GEMM block_gemm
#include "runtime/kernels/simd/body-inl.h"

namespace axon::runtime::simd {
const Api& avx512_vnni() { return n_avx512_vnni::kApi; }
}  // namespace axon::runtime::simd
