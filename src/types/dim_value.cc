// Arithmetic of integers as programs compute them: quotients are rounded (language.md 9.3).
#include <algorithm>

#include "support/arithmetic.h"
#include "support/check.h"
#include "types/dim_impl.h"

namespace axon {

bool DimTable::rounds(DimId dim) const { return impl_->dim_facts[dim].rounds; }

// The quotient of two dims in which every quotient is a Floor, rounded.
DimId DimTable::Impl::floor(DimTable& table, DimId a, DimId b) {
  const Polynomial num = poly(a);
  const Polynomial den = poly(b);
  auto atom = [&] { return bounded(table, DimOp::Floor, a, b, AtomKind::Floor, {a, b}); };
  if (den.terms.empty()) return atom();
  if (num.terms.empty() || a == b) return table.integer(num.terms.empty() ? 0 : 1);
  auto x = table.as_integer(a);
  auto y = table.as_integer(b);
  if (x && y) return table.integer(floor_div(*x, *y));
  if (auto exact = poly_div_exact(num, den))
    return bounded(table, DimOp::Floor, a, b, std::move(exact));
  if (auto small = reduced(num, den)) return floor(table, small->first, small->second);
  // x/a/b is x/(a*b) for a number b.
  const bool lone = num.terms.size() == 1 && num.terms[0].coefficient == Rational{1, 1} &&
                    num.terms[0].factors.size() == 1 && num.terms[0].factors[0].exponent == 1;
  if (lone && y && *y > 0) {
    const DimAtom inner = this->atom(num.terms[0].factors[0].atom);
    if (inner.kind == AtomKind::Floor)
      return floor(table, inner.operands[0], table.mul(inner.operands[1], b));
  }
  return atom();
}

DimId DimTable::Impl::rebuild(DimTable& table, const Tree& tree, bool rounded) {
  using Kind = Tree::Kind;
  if (tree.kind == Kind::Integer) return table.integer(tree.value);
  if (tree.kind == Kind::Symbol) return table.of(tree.symbol);
  DimId out = rebuild(table, tree.operands[0], rounded);
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    DimId next = rebuild(table, tree.operands[i], rounded);
    switch (tree.kind) {
      case Kind::Add:
        out = table.add(out, next);
        break;
      case Kind::Sub:
        out = table.sub(out, next);
        break;
      case Kind::Mul:
        out = table.mul(out, next);
        break;
      case Kind::Div:
        out = rounded ? floor(table, out, next) : table.div(out, next);
        break;
      case Kind::Mod:
        out = table.mod(out, next);
        break;
      case Kind::Min:
        out = table.min(out, next);
        break;
      case Kind::Max:
        out = table.max(out, next);
        break;
      case Kind::Integer:
      case Kind::Symbol:
        AXON_UNREACHABLE("a dim without operands");
    }
  }
  return out;
}

DimId DimTable::Impl::freeze(DimTable& table, DimId dim) {
  if (!dim_facts[dim].rounds) return dim;
  auto known = frozen.find(dim);
  if (known != frozen.end()) return known->second;
  DimId result = rebuild(table, table.tree(dim), true);
  frozen.emplace(dim, result);
  return result;
}

DimId DimTable::exact(DimId dim) {
  if (!rounds(dim)) return dim;
  auto known = impl_->exact.find(dim);
  if (known != impl_->exact.end()) return known->second;
  DimId result = impl_->rebuild(*this, tree(dim), false);
  impl_->exact.emplace(dim, result);
  return result;
}

// Where nothing cancels the two ways to write it are one: `n/2` is `n/2`.
DimId DimTable::Impl::plainest(DimTable& table, DimId dim) {
  if (!dim_facts[dim].rounds) return dim;
  auto known = plain.find(dim);
  if (known != plain.end()) return known->second;
  DimId exact = table.exact(dim);
  DimId result = table.tree(exact) == table.tree(dim) ? exact : dim;
  plain.emplace(dim, result);
  return result;
}

DimId DimTable::Impl::value(DimTable& table, DimOp op, DimId a, DimId b) {
  auto make = [&] {
    DimId x = freeze(table, a);
    DimId y = freeze(table, b);
    DimId result = op == DimOp::Add   ? table.add(x, y)
                   : op == DimOp::Sub ? table.sub(x, y)
                   : op == DimOp::Mul ? table.mul(x, y)
                                      : floor(table, x, y);
    return plainest(table, result);
  };
  return remembered(op, a, b, make, true);
}

DimId DimTable::value_add(DimId a, DimId b) {
  return rounds(a) || rounds(b) ? impl_->value(*this, DimOp::Add, a, b) : add(a, b);
}
DimId DimTable::value_sub(DimId a, DimId b) {
  return rounds(a) || rounds(b) ? impl_->value(*this, DimOp::Sub, a, b) : sub(a, b);
}
DimId DimTable::value_mul(DimId a, DimId b) {
  return rounds(a) || rounds(b) ? impl_->value(*this, DimOp::Mul, a, b) : mul(a, b);
}
DimId DimTable::value_div(DimId a, DimId b) { return impl_->value(*this, DimOp::Div, a, b); }

}  // namespace axon
