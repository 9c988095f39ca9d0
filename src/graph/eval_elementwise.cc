// Unary functions, rounding, clamping, selection and activations.
#include <cmath>
#include <limits>

#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"

namespace axon::graph {
namespace {

using Kind = EvalValue::Kind;

// Applies a function of one real to each element, in double, rounded once to `dtype`.
template <class F>
EvalValue map(const EvalTensor& x, DType dtype, F&& f) {
  EvalTensor out = EvalTensor::make(dtype, x.shape);
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, f(x.get(i)));
  return EvalValue::of(std::move(out));
}

double unary(Op op, double x) {
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
    case Op::Sqrt:
      return std::sqrt(x);
    default:
      AXON_UNREACHABLE("not a unary function");
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double activation(Op op, double x) {
  switch (op) {
    case Op::ActivationsGelu:
      return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440));
    case Op::ActivationsGeluNew:
    case Op::ActivationsGeluPytorchTanh:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Op::ActivationsTanh:
      return std::tanh(x);
    case Op::ActivationsSigmoid:
      return sigmoid(x);
    case Op::ActivationsSilu:
      return x / (1 + std::exp(-x));
    case Op::ActivationsRelu:
      return x < 0 ? 0 : x;
    case Op::ActivationsRelu2:
      return x < 0 ? 0 : x * x;
    case Op::ActivationsSwiglu:
      return sigmoid(x) * x * x;
    default:
      AXON_UNREACHABLE("not an activation");
  }
}

Result<int64_t> to_integer(double value, std::string_view name) {
  if (!(std::fabs(value) < 9223372036854775808.0)) return eval_error(Diag::RunOverflow, {name});
  return static_cast<int64_t>(value);
}

// The one element of a tensor, or a scalar: what parameters of activations are given as.
Result<EvalTensor> as_tensor(const OpCall& call, size_t i, DType dtype) {
  if (call[i].is_tensor()) return convert(*call[i].tensor, dtype);
  AXON_TRY(double value, call.number(i));
  EvalTensor out = EvalTensor::make(dtype, {});
  out.set(0, value);
  return out;
}

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

}  // namespace

Result<EvalValue> eval_unary(const OpCall& call) {
  if (call[0].is_tensor()) {
    const EvalTensor& x = *call[0].tensor;
    DType dtype = x.real() ? x.dtype : DType::F32;
    return map(x, dtype, [&](double v) { return unary(call.op, v); });
  }
  AXON_TRY(double x, call.number(0));
  bool outside = (call.op == Op::Log && !(x > 0)) || (call.op == Op::Sqrt && !(x >= 0)) ||
                 (call.op == Op::Acos && !(std::fabs(x) <= 1));
  if (outside) {
    return eval_error(Diag::RunValue, {call.name(0) + " is " + show(call[0]) +
                                       ", outside of the function's domain"});
  }
  return EvalValue::of(unary(call.op, x));
}

Result<EvalValue> eval_rounding(const OpCall& call) {
  bool down = call.op == Op::Floor;
  auto f = [&](double v) { return down ? std::floor(v) : std::nearbyint(v); };
  if (call[0].is_tensor()) {
    const EvalTensor& x = *call[0].tensor;
    if (!x.real()) return call[0];
    return map(x, x.dtype, f);
  }
  if (call[0].kind == Kind::Int) return call[0];
  AXON_TRY(double x, call.number(0));
  AXON_TRY(int64_t value, to_integer(f(x), spelling(call.op)));
  return EvalValue::of(value);
}

Result<EvalValue> eval_clamp(const OpCall& call) {
  if (call[0].is_null()) return eval_error(Diag::RunNull, {call.name(0)});
  EvalValue out = call[0];
  for (size_t side = 1; side < 3; ++side) {
    if (call[side].is_null()) continue;
    auto beyond = [&](double v, double bound) { return side == 1 ? v < bound : v > bound; };
    if (!out.is_tensor()) {
      AXON_TRY(double bound, call.number(side));
      if (!out.is_number()) return call.wrong(0, "a number or a tensor");
      if (!beyond(out.as_double(), bound)) continue;
      bool integer = out.kind == Kind::Int;
      AXON_TRY(int64_t whole, integer ? to_integer(bound, "clamp") : Result<int64_t>(0));
      out = integer ? EvalValue::of(whole) : EvalValue::of(bound);
      continue;
    }
    EvalTensor x = *out.tensor;
    AXON_TRY(EvalTensor bounds, as_tensor(call, side, x.dtype));
    AXON_TRY(Shape shape, broadcast(x.shape, bounds.shape));
    auto at_x = broadcast_offsets(x.shape, shape), at_b = broadcast_offsets(bounds.shape, shape);
    EvalTensor result = EvalTensor::make(x.dtype, shape);
    for (size_t i = 0; i < at_x.size(); ++i) {
      double v = x.get(at_x[i]), bound = bounds.get(at_b[i]);
      bool replace = beyond(v, bound) || std::isnan(bound);
      result.copy(static_cast<int64_t>(i), replace ? bounds : x, replace ? at_b[i] : at_x[i]);
    }
    out = EvalValue::of(std::move(result));
  }
  return out;
}

Result<EvalValue> eval_where(const OpCall& call) {
  const EvalValue& cond = call[0];
  if (!cond.is_tensor()) {
    if (cond.kind != Kind::Bool && !cond.is_null()) return call.wrong(0, "a truth value");
    return cond.boolean ? call[1] : call[2];
  }
  for (size_t i = 1; i < 3; ++i) {
    if (call[i].is_null()) return eval_error(Diag::RunNull, {call.name(i)});
    if (!call[i].is_tensor() && !call[i].is_scalar()) return call.wrong(i, "a tensor or a number");
  }
  DType dtype = result_dtype(call[1], call[2]);
  EvalTensor x = call[1].is_tensor() ? *call[1].tensor : lift(call[1], dtype);
  EvalTensor y = call[2].is_tensor() ? *call[2].tensor : lift(call[2], dtype);
  AXON_TRY(Shape values, broadcast(x.shape, y.shape));
  AXON_TRY(Shape shape, broadcast(cond.tensor->shape, values));
  auto at_c = broadcast_offsets(cond.tensor->shape, shape);
  auto at_x = broadcast_offsets(x.shape, shape), at_y = broadcast_offsets(y.shape, shape);
  EvalTensor out = EvalTensor::make(dtype, shape);
  for (size_t i = 0; i < at_c.size(); ++i) {
    bool first = cond.tensor->get(at_c[i]) != 0;
    out.copy(static_cast<int64_t>(i), first ? x : y, first ? at_x[i] : at_y[i]);
  }
  return EvalValue::of(std::move(out));
}

// One vector of coordinates per axis; a single one for rank 1.
Result<EvalValue> eval_where_indices(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  std::vector<int64_t> strides = strides_of(x->shape);
  std::vector<std::vector<int64_t>> found(x->shape.size());
  for (int64_t i = 0; i < x->count(); ++i) {
    if (x->get(i) == 0) continue;
    for (size_t d = 0; d < found.size(); ++d) found[d].push_back(i / strides[d] % x->shape[d]);
  }
  std::vector<EvalValue> items;
  for (std::vector<int64_t>& coordinates : found) {
    EvalTensor out = EvalTensor::make(DType::I64, {static_cast<int64_t>(coordinates.size())});
    out.ints = std::move(coordinates);
    items.push_back(EvalValue::of(std::move(out)));
  }
  return items.size() == 1 ? items[0] : EvalValue::tuple(std::move(items));
}

Result<EvalValue> eval_activation(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  return map(*x, x->dtype, [&](double v) { return activation(call.op, v); });
}

// Even positions gate, odd ones carry the linear part: g·sigmoid(1.702 g)·(l + 1).
Result<EvalValue> eval_gegelu(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  if (x->shape.empty() || x->shape.back() % 2 != 0) {
    return eval_error(Diag::RunShape, {"the last axis of " + call.name(0),
                                       x->shape.empty() ? 0 : x->shape.back(), "it", "halved"});
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  double limit = kInf;
  if (!call[1].is_null()) {
    AXON_TRY(limit, call.number(1));
  }
  Shape shape = x->shape;
  shape.back() /= 2;
  EvalTensor out = EvalTensor::make(x->dtype, shape);
  for (int64_t i = 0; i < out.count(); ++i) {
    double g = x->get(2 * i), l = x->get(2 * i + 1);
    if (!std::isinf(g) && g > limit) g = limit;
    if (!std::isinf(l)) l = std::fmax(-limit, std::fmin(l, limit));
    out.set(i, g * sigmoid(1.702 * g) * (l + 1));
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> eval_xielu(const OpCall& call) {
  AXON_TRY(const EvalTensor* x, call.tensor(0));
  double constant[4];
  for (size_t i = 0; i < 4; ++i) {
    AXON_TRY(EvalTensor t, as_tensor(call, i + 1, x->dtype));
    if (t.count() != 1) return call.wrong(i + 1, "one element");
    constant[i] = t.get(0);
  }
  double beta = constant[2], eps = constant[3];
  double positive = softplus(constant[0]), negative = beta + softplus(constant[1]);
  return map(*x, x->dtype, [&](double v) {
    if (v > 0) return positive * v * v + beta * v;
    return (std::expm1(std::fmin(v, eps)) - v) * negative + beta * v;
  });
}

}  // namespace axon::graph
