// Unary functions, rounding, clamping, selection and activations.
#include <cmath>

#include "runtime/general/apply.h"

namespace axon::runtime {
namespace {

using Kind = Datum::Kind;

UnaryCode unary_code(Op op) {
  switch (op) {
    case Op::Exp:
      return UnaryCode::Exp;
    case Op::Log:
      return UnaryCode::Log;
    case Op::Sin:
      return UnaryCode::Sin;
    case Op::Cos:
      return UnaryCode::Cos;
    case Op::Acos:
      return UnaryCode::Acos;
    case Op::Sqrt:
      return UnaryCode::Sqrt;
    case Op::Floor:
      return UnaryCode::Floor;
    case Op::Round:
      return UnaryCode::Round;
    case Op::ActivationsGelu:
      return UnaryCode::Gelu;
    case Op::ActivationsGeluNew:
    case Op::ActivationsGeluPytorchTanh:
      return UnaryCode::GeluTanh;
    case Op::ActivationsTanh:
      return UnaryCode::Tanh;
    case Op::ActivationsSigmoid:
      return UnaryCode::Sigmoid;
    case Op::ActivationsRelu:
      return UnaryCode::Relu;
    case Op::ActivationsRelu2:
      return UnaryCode::Relu2;
    case Op::ActivationsSilu:
    case Op::ActivationsSwiglu:
      return UnaryCode::Silu;
    default:
      AXON_UNREACHABLE("not a unary operation");
  }
}

double scalar_unary(Op op, double x) {
  switch (op) {
    case Op::Exp:
      return std::exp(x);
    case Op::Log:
      return std::log(x);
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Acos:
      return std::acos(x);
    default:
      return std::sqrt(x);
  }
}

Result<TensorPtr> run_unary(Eager& eager, UnaryCode code, const TensorPtr& x, DType dtype) {
  AXON_TRY(TensorPtr out, eager.make(dtype, x->shape()));
  AXON_TRY_VOID(
      eager.run(Operation::Unary, {x}, {out}, {Param{"code", static_cast<int64_t>(code)}}));
  return out;
}

Result<TensorPtr> run_binary(Eager& eager, BinaryCode code, const TensorPtr& a, const TensorPtr& b,
                             DType dtype) {
  AXON_TRY(const Shape shape, broadcast(a->shape(), b->shape()));
  AXON_TRY(TensorPtr out, eager.make(dtype, shape));
  AXON_TRY_VOID(eager.run(Operation::Binary, {Eager::expanded(a, shape), Eager::expanded(b, shape)},
                          {out}, {Param{"code", static_cast<int64_t>(code)}}));
  return out;
}

Result<int64_t> to_integer(double value, std::string_view name) {
  if (!(std::fabs(value) < 9223372036854775808.0)) return run_error(Diag::RunOverflow, {name});
  return static_cast<int64_t>(value);
}

}  // namespace

Result<TensorPtr> as_tensor(const OpCall& call, size_t i, DType dtype) {
  if (call[i].is_tensor()) return call.eager.converted(call[i].tensor, dtype);
  if (!call[i].is_scalar()) return call.wrong(i, "a tensor or a number");
  return call.eager.number(dtype, call[i]);
}

Result<Datum> apply_unary(const OpCall& call) {
  if (call[0].is_tensor()) {
    const TensorPtr& x = call[0].tensor;
    AXON_TRY(TensorPtr out,
             run_unary(call.eager, unary_code(call.op), x, x->real() ? x->dtype() : DType::F32));
    return Datum::of(std::move(out));
  }
  AXON_TRY(const double x, call.number(0));
  const bool outside = (call.op == Op::Log && !(x > 0)) || (call.op == Op::Sqrt && !(x >= 0)) ||
                       (call.op == Op::Acos && !(std::fabs(x) <= 1));
  if (outside) {
    return run_error(Diag::RunValue, {call.name(0) + " is " + show(call[0]) +
                                      ", outside of the function's domain"});
  }
  return Datum::of(scalar_unary(call.op, x));
}

Result<Datum> apply_rounding(const OpCall& call) {
  if (call[0].is_tensor()) {
    const TensorPtr& x = call[0].tensor;
    if (!x->real()) return call[0];
    AXON_TRY(TensorPtr out, run_unary(call.eager, unary_code(call.op), x, x->dtype()));
    return Datum::of(std::move(out));
  }
  if (call[0].kind == Kind::Int) return call[0];
  AXON_TRY(const double x, call.number(0));
  AXON_TRY(const int64_t value,
           to_integer(call.op == Op::Floor ? std::floor(x) : std::nearbyint(x), spelling(call.op)));
  return Datum::of(value);
}

Result<Datum> apply_clamp(const OpCall& call) {
  if (call[0].is_null()) return run_error(Diag::RunNull, {call.name(0)});
  Datum out = call[0];
  for (size_t side = 1; side < 3; ++side) {
    if (call[side].is_null()) continue;
    if (out.is_tensor()) {
      AXON_TRY(TensorPtr bound, as_tensor(call, side, out.tensor->dtype()));
      const BinaryCode code = side == 1 ? BinaryCode::Max : BinaryCode::Min;
      AXON_TRY(out.tensor, run_binary(call.eager, code, out.tensor, bound, out.tensor->dtype()));
      continue;
    }
    AXON_TRY(const double bound, call.number(side));
    if (!out.is_number()) return call.wrong(0, "a number or a tensor");
    const double v = out.as_double();
    if (side == 1 ? !(v < bound) : !(v > bound)) continue;
    if (out.kind == Kind::Int) {
      AXON_TRY(const int64_t whole, to_integer(bound, "clamp"));
      out = Datum::of(whole);
    } else {
      out = Datum::of(bound);
    }
  }
  return out;
}

Result<Datum> apply_where(const OpCall& call) {
  const Datum& cond = call[0];
  if (!cond.is_tensor()) {
    if (cond.kind != Kind::Bool && !cond.is_null()) return call.wrong(0, "a truth value");
    return call[cond.truth ? 1 : 2];
  }
  for (size_t i = 1; i < 3; ++i) {
    if (call[i].is_null()) return run_error(Diag::RunNull, {call.name(i)});
    if (!call[i].is_tensor() && !call[i].is_scalar()) return call.wrong(i, "a tensor or a number");
  }
  const DType dtype = result_dtype(call[1], call[2]);
  AXON_TRY(TensorPtr x, as_tensor(call, 1, dtype));
  AXON_TRY(TensorPtr y, as_tensor(call, 2, dtype));
  AXON_TRY(TensorPtr c, call.eager.converted(cond.tensor, DType::Bool));
  AXON_TRY(const Shape values, broadcast(x->shape(), y->shape()));
  AXON_TRY(const Shape shape, broadcast(c->shape(), values));
  AXON_TRY(TensorPtr out, call.eager.make(dtype, shape));
  AXON_TRY_VOID(call.eager.run(
      Operation::Where,
      {Eager::expanded(c, shape), Eager::expanded(x, shape), Eager::expanded(y, shape)}, {out},
      {}));
  return Datum::of(std::move(out));
}

// One vector of coordinates per axis; a single one for rank 1.
Result<Datum> apply_where_indices(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x->count(); ++i) {
    if (x->real() ? x->get(i) != 0 : x->get_int(i) != 0) found.push_back(i);
  }
  std::vector<Datum> items(static_cast<size_t>(x->view.rank));
  int64_t step = 1;
  for (size_t a = items.size(); a-- > 0;) {
    const int64_t extent = x->view.shape[a];
    AXON_TRY(TensorPtr out, call.eager.make(DType::I64, {static_cast<int64_t>(found.size())}));
    for (size_t i = 0; i < found.size(); ++i)
      out->set_int(static_cast<int64_t>(i), found[i] / step % extent);
    items[a] = Datum::of(std::move(out));
    step *= std::max<int64_t>(extent, 1);
  }
  return items.size() == 1 ? items[0] : Datum::tuple(std::move(items));
}

Result<Datum> apply_activation(const OpCall& call) {
  AXON_TRY(TensorPtr x, call.tensor(0));
  const DType dtype = x->dtype();
  if (call.op != Op::ActivationsSwiglu) {
    AXON_TRY(TensorPtr out, run_unary(call.eager, unary_code(call.op), x, dtype));
    return Datum::of(std::move(out));
  }
  AXON_TRY(TensorPtr gate, run_unary(call.eager, UnaryCode::Silu, x, DType::F32));
  AXON_TRY(TensorPtr out, run_binary(call.eager, BinaryCode::Mul, gate, x, dtype));
  return Datum::of(std::move(out));
}

Result<Datum> apply_gegelu(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  Shape shape = x->shape();
  if (shape.empty() || shape.back() % 2 != 0) {
    return run_error(Diag::RunShape, {"the last axis of " + call.name(0),
                                      shape.empty() ? 0 : shape.back(), "it", "halved"});
  }
  shape.back() /= 2;
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), shape));
  if (call[1].is_null()) {
    AXON_TRY_VOID(call.eager.run(Operation::Gegelu, {x}, {out}, {}));
  } else {
    AXON_TRY(const double limit, call.number(1));
    AXON_TRY_VOID(call.eager.run(Operation::Gegelu, {x}, {out}, {Param{"limit", limit}}));
  }
  return Datum::of(std::move(out));
}

Result<Datum> apply_xielu(const OpCall& call) {
  AXON_TRY(const TensorPtr x, call.tensor(0));
  std::vector<TensorPtr> operands = {x};
  for (size_t i = 1; i < 5; ++i) {
    AXON_TRY(TensorPtr t, as_tensor(call, i, x->dtype()));
    if (t->count() != 1) return call.wrong(i, "one element");
    AXON_TRY(t, call.eager.fit(t, Layout::Dense));
    View view = t->view;
    view.rank = 0;
    operands.push_back(Eager::viewed(t, view));
  }
  AXON_TRY(TensorPtr out, call.eager.make(x->dtype(), x->shape()));
  AXON_TRY_VOID(call.eager.run(Operation::Xielu, std::move(operands), {out}, {}));
  return Datum::of(std::move(out));
}

}  // namespace axon::runtime
