// Shape queries, layout and creation of tensors. Layout is a view wherever strides can say it.
#include <algorithm>
#include <limits>
#include <optional>

#include "runtime/general/apply.h"

namespace axon::runtime {
namespace {

Error shape_error(const std::string& what, const Shape& is, const std::string& other,
                  const Shape& needs) {
  return run_error(Diag::RunShape, {what, show_shape(is), other, show_shape(needs)});
}

Result<TensorPtr> reshaped(Eager& eager, const TensorPtr& x, const Shape& shape) {
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    auto refused = eager.make(x->dtype(), shape);
    if (!refused) return refused.error();
  }
  AXON_TRY(TensorPtr dense, eager.fit(x, Layout::Dense));
  View view = dense->view;
  view.rank = static_cast<int8_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
  set_contiguous(view);
  return Eager::viewed(dense, view);
}

Datum permuted(const TensorPtr& x, const std::vector<size_t>& order) {
  View view = x->view;
  for (size_t a = 0; a < order.size(); ++a) {
    view.shape[a] = x->view.shape[order[a]];
    view.stride[a] = x->view.stride[order[a]];
  }
  return Datum::of(Eager::viewed(x, view));
}

Result<void> check_range(int64_t start, int64_t end, int64_t extent) {
  if (start >= 0 && start <= end && end <= extent) return {};
  return run_error(Diag::RunIndex, {std::to_string(start) + ".." + std::to_string(end), extent});
}

// What the expanded form of a new shape is; nothing when the old one does not fit.
std::optional<Shape> expansion(const Shape& from, Shape shape) {
  if (shape.size() < from.size()) return std::nullopt;
  for (size_t i = 1; i <= shape.size(); ++i) {
    int64_t& to = shape[shape.size() - i];
    const bool old = i <= from.size();
    const int64_t extent = old ? from[from.size() - i] : 1;
    if (to == -1 && old) to = extent;
    if (to < 0 || (extent != 1 && extent != to)) return std::nullopt;
  }
  return shape;
}

}  // namespace

Result<Datum> apply_shape(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  std::vector<Datum> items;
  for (int64_t extent : x->shape()) items.push_back(Datum::of(extent));
  return Datum::list(std::move(items));
}

Result<Datum> apply_tensor_size(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const size_t axis, call.axis(1, x->shape().size()));
  return Datum::of(x->view.shape[axis]);
}

Result<Datum> apply_reshape(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
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
  const bool negative =
      std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
  if (shape.empty() || negative || count_of(shape) != x->count())
    return shape_error(call.name(0), x->shape(), "its new shape", shape);
  AXON_TRY(TensorPtr out, reshaped(call.eager, x, shape));
  return Datum::of(std::move(out));
}

Result<Datum> apply_permute(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const Shape dims, call.integers(1));
  const auto rank = static_cast<int64_t>(x->view.rank);
  std::vector<size_t> order;
  for (int64_t d : dims) {
    const auto axis = static_cast<size_t>(d < 0 ? d + rank : d);
    const bool again = std::find(order.begin(), order.end(), axis) != order.end();
    if (axis >= static_cast<size_t>(rank) || again)
      return call.wrong(1, "a permutation of the axes");
    order.push_back(axis);
  }
  if (order.size() != static_cast<size_t>(rank)) return call.wrong(1, "a permutation of the axes");
  return permuted(x, order);
}

Result<Datum> apply_transpose(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  const auto rank = static_cast<size_t>(x->view.rank);
  AXON_TRY(const size_t a, call.axis(1, rank));
  AXON_TRY(const size_t b, call.axis(2, rank));
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = i;
  std::swap(order[a], order[b]);
  return permuted(x, order);
}

Result<Datum> apply_unsqueeze(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  Shape shape = x->shape();
  AXON_TRY(const size_t axis, call.axis(1, shape.size() + 1));
  if (shape.size() == static_cast<size_t>(kMaxRank)) {
    shape.insert(shape.begin(), 1);
    AXON_TRY(TensorPtr refused, call.eager.make(x->dtype(), shape));
  }
  View view = x->view;
  for (size_t a = static_cast<size_t>(view.rank); a > axis; --a) {
    view.shape[a] = view.shape[a - 1];
    view.stride[a] = view.stride[a - 1];
  }
  view.shape[axis] = 1;
  view.stride[axis] = 0;
  ++view.rank;
  return Datum::of(Eager::viewed(x, view));
}

Result<Datum> apply_expand(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const Shape wanted, call.integers(1));
  const std::optional<Shape> shape = expansion(x->shape(), wanted);
  if (!shape) return shape_error(call.name(0), x->shape(), "its new shape", wanted);
  if (shape->size() > static_cast<size_t>(kMaxRank)) {
    AXON_TRY(TensorPtr refused, call.eager.make(x->dtype(), *shape));
  }
  return Datum::of(Eager::expanded(x, *shape));
}

// Two tensors, or one list of tensors.
Result<Datum> apply_concat(const OpCall& call) {
  std::vector<Datum> parts;
  if (call[0].is_sequence())
    parts = *call[0].items;
  else
    parts.push_back(call[0]);
  if (!call[1].is_null()) parts.push_back(call[1]);
  if (parts.empty() || (call[0].is_tensor() && parts.size() < 2))
    return run_error(Diag::RunNull, {call.name(1)});
  for (const Datum& part : parts) {
    if (part.is_null()) return run_error(Diag::RunNull, {call.name(0)});
    if (!part.is_tensor()) return call.wrong(0, "tensors");
  }
  const Shape first = parts[0].tensor->shape();
  AXON_TRY(const size_t axis, call.axis(2, first.size()));
  Shape shape = first;
  DType dtype = parts[0].tensor->dtype();
  for (size_t p = 1; p < parts.size(); ++p) {
    const Shape other = parts[p].tensor->shape();
    bool fits = other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) fits = d == axis || other[d] == shape[d];
    if (!fits) return shape_error("one part", first, "another", other);
    shape[axis] += other[axis];
    dtype = promote(dtype, parts[p].tensor->dtype());
  }
  AXON_TRY(TensorPtr out, call.eager.make(dtype, shape));
  int64_t from = 0;
  for (const Datum& part : parts) {
    const int64_t extent = part.tensor->view.shape[axis];
    AXON_TRY_VOID(call.eager.run(Operation::Copy, {part.tensor},
                                 {Eager::sliced(out, axis, from, from + extent)}, {}));
    from += extent;
  }
  return Datum::of(std::move(out));
}

Result<Datum> apply_slice(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const size_t axis, call.axis(1, x->shape().size()));
  AXON_TRY(const int64_t start, call.integer(2));
  AXON_TRY(const int64_t end, call.integer(3));
  AXON_TRY_VOID(check_range(start, end, x->view.shape[axis]));
  return Datum::of(Eager::sliced(x, axis, start, end));
}

Result<Datum> apply_split(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const size_t axis, call.axis(1, x->shape().size()));
  AXON_TRY(const Shape sizes, call.integers(2));
  const int64_t extent = x->view.shape[axis];
  std::vector<Datum> pieces;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > extent - start) break;
    pieces.push_back(Datum::of(Eager::sliced(x, axis, start, start + size)));
    start += size;
  }
  if (start != extent || pieces.size() != sizes.size()) {
    return run_error(Diag::RunShape, {"the axis of " + call.name(0), std::to_string(extent),
                                      "the sizes", show_shape(sizes)});
  }
  return Datum::list(std::move(pieces));
}

Result<Datum> apply_chunk(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const size_t axis, call.axis(1, x->shape().size()));
  AXON_TRY(const int64_t parts, call.integer(2));
  if (parts < 1) return call.wrong(2, "at least 1");
  const int64_t extent = x->view.shape[axis];
  const int64_t size = extent / parts + (extent % parts != 0 ? 1 : 0);
  std::vector<Datum> pieces;
  for (int64_t start = 0; start < extent; start += size)
    pieces.push_back(Datum::of(Eager::sliced(x, axis, start, std::min(start + size, extent))));
  for (int64_t i = 0; extent == 0 && i < parts; ++i) pieces.push_back(Datum::of(x));
  return Datum::list(std::move(pieces));
}

Result<Datum> apply_repeat(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const int64_t repeats, call.integer(1));
  Shape shape = x->shape();
  AXON_TRY(const size_t axis, call.axis(2, shape.size()));
  if (repeats < 0) return call.below_zero(1, std::to_string(repeats));
  if (__builtin_mul_overflow(shape[axis], repeats, &shape[axis]))
    return run_error(Diag::RunOverflow, {"repeat"});
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), shape));
  AXON_TRY_VOID(
      call.eager.run(Operation::RepeatAxis, {x}, {out},
                     {Param{"axis", static_cast<int64_t>(axis)}, Param{"repeats", repeats}}));
  return Datum::of(std::move(out));
}

Result<Datum> apply_arange(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const int64_t start, call.integer(1));
  const Shape shape = x->shape();
  const size_t rank = shape.size();
  int64_t end = rank == 0 ? 1 : shape[rank >= 3 ? rank - 2 : rank - 1];
  if (!call[2].is_null()) {
    AXON_TRY(end, call.integer(2));
  }
  if (end < start) return run_error(Diag::RunShape, {call.name(2), end, call.name(1), start});
  int64_t count = 0;
  if (__builtin_sub_overflow(end, start, &count)) return call.wrong(2, "fewer numbers");
  AXON_TRY(TensorPtr out, call.eager.make(DType::I64, {count}));
  AXON_TRY_VOID(call.eager.run(Operation::Arange, {}, {out}, {Param{"start", start}}));
  return Datum::of(std::move(out));
}

// zeros, empty, full (ref, shape, …) and zeros_like, empty_like, fill (x, …). Unspecified contents
// are zeros.
Result<Datum> apply_filled(const OpCall& call) {
  AXON_TRY(const TensorPtr ref, call.tensor(0));
  const bool shaped = call.op == Op::Zeros || call.op == Op::Empty || call.op == Op::Full;
  const size_t value = call.op == Op::Full ? 2 : call.op == Op::Fill ? 1 : 0;
  const size_t named = call.op == Op::ZerosLike   ? 0
                       : call.op == Op::EmptyLike ? 1
                       : call.op == Op::Full      ? 3
                                                  : 2;
  Shape shape = ref->shape();
  if (shaped) {
    AXON_TRY(shape, call.sizes(1));
  }
  DType dtype = ref->dtype();
  if (named != 0) {
    AXON_TRY(dtype, call.dtype(named, dtype));
  }
  Datum number = Datum::of(int64_t{0});
  if (value != 0) {
    number = call[value];
    if (number.is_null()) return run_error(Diag::RunNull, {call.name(value)});
    if (number.is_tensor() && number.tensor->count() == 1) {
      const Tensor& one = *number.tensor;
      number = one.real() ? Datum::of(one.get(0)) : Datum::of(one.get_int(0));
    }
    if (!number.is_scalar()) return call.wrong(value, "a number");
  }
  AXON_TRY(TensorPtr out, call.eager.filled(dtype, shape, number));
  return Datum::of(std::move(out));
}

Result<Datum> apply_tensor_like(const OpCall& call) {
  AXON_TRY(const TensorPtr ref, call.tensor(1));
  AXON_TRY(const DType dtype, call.dtype(2, ref->dtype()));
  const Datum& value = call[0];
  if (value.is_null()) return run_error(Diag::RunNull, {call.name(0)});
  TensorPtr out;
  if (value.is_tensor()) {
    AXON_TRY(out, call.eager.converted(value.tensor, dtype));
  } else if (value.is_scalar()) {
    AXON_TRY(out, call.eager.filled(dtype, ref->shape(), value));
  } else if (value.kind == Datum::Kind::List) {
    AXON_TRY(out, call.eager.make(dtype, {static_cast<int64_t>(value.size())}));
    for (size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_scalar()) return call.wrong(0, "a list of numbers");
      const auto at = static_cast<int64_t>(i);
      if (value[i].kind == Datum::Kind::Int)
        out->set_int(at, value[i].integer);
      else
        out->set(at, value[i].as_double());
    }
  } else {
    return call.wrong(0, "a tensor, a list or a number");
  }
  return Datum::of(std::move(out));
}

Result<Datum> apply_cast(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  DType dtype = x->dtype();
  if (call.op == Op::CastLike) {
    AXON_TRY(const TensorPtr ref, call.tensor(1));
    dtype = ref->dtype();
  } else {
    AXON_TRY(dtype, call.dtype(1, dtype));
  }
  AXON_TRY(TensorPtr out, call.eager.converted(x, dtype));
  return Datum::of(std::move(out));
}

Result<Datum> apply_dtype_value(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  AXON_TRY(const std::string kind, call.text(1));
  struct Facts {
    double max, eps, tiny;
  };
  Facts facts{};
  switch (x->dtype()) {
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
  if (kind == "min") return Datum::of(-facts.max);
  if (kind == "max") return Datum::of(facts.max);
  if (kind == "eps") return Datum::of(facts.eps);
  if (kind == "tiny") return Datum::of(facts.tiny);
  if (kind == "inf") return Datum::of(kInf);
  if (kind == "-inf") return Datum::of(-kInf);
  return call.wrong(1, "min, max, eps, tiny, inf or -inf");
}

}  // namespace axon::runtime
