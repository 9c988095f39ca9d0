// Runs of elements as f32, and the dot product of the reference kernels.
#include "runtime/kernels/ref/loops.h"

#include <cstring>

namespace axon::runtime::ref {
namespace {

template <class T, class F>
void convert(const uint8_t* from, int64_t stride, int64_t count, float* out, F&& to_float) {
  const int64_t step = stride * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i, from += step) out[i] = to_float(load_as<T>(from));
}

}  // namespace

void load_run(const View& view, int64_t offset, int64_t stride, int64_t count, float* out) {
  const size_t bytes = element_bytes(view.storage);
  const uint8_t* from = view.data + offset * static_cast<int64_t>(bytes);
  switch (view.storage) {
    case Storage::F32:
      if (stride == 1) {
        std::memcpy(out, from, static_cast<size_t>(count) * sizeof(float));
      } else {
        convert<float>(from, stride, count, out, [](float v) { return v; });
      }
      return;
    case Storage::F16:
      convert<uint16_t>(from, stride, count, out, f16_to_float);
      return;
    case Storage::BF16:
      convert<uint16_t>(from, stride, count, out, bf16_to_float);
      return;
    default:
      for (int64_t i = 0; i < count; ++i) {
        out[i] = load_float(view.storage, from + i * stride * static_cast<int64_t>(bytes));
      }
  }
}

const float* run_or_load(const View& view, int64_t offset, int64_t stride, int64_t count,
                         float* buffer) {
  const uint8_t* at = view.data + offset * static_cast<int64_t>(sizeof(float));
  const bool direct = view.storage == Storage::F32 && (stride == 1 || count == 1) &&
                      reinterpret_cast<uintptr_t>(at) % alignof(float) == 0;
  if (direct) return reinterpret_cast<const float*>(at);
  load_run(view, offset, stride, count, buffer);
  return buffer;
}

float dot(const float* a, const float* b, int64_t count) {
  constexpr int kLanes = 16;
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) sums[l] += a[i + l] * b[i + l];
  }
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; ++l) sums[l] += sums[l + width];
  }
  float tail = 0;
  for (; i < count; ++i) tail += a[i] * b[i];
  return sums[0] + tail;
}

View move_axis_last(const View& view, int64_t axis) {
  if (axis < 0) axis += view.rank;
  View moved = view;
  int to = 0;
  for (int a = 0; a < view.rank; ++a) {
    if (a == axis) continue;
    moved.shape[to] = view.shape[a];
    moved.stride[to++] = view.stride[a];
  }
  moved.shape[to] = view.shape[axis];
  moved.stride[to] = view.stride[axis];
  return moved;
}

}  // namespace axon::runtime::ref
