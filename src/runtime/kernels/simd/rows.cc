// Norms, rotary embedding, stores and elementwise operations on contiguous f32 rows.
#include <algorithm>
#include <cstring>

#include "runtime/core/number.h"
#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/simd/entry.h"
#include "support/check.h"

namespace axon::runtime::simd {
namespace {

const float* floats(const View& v) { return reinterpret_cast<const float*>(v.data); }
float* floats_out(const View& v) { return reinterpret_cast<float*>(v.out()); }

bool is_vector(const View& v) {
  return v.rank == 1 && v.part_count == 0 && !storage_info(v.storage).quantised;
}

// A stored vector as f32: in place, or read into `buffer`.
const float* vector_f32(const View& v, float* buffer) {
  if (!v.present()) return nullptr;
  const bool aligned = reinterpret_cast<uintptr_t>(v.data) % 4 == 0;
  if (v.storage == Storage::F32 && aligned && (v.stride[0] == 1 || v.shape[0] == 1))
    return floats(v);
  for (int64_t i = 0; i < v.shape[0]; ++i) buffer[i] = ref::load_at(v, i * v.stride[0]);
  return buffer;
}

bool all_f32_contiguous(const KernelArgs& args) {
  for (int i = 0; i < args.input_count; ++i) {
    const View& v = args.in[i];
    if (v.present() &&
        (v.storage != Storage::F32 || !v.contiguous() || v.quantised_rows || v.part_count > 0))
      return false;
  }
  return args.out[0].storage == Storage::F32 && args.out[0].contiguous();
}

constexpr int64_t kGrain = 64;

// unary codes that are activations of api.h; -1: others
int activation_code(int64_t code) {
  switch (static_cast<UnaryCode>(code)) {
    case UnaryCode::Relu:
      return static_cast<int>(Activation::Relu);
    case UnaryCode::Relu2:
      return static_cast<int>(Activation::Relu2);
    case UnaryCode::Silu:
      return static_cast<int>(Activation::Silu);
    case UnaryCode::Gelu:
      return static_cast<int>(Activation::Gelu);
    case UnaryCode::GeluTanh:
      return static_cast<int>(Activation::GeluTanh);
    case UnaryCode::Sigmoid:
      return static_cast<int>(Activation::Sigmoid);
    case UnaryCode::Tanh:
      return static_cast<int>(Activation::Tanh);
    default:
      return -1;
  }
}

int elementwise_code(int64_t code) {
  switch (static_cast<BinaryCode>(code)) {
    case BinaryCode::Add:
      return static_cast<int>(Elementwise::Add);
    case BinaryCode::Sub:
      return static_cast<int>(Elementwise::Sub);
    case BinaryCode::Mul:
      return static_cast<int>(Elementwise::Mul);
    case BinaryCode::Div:
      return static_cast<int>(Elementwise::Div);
    default:
      return -1;
  }
}

}  // namespace

template <class T>
bool Entry<T>::supports_norm(const KernelArgs& args) {
  Rows x, y;
  for (int i = 1; i < args.input_count; ++i) {
    if (args.in[i].present() && !is_vector(args.in[i])) return false;
  }
  return is_f32_rows(args.in[0], x) && is_f32_rows(args.out[0], y);
}

template <class T>
int64_t Entry<T>::norm_workspace(const KernelArgs& args, int) {
  return 2 * ((args.in[0].last() + 15) / 16 * 16) * 4;
}

template <class T>
void Entry<T>::rms_norm(const KernelArgs& args, int part, int parts) {
  Rows x, y;
  fold_rows(args.in[0], x);
  fold_rows(args.out[0], y);
  const Share share = share_of(x.count, 1, part, parts);
  if (share.begin == share.end) return;
  const float* w = vector_f32(args.in[1], reinterpret_cast<float*>(args.scratch(part)));
  const auto eps = static_cast<float>(args.real(param(Operation::RmsNorm, "eps"), 1e-6));
  const float offset = args.integer(param(Operation::RmsNorm, "unit_offset")) != 0 ? 1.0f : 0.0f;
  for (int64_t r = share.begin; r < share.end; ++r) {
    T::api().rms_norm(floats(args.in[0]) + r * x.stride, w, floats_out(args.out[0]) + r * y.stride,
                      x.width, eps, offset);
  }
}

template <class T>
void Entry<T>::layer_norm(const KernelArgs& args, int part, int parts) {
  Rows x, y;
  fold_rows(args.in[0], x);
  fold_rows(args.out[0], y);
  const Share share = share_of(x.count, 1, part, parts);
  if (share.begin == share.end) return;
  float* scratch = reinterpret_cast<float*>(args.scratch(part));
  const float* w = vector_f32(args.in[1], scratch);
  const float* b = vector_f32(args.in[2], scratch + (x.width + 15) / 16 * 16);
  const double eps = args.real(param(Operation::LayerNorm, "eps"), 1e-5);
  for (int64_t r = share.begin; r < share.end; ++r) {
    T::api().layer_norm(floats(args.in[0]) + r * x.stride, w, b,
                        floats_out(args.out[0]) + r * y.stride, x.width, eps);
  }
}

template <class T>
bool Entry<T>::supports_rope(const KernelArgs& args) {
  const int64_t interleaved = args.integer(param(Operation::Rope, "interleaved"));
  if (interleaved != 0) return false;
  for (int i = 0; i < 3; ++i) {
    const View& v = args.in[i];
    if (v.rank != 4 || v.storage != Storage::F32 || v.stride[3] != 1) return false;
  }
  const View& y = args.out[0];
  return y.rank == 4 && y.storage == Storage::F32 && y.stride[3] == 1;
}

template <class T>
void Entry<T>::rope(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &sin = args.in[1], &cos = args.in[2], &y = args.out[0];
  const int64_t rotary = args.integer(param(Operation::Rope, "rotary_dim"), cos.last());
  const View* const operands[] = {&x, &sin, &cos, &y};
  const Share share = share_of(ref::row_count(x), 1, part, parts);
  ref::Walk<4> at(x, 3, operands, share.begin);
  for (int64_t r = share.begin; r < share.end; ++r, at.next()) {
    const float* from = floats(x) + at.offset(0);
    float* to = floats_out(y) + at.offset(3);
    T::api().rope_halves(from, floats(sin) + at.offset(1), floats(cos) + at.offset(2), to,
                         rotary / 2);
    if (to != from) std::copy(from + rotary, from + x.last(), to + rotary);
  }
}

template <class T>
bool Entry<T>::supports_store_write(const KernelArgs& args) {
  const View &store = args.in[0], &src = args.in[1];
  const bool plain = store.storage == Storage::F32 || store.storage == Storage::F16;
  int64_t axis = args.integer(param(Operation::StoreWrite, "axis"));
  if (axis < 0) axis += store.rank;
  return plain && src.storage == Storage::F32 && store.rank == 4 && src.rank == 4 && axis == 2 &&
         store.stride[3] == 1 && src.stride[3] == 1;
}

template <class T>
void Entry<T>::store_write(const KernelArgs& args, int part, int parts) {
  const View &store = args.in[0], &src = args.in[1];
  const int64_t start = args.integer(param(Operation::StoreWrite, "start"));
  AXON_CHECK(start >= 0 && start + src.shape[2] <= store.shape[2], "write past a store");
  View target = store;
  target.shape[2] = src.shape[2];
  const View* const operands[] = {&target, &src};
  const Share share = share_of(ref::row_count(target), 1, part, parts);
  ref::Walk<2> at(target, 3, operands, share.begin);
  for (int64_t r = share.begin; r < share.end; ++r, at.next()) {
    const float* from = floats(src) + at.offset(1);
    const int64_t to = at.offset(0) + start * store.stride[2];
    if (store.storage == Storage::F16) {
      T::api().to_half(from, reinterpret_cast<uint16_t*>(store.out()) + to, src.shape[3]);
    } else {
      std::memcpy(floats_out(store) + to, from, static_cast<size_t>(src.shape[3]) * 4);
    }
  }
}

template <class T>
bool Entry<T>::supports_unary(const KernelArgs& args) {
  return all_f32_contiguous(args) && args.in[0].count() == args.out[0].count() &&
         activation_code(args.integer(param(Operation::Unary, "code"))) >= 0;
}

template <class T>
void Entry<T>::unary(const KernelArgs& args, int part, int parts) {
  const Share share = share_of(args.out[0].count(), kGrain, part, parts);
  T::api().activate(floats(args.in[0]) + share.begin, floats_out(args.out[0]) + share.begin,
                    share.end - share.begin,
                    activation_code(args.integer(param(Operation::Unary, "code"))));
}

template <class T>
bool Entry<T>::supports_binary(const KernelArgs& args) {
  return all_f32_contiguous(args) && args.in[0].count() == args.out[0].count() &&
         args.in[1].count() == args.out[0].count() &&
         elementwise_code(args.integer(param(Operation::Binary, "code"))) >= 0;
}

template <class T>
void Entry<T>::binary(const KernelArgs& args, int part, int parts) {
  const Share share = share_of(args.out[0].count(), kGrain, part, parts);
  T::api().binary(
      floats(args.in[0]) + share.begin, floats(args.in[1]) + share.begin,
      floats_out(args.out[0]) + share.begin, share.end - share.begin,
      static_cast<Elementwise>(elementwise_code(args.integer(param(Operation::Binary, "code")))));
}

template <class T>
bool Entry<T>::supports_softmax(const KernelArgs& args) {
  Rows x, y;
  int64_t axis = args.integer(param(Operation::Softmax, "axis"), -1);
  if (axis < 0) axis += args.in[0].rank;
  return axis == args.in[0].rank - 1 && is_f32_rows(args.in[0], x) && is_f32_rows(args.out[0], y) &&
         x.width > 0;
}

template <class T>
void Entry<T>::softmax(const KernelArgs& args, int part, int parts) {
  Rows x, y;
  fold_rows(args.in[0], x);
  fold_rows(args.out[0], y);
  const Share share = share_of(x.count, 1, part, parts);
  for (int64_t r = share.begin; r < share.end; ++r) {
    T::api().softmax(floats(args.in[0]) + r * x.stride, floats_out(args.out[0]) + r * y.stride,
                     x.width);
  }
}

#define AXON_INSTANTIATE(T)                                          \
  template bool Entry<T>::supports_norm(const KernelArgs&);          \
  template int64_t Entry<T>::norm_workspace(const KernelArgs&, int); \
  template void Entry<T>::rms_norm(const KernelArgs&, int, int);     \
  template void Entry<T>::layer_norm(const KernelArgs&, int, int);   \
  template bool Entry<T>::supports_rope(const KernelArgs&);          \
  template void Entry<T>::rope(const KernelArgs&, int, int);         \
  template bool Entry<T>::supports_store_write(const KernelArgs&);   \
  template void Entry<T>::store_write(const KernelArgs&, int, int);  \
  template bool Entry<T>::supports_unary(const KernelArgs&);         \
  template void Entry<T>::unary(const KernelArgs&, int, int);        \
  template bool Entry<T>::supports_binary(const KernelArgs&);        \
  template void Entry<T>::binary(const KernelArgs&, int, int);       \
  template bool Entry<T>::supports_softmax(const KernelArgs&);       \
  template void Entry<T>::softmax(const KernelArgs&, int, int);
AXON_INSTANTIATE(UseAvx2)
AXON_INSTANTIATE(UseAvx512)
AXON_INSTANTIATE(UseVnni)

}  // namespace axon::runtime::simd
