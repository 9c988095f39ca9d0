// Reductions, sorting, gathering, scattering and writing of slices.
#include <algorithm>
#include <cmath>

#include "runtime/general/apply.h"

namespace axon::runtime {
namespace {

Param axis_param(size_t axis) { return Param{"axis", static_cast<int64_t>(axis)}; }

// An index over `x` along `axis`: of the same rank, no larger off the axis, all values inside.
Result<void> check_index(const OpCall& call, const TensorPtr& x, const TensorPtr& index,
                         size_t axis) {
  if (index->real()) return call.wrong(1, "an integer tensor");
  const Shape from = index->shape(), to = x->shape();
  bool fits = from.size() == to.size();
  for (size_t d = 0; fits && d < to.size(); ++d) fits = d == axis || from[d] <= to[d];
  if (!fits) {
    return run_error(Diag::RunShape,
                     {call.name(1), show_shape(from), call.name(0), show_shape(to)});
  }
  return check_indices(index, to[axis]);
}

Error other_shape(const OpCall& call, const TensorPtr& src, std::string what, const Shape& needs) {
  return run_error(Diag::RunShape,
                   {call.name(2), show_shape(src->shape()), std::move(what), show_shape(needs)});
}

}  // namespace

Result<void> check_indices(const TensorPtr& index, int64_t extent) {
  for (int64_t i = 0; i < index->count(); ++i) {
    const int64_t value = index->get_int(i);
    if (value < 0 || value >= extent) return run_error(Diag::RunIndex, {value, extent});
  }
  return {};
}

Result<Datum> apply_sum(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const size_t axis, call.axis(1, x->shape().size()));
  AXON_TRY(const bool keep, call.flag(2, false));
  Shape shape = x->shape();
  shape[axis] = 1;
  AXON_TRY(TensorPtr out, call.eager.make(x->real() ? x->dtype() : DType::I64, shape));
  AXON_TRY_VOID(
      call.eager.run(Operation::Reduce, {x}, {out},
                     {Param{"code", static_cast<int64_t>(ReduceCode::Sum)}, axis_param(axis)}));
  if (keep) return Datum::of(std::move(out));
  View view = out->view;
  for (int a = static_cast<int>(axis); a + 1 < view.rank; ++a) {
    view.shape[a] = view.shape[a + 1];
    view.stride[a] = view.stride[a + 1];
  }
  --view.rank;
  return Datum::of(Eager::viewed(out, view));
}

// softmax, cumsum, argsort
Result<Datum> apply_along_axis(const OpCall& call) {
  AXON_TRY(TensorPtr x, call.tensor(0));
  AXON_TRY(const size_t axis, call.axis(1, x->shape().size()));
  if (call.op == Op::Argsort) {
    AXON_TRY(const bool descending, call.flag(2, false));
    AXON_TRY(TensorPtr out, call.eager.make(DType::I64, x->shape()));
    AXON_TRY_VOID(
        call.eager.run(Operation::Argsort, {x}, {out},
                       {axis_param(axis), Param{"descending", descending}, Param{"stable", true}}));
    return Datum::of(std::move(out));
  }
  DType dtype = x->real() ? x->dtype() : DType::I64;
  if (call.op == Op::Softmax) {
    AXON_TRY(dtype, call.dtype(2, x->dtype()));
    if (!is_float(dtype)) return call.wrong(0, "a float tensor");
  }
  AXON_TRY(x, call.eager.converted(x, dtype));
  AXON_TRY(TensorPtr out, call.eager.make(dtype, x->shape()));
  AXON_TRY_VOID(call.eager.run(call.op == Op::Softmax ? Operation::Softmax : Operation::Cumsum, {x},
                               {out}, {axis_param(axis)}));
  return Datum::of(std::move(out));
}

// x, k, dim, largest, sorted
Result<Datum> apply_topk(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const int64_t k, call.integer(1));
  AXON_TRY(const size_t axis, call.axis(2, x->shape().size()));
  AXON_TRY(const bool largest, call.flag(3, true));
  Shape shape = x->shape();
  if (k < 0 || k > shape[axis]) return run_error(Diag::RunIndex, {k, shape[axis]});
  shape[axis] = k;
  AXON_TRY(TensorPtr values, call.eager.make(x->dtype(), shape));
  AXON_TRY(TensorPtr indices, call.eager.make(DType::I64, shape));
  AXON_TRY_VOID(call.eager.run(
      Operation::Topk, {x}, {values, indices},
      {Param{"k", k}, axis_param(axis), Param{"largest", largest}, Param{"sorted", true}}));
  return Datum::tuple({Datum::of(std::move(values)), Datum::of(std::move(indices))});
}

Result<Datum> apply_gather(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const TensorPtr index, call.tensor(1));
  AXON_TRY(const size_t axis, call.axis(2, x->shape().size()));
  AXON_TRY_VOID(check_index(call, x, index, axis));
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), index->shape()));
  AXON_TRY_VOID(call.eager.run(Operation::Gather, {x, index}, {out}, {axis_param(axis)}));
  return Datum::of(std::move(out));
}

// Of several writes to one place the last wins.
Result<Datum> apply_scatter(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const TensorPtr index, call.tensor(1));
  AXON_TRY(const size_t axis, call.axis(3, x->shape().size()));
  const Datum& src = call[2];
  if (src.is_null()) return run_error(Diag::RunNull, {call.name(2)});
  if (!src.is_tensor() && !src.is_scalar()) return call.wrong(2, "a tensor or a number");
  if (src.is_tensor() && src.tensor->shape() != index->shape())
    return other_shape(call, src.tensor, call.name(1), index->shape());
  AXON_TRY_VOID(check_index(call, x, index, axis));
  AXON_TRY(TensorPtr values, as_tensor(call, 2, x->dtype()));
  values = Eager::expanded(values, index->shape());
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), x->shape()));
  AXON_TRY_VOID(call.eager.run(Operation::Scatter, {x, index, values}, {out}, {axis_param(axis)}));
  return Datum::of(std::move(out));
}

Result<Datum> apply_scatter_reduce(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const TensorPtr index, call.tensor(1));
  AXON_TRY(TensorPtr src, call.tensor(2));
  AXON_TRY(const size_t axis, call.axis(3, x->shape().size()));
  AXON_TRY(const std::string how, call.text(4));
  AXON_TRY(const bool include_self, call.boolean(5));
  constexpr std::string_view kNames[] = {"sum", "max", "min", "prod", "mean"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), how);
  if (found == std::end(kNames)) return call.wrong(4, "sum, prod, mean, max or min");
  if (src->shape() != index->shape()) return other_shape(call, src, call.name(1), index->shape());
  AXON_TRY_VOID(check_index(call, x, index, axis));
  AXON_TRY(src, call.eager.converted(src, x->dtype()));
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), x->shape()));
  AXON_TRY_VOID(call.eager.run(
      Operation::ScatterReduce, {x, index, src}, {out},
      {axis_param(axis), Param{"code", static_cast<int64_t>(found - std::begin(kNames))},
       Param{"include_self", include_self}}));
  return Datum::of(std::move(out));
}

Result<Datum> apply_index_add(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const TensorPtr index, call.tensor(1));
  AXON_TRY(TensorPtr src, call.tensor(2));
  AXON_TRY(const size_t axis, call.axis(3, x->shape().size()));
  Shape needed = x->shape();
  needed[axis] = index->count();
  if (index->view.rank != 1 || src->shape() != needed)
    return other_shape(call, src, "the target of its index", needed);
  AXON_TRY_VOID(check_indices(index, x->view.shape[axis]));
  AXON_TRY(src, call.eager.converted(src, x->dtype()));
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), x->shape()));
  AXON_TRY_VOID(call.eager.run(Operation::IndexAdd, {x, index, src}, {out}, {axis_param(axis)}));
  return Datum::of(std::move(out));
}

// assign_slice x src dim start end; assign_unit_slice x src dim index. In place where nothing else
// holds x.
Result<Datum> apply_assign_slice(const OpCall& call) {
  AXON_TRY(const TensorPtr src, call.tensor(1));
  if (!call[0].is_tensor()) return call.wrong(0, "a tensor");
  TensorPtr x = std::move(call[0].tensor);
  AXON_TRY(const size_t axis, call.axis(2, x->shape().size()));
  AXON_TRY(const int64_t start, call.integer(3));
  int64_t end = start + 1;
  if (call.op == Op::AssignSlice) {
    AXON_TRY(end, call.integer(4));
  }
  const int64_t extent = x->view.shape[axis];
  if (start < 0 || start > end || end > extent) {
    return run_error(Diag::RunIndex, {std::to_string(start) + ".." + std::to_string(end), extent});
  }
  Shape part = x->shape();
  part[axis] = end - start;
  AXON_TRY(const Shape joint, broadcast(src->shape(), part));
  if (joint != part)
    return run_error(Diag::RunShape,
                     {call.name(1), show_shape(src->shape()), "its place", show_shape(part)});
  const bool owned = x.use_count() == 1 && x->memory != nullptr && x->memory.use_count() == 1 &&
                     x->view.contiguous();
  if (!owned) {
    AXON_TRY(x, call.eager.copied(x));
  }
  AXON_TRY_VOID(call.eager.run(Operation::Copy, {Eager::expanded(src, part)},
                               {Eager::sliced(x, axis, start, end)}, {}));
  return Datum::of(std::move(x));
}

}  // namespace axon::runtime
