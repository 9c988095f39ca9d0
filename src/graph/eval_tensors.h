// Index arithmetic shared by the evaluator's operations.
#pragma once

#include <vector>

#include "graph/eval_value.h"

namespace axon::graph {

using Shape = std::vector<int64_t>;

// The shape of an elementwise result; RUN-SHAPE when two extents differ and neither is 1.
Result<Shape> broadcast(const Shape& a, const Shape& b);
// For each element of `to`, the offset of the element of `from` that is read there.
std::vector<int64_t> broadcast_offsets(const Shape& from, const Shape& to);
// A tensor seen as [outer, extent, inner] around one axis.
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
  int64_t at(int64_t o, int64_t i, int64_t n) const { return (o * extent + i) * inner + n; }
};
AxisView view_axis(const Shape& shape, size_t axis);

// The element type of an elementwise result: of two tensors by promotion; a scalar adopts the
// tensor's, but never narrows the kind (language.md 6.11).
DType result_dtype(const EvalValue& a, const EvalValue& b);
// A scalar as a tensor of one element; float scalars beside half tensors keep float precision.
EvalTensor lift(const EvalValue& scalar, DType beside);

}  // namespace axon::graph
