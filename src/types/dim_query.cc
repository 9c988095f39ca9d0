// Questions about dims: contents, substitution, solving, value, order.
#include <algorithm>
#include <numeric>

#include "support/arithmetic.h"
#include "support/check.h"
#include "types/dim_impl.h"

namespace axon {

std::optional<int64_t> DimTable::as_integer(DimId dim) const {
  auto value = poly_constant(impl_->poly(dim));
  if (!value || !value->is_integer()) return {};
  return value->num;
}

std::optional<SymbolId> DimTable::as_symbol(DimId dim) const {
  const Polynomial& p = impl_->poly(dim);
  if (p.terms.size() != 1 || p.terms[0].coefficient != Rational{1, 1}) return {};
  const Monomial& factors = p.terms[0].factors;
  if (factors.size() != 1 || factors[0].exponent != 1) return {};
  const DimAtom& atom = impl_->atom(factors[0].atom);
  if (atom.kind != AtomKind::Symbol) return {};
  return atom.symbol;
}

void DimTable::Impl::collect(DimId dim, std::vector<SymbolId>& out) const {
  for (const Term& term : poly(dim).terms) {
    for (const Factor& f : term.factors) {
      const DimAtom& a = atom(f.atom);
      bool is_new =
          a.kind == AtomKind::Symbol && std::find(out.begin(), out.end(), a.symbol) == out.end();
      if (is_new) out.push_back(a.symbol);
      for (DimId operand : a.operands) collect(operand, out);
    }
  }
}

std::vector<SymbolId> DimTable::symbols(DimId dim) const {
  std::vector<SymbolId> out;
  impl_->collect(dim, out);
  return out;
}

bool DimTable::mentions(DimId dim, SymbolId symbol) const {
  for (const Term& term : impl_->poly(dim).terms) {
    for (const Factor& f : term.factors) {
      const DimAtom& atom = impl_->atom(f.atom);
      if (atom.kind == AtomKind::Symbol && atom.symbol == symbol) return true;
      for (DimId operand : atom.operands) {
        if (mentions(operand, symbol)) return true;
      }
    }
  }
  return false;
}

// ---- solving -------------------------------------------------------------------------------

std::optional<DimId> DimTable::solve_exact(DimId dim, SymbolId symbol, DimId target) {
  int32_t atom = impl_->intern_atom({AtomKind::Symbol, symbol, {}});
  Polynomial rest;
  auto cofactor = poly_cofactor(impl_->poly(dim), atom, rest);
  if (!cofactor || cofactor->terms.empty()) return {};
  DimId factor = impl_->intern(std::move(*cofactor));
  DimId others = impl_->make(std::move(rest));
  if (mentions(factor, symbol) || mentions(others, symbol)) return {};
  DimId difference = value_sub(target, others);
  auto scale = poly_constant(impl_->poly(factor));
  if (scale && scale->is_integer() && scale->num < 0) {  // 0-S over -2 is written S over 2
    difference = value_sub(others, target);
    factor = value_sub(integer(0), factor);
    scale = poly_constant(impl_->poly(factor));
  }
  if (scale && !scale->is_integer()) {  // S/2 = K gives S = 2*K
    return value_div(value_mul(difference, integer(scale->den)), integer(scale->num));
  }
  return value_div(difference, factor);
}

std::optional<DimId> DimTable::solve(DimId dim, SymbolId symbol, DimId target) {
  int32_t atom = impl_->intern_atom({AtomKind::Symbol, symbol, {}});
  Polynomial rest;
  auto cofactor = poly_cofactor(impl_->poly(dim), atom, rest);
  auto factor = cofactor ? poly_constant(*cofactor) : std::nullopt;
  if (!factor || factor->den != 1 || (factor->num != 1 && factor->num != -1)) return {};
  return solve_exact(dim, symbol, target);
}

bool DimTable::never_zero(DimId dim) const {
  int64_t content = 0, constant = 0;
  for (const Term& term : impl_->poly(dim).terms) {
    if (!term.coefficient.is_integer() || term.coefficient.num == INT64_MIN) return false;
    for (const Factor& f : term.factors) {
      if (f.exponent < 0) return false;
    }
    if (term.factors.empty()) {
      constant = term.coefficient.num;
    } else {
      content = std::gcd(content, term.coefficient.num);
    }
  }
  return content == 0 ? constant != 0 : constant % content != 0;
}

// ---- substitution and evaluation -----------------------------------------------------------

DimId DimTable::substitute(DimId dim, function_ref<DimId(SymbolId)> map) {
  if (poly_constant(impl_->poly(dim))) return dim;
  if (auto symbol = as_symbol(dim)) {
    DimId mapped = map(*symbol);
    return mapped.valid() ? mapped : dim;
  }
  auto replace_atom = [&](const DimAtom& atom) -> DimId {
    if (atom.kind == AtomKind::Symbol) {
      DimId mapped = map(atom.symbol);
      return mapped.valid() ? mapped : of(atom.symbol);
    }
    DimId out = substitute(atom.operands[0], map);
    for (size_t i = 1; i < atom.operands.size(); ++i) {
      DimId next = substitute(atom.operands[i], map);
      switch (atom.kind) {
        case AtomKind::Div:
        case AtomKind::Floor:
          out = value_div(out, next);
          break;
        case AtomKind::Mod:
          out = mod(out, next);
          break;
        case AtomKind::Min:
          out = min(out, next);
          break;
        case AtomKind::Max:
          out = max(out, next);
          break;
        case AtomKind::Symbol:
          AXON_UNREACHABLE("symbol with operands");
      }
    }
    return out;
  };
  if (as_integer(dim)) return dim;
  const Polynomial p = impl_->poly(dim);  // a copy: the store grows below
  DimId sum = integer(0);
  for (const Term& term : p.terms) {
    bool negative = term.coefficient.num < 0;
    DimId num = integer(negative ? -term.coefficient.num : term.coefficient.num);
    DimId den = integer(term.coefficient.den);
    for (const Factor& f : term.factors) {
      const DimAtom atom = impl_->atom(f.atom);
      DimId value = replace_atom(atom);
      DimId& side = f.exponent > 0 ? num : den;
      for (int32_t i = 0; i < std::abs(f.exponent); ++i) side = value_mul(side, value);
    }
    DimId value = den == integer(1) ? num : value_div(num, den);
    sum = negative ? value_sub(sum, value) : value_add(sum, value);
  }
  return sum;
}

std::optional<int64_t> DimTable::evaluate(
    DimId dim, function_ref<std::optional<int64_t>(SymbolId)> value) const {
  auto atom_value = [&](const DimAtom& atom) -> std::optional<int64_t> {
    if (atom.kind == AtomKind::Symbol) return value(atom.symbol);
    auto out = evaluate(atom.operands[0], value);
    for (size_t i = 1; out && i < atom.operands.size(); ++i) {
      auto next = evaluate(atom.operands[i], value);
      if (!next) return {};
      bool divides =
          atom.kind == AtomKind::Div || atom.kind == AtomKind::Floor || atom.kind == AtomKind::Mod;
      if (divides && *next == 0) return {};
      switch (atom.kind) {
        case AtomKind::Div:
        case AtomKind::Floor:
          out = floor_div(*out, *next);
          break;
        case AtomKind::Mod:
          out = floor_mod(*out, *next);
          break;
        case AtomKind::Min:
          out = std::min(*out, *next);
          break;
        case AtomKind::Max:
          out = std::max(*out, *next);
          break;
        case AtomKind::Symbol:
          AXON_UNREACHABLE("symbol with operands");
      }
    }
    return out;
  };
  if (std::optional<int64_t> integer = as_integer(dim)) return integer;
  int64_t sum = 0;
  for (const Term& term : impl_->poly(dim).terms) {
    int64_t num = std::abs(term.coefficient.num);
    int64_t den = term.coefficient.den;
    for (const Factor& f : term.factors) {
      auto factor = atom_value(impl_->atom(f.atom));
      if (!factor) return {};
      int64_t& side = f.exponent > 0 ? num : den;
      for (int32_t i = 0; i < std::abs(f.exponent); ++i) {
        if (__builtin_mul_overflow(side, *factor, &side)) return {};
      }
    }
    if (den == 0) return {};
    int64_t part = floor_div(num, den);
    if (term.coefficient.num < 0) part = -part;
    if (__builtin_add_overflow(sum, part, &sum)) return {};
  }
  return sum;
}

}  // namespace axon
