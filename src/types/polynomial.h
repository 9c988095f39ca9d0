// Polynomials over opaque atoms with rational coefficients and integer (also negative) exponents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "types/rational.h"

namespace axon {

// atom^exponent; exponent is never 0.
struct Factor {
  int32_t atom = 0;
  int32_t exponent = 1;
  friend bool operator==(const Factor&, const Factor&) = default;
};
using Monomial = std::vector<Factor>;  // sorted by atom

struct Term {
  Monomial factors;
  Rational coefficient;  // never 0
  friend bool operator==(const Term&, const Term&) = default;
};

// Sum of terms, sorted by monomial, each monomial once; empty is 0.
struct Polynomial {
  std::vector<Term> terms;
  bool is_constant() const {
    return terms.empty() || (terms.size() == 1 && terms[0].factors.empty());
  }
  friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

// Results are empty when a coefficient overflows or the result has absurdly many terms.
using PolynomialResult = std::optional<Polynomial>;

Polynomial poly_integer(int64_t value);
Polynomial poly_atom(int32_t atom);
std::optional<Rational> poly_constant(const Polynomial& p);  // the value when it is one
bool poly_has_constant_term(const Polynomial& p);
PolynomialResult poly_add(const Polynomial& a, const Polynomial& b);
PolynomialResult poly_sub(const Polynomial& a, const Polynomial& b);
PolynomialResult poly_mul(const Polynomial& a, const Polynomial& b);
// a / b for a single term b (which may make exponents negative and coefficients fractions).
PolynomialResult poly_div_term(const Polynomial& a, const Term& b);
// a / b when the quotient is a polynomial with integer coefficients and no exponent below those of
// a.
PolynomialResult poly_div_exact(const Polynomial& a, const Polynomial& b);
// The cofactor of atom^1, when the atom occurs with exponent 1 only; `rest` gets the other terms.
PolynomialResult poly_cofactor(const Polynomial& p, int32_t atom, Polynomial& rest);
size_t poly_hash(const Polynomial& p);

}  // namespace axon
