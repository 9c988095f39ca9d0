// Arithmetic on single numbers, the one meaning of it that all stages and the runtime share.
#pragma once

#include <cstdint>

namespace axon {

enum class Arith : uint8_t { Add, Sub, Mul, Div, Mod, Pow };
enum class Order : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
enum class ArithFault : uint8_t { None, Overflow, DivideByZero, NegativePower };

// Quotient rounded down, and the remainder with the divisor's sign; b is not 0. The one quotient
// that is no number is the greatest there is.
inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Of whole numbers: Div rounds down, Mod has the divisor's sign; nothing wraps around. `out` is set
// where there is no fault.
ArithFault whole_arithmetic(Arith op, int64_t a, int64_t b, int64_t& out);
// Of reals: Mod has the divisor's sign, faults are infinities and NaN.
double real_arithmetic(Arith op, double a, double b);

template <class T>
constexpr bool holds(Order order, const T& a, const T& b) {
  switch (order) {
    case Order::Eq:
      return a == b;
    case Order::Ne:
      return a != b;
    case Order::Lt:
      return a < b;
    case Order::Le:
      return a <= b;
    case Order::Gt:
      return a > b;
    case Order::Ge:
      break;
  }
  return a >= b;
}

}  // namespace axon
