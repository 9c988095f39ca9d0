// Exact fractions of 64-bit integers; every operation reports overflow instead of wrapping.
#pragma once

#include <cstdint>
#include <optional>

namespace axon {

struct Rational {
  int64_t num = 0;
  int64_t den = 1;  // > 0, no common factor with num
  bool is_integer() const { return den == 1; }
  friend bool operator==(const Rational&, const Rational&) = default;
};

inline std::optional<Rational> make_rational(__int128 num, __int128 den) {
  if (den == 0) return {};
  if (den < 0) {
    num = -num;
    den = -den;
  }
  __int128 a = num < 0 ? -num : num;
  __int128 b = den;
  while (b != 0) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  if (a > 1) {
    num /= a;
    den /= a;
  }
  constexpr __int128 kMax = INT64_MAX;
  if (num > kMax || num < -kMax || den > kMax) return {};
  return Rational{static_cast<int64_t>(num), static_cast<int64_t>(den)};
}

inline std::optional<Rational> add(Rational a, Rational b) {
  return make_rational(static_cast<__int128>(a.num) * b.den + static_cast<__int128>(b.num) * a.den,
                       static_cast<__int128>(a.den) * b.den);
}
inline std::optional<Rational> mul(Rational a, Rational b) {
  return make_rational(static_cast<__int128>(a.num) * b.num, static_cast<__int128>(a.den) * b.den);
}
inline std::optional<Rational> div(Rational a, Rational b) {
  return make_rational(static_cast<__int128>(a.num) * b.den, static_cast<__int128>(a.den) * b.num);
}

}  // namespace axon
