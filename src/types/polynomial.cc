// Arithmetic of polynomials over opaque atoms.
#include "types/polynomial.h"

#include <algorithm>

#include "support/ids.h"

namespace axon {
namespace {

constexpr size_t kMaxTerms = 128;

// A monomial order that is compatible with multiplication: at the first atom in which two
// monomials differ, the higher exponent comes first.
int compare(const Monomial& a, const Monomial& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].atom < b[j].atom)) return a[i].exponent > 0 ? -1 : 1;
    if (i == a.size() || b[j].atom < a[i].atom) return b[j].exponent > 0 ? 1 : -1;
    if (a[i].exponent != b[j].exponent) return a[i].exponent > b[j].exponent ? -1 : 1;
    ++i;
    ++j;
  }
  return 0;
}

Monomial multiply(const Monomial& a, const Monomial& b, int sign) {
  Monomial out;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].atom < b[j].atom)) {
      out.push_back(a[i++]);
    } else if (i == a.size() || b[j].atom < a[i].atom) {
      out.push_back({b[j].atom, sign * b[j].exponent});
      ++j;
    } else {
      int32_t exponent = a[i].exponent + sign * b[j].exponent;
      if (exponent != 0) out.push_back({a[i].atom, exponent});
      ++i;
      ++j;
    }
  }
  return out;
}

// Sorts and merges terms; false on overflow.
bool normalise(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare(a.factors, b.factors) < 0; });
  std::vector<Term> out;
  for (Term& term : terms) {
    if (!out.empty() && out.back().factors == term.factors) {
      auto sum = add(out.back().coefficient, term.coefficient);
      if (!sum) return false;
      out.back().coefficient = *sum;
      if (sum->num == 0) out.pop_back();
    } else if (term.coefficient.num != 0) {
      out.push_back(std::move(term));
    }
  }
  terms = std::move(out);
  return terms.size() <= kMaxTerms;
}

// The least integer has no opposite: it stands alone, and sums with it are not known.
bool has_least(const Polynomial& p) {
  return p.is_constant() && !p.terms.empty() && p.terms[0].coefficient.num == INT64_MIN;
}

PolynomialResult sum(const Polynomial& a, const Polynomial& b, int64_t sign) {
  if (b.terms.empty()) return a;
  if (has_least(a) || has_least(b)) return {};
  Polynomial out;
  out.terms.reserve(a.terms.size() + b.terms.size());
  out.terms = a.terms;
  for (const Term& term : b.terms) {
    out.terms.push_back({term.factors, {sign * term.coefficient.num, term.coefficient.den}});
  }
  if (!normalise(out.terms)) return {};
  return out;
}

int32_t exponent_of(const Monomial& m, int32_t atom) {
  for (const Factor& f : m) {
    if (f.atom == atom) return f.exponent;
  }
  return 0;
}

}  // namespace

Polynomial poly_integer(int64_t value) {
  Polynomial out;
  if (value != 0) out.terms.push_back({{}, {value, 1}});
  return out;
}

Polynomial poly_atom(int32_t atom) { return {{Term{{Factor{atom, 1}}, Rational{1, 1}}}}; }

std::optional<Rational> poly_constant(const Polynomial& p) {
  if (p.terms.empty()) return Rational{};
  if (!p.is_constant()) return {};
  return p.terms[0].coefficient;
}

bool poly_has_constant_term(const Polynomial& p) {
  return std::any_of(p.terms.begin(), p.terms.end(),
                     [](const Term& t) { return t.factors.empty(); });
}

PolynomialResult poly_add(const Polynomial& a, const Polynomial& b) { return sum(a, b, 1); }
PolynomialResult poly_sub(const Polynomial& a, const Polynomial& b) { return sum(a, b, -1); }

PolynomialResult poly_mul(const Polynomial& a, const Polynomial& b) {
  if (a.terms.size() * b.terms.size() > 4 * kMaxTerms) return {};
  Polynomial out;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      auto coefficient = mul(x.coefficient, y.coefficient);
      if (!coefficient) return {};
      out.terms.push_back({multiply(x.factors, y.factors, 1), *coefficient});
    }
  }
  if (!normalise(out.terms)) return {};
  return out;
}

PolynomialResult poly_div_term(const Polynomial& a, const Term& b) {
  Polynomial out;
  for (const Term& x : a.terms) {
    auto coefficient = div(x.coefficient, b.coefficient);
    if (!coefficient) return {};
    out.terms.push_back({multiply(x.factors, b.factors, -1), *coefficient});
  }
  if (!normalise(out.terms)) return {};
  return out;
}

PolynomialResult poly_div_exact(const Polynomial& a, const Polynomial& b) {
  if (b.terms.empty()) return {};
  const Term& lead = b.terms.front();
  Polynomial rest = a;
  Polynomial quotient;
  for (size_t step = 0; !rest.terms.empty(); ++step) {
    if (step > kMaxTerms) return {};
    const Term& top = rest.terms.front();
    auto coefficient = div(top.coefficient, lead.coefficient);
    if (!coefficient || !coefficient->is_integer()) return {};
    Term part{multiply(top.factors, lead.factors, -1), *coefficient};
    for (const Factor& f : part.factors) {
      if (f.exponent < 0 && f.exponent < exponent_of(top.factors, f.atom)) return {};
    }
    Polynomial single{{part}};
    auto product = poly_mul(single, b);
    if (!product) return {};
    auto next = poly_sub(rest, *product);
    if (!next) return {};
    rest = std::move(*next);
    quotient.terms.push_back(std::move(part));
  }
  if (!normalise(quotient.terms)) return {};
  return quotient;
}

PolynomialResult poly_cofactor(const Polynomial& p, int32_t atom, Polynomial& rest) {
  Polynomial out;
  rest.terms.clear();
  for (const Term& term : p.terms) {
    int32_t exponent = exponent_of(term.factors, atom);
    if (exponent == 0) {
      rest.terms.push_back(term);
    } else if (exponent == 1) {
      out.terms.push_back({multiply(term.factors, {{atom, 1}}, -1), term.coefficient});
    } else {
      return {};
    }
  }
  if (!normalise(out.terms)) return {};
  return out;
}

size_t poly_hash(const Polynomial& p) {
  size_t seed = p.terms.size();
  for (const Term& term : p.terms) {
    seed = hash_mix(seed, static_cast<size_t>(term.coefficient.num));
    seed = hash_mix(seed, static_cast<size_t>(term.coefficient.den));
    for (const Factor& f : term.factors) {
      seed = hash_mix(seed, static_cast<size_t>(f.atom));
      seed = hash_mix(seed, static_cast<size_t>(f.exponent));
    }
  }
  return seed;
}

}  // namespace axon
