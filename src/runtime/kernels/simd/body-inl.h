// The functions of api.h, written once against Highway; each instruction set includes this file
// with its own compiler flags and AXON_SIMD_NAMESPACE. No include guard on purpose.

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "runtime/kernels/simd/api.h"

namespace axon::runtime::simd::AXON_SIMD_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of one panel: 16 floats in kParts registers.
const hn::CappedTag<float, 16> kF;
using F = decltype(kF);
using V = hn::Vec<F>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(F()));
constexpr int kParts = 16 / kLanes;
const hn::Rebind<uint16_t, F> kH16;
const hn::Rebind<hwy::float16_t, F> kHalf;
const hn::Rebind<hwy::bfloat16_t, F> kBfloat;
const hn::RebindToSigned<F> kI;
const hn::RebindToUnsigned<F> kU;

// ---- products --------------------------------------------------------------------------------

// R rows of x against P panels. Sums over k in order, in one accumulator per output.
template <int R, int P>
HWY_INLINE void gemm_tile(const GemmJob& job, int64_t row) {
  V sum[R][P * kParts];
  for (int r = 0; r < R; ++r) {
    for (int p = 0; p < P * kParts; ++p) sum[r][p] = hn::Zero(kF);
  }
  const float* x = job.x + row * job.x_stride;
  const float* w[P];
  for (int p = 0; p < P; ++p) w[p] = job.panels[p];
  for (int64_t k = 0; k < job.k; ++k) {
    V column[P * kParts];
    for (int p = 0; p < P; ++p) {
      for (int v = 0; v < kParts; ++v)
        column[p * kParts + v] = hn::LoadU(kF, w[p] + k * kPanel + v * kLanes);
    }
    for (int r = 0; r < R; ++r) {
      const V one = hn::Set(kF, x[r * job.x_stride + k]);
      for (int p = 0; p < P * kParts; ++p) sum[r][p] = hn::MulAdd(one, column[p], sum[r][p]);
    }
  }
  for (int r = 0; r < R; ++r) {
    float* out = job.out + (row + r) * job.out_stride;
    if (job.columns == P * kPanel) {
      for (int p = 0; p < P * kParts; ++p) hn::StoreU(sum[r][p], kF, out + p * kLanes);
      continue;
    }
    alignas(64) float last[P * kPanel];
    for (int p = 0; p < P * kParts; ++p) hn::Store(sum[r][p], kF, last + p * kLanes);
    for (int64_t c = 0; c < job.columns; ++c) out[c] = last[c];
  }
}

template <int P>
void gemm_panels(const GemmJob& job) {
  constexpr int kRows = kParts == 1 ? 8 : 4;
  int64_t row = 0;
  for (; row + kRows <= job.rows; row += kRows) gemm_tile<kRows, P>(job, row);
  if (kRows > 4 && row + 4 <= job.rows) gemm_tile<4, P>(job, row), row += 4;
  if (row + 2 <= job.rows) gemm_tile<2, P>(job, row), row += 2;
  if (row < job.rows) gemm_tile<1, P>(job, row);
}

void gemm(const GemmJob& job) {
  if (job.panels[1] != nullptr && kParts == 1) return gemm_panels<2>(job);
  GemmJob one = job;
  for (int p = 0; p < 2 && job.panels[p] != nullptr; ++p) {
    one.panels[0] = job.panels[p];
    one.panels[1] = nullptr;
    one.out = job.out + p * kPanel;
    one.columns = p == 0 ? (job.columns < kPanel ? job.columns : kPanel) : job.columns - kPanel;
    gemm_panels<1>(one);
  }
}

HWY_INLINE V load_half(const uint16_t* from) {
  return hn::PromoteTo(kF, hn::LoadU(kHalf, reinterpret_cast<const hwy::float16_t*>(from)));
}

void expand_half(const uint16_t* panel, int64_t k, float* out) {
  for (int64_t i = 0; i < k * kPanel; i += kLanes) hn::StoreU(load_half(panel + i), kF, out + i);
}

void expand_bfloat(const uint16_t* panel, int64_t k, float* out) {
  for (int64_t i = 0; i < k * kPanel; i += kLanes) {
    const auto wide = hn::PromoteTo(kU, hn::LoadU(kH16, panel + i));
    hn::StoreU(hn::BitCast(kF, hn::ShiftLeft<16>(wide)), kF, out + i);
  }
}

HWY_INLINE V load_scale(const uint8_t* from, bool wide, int v) {
  if (wide) return hn::LoadU(kF, reinterpret_cast<const float*>(from) + v * kLanes);
  return load_half(reinterpret_cast<const uint16_t*>(from) + v * kLanes);
}

// Codes as f32, one vector for each of the four elements that a 32-bit lane holds.
template <int kShift>
HWY_INLINE V code_at(hn::Vec<decltype(kU)> packed, hn::Vec<decltype(kU)> mask, V zero) {
  const auto code = hn::And(hn::ShiftRight<kShift>(packed), mask);
  return hn::Sub(hn::ConvertTo(kF, hn::BitCast(kI, code)), zero);
}

HWY_INLINE void store_codes(hn::Vec<decltype(kU)> packed, bool high, const BlockForm& form, V scale,
                            V minimum, float* out) {
  const V zero = hn::Set(kF, static_cast<float>(form.zero));
  V codes[4];
  if (form.bits == 4) {
    const auto mask = hn::Set(kU, 15u);
    if (high) packed = hn::ShiftRight<4>(packed);
    codes[0] = code_at<0>(packed, mask, zero);
    codes[1] = code_at<8>(packed, mask, zero);
    codes[2] = code_at<16>(packed, mask, zero);
    codes[3] = code_at<24>(packed, mask, zero);
  } else {
    const auto mask = hn::Set(kU, 255u);
    codes[0] = code_at<0>(packed, mask, zero);
    codes[1] = code_at<8>(packed, mask, zero);
    codes[2] = code_at<16>(packed, mask, zero);
    codes[3] = code_at<24>(packed, mask, zero);
  }
  for (int i = 0; i < 4; ++i)
    hn::StoreU(hn::MulAdd(codes[i], scale, minimum), kF, out + i * kPanel);
}

void expand_blocks(const uint8_t* panel, const BlockForm& form, int64_t k, float* out) {
  for (int64_t b = 0; b < k / kBlock; ++b, panel += form.bytes(), out += kBlock * kPanel) {
    const uint8_t* scales = panel + form.code_bytes();
    const uint8_t* minima = scales + form.scale_bytes();
    const int64_t group_bytes = form.scale_bytes() / form.groups;
    for (int v = 0; v < kParts; ++v) {
      V scale[2], minimum[2];
      for (int g = 0; g < 2; ++g) {
        const int64_t at = (form.groups == 2 ? g : 0) * group_bytes;
        scale[g] = load_scale(scales + at, form.wide_scales, v);
        minimum[g] = form.has_min ? load_scale(minima + at, form.wide_scales, v) : hn::Zero(kF);
      }
      const int loads = form.bits == 4 ? 4 : 8;
      for (int j = 0; j < loads; ++j) {
        const auto packed =
            hn::LoadU(kU, reinterpret_cast<const uint32_t*>(panel + 64 * j) + v * kLanes);
        float* low = out + 4 * j * kPanel + v * kLanes;
        const int group = form.bits == 4 ? 0 : j / 4;
        store_codes(packed, false, form, scale[group], minimum[group], low);
        if (form.bits == 4)
          store_codes(packed, true, form, scale[1], minimum[1], low + 16 * kPanel);
      }
    }
  }
}

// ---- rows ------------------------------------------------------------------------------------

HWY_INLINE V load_tail(const float* x, int64_t count) {
  alignas(64) float buffer[16] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = x[i];
  return hn::Load(kF, buffer);
}
HWY_INLINE void store_tail(V v, float* y, int64_t count) {
  alignas(64) float buffer[16];
  hn::Store(v, kF, buffer);
  for (int64_t i = 0; i < count; ++i) y[i] = buffer[i];
}

void quantize_row(const float* x, int64_t k, int64_t codes_bytes, uint8_t* record) {
  auto* codes = reinterpret_cast<int8_t*>(record);
  auto* scales = reinterpret_cast<float*>(record + codes_bytes);
  auto* sums = reinterpret_cast<int32_t*>(record + codes_bytes + 4 * (k / kBlock));
  for (int64_t b = 0; b < k / kBlock; ++b) {
    const float* from = x + b * kBlock;
    V largest = hn::Zero(kF);
    for (int64_t i = 0; i < kBlock; i += kLanes)
      largest = hn::Max(largest, hn::Abs(hn::LoadU(kF, from + i)));
    const float most = hn::GetLane(hn::MaxOfLanes(kF, largest));
    const float scale = most / 127.0f, inverse = most > 0 ? 127.0f / most : 0.0f;
    auto total = hn::Zero(kI);
    alignas(64) int32_t wide[kBlock];
    for (int64_t i = 0; i < kBlock; i += kLanes) {
      const auto code = hn::NearestInt(hn::Mul(hn::LoadU(kF, from + i), hn::Set(kF, inverse)));
      total = hn::Add(total, code);
      hn::StoreU(code, kI, wide + i);
    }
    for (int64_t i = 0; i < kBlock; ++i) codes[b * kBlock + i] = static_cast<int8_t>(wide[i]);
    scales[b] = scale;
    sums[b] = hn::GetLane(hn::SumOfLanes(kI, total));
  }
  for (int64_t i = k; i < codes_bytes; ++i) codes[i] = 0;
}

// A NaN stays one; of the library's Exp and Tanh it does not. Above 104 is no meaning.
HWY_INLINE V kept_nan(V x, V y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }
HWY_INLINE V exp_of(V x) { return kept_nan(x, hn::Exp(kF, x)); }

// Activations by number: None, Relu, Relu2, Silu, Gelu, GeluTanh, Sigmoid, Tanh.
HWY_INLINE V sigmoid(V x) {
  const V one = hn::Set(kF, 1.0f);
  const V power = hn::Exp(kF, hn::Min(hn::Neg(x), hn::Set(kF, 104.0f)));
  return kept_nan(x, hn::Div(one, hn::Add(one, power)));
}

HWY_INLINE V tanh_of(V x) {
  const V near = hn::Max(hn::Set(kF, -20.0f), hn::Min(x, hn::Set(kF, 20.0f)));
  return kept_nan(x, hn::Tanh(kF, near));
}

// erf: below 1 its Taylor series, above 1 the complement by the fit of Numerical Recipes 6.2.2
// (relative error 1.2e-7).
HWY_INLINE V erf_of(V x) {
  const V a = hn::Abs(x);
  // |x| < 1: x * P(x^2), the Taylor coefficients up to x^19.
  const V s = hn::Mul(x, x);
  const float kTaylor[10] = {1.1283791670955126f,     -0.37612638903183754f,
                             0.11283791670955126f,    -0.026866170645131252f,
                             0.005223977625442188f,   -0.0008548327023450853f,
                             0.00012055332981789664f, -1.492565035840625e-05f,
                             1.6462114365889246e-06f, -1.6365844691234924e-07f};
  V small = hn::Set(kF, kTaylor[9]);
  for (int i = 8; i >= 0; --i) small = hn::MulAdd(small, s, hn::Set(kF, kTaylor[i]));
  small = hn::Mul(small, x);
  // |x| ≥ 1: 1 - exp(-x^2) * Q(t), t = 1 / (1 + x / 2), the coefficients of Numerical Recipes'
  // erfc.
  const V t = hn::Div(hn::Set(kF, 1.0f), hn::MulAdd(a, hn::Set(kF, 0.5f), hn::Set(kF, 1.0f)));
  const float kErfc[10] = {-1.26551223f, 1.00002368f,  0.37409196f, 0.09678418f,  -0.18628806f,
                           0.27886807f,  -1.13520398f, 1.48851587f, -0.82215223f, 0.17087277f};
  V q = hn::Set(kF, kErfc[9]);
  for (int i = 8; i >= 0; --i) q = hn::MulAdd(q, t, hn::Set(kF, kErfc[i]));
  const V erfc = hn::Mul(t, hn::Exp(kF, hn::Sub(q, s)));
  const V large = hn::CopySign(hn::Sub(hn::Set(kF, 1.0f), erfc), x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(kF, 1.0f)), small, large);
}

HWY_INLINE V activated(V x, int activation) {
  switch (activation) {
    case 1:
      return hn::Max(hn::Zero(kF), x);  // of a NaN the second operand stays
    case 2: {
      const V r = hn::Max(hn::Zero(kF), x);
      return hn::Mul(r, r);
    }
    case 3:
      return hn::Mul(x, sigmoid(x));
    case 4:
      return hn::Mul(
          hn::Mul(x, hn::Set(kF, 0.5f)),
          hn::Add(hn::Set(kF, 1.0f), erf_of(hn::Mul(x, hn::Set(kF, 0.70710678118654752f)))));
    case 5: {
      const V cube = hn::Mul(hn::Mul(x, x), x);
      const V inner =
          hn::Mul(hn::Set(kF, 0.7978845608028654f), hn::MulAdd(cube, hn::Set(kF, 0.044715f), x));
      return hn::Mul(hn::Mul(x, hn::Set(kF, 0.5f)), hn::Add(hn::Set(kF, 1.0f), tanh_of(inner)));
    }
    case 6:
      return sigmoid(x);
    case 7:
      return tanh_of(x);
    default:
      return x;
  }
}

HWY_INLINE V finished(const EpilogueJob& job, V y, int64_t row, int64_t c, int64_t count) {
  auto load = [&](const float* p) {
    return count == kLanes ? hn::LoadU(kF, p) : load_tail(p, count);
  };
  if (job.bias != nullptr) y = hn::Add(y, load(job.bias + c));
  y = activated(y, job.activation);
  if (job.gate != nullptr) y = hn::Mul(y, load(job.gate + row * job.gate_stride + c));
  y = hn::Mul(y, hn::Set(kF, job.scale));
  if (job.residual != nullptr) y = hn::Add(y, load(job.residual + row * job.residual_stride + c));
  return y;
}

void epilogue(const EpilogueJob& job) {
  for (int64_t row = 0; row < job.rows; ++row) {
    float* y = job.y + row * job.y_stride;
    int64_t c = 0;
    for (; c + kLanes <= job.columns; c += kLanes) {
      hn::StoreU(finished(job, hn::LoadU(kF, y + c), row, c, kLanes), kF, y + c);
    }
    const int64_t rest = job.columns - c;
    if (rest > 0) store_tail(finished(job, load_tail(y + c, rest), row, c, rest), y + c, rest);
  }
}

// Squares are summed in eight running sums, then in double.
template <class Term>
HWY_INLINE double sum_over(int64_t n, Term term) {
  V sum[4] = {hn::Zero(kF), hn::Zero(kF), hn::Zero(kF), hn::Zero(kF)};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int v = 0; v < 4; ++v) sum[v] = hn::Add(sum[v], term(i + v * kLanes, kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) sum[0] = hn::Add(sum[0], term(i, kLanes));
  if (i < n) sum[1] = hn::Add(sum[1], term(i, n - i));
  alignas(64) float lanes[16];
  double total = 0;
  for (int v = 0; v < 4; ++v) {
    hn::Store(sum[v], kF, lanes);
    for (int l = 0; l < kLanes; ++l) total += lanes[l];
  }
  return total;
}

void rms_norm(const float* x, const float* w, float* y, int64_t n, float eps, float offset) {
  const double squares = sum_over(n, [&](int64_t i, int64_t count) {
    const V v = count == kLanes ? hn::LoadU(kF, x + i) : load_tail(x + i, count);
    return hn::Mul(v, v);
  });
  const V root = hn::Sqrt(hn::Set(kF, static_cast<float>(squares / static_cast<double>(n)) + eps));
  const V scale = hn::Div(hn::Set(kF, 1.0f), root), shift = hn::Set(kF, offset);
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    V v = count == kLanes ? hn::LoadU(kF, x + i) : load_tail(x + i, count);
    v = hn::Mul(v, scale);
    if (w != nullptr)
      v = hn::Mul(v,
                  hn::Add(count == kLanes ? hn::LoadU(kF, w + i) : load_tail(w + i, count), shift));
    if (count == kLanes)
      hn::StoreU(v, kF, y + i);
    else
      store_tail(v, y + i, count);
  }
}

void layer_norm(const float* x, const float* w, const float* b, float* y, int64_t n, double eps) {
  auto load = [&](const float* p, int64_t count) {
    return count == kLanes ? hn::LoadU(kF, p) : load_tail(p, count);
  };
  const double mean_wide =
      sum_over(n, [&](int64_t i, int64_t count) { return load(x + i, count); }) /
      static_cast<double>(n);
  const float mean_low = static_cast<float>(mean_wide);
  const V mean = hn::Set(kF, mean_low);
  const double squares = sum_over(n, [&](int64_t i, int64_t count) {
    V d = hn::Sub(load(x + i, count), mean);
    if (count < kLanes) d = hn::IfThenElseZero(hn::FirstN(kF, static_cast<size_t>(count)), d);
    return hn::Mul(d, d);
  });
  const double variance = squares / static_cast<double>(n) + eps;
  const V scale = hn::Div(hn::Set(kF, 1.0f), hn::Sqrt(hn::Set(kF, static_cast<float>(variance))));
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    V v = hn::Mul(hn::Sub(load(x + i, count), mean), scale);
    if (w != nullptr) v = hn::Mul(v, load(w + i, count));
    if (b != nullptr) v = hn::Add(v, load(b + i, count));
    if (count == kLanes)
      hn::StoreU(v, kF, y + i);
    else
      store_tail(v, y + i, count);
  }
}

void rope_halves(const float* x, const float* sin, const float* cos, float* y, int64_t half) {
  int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const V a = hn::LoadU(kF, x + i), b = hn::LoadU(kF, x + half + i);
    const V low = hn::Sub(hn::Mul(a, hn::LoadU(kF, cos + i)), hn::Mul(b, hn::LoadU(kF, sin + i)));
    const V high = hn::Add(hn::Mul(b, hn::LoadU(kF, cos + half + i)),
                           hn::Mul(a, hn::LoadU(kF, sin + half + i)));
    hn::StoreU(low, kF, y + i);
    hn::StoreU(high, kF, y + half + i);
  }
  for (; i < half; ++i) {
    const float a = x[i], b = x[half + i];
    y[i] = a * cos[i] - b * sin[i];
    y[half + i] = b * cos[half + i] + a * sin[half + i];
  }
}

void softmax(const float* x, float* y, int64_t n) {
  float most = -HUGE_VALF;
  for (int64_t i = 0; i < n; ++i) most = x[i] > most ? x[i] : most;
  const V top = hn::Set(kF, most);
  int64_t i = 0;
  double total = 0;
  V sum = hn::Zero(kF);
  for (; i + kLanes <= n; i += kLanes) {
    const V e = exp_of(hn::Sub(hn::LoadU(kF, x + i), top));
    hn::StoreU(e, kF, y + i);
    sum = hn::Add(sum, e);
  }
  if (i < n) {
    const V e = exp_of(hn::Sub(load_tail(x + i, n - i), top));
    store_tail(e, y + i, n - i);
    for (int64_t j = i; j < n; ++j) total += y[j];
  }
  alignas(64) float lanes[16];
  hn::Store(sum, kF, lanes);
  for (int l = 0; l < kLanes; ++l) total += lanes[l];
  const V inverse = hn::Set(kF, static_cast<float>(1.0 / total));
  for (i = 0; i + kLanes <= n; i += kLanes)
    hn::StoreU(hn::Mul(hn::LoadU(kF, y + i), inverse), kF, y + i);
  if (i < n) store_tail(hn::Mul(load_tail(y + i, n - i), inverse), y + i, n - i);
}

void activate(const float* x, float* y, int64_t n, int activation) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(activated(hn::LoadU(kF, x + i), activation), kF, y + i);
  if (i < n) store_tail(activated(load_tail(x + i, n - i), activation), y + i, n - i);
}

HWY_INLINE V combined(V a, V b, Elementwise code) {
  switch (code) {
    case Elementwise::Add:
      return hn::Add(a, b);
    case Elementwise::Sub:
      return hn::Sub(a, b);
    case Elementwise::Mul:
      return hn::Mul(a, b);
    case Elementwise::Div:
      return hn::Div(a, b);
    case Elementwise::Max:
      return kept_nan(a, kept_nan(b, hn::Max(a, b)));
    case Elementwise::Min:
      return kept_nan(a, kept_nan(b, hn::Min(a, b)));
  }
  return a;
}

void binary(const float* a, const float* b, float* y, int64_t n, Elementwise code) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(combined(hn::LoadU(kF, a + i), hn::LoadU(kF, b + i), code), kF, y + i);
  }
  if (i < n)
    store_tail(combined(load_tail(a + i, n - i), load_tail(b + i, n - i), code), y + i, n - i);
}

void to_half(const float* x, uint16_t* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::DemoteTo(kHalf, hn::LoadU(kF, x + i)), kHalf,
               reinterpret_cast<hwy::float16_t*>(y + i));
  }
  if (i < n) {
    alignas(64) uint16_t rest[16];
    hn::Store(hn::DemoteTo(kHalf, load_tail(x + i, n - i)), kHalf,
              reinterpret_cast<hwy::float16_t*>(rest));
    for (int64_t j = 0; i + j < n; ++j) y[i + j] = rest[j];
  }
}

#include "runtime/kernels/simd/attention-inl.h"

}  // namespace

// ---- the table -------------------------------------------------------------------------------

constexpr Api kApi = {
    gemm,     expand_half, expand_bfloat, expand_blocks, AXON_SIMD_BLOCK_GEMM, quantize_row,
    epilogue, rms_norm,    layer_norm,    rope_halves,   attention_scratch,    attention,
    softmax,  activate,    binary,        to_half};

}  // namespace axon::runtime::simd::AXON_SIMD_NAMESPACE
