// The functions that are compiled once per instruction set. Only raw pointers and sizes cross this
// line, so that no inline code of the rest of the program is compiled with wider instructions.
#pragma once

#include <cstdint>

namespace axon::runtime::simd {

constexpr int64_t kPanel = 16;  // outputs of a panel of a packed weight
constexpr int64_t kBlock = 32;  // inner elements of a block of quantised panels

// One block of 16 rows by 32 inner elements in a quantised panel:
//   codes   4-bit: byte 64*j + 4*r + i holds element k = 4*j + i of row r in its low half and
//           k = 16 + 4*j + i in its high half (j < 4); 8-bit: byte 64*j + 4*r + i holds k = 4*j + i
//           (j < 8)
//   scales  groups x 16, then minima groups x 16 when there are any; f16 or f32
// A weight is scale * (code - zero) + minimum.
struct BlockForm {
  int bits = 8;    // 4 or 8
  int groups = 1;  // scales in 32 elements: 1 or 2
  bool has_min = false;
  bool wide_scales = false;  // f32 instead of f16
  int zero = 0;
  constexpr int64_t code_bytes() const { return bits == 4 ? 256 : 512; }
  constexpr int64_t scale_bytes() const { return groups * kPanel * (wide_scales ? 4 : 2); }
  constexpr int64_t bytes() const { return code_bytes() + scale_bytes() * (has_min ? 2 : 1); }
};

// out[r][c] = Σ_k x[r][k] * w[k][c] over one or two panels of f32 weights [k][16].
struct GemmJob {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t rows = 0, k = 0;
  const float* panels[2] = {nullptr, nullptr};  // the second may be null
  float* out = nullptr;                         // column of the first panel
  int64_t out_stride = 0;
  int64_t columns = 0;  // valid columns, at most 16 per panel
};

// The same with int8 records (core/quant_rows.h) and quantised panels [first, last).
struct BlockGemmJob {
  const uint8_t* records = nullptr;
  int64_t record_bytes = 0, codes_bytes = 0;
  int64_t rows = 0, k = 0;
  const uint8_t* packed = nullptr;  // panel 0
  BlockForm form;
  int64_t first = 0, last = 0;
  float* out = nullptr;  // column 0
  int64_t out_stride = 0;
  int64_t columns = 0;  // valid columns of all panels
};

// y = activation(y + bias) * gate * scale + residual, row by row, in place.
struct EpilogueJob {
  float* y = nullptr;
  int64_t y_stride = 0;
  int64_t rows = 0, columns = 0;
  const float* bias = nullptr;
  const float* gate = nullptr;
  int64_t gate_stride = 0;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  int activation = 0;  // Activation of program.h
  float scale = 1.0f;
};

// A group of query rows against one key/value head (rows of several heads and positions).
struct AttentionJob {
  const float* const* q = nullptr;  // `rows` pointers to D contiguous values
  float* const* out = nullptr;      // `rows` pointers to E contiguous values
  const int64_t* first = nullptr;   // per row: first and one past the last visible key
  const int64_t* last = nullptr;
  int64_t rows = 0, d = 0, e = 0;
  const uint8_t* keys = nullptr;  // key 0
  const uint8_t* values = nullptr;
  int64_t key_stride = 0, value_stride = 0;  // elements between tokens
  bool half = false;                         // stores are f16, else f32
  const uint8_t* keep = nullptr;             // per key, non-zero is visible; or null
  float scale = 1.0f, softcap = 0.0f;
  float* scratch = nullptr;  // attention_scratch(rows, d, e) floats
};

enum class Elementwise : uint8_t { Add, Sub, Mul, Div, Max, Min };

struct Api {
  void (*gemm)(const GemmJob&);
  void (*expand_half)(const uint16_t* panel, int64_t k, float* out);  // f16 [k][16] to f32
  void (*expand_bfloat)(const uint16_t* panel, int64_t k, float* out);
  void (*expand_blocks)(const uint8_t* panel, const BlockForm& form, int64_t k, float* out);
  void (*block_gemm)(const BlockGemmJob&);  // null where the set has no int8 products
  void (*quantize_row)(const float* x, int64_t k, int64_t codes_bytes, uint8_t* record);
  void (*epilogue)(const EpilogueJob&);
  void (*rms_norm)(const float* x, const float* w, float* y, int64_t n, float eps, float offset);
  void (*layer_norm)(const float* x, const float* w, const float* b, float* y, int64_t n,
                     double eps);
  // Halves turned: y[i], y[i+h] from x[i], x[i+h], i < half.
  void (*rope_halves)(const float* x, const float* sin, const float* cos, float* y, int64_t half);
  int64_t (*attention_scratch)(int64_t rows, int64_t d, int64_t e);
  void (*attention)(const AttentionJob&);
  void (*softmax)(const float* x, float* y, int64_t n);
  void (*activate)(const float* x, float* y, int64_t n, int activation);
  void (*binary)(const float* a, const float* b, float* y, int64_t n, Elementwise code);
  void (*to_half)(const float* x, uint16_t* y, int64_t n);
};

const Api& avx2();
const Api& avx512();
const Api& avx512_vnni();

}  // namespace axon::runtime::simd
