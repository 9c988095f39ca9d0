// Checked arithmetic of whole numbers, and arithmetic of reals.
#include "support/arithmetic.h"

#include <cmath>

#include "support/check.h"

namespace axon {
namespace {

ArithFault power(int64_t base, int64_t exponent, int64_t& out) {
  out = 1;
  if (base == 1 || base == -1) {
    if (exponent % 2 != 0) out = base;
    return ArithFault::None;
  }
  if (exponent < 0) return ArithFault::NegativePower;
  if (base == 0) {
    out = exponent == 0;
    return ArithFault::None;
  }
  // Any other base overflows within 63 factors.
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(out, base, &out)) return ArithFault::Overflow;
  }
  return ArithFault::None;
}

ArithFault checked(bool overflows) { return overflows ? ArithFault::Overflow : ArithFault::None; }

}  // namespace

ArithFault whole_arithmetic(Arith op, int64_t a, int64_t b, int64_t& out) {
  switch (op) {
    case Arith::Add:
      return checked(__builtin_add_overflow(a, b, &out));
    case Arith::Sub:
      return checked(__builtin_sub_overflow(a, b, &out));
    case Arith::Mul:
      return checked(__builtin_mul_overflow(a, b, &out));
    case Arith::Pow:
      return power(a, b, out);
    case Arith::Div:
    case Arith::Mod:
      break;
  }
  if (b == 0) return ArithFault::DivideByZero;
  if (op == Arith::Div && b == -1 && a == INT64_MIN) return ArithFault::Overflow;
  out = op == Arith::Div ? floor_div(a, b) : floor_mod(a, b);
  return ArithFault::None;
}

double real_arithmetic(Arith op, double a, double b) {
  switch (op) {
    case Arith::Add:
      return a + b;
    case Arith::Sub:
      return a - b;
    case Arith::Mul:
      return a * b;
    case Arith::Div:
      return a / b;
    case Arith::Pow:
      return std::pow(a, b);
    case Arith::Mod: {
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
  AXON_UNREACHABLE("arithmetic");
}

}  // namespace axon
