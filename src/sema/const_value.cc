// Arithmetic on known scalar values (language.md 9.3, 9.5).
#include <cmath>

#include "sema/const_eval.h"

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

std::optional<ConstValue> int_arithmetic(BinaryOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case BinaryOp::Add:
      if (__builtin_add_overflow(a, b, &out)) return {};
      return ConstValue::of(out);
    case BinaryOp::Sub:
      if (__builtin_sub_overflow(a, b, &out)) return {};
      return ConstValue::of(out);
    case BinaryOp::Mul:
      if (__builtin_mul_overflow(a, b, &out)) return {};
      return ConstValue::of(out);
    case BinaryOp::Div:
    case BinaryOp::Mod: {
      if (b == 0 || (b == -1 && a == INT64_MIN)) return {};
      int64_t quotient = a / b, rest = a % b;
      if (rest != 0 && (rest < 0) != (b < 0)) {
        --quotient;
        rest += b;
      }
      return ConstValue::of(op == BinaryOp::Div ? quotient : rest);
    }
    default:
      return {};
  }
}

std::optional<ConstValue> float_arithmetic(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return ConstValue::of(a + b);
    case BinaryOp::Sub:
      return ConstValue::of(a - b);
    case BinaryOp::Mul:
      return ConstValue::of(a * b);
    case BinaryOp::Div:
      if (b == 0) return {};
      return ConstValue::of(a / b);
    case BinaryOp::Mod: {
      if (b == 0) return {};
      double rest = std::fmod(a, b);
      return ConstValue::of(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
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
  if (!is_number(a) || !is_number(b)) return {};
  int order = 0;
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    order = a.integer < b.integer ? -1 : a.integer > b.integer;
  } else {
    double x = as_double(a), y = as_double(b);
    if (std::isnan(x) || std::isnan(y)) return false;
    order = x < y ? -1 : x > y;
  }
  switch (op) {
    case BinaryOp::Lt:
      return order < 0;
    case BinaryOp::Le:
      return order <= 0;
    case BinaryOp::Gt:
      return order > 0;
    case BinaryOp::Ge:
      return order >= 0;
    default:
      return {};
  }
}

std::optional<ConstValue> arithmetic(BinaryOp op, const ConstValue& a, const ConstValue& b) {
  if (op == BinaryOp::Add && a.kind == Kind::String && b.kind == Kind::String) {
    return ConstValue::of(a.text + b.text);
  }
  if (op == BinaryOp::Add && a.kind == Kind::Null) return b;
  if ((op == BinaryOp::Add || op == BinaryOp::Sub) && b.kind == Kind::Null) return a;
  if (!is_number(a) || !is_number(b)) return {};
  if (a.kind == Kind::Int && b.kind == Kind::Int) return int_arithmetic(op, a.integer, b.integer);
  return float_arithmetic(op, as_double(a), as_double(b));
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
      return arithmetic(op, a, b);
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
