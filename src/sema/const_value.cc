// Arithmetic on known scalar values (language.md 9.3, 9.5).
#include "sema/const_eval.h"
#include "support/arithmetic.h"

namespace axon::sema {

using syntax::BinaryOp;
using Kind = ConstValue::Kind;

ConstValue ConstValue::of(bool v) {
  ConstValue out;
  out.kind = Kind::Bool;
  out.boolean = v;
  return out;
}
ConstValue ConstValue::of(int64_t v) {
  ConstValue out;
  out.kind = Kind::Int;
  out.integer = v;
  return out;
}
ConstValue ConstValue::of(double v) {
  ConstValue out;
  out.kind = Kind::Float;
  out.number = v;
  return out;
}
ConstValue ConstValue::of(std::string v) {
  ConstValue out;
  out.kind = Kind::String;
  out.text = std::move(v);
  return out;
}

namespace {

bool is_number(const ConstValue& v) { return v.kind == Kind::Int || v.kind == Kind::Float; }
double as_double(const ConstValue& v) {
  return v.kind == Kind::Int ? static_cast<double>(v.integer) : v.number;
}

std::optional<Arith> arith_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return Arith::Add;
    case BinaryOp::Sub:
      return Arith::Sub;
    case BinaryOp::Mul:
      return Arith::Mul;
    case BinaryOp::Div:
      return Arith::Div;
    case BinaryOp::Mod:
      return Arith::Mod;
    default:
      return {};
  }
}

std::optional<Order> order_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return Order::Lt;
    case BinaryOp::Le:
      return Order::Le;
    case BinaryOp::Gt:
      return Order::Gt;
    case BinaryOp::Ge:
      return Order::Ge;
    default:
      return {};
  }
}

std::optional<bool> compare_equal(const ConstValue& a, const ConstValue& b) {
  if (a.kind == Kind::Null || b.kind == Kind::Null) return a.kind == b.kind;
  if (a.kind == Kind::Int && b.kind == Kind::Int) return a.integer == b.integer;
  if (is_number(a) && is_number(b)) return as_double(a) == as_double(b);
  if (a.kind != b.kind) return {};
  if (a.kind == Kind::Bool) return a.boolean == b.boolean;
  if (a.kind == Kind::String || a.kind == Kind::Path) return a.text == b.text;
  return {};
}

std::optional<bool> compare_order(BinaryOp op, const ConstValue& a, const ConstValue& b) {
  std::optional<Order> order = order_of(op);
  if (!order || !is_number(a) || !is_number(b)) return {};
  if (a.kind == Kind::Int && b.kind == Kind::Int) return holds(*order, a.integer, b.integer);
  return holds(*order, as_double(a), as_double(b));
}

// Nothing where the numbers have no result: that is said where the program runs.
std::optional<ConstValue> arithmetic(Arith op, const ConstValue& a, const ConstValue& b) {
  if (op == Arith::Add && a.kind == Kind::String && b.kind == Kind::String) {
    return ConstValue::of(a.text + b.text);
  }
  if (op == Arith::Add && a.kind == Kind::Null) return b;
  if ((op == Arith::Add || op == Arith::Sub) && b.kind == Kind::Null) return a;
  if (!is_number(a) || !is_number(b)) return {};
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    int64_t out = 0;
    if (whole_arithmetic(op, a.integer, b.integer, out) != ArithFault::None) return {};
    return ConstValue::of(out);
  }
  bool divides = op == Arith::Div || op == Arith::Mod;
  if (divides && as_double(b) == 0) return {};
  return ConstValue::of(real_arithmetic(op, as_double(a), as_double(b)));
}

}  // namespace

std::optional<ConstValue> binary_value(BinaryOp op, const ConstValue& a, const ConstValue& b) {
  auto truth = [](std::optional<bool> value) -> std::optional<ConstValue> {
    if (!value) return {};
    return ConstValue::of(*value);
  };
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return arithmetic(*arith_of(op), a, b);
    case BinaryOp::Eq:
      return truth(compare_equal(a, b));
    case BinaryOp::Ne: {
      auto equal = compare_equal(a, b);
      if (!equal) return {};
      return ConstValue::of(!*equal);
    }
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return truth(compare_order(op, a, b));
    case BinaryOp::And:
    case BinaryOp::Or: {
      if (a.kind != Kind::Bool || b.kind != Kind::Bool) return {};
      return ConstValue::of(op == BinaryOp::And ? a.boolean && b.boolean : a.boolean || b.boolean);
    }
  }
  return {};
}

}  // namespace axon::sema
