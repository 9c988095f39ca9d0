// Index arithmetic shared by the evaluator's operations.
#include "graph/eval_tensors.h"

#include <algorithm>

namespace axon::graph {

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (size_t i = 1; i <= rank; ++i) {
    int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return eval_error(Diag::RunShape, {"one operand", show_shape(a), "the other", show_shape(b)});
    }
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

std::vector<int64_t> broadcast_offsets(const Shape& from, const Shape& to) {
  Shape strides = strides_of(from);
  size_t lead = to.size() - from.size();
  std::vector<int64_t> offsets(static_cast<size_t>(count_of(to)));
  Shape at(to.size(), 0);
  for (int64_t& out : offsets) {
    int64_t offset = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] != 1) offset += at[lead + i] * strides[i];
    }
    out = offset;
    for (size_t i = to.size(); i-- > 0;) {
      if (++at[i] < to[i]) break;
      at[i] = 0;
    }
  }
  return offsets;
}

AxisView view_axis(const Shape& shape, size_t axis) {
  AxisView view;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < axis)
      view.outer *= shape[i];
    else if (i == axis)
      view.extent = shape[i];
    else
      view.inner *= shape[i];
  }
  return view;
}

DType result_dtype(const EvalValue& a, const EvalValue& b) {
  if (a.is_tensor() && b.is_tensor()) return promote(a.tensor->dtype, b.tensor->dtype);
  if (!a.is_tensor() && !b.is_tensor()) {
    if (a.kind == EvalValue::Kind::Float || b.kind == EvalValue::Kind::Float) return DType::F32;
    bool ints = a.kind == EvalValue::Kind::Int || b.kind == EvalValue::Kind::Int;
    return ints ? DType::I64 : DType::Bool;
  }
  DType dtype = a.is_tensor() ? a.tensor->dtype : b.tensor->dtype;
  EvalValue::Kind scalar = a.is_tensor() ? b.kind : a.kind;
  if (scalar == EvalValue::Kind::Float && !is_float(dtype)) return DType::F32;
  if (scalar == EvalValue::Kind::Int && dtype == DType::Bool) return DType::I64;
  return dtype;
}

EvalTensor lift(const EvalValue& scalar, DType beside) {
  DType dtype = is_float(beside) ? DType::F32 : beside;
  EvalTensor out = EvalTensor::make(dtype, {});
  if (scalar.kind == EvalValue::Kind::Int)
    out.set_int(0, scalar.integer);
  else
    out.set(0, scalar.as_double());
  return out;
}

}  // namespace axon::graph
