// Proofs of `a <= b` for all values of the symbols at or above their lower bounds.
#include <algorithm>

#include "support/check.h"
#include "types/dim_impl.h"

namespace axon {
namespace {

constexpr int kMaxDepth = 6;
constexpr int kMaxSteps = 2000;  // of one proof

// p with every atom^n replaced by value^n; nothing on overflow or when the exponent is negative.
PolynomialResult replace(const Polynomial& p, int32_t atom, const Polynomial& value) {
  Polynomial out;
  for (const Term& term : p.terms) {
    Term rest{{}, term.coefficient};
    int32_t power = 0;
    for (const Factor& f : term.factors) {
      if (f.atom == atom) {
        power = f.exponent;
      } else {
        rest.factors.push_back(f);
      }
    }
    if (power < 0) return {};
    PolynomialResult product = Polynomial{{rest}};
    for (int32_t i = 0; product && i < power; ++i) product = poly_mul(*product, value);
    if (!product) return {};
    auto sum = poly_add(out, *product);
    if (!sum) return {};
    out = std::move(*sum);
  }
  return out;
}

// +1 or -1 when all terms that contain the atom (with exponent 1) have that sign, else 0.
int sign_of(const Polynomial& p, int32_t atom) {
  int sign = 0;
  for (const Term& term : p.terms) {
    for (const Factor& f : term.factors) {
      if (f.atom != atom) continue;
      int here = term.coefficient.num > 0 ? 1 : -1;
      if (f.exponent != 1 || (sign != 0 && sign != here)) return 0;
      sign = here;
    }
  }
  return sign;
}

}  // namespace

// A proof that p >= 0: compound atoms are replaced by bounds on the side that matters, symbols are
// shifted to start at 0, and then no coefficient may be negative.
struct OrderProof {
  const DimTable::Impl& impl;
  function_ref<std::optional<int64_t>(SymbolId)> lower;
  mutable int steps = kMaxSteps;

  bool extremum(const Polynomial& p, int32_t atom, int sign, int depth) const {
    const DimAtom& a = impl.atom(atom);
    bool any = (a.kind == AtomKind::Max) == (sign > 0);
    for (DimId operand : a.operands) {
      auto next = replace(p, atom, impl.poly(operand));
      bool holds = next && nonnegative(*next, depth + 1);
      if (holds == any) return any;
    }
    return !any;
  }

  // A bound of a quotient or remainder by a positive integer, as a polynomial.
  PolynomialResult bound(const DimAtom& a, int sign, int depth) const {
    auto divisor = poly_constant(impl.poly(a.operands[1]));
    if (a.kind == AtomKind::Mod) {
      if (!nonnegative(impl.poly(a.operands[1]), depth + 1)) return {};
      if (sign > 0) return poly_integer(0);
      return poly_sub(impl.poly(a.operands[1]), poly_integer(1));
    }
    if (!divisor || !divisor->is_integer() || divisor->num < 1) return {};
    PolynomialResult num = impl.poly(a.operands[0]);
    if (sign > 0) num = poly_sub(*num, poly_integer(divisor->num - 1));
    if (!num) return {};
    return poly_div_term(*num, Term{{}, *divisor});
  }

  bool compound(const Polynomial& p, int depth, bool& decided) const {
    for (const Term& term : p.terms) {
      for (const Factor& f : term.factors) {
        const DimAtom& a = impl.atom(f.atom);
        int sign = a.kind == AtomKind::Symbol ? 0 : sign_of(p, f.atom);
        if (sign == 0) continue;
        decided = true;
        if (a.kind == AtomKind::Min || a.kind == AtomKind::Max)
          return extremum(p, f.atom, sign, depth);
        auto value = bound(a, sign, depth);
        auto next = value ? replace(p, f.atom, *value) : std::nullopt;
        if (next && nonnegative(*next, depth + 1)) return true;
        next = sign > 0 && counts(a, depth) ? replace(p, f.atom, {}) : std::nullopt;
        if (next && nonnegative(*next, depth + 1)) return true;
        decided = false;
      }
    }
    return false;
  }

  // Whether an atom is 0 or more.
  bool counts(const DimAtom& a, int depth) const {
    auto holds = [&](DimId operand) { return nonnegative(impl.poly(operand), depth + 1); };
    switch (a.kind) {
      case AtomKind::Symbol:
        return true;  // lower bounds are
      case AtomKind::Min:
        return std::all_of(a.operands.begin(), a.operands.end(), holds);
      case AtomKind::Max:
        return std::any_of(a.operands.begin(), a.operands.end(), holds);
      case AtomKind::Mod:
        return holds(a.operands[1]);
      case AtomKind::Div:
      case AtomKind::Floor:
        return holds(a.operands[0]) && holds(a.operands[1]);
    }
    AXON_UNREACHABLE("atom kind");
  }

  // Whether everything in p has a least value.
  bool bounded(const Polynomial& p) const {
    auto known = [&](const Factor& f) {
      const DimAtom& a = impl.atom(f.atom);
      if (a.kind == AtomKind::Symbol) return lower(a.symbol).has_value();
      return std::all_of(a.operands.begin(), a.operands.end(),
                         [&](DimId operand) { return bounded(impl.poly(operand)); });
    };
    return std::all_of(p.terms.begin(), p.terms.end(), [&](const Term& t) {
      return std::all_of(t.factors.begin(), t.factors.end(), known);
    });
  }

  bool nonnegative(const Polynomial& p, int depth) const {
    if (--steps < 0) return false;
    auto counted = [&](const Factor& f) { return counts(impl.atom(f.atom), depth); };
    auto all_positive = [&](const Polynomial& q) {
      return std::all_of(q.terms.begin(), q.terms.end(), [&](const Term& t) {
        return t.coefficient.num > 0 && std::all_of(t.factors.begin(), t.factors.end(), counted);
      });
    };
    const bool bounded = this->bounded(p);
    if (bounded && all_positive(p)) return true;
    if (depth > kMaxDepth) return false;
    bool decided = false;
    if (compound(p, depth, decided)) return true;
    if (decided || !bounded) return false;
    auto moved = shifted(p);
    return moved && all_positive(*moved);
  }

  // p with every bounded symbol measured from its lower bound.
  PolynomialResult shifted(const Polynomial& p) const {
    Polynomial out = p;
    std::vector<int32_t> done;
    for (const Term& term : p.terms) {
      for (const Factor& f : term.factors) {
        const DimAtom& a = impl.atom(f.atom);
        auto start = a.kind == AtomKind::Symbol ? lower(a.symbol) : std::nullopt;
        if (!start || *start == 0) continue;
        if (std::find(done.begin(), done.end(), f.atom) != done.end()) continue;
        done.push_back(f.atom);
        auto moved = poly_add(poly_atom(f.atom), poly_integer(*start));
        auto next = moved ? replace(out, f.atom, *moved) : std::nullopt;
        if (next) out = std::move(*next);
      }
    }
    return out;
  }
};

bool DimTable::proves_le(DimId a, DimId b, function_ref<std::optional<int64_t>(SymbolId)> lower) {
  a = impl_->freeze(*this, a);
  b = impl_->freeze(*this, b);
  auto difference = poly_sub(impl_->poly(b), impl_->poly(a));
  return difference && OrderProof{*impl_, lower}.nonnegative(*difference, 0);
}

}  // namespace axon
