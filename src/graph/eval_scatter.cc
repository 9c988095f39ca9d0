// Gathering, scattering and writing of slices.
#include <algorithm>
#include <cmath>

#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"

namespace axon::graph {
namespace {

// Visits the elements of an index tensor over `x`: the position in the index and the position in x
// that it names along `axis`.
template <class Visit>
Result<void> each_indexed(const OpCall& call, const EvalTensor& x, const EvalTensor& index,
                          size_t axis, Visit&& visit) {
  if (index.real()) return call.wrong(1, "an integer tensor");
  bool fits = index.shape.size() == x.shape.size();
  for (size_t d = 0; fits && d < x.shape.size(); ++d) {
    fits = d == axis || index.shape[d] <= x.shape[d];
  }
  if (!fits) {
    return eval_error(Diag::RunShape,
                      {call.name(1), show_shape(index.shape), call.name(0), show_shape(x.shape)});
  }
  Shape from = strides_of(index.shape), to = strides_of(x.shape);
  for (int64_t i = 0; i < index.count(); ++i) {
    int64_t target = index.get_int(i), offset = 0;
    if (target < 0 || target >= x.shape[axis]) {
      return eval_error(Diag::RunIndex, {target, x.shape[axis]});
    }
    for (size_t d = 0; d < x.shape.size(); ++d) {
      offset += (d == axis ? target : i / from[d] % index.shape[d]) * to[d];
    }
    visit(i, offset);
  }
  return {};
}

struct Sum {
  double total = 0;
  int64_t whole = 0, count = 0;
};

}  // namespace

Result<EvalValue> eval_gather(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* index, call.tensor(1));
  AXON_TRY(size_t axis, call.axis(2, x->shape.size()));
  EvalTensor out = EvalTensor::make(x->dtype, index->shape);
  AXON_TRY_VOID(
      each_indexed(call, *x, *index, axis, [&](int64_t i, int64_t at) { out.copy(i, *x, at); }));
  return EvalValue::of(std::move(out));
}

// Of several writes to one place the last wins.
Result<EvalValue> eval_scatter(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* index, call.tensor(1));
  AXON_TRY(size_t axis, call.axis(3, x->shape.size()));
  const EvalValue& src = call[2];
  if (src.is_null()) return eval_error(Diag::RunNull, {call.name(2)});
  if (!src.is_tensor() && !src.is_scalar()) return call.wrong(2, "a tensor or a number");
  EvalTensor values = src.is_tensor() ? *src.tensor : lift(src, x->dtype);
  if (src.is_tensor() && values.shape != index->shape) {
    return eval_error(Diag::RunShape, {call.name(2), show_shape(values.shape), call.name(1),
                                       show_shape(index->shape)});
  }
  EvalTensor out = *x;
  AXON_TRY_VOID(each_indexed(call, *x, *index, axis, [&](int64_t i, int64_t at) {
    out.copy(at, values, src.is_tensor() ? i : 0);
  }));
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_scatter_reduce(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* index, call.tensor(1));
  AXON_TRY(const EvalTensor* given, call.tensor(2));
  AXON_TRY(size_t axis, call.axis(3, x->shape.size()));
  AXON_TRY(std::string how, call.text(4));
  AXON_TRY(bool include_self, call.boolean(5));
  if (how != "sum" && how != "prod" && how != "mean" && how != "max" && how != "min") {
    return call.wrong(4, "sum, prod, mean, max or min");
  }
  if (given->shape != index->shape) {
    return eval_error(Diag::RunShape, {call.name(2), show_shape(given->shape), call.name(1),
                                       show_shape(index->shape)});
  }
  EvalTensor src = convert(*given, x->dtype);
  std::vector<double> value(static_cast<size_t>(x->count()));
  std::vector<int64_t> terms(value.size(), include_self ? 1 : 0);
  for (size_t i = 0; i < value.size(); ++i) value[i] = x->get(static_cast<int64_t>(i));
  std::vector<bool> touched(value.size());
  AXON_TRY_VOID(each_indexed(call, *x, *index, axis, [&](int64_t i, int64_t at) {
    size_t p = static_cast<size_t>(at);
    double v = src.get(i);
    touched[p] = true;
    if (terms[p]++ == 0)
      value[p] = v;
    else if (how == "prod")
      value[p] *= v;
    else if (how == "max")
      value[p] = std::isnan(v) ? v : std::max(value[p], v);
    else if (how == "min")
      value[p] = std::isnan(v) ? v : std::min(value[p], v);
    else
      value[p] += v;
  }));
  EvalTensor out = *x;
  for (size_t i = 0; i < value.size(); ++i) {
    if (!touched[i]) continue;
    double v = value[i];
    if (how == "mean")
      v = x->real() ? v / static_cast<double>(terms[i])
                    : std::floor(v / static_cast<double>(terms[i]));
    out.set(static_cast<int64_t>(i), v);
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_index_add(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* index, call.tensor(1));
  AXON_TRY(const EvalTensor* given, call.tensor(2));
  AXON_TRY(size_t axis, call.axis(3, x->shape.size()));
  Shape needed = x->shape;
  needed[axis] = index->count();
  if (index->shape.size() != 1 || given->shape != needed) {
    return eval_error(Diag::RunShape, {call.name(2), show_shape(given->shape),
                                       "the target of its index", show_shape(needed)});
  }
  EvalTensor src = convert(*given, x->dtype), out = *x;
  std::vector<Sum> sums(static_cast<size_t>(x->count()));
  AxisView to = view_axis(x->shape, axis), from = view_axis(src.shape, axis);
  for (int64_t i = 0; i < from.extent; ++i) {
    int64_t target = index->get_int(i);
    if (target < 0 || target >= to.extent) return eval_error(Diag::RunIndex, {target, to.extent});
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t k = 0; k < from.inner; ++k) {
        Sum& sum = sums[static_cast<size_t>(to.at(o, target, k))];
        int64_t at = from.at(o, i, k);
        sum.total += src.get(at);
        if (!src.real()) sum.whole += src.get_int(at);
        ++sum.count;
      }
    }
  }
  for (int64_t i = 0; i < out.count(); ++i) {
    const Sum& sum = sums[static_cast<size_t>(i)];
    if (sum.count == 0) continue;
    if (out.real())
      out.set(i, out.get(i) + sum.total);
    else
      out.set_int(i, out.get_int(i) + sum.whole);
  }
  return EvalValue::of(std::move(out));
}

// assign_slice x src dim start end; assign_unit_slice x src dim index.
Result<EvalValue> eval_assign_slice(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(const EvalTensor* src, call.tensor(1));
  AXON_TRY(size_t axis, call.axis(2, x->shape.size()));
  AXON_TRY(int64_t start, call.integer(3));
  int64_t end = start + 1;
  if (call.op == Op::AssignSlice) {
    AXON_TRY(end, call.integer(4));
  }
  if (start < 0 || start > end || end > x->shape[axis]) {
    return eval_error(Diag::RunIndex,
                      {std::to_string(start) + ".." + std::to_string(end), x->shape[axis]});
  }
  Shape part = x->shape;
  part[axis] = end - start;
  AXON_TRY(Shape joint, broadcast(src->shape, part));
  if (joint != part) {
    return eval_error(Diag::RunShape,
                      {call.name(1), show_shape(src->shape), "its place", show_shape(part)});
  }
  std::vector<int64_t> offsets = broadcast_offsets(src->shape, part);
  AxisView to = view_axis(x->shape, axis), from = view_axis(part, axis);
  EvalTensor out = *x;
  for (int64_t o = 0; o < from.outer; ++o) {
    for (int64_t i = 0; i < from.extent; ++i) {
      for (int64_t k = 0; k < from.inner; ++k) {
        out.copy(to.at(o, start + i, k), *src, offsets[static_cast<size_t>(from.at(o, i, k))]);
      }
    }
  }
  return EvalValue::of(std::move(out));
}

}  // namespace axon::graph
