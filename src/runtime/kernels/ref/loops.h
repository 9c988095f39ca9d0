// Walking strided views element by element or row by row; shared by the reference kernels.
#pragma once

#include <cstddef>

#include "runtime/core/number.h"
#include "runtime/core/view.h"

namespace axon::runtime::ref {

inline size_t element_bytes(Storage storage) {
  return static_cast<size_t>(storage_info(storage).block_bytes);
}
inline bool is_float(Storage s) { return is_float(storage_info(s).dtype); }

// Stride of `view` along axis `axis` of a result of rank `rank`: missing and unit axes repeat.
inline int64_t broadcast_stride(const View& view, int axis, int rank) {
  const int own = axis - (rank - view.rank);
  return own < 0 || view.shape[own] == 1 ? 0 : view.stride[own];
}

// Visits the index space `shape` in row-major order and keeps the element offsets of N operands.
template <int N>
class Walk {
 public:
  Walk(const View& space, int rank, const View* const (&operands)[N], int64_t start) : rank_(rank) {
    for (int a = 0; a < rank; ++a) shape_[a] = space.shape[a];
    for (int o = 0; o < N; ++o) {
      for (int a = 0; a < rank; ++a) {
        stride_[o][a] = operands[o]->present() ? broadcast_stride(*operands[o], a, space.rank) : 0;
      }
    }
    for (int a = rank - 1; a >= 0; --a) {
      index_[a] = shape_[a] > 0 ? start % shape_[a] : 0;
      start = shape_[a] > 0 ? start / shape_[a] : 0;
      for (int o = 0; o < N; ++o) offset_[o] += index_[a] * stride_[o][a];
    }
  }
  int64_t offset(int operand) const { return offset_[operand]; }
  int64_t index(int axis) const { return index_[axis]; }
  void next() {
    for (int a = rank_ - 1; a >= 0; --a) {
      for (int o = 0; o < N; ++o) offset_[o] += stride_[o][a];
      if (++index_[a] < shape_[a]) return;
      for (int o = 0; o < N; ++o) offset_[o] -= stride_[o][a] * shape_[a];
      index_[a] = 0;
    }
  }

 private:
  int rank_;
  int64_t shape_[kMaxRank] = {};
  int64_t index_[kMaxRank] = {};
  int64_t stride_[N][kMaxRank] = {};
  int64_t offset_[N] = {};
};

// Element offset of row `row` of a view whose last axis is the row.
inline int64_t row_offset(const View& view, int64_t row) {
  int64_t offset = 0;
  for (int a = view.rank - 2; a >= 0; --a) {
    offset += row % view.shape[a] * view.stride[a];
    row /= view.shape[a];
  }
  return offset;
}
inline int64_t row_count(const View& view) {
  int64_t n = 1;
  for (int a = 0; a + 1 < view.rank; ++a) n *= view.shape[a];
  return n;
}

inline float load_at(const View& view, int64_t offset) {
  return load_float(view.storage,
                    view.data + offset * static_cast<int64_t>(element_bytes(view.storage)));
}
inline int64_t load_int_at(const View& view, int64_t offset) {
  return load_int(view.storage,
                  view.data + offset * static_cast<int64_t>(element_bytes(view.storage)));
}
inline void store_at(const View& view, int64_t offset, float value) {
  store_float(view.storage, view.out() + offset * static_cast<int64_t>(element_bytes(view.storage)),
              value);
}
inline void store_int_at(const View& view, int64_t offset, int64_t value) {
  store_int(view.storage, view.out() + offset * static_cast<int64_t>(element_bytes(view.storage)),
            value);
}

// `count` elements from `offset`, `stride` apart, as f32.
void load_run(const View& view, int64_t offset, int64_t stride, int64_t count, float* out);
// Such a run in memory when it already is contiguous, aligned f32; else it is loaded into `buffer`.
const float* run_or_load(const View& view, int64_t offset, int64_t stride, int64_t count,
                         float* buffer);

// Sum of products, in sixteen independent partial sums.
float dot(const float* a, const float* b, int64_t count);

// A view with the axis `axis` moved to the end; negative axes count from the end.
View move_axis_last(const View& view, int64_t axis);

}  // namespace axon::runtime::ref
