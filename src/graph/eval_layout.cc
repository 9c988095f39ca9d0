// Shape queries, layout and creation of tensors.
#include <algorithm>
#include <limits>

#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"

namespace axon::graph {
namespace {

Error shape_error(const std::string& what, const std::string& is, const std::string& other,
                  const std::string& needs) {
  return eval_error(Diag::RunShape, {what, is, other, needs});
}

// out[i] = x[offsets[i]]
EvalValue pick(const EvalTensor& x, Shape shape, const std::vector<int64_t>& offsets) {
  EvalTensor out = EvalTensor::make(x.dtype, std::move(shape));
  for (size_t i = 0; i < offsets.size(); ++i) out.copy(static_cast<int64_t>(i), x, offsets[i]);
  return EvalValue::of(std::move(out));
}

EvalTensor slice_axis(const EvalTensor& x, size_t axis, int64_t start, int64_t end) {
  AxisView view = view_axis(x.shape, axis);
  Shape shape = x.shape;
  shape[axis] = end - start;
  EvalTensor out = EvalTensor::make(x.dtype, shape);
  int64_t n = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = start; i < end; ++i) {
      for (int64_t k = 0; k < view.inner; ++k) out.copy(n++, x, view.at(o, i, k));
    }
  }
  return out;
}

EvalValue permuted(const EvalTensor& x, const std::vector<size_t>& order) {
  Shape strides = strides_of(x.shape), shape, step;
  for (size_t axis : order) {
    shape.push_back(x.shape[axis]);
    step.push_back(strides[axis]);
  }
  std::vector<int64_t> offsets(static_cast<size_t>(count_of(shape)));
  Shape out_strides = strides_of(shape);
  for (size_t i = 0; i < offsets.size(); ++i) {
    for (size_t d = 0; d < shape.size(); ++d) {
      offsets[i] += static_cast<int64_t>(i) / out_strides[d] % shape[d] * step[d];
    }
  }
  return pick(x, shape, offsets);
}

}  // namespace

Result<EvalValue> eval_shape(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  std::vector<EvalValue> items;
  for (int64_t extent : x->shape) items.push_back(EvalValue::of(extent));
  return EvalValue::list(std::move(items));
}

Result<EvalValue> eval_tensor_size(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  return EvalValue::of(x->shape[axis]);
}

Result<EvalValue> eval_reshape(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(Shape shape, call.integers(1));
  size_t open = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != -1) continue;
    if (open != shape.size()) return call.wrong(1, "at most one -1");
    open = i;
  }
  if (open < shape.size()) shape[open] = 1;
  const int64_t known = count_of(shape);
  if (open < shape.size()) shape[open] = -1;
  if (open < shape.size() && known > 0 && x->count() % known == 0) shape[open] = x->count() / known;
  bool negative = std::any_of(shape.begin(), shape.end(), [](int64_t e) { return e < 0; });
  if (shape.empty() || negative || count_of(shape) != x->count()) {
    return shape_error(call.name(0), show_shape(x->shape), "its new shape", show_shape(shape));
  }
  EvalTensor out = *x;
  out.shape = shape;
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_permute(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(Shape dims, call.integers(1));
  std::vector<size_t> order;
  for (int64_t d : dims) {
    size_t axis = static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(x->shape.size()) : d);
    if (axis >= x->shape.size() || std::find(order.begin(), order.end(), axis) != order.end()) {
      return call.wrong(1, "a permutation of the axes");
    }
    order.push_back(axis);
  }
  if (order.size() != x->shape.size()) return call.wrong(1, "a permutation of the axes");
  return permuted(*x, order);
}

Result<EvalValue> eval_transpose(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t a, call.axis(1, x->shape.size()));
  AXON_TRY(size_t b, call.axis(2, x->shape.size()));
  std::vector<size_t> order(x->shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::swap(order[a], order[b]);
  return permuted(*x, order);
}

Result<EvalValue> eval_unsqueeze(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size() + 1));
  EvalTensor out = *x;
  out.shape.insert(out.shape.begin() + static_cast<int64_t>(axis), 1);
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_expand(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(Shape shape, call.integers(1));
  bool fits = shape.size() >= x->shape.size();
  for (size_t i = 1; fits && i <= shape.size(); ++i) {
    int64_t& to = shape[shape.size() - i];
    bool old = i <= x->shape.size();
    int64_t from = old ? x->shape[x->shape.size() - i] : 1;
    if (to == -1 && old) to = from;
    fits = to >= 0 && (from == 1 || from == to);
  }
  if (!fits)
    return shape_error(call.name(0), show_shape(x->shape), "its new shape", show_shape(shape));
  return pick(*x, shape, broadcast_offsets(x->shape, shape));
}

// Two tensors, or one list of tensors.
Result<EvalValue> eval_concat(const OpCall& call) {
  std::vector<EvalValue> parts;
  if (call[0].kind == EvalValue::Kind::List || call[0].kind == EvalValue::Kind::Tuple) {
    parts = call[0].items;
  } else {
    parts.push_back(call[0]);
  }
  if (!call[1].is_null()) parts.push_back(call[1]);
  if (parts.empty() || (!call[0].is_null() && parts.size() < 2 && call[0].is_tensor())) {
    return eval_error(Diag::RunNull, {call.name(1)});
  }
  for (const EvalValue& part : parts) {
    if (part.is_null()) return eval_error(Diag::RunNull, {call.name(0)});
    if (!part.is_tensor()) return call.wrong(0, "tensors");
  }
  const EvalTensor& first = *parts[0].tensor;
  AXON_TRY(size_t axis, call.axis(2, first.shape.size()));
  Shape shape = first.shape;
  DType dtype = first.dtype;
  for (size_t p = 1; p < parts.size(); ++p) {
    const EvalTensor& t = *parts[p].tensor;
    bool fits = t.shape.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) fits = d == axis || t.shape[d] == shape[d];
    if (!fits) {
      return shape_error("one part", show_shape(first.shape), "another", show_shape(t.shape));
    }
    shape[axis] += t.shape[axis];
    dtype = promote(dtype, t.dtype);
  }
  EvalTensor out = EvalTensor::make(dtype, shape);
  AxisView to = view_axis(shape, axis);
  int64_t base = 0;
  for (const EvalValue& part : parts) {
    const EvalTensor& t = *part.tensor;
    AxisView from = view_axis(t.shape, axis);
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t i = 0; i < from.extent; ++i) {
        for (int64_t k = 0; k < from.inner; ++k)
          out.copy(to.at(o, base + i, k), t, from.at(o, i, k));
      }
    }
    base += from.extent;
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_slice(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  AXON_TRY(int64_t start, call.integer(2));
  AXON_TRY(int64_t end, call.integer(3));
  if (start < 0 || start > end || end > x->shape[axis]) {
    return eval_error(Diag::RunIndex,
                      {std::to_string(start) + ".." + std::to_string(end), x->shape[axis]});
  }
  return EvalValue::of(slice_axis(*x, axis, start, end));
}

Result<EvalValue> eval_split(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  AXON_TRY(Shape sizes, call.integers(2));
  std::vector<EvalValue> pieces;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size < 0 || start + size > x->shape[axis]) break;
    pieces.push_back(EvalValue::of(slice_axis(*x, axis, start, start + size)));
    start += size;
  }
  if (start != x->shape[axis] || pieces.size() != sizes.size()) {
    return shape_error("the axis of " + call.name(0), std::to_string(x->shape[axis]), "the sizes",
                       show_shape(sizes));
  }
  return EvalValue::list(std::move(pieces));
}

Result<EvalValue> eval_chunk(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(size_t axis, call.axis(1, x->shape.size()));
  AXON_TRY(int64_t parts, call.integer(2));
  if (parts < 1) return call.wrong(2, "at least 1");
  int64_t extent = x->shape[axis], size = (extent + parts - 1) / parts;
  std::vector<EvalValue> pieces;
  for (int64_t start = 0; start < extent; start += size) {
    pieces.push_back(EvalValue::of(slice_axis(*x, axis, start, std::min(start + size, extent))));
  }
  for (; extent == 0 && parts > 0; --parts) pieces.push_back(EvalValue::of(*x));
  return EvalValue::list(std::move(pieces));
}

Result<EvalValue> eval_repeat(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(int64_t repeats, call.integer(1));
  AXON_TRY(size_t axis, call.axis(2, x->shape.size()));
  if (repeats < 0) return call.below_zero(1, std::to_string(repeats));
  AxisView view = view_axis(x->shape, axis);
  Shape shape = x->shape;
  shape[axis] *= repeats;
  EvalTensor out = EvalTensor::make(x->dtype, shape);
  int64_t n = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < shape[axis]; ++i) {
      for (int64_t k = 0; k < view.inner; ++k) out.copy(n++, *x, view.at(o, i / repeats, k));
    }
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_arange(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(int64_t start, call.integer(1));
  size_t rank = x->shape.size();
  int64_t end = rank == 0 ? 1 : x->shape[rank >= 3 ? rank - 2 : rank - 1];
  if (!call[2].is_null()) {
    AXON_TRY(end, call.integer(2));
  }
  if (end < start)
    return shape_error(call.name(2), std::to_string(end), call.name(1), std::to_string(start));
  int64_t count = 0;
  if (__builtin_sub_overflow(end, start, &count)) return call.wrong(2, "fewer numbers");
  EvalTensor out = EvalTensor::make(DType::I64, {count});
  for (int64_t i = start; i < end; ++i) out.set_int(i - start, i);
  return EvalValue::of(std::move(out));
}

// zeros, empty, full (ref, shape, …) and zeros_like, empty_like, fill (x, …). Unspecified contents
// are zeros here.
Result<EvalValue> eval_filled(const OpCall& call) {
  AXON_TRY(const EvalTensor* ref, call.tensor(0));
  Shape shape = ref->shape;
  DType dtype = ref->dtype;
  size_t value = 0, named = 0;
  switch (call.op) {
    case Op::Zeros:
    case Op::Empty:
      named = 2;
      break;
    case Op::Full:
      value = 2;
      named = 3;
      break;
    case Op::ZerosLike:
      break;
    case Op::EmptyLike:
      named = 1;
      break;
    case Op::Fill:
      value = 1;
      named = 2;
      break;
    default:
      AXON_UNREACHABLE("not a creation");
  }
  if (call.op == Op::Zeros || call.op == Op::Empty || call.op == Op::Full) {
    AXON_TRY(shape, call.sizes(1));
  }
  if (named != 0) {
    AXON_TRY(dtype, call.dtype(named, ref->dtype));
  }
  EvalTensor out = EvalTensor::make(dtype, shape);
  if (value != 0) {
    const EvalValue& v = call[value];
    if (v.is_null()) return eval_error(Diag::RunNull, {call.name(value)});
    bool one = v.is_tensor() && v.tensor->count() == 1;
    if (!v.is_scalar() && !one) return call.wrong(value, "a number");
    EvalTensor single =
        one ? *v.tensor : lift(v, v.kind == EvalValue::Kind::Float ? DType::F32 : DType::I64);
    for (int64_t i = 0; i < out.count(); ++i) out.copy(i, single, 0);
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_tensor_like(const OpCall& call) {
  AXON_TRY(const EvalTensor* ref, call.tensor(1));
  AXON_TRY(DType dtype, call.dtype(2, ref->dtype));
  const EvalValue& value = call[0];
  if (value.is_null()) return eval_error(Diag::RunNull, {call.name(0)});
  if (value.is_tensor()) return EvalValue::of(convert(*value.tensor, dtype));
  bool list = value.kind == EvalValue::Kind::List;
  if (!list && !value.is_scalar()) return call.wrong(0, "a tensor, a list or a number");
  EvalTensor out =
      EvalTensor::make(dtype, list ? Shape{static_cast<int64_t>(value.items.size())} : ref->shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    const EvalValue& item = list ? value.items[static_cast<size_t>(i)] : value;
    if (!item.is_scalar()) return call.wrong(0, "a list of numbers");
    if (item.kind == EvalValue::Kind::Int)
      out.set_int(i, item.integer);
    else
      out.set(i, item.as_double());
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_cast(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  if (call.op == Op::CastLike) {
    AXON_TRY(const EvalTensor* ref, call.tensor(1));
    return EvalValue::of(convert(*x, ref->dtype));
  }
  AXON_TRY(DType dtype, call.dtype(1, x->dtype));
  return EvalValue::of(convert(*x, dtype));
}

Result<EvalValue> eval_dtype_value(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  AXON_TRY(std::string kind, call.text(1));
  struct Facts {
    double max, eps, tiny;
  };
  Facts facts{};
  switch (x->dtype) {
    case DType::F32:
      facts = {3.4028234663852886e38, 1.1920928955078125e-07, 1.1754943508222875e-38};
      break;
    case DType::F16:
      facts = {65504.0, 0.0009765625, 6.103515625e-05};
      break;
    case DType::BF16:
      facts = {3.3895313892515355e38, 0.0078125, 1.1754943508222875e-38};
      break;
    default:
      return call.wrong(0, "a float tensor");
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (kind == "min") return EvalValue::of(-facts.max);
  if (kind == "max") return EvalValue::of(facts.max);
  if (kind == "eps") return EvalValue::of(facts.eps);
  if (kind == "tiny") return EvalValue::of(facts.tiny);
  if (kind == "inf") return EvalValue::of(kInf);
  if (kind == "-inf") return EvalValue::of(-kInf);
  return call.wrong(1, "min, max, eps, tiny, inf or -inf");
}

}  // namespace axon::graph
