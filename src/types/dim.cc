// Interning of canonical dims and their arithmetic.
#include "types/dim.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "support/arithmetic.h"
#include "support/check.h"
#include "types/dim_impl.h"

namespace axon {

DimTable::DimTable(Interner& names) : names_(names), impl_(std::make_unique<Impl>()) {}
DimTable::~DimTable() = default;

// ---- symbols -------------------------------------------------------------------------------

SymbolId DimTable::symbol(NameId name, SymbolKind kind) {
  auto [it, added] = impl_->symbol_ids.try_emplace({name, kind});
  if (added) {
    it->second = impl_->symbols.add({name, kind, {}, false});
    impl_->used_names.insert(name);
  }
  return it->second;
}

SymbolId DimTable::fresh(std::string_view base, SymbolKind kind) {
  auto count = impl_->fresh_counts.find(base);
  if (count == impl_->fresh_counts.end()) count = impl_->fresh_counts.emplace(base, 0).first;
  bool plain = base.size() > 1 && base[0] == '_';  // `_d1`; a user's `S` gives `S__1`
  for (;;) {
    std::string text = std::string(base) + (plain ? "" : "__") + std::to_string(++count->second);
    NameId name = names_.intern(text);
    if (!impl_->used_names.insert(name).second) continue;
    SymbolId id = impl_->symbols.add({name, kind, {}, true});
    impl_->symbol_ids.emplace(std::pair(name, kind), id);
    return id;
  }
}

const Symbol& DimTable::symbol(SymbolId id) const { return impl_->symbols[id]; }
void DimTable::set_value(SymbolId rigid, int64_t value) { impl_->symbols[rigid].value = value; }

// ---- interning -----------------------------------------------------------------------------

int32_t DimTable::Impl::intern_atom(DimAtom atom) {
  auto [it, added] = atom_ids.try_emplace(atom, static_cast<int32_t>(atoms.size()));
  if (added) {
    atom_facts.push_back(facts_of(atom));
    atoms.push_back(std::move(atom));
  }
  return it->second;
}

DimFacts DimTable::Impl::facts_of(const DimAtom& atom) const {
  DimFacts out{1, atom.kind == AtomKind::Div || atom.kind == AtomKind::Floor};
  for (DimId operand : atom.operands) {
    const DimFacts& inner = dim_facts[operand];
    out.size += inner.size;
    out.rounds = out.rounds || inner.rounds;
  }
  return out;
}

DimFacts DimTable::Impl::facts_of(const Polynomial& p) const {
  DimFacts out;
  for (const Term& term : p.terms) {
    ++out.size;
    out.rounds = out.rounds || !term.coefficient.is_integer();
    for (const Factor& f : term.factors) {
      const DimFacts& inner = atom_facts[static_cast<size_t>(f.atom)];
      out.size += inner.size * std::abs(static_cast<int64_t>(f.exponent));
      out.rounds = out.rounds || inner.rounds || f.exponent < 0;
    }
  }
  return out;
}

DimId DimTable::Impl::intern(Polynomial p) {
  size_t hash = poly_hash(p);
  auto [begin, end] = dim_ids.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (dims[it->second] == p) return it->second;
  }
  dim_facts.add(facts_of(p));
  DimId id = dims.add(std::move(p));
  dim_ids.emplace(hash, id);
  return id;
}

DimId DimTable::Impl::make(Polynomial p) {
  for (size_t i = 0; i < p.terms.size(); ++i) {
    for (const Factor& f : p.terms[i].factors) {
      const DimAtom& quotient = atom(f.atom);
      if (quotient.kind != AtomKind::Div) continue;
      const Polynomial& num = poly(quotient.operands[0]);
      // A constant in the numerator marks a rounding quotient such as (S + C - 1) / C, where
      // multiplying back does not give the numerator.
      if (poly_has_constant_term(num)) continue;
      Polynomial rest;
      auto cofactor = poly_cofactor(p, f.atom, rest);
      if (!cofactor) continue;
      auto times = poly_div_exact(*cofactor, poly(quotient.operands[1]));
      if (!times) continue;
      auto product = poly_mul(*times, num);
      auto sum = product ? poly_add(rest, *product) : std::nullopt;
      if (sum) return make(std::move(*sum));
    }
  }
  return intern(std::move(p));
}

DimId DimTable::Impl::make_atom(AtomKind kind, std::vector<DimId> operands) {
  return intern(poly_atom(intern_atom({kind, {}, std::move(operands)})));
}

DimId DimTable::Impl::unknown(DimTable& table, DimOp op, DimId a, DimId b) {
  const bool ordered =
      op == DimOp::Sub || op == DimOp::Div || op == DimOp::Mod || op == DimOp::Floor;
  if (!ordered && b < a) std::swap(a, b);
  auto [it, added] = memo.try_emplace({op, a, b});
  if (added) it->second = table.of(table.fresh("_d", SymbolKind::Unknown));
  return it->second;
}

// The result of an operation; an unknown size where it would be too large to be worked with.
DimId DimTable::Impl::bounded(DimTable& table, DimOp op, DimId a, DimId b,
                              PolynomialResult result) {
  const bool fits = result && facts_of(*result).size <= kMaxSize;
  return fits ? make(std::move(*result)) : unknown(table, op, a, b);
}

DimId DimTable::Impl::bounded(DimTable& table, DimOp op, DimId a, DimId b, AtomKind kind,
                              std::vector<DimId> operands) {
  const bool fits = facts_of(DimAtom{kind, {}, operands}).size <= kMaxSize;
  return fits ? make_atom(kind, std::move(operands)) : unknown(table, op, a, b);
}

DimId DimTable::integer(int64_t value) {
  constexpr int64_t kSmall = 1024;
  if (value < 0 || value >= kSmall) return impl_->intern(poly_integer(value));
  if (impl_->small.empty()) impl_->small.resize(kSmall);
  DimId& known = impl_->small[static_cast<size_t>(value)];
  if (!known.valid()) known = impl_->intern(poly_integer(value));
  return known;
}

DimId DimTable::of(SymbolId symbol) {
  size_t index = static_cast<size_t>(symbol.index);
  if (impl_->of_symbol.size() <= index) impl_->of_symbol.resize(impl_->symbols.size());
  DimId& known = impl_->of_symbol[index];
  if (!known.valid())
    known = impl_->intern(poly_atom(impl_->intern_atom({AtomKind::Symbol, symbol, {}})));
  return known;
}

// ---- arithmetic ----------------------------------------------------------------------------

namespace {

bool integral(const Polynomial& p) {
  return std::all_of(p.terms.begin(), p.terms.end(),
                     [](const Term& t) { return t.coefficient.is_integer(); });
}

// The greatest term that divides every term of both (integer content, common atoms).
Term common_factor(const Polynomial& a, const Polynomial& b) {
  Term out{a.terms[0].factors, {0, 1}};
  int64_t content = 0;
  for (const Polynomial* p : {&a, &b}) {
    for (const Term& term : p->terms) {
      content = std::gcd(content, term.coefficient.num);
      std::erase_if(out.factors, [&](Factor& f) {
        auto found = std::find_if(term.factors.begin(), term.factors.end(),
                                  [&](const Factor& g) { return g.atom == f.atom; });
        if (found == term.factors.end()) return true;
        f.exponent = std::min(f.exponent, found->exponent);
        return f.exponent <= 0;
      });
    }
  }
  out.coefficient.num = integral(a) && integral(b) && content > 0 ? content : 1;
  return out;
}

}  // namespace

DimId DimTable::Impl::add(DimTable& table, DimId a, DimId b) {
  return bounded(table, DimOp::Add, a, b, poly_add(poly(a), poly(b)));
}

DimId DimTable::Impl::sub(DimTable& table, DimId a, DimId b) {
  return bounded(table, DimOp::Sub, a, b, poly_sub(poly(a), poly(b)));
}

DimId DimTable::Impl::mul(DimTable& table, DimId a, DimId b) {
  return bounded(table, DimOp::Mul, a, b, poly_mul(poly(a), poly(b)));
}

DimId DimTable::Impl::div(DimTable& table, DimId a, DimId b) {
  const Polynomial num = poly(a);
  const Polynomial den = poly(b);
  auto atom = [&] { return bounded(table, DimOp::Div, a, b, AtomKind::Div, {a, b}); };
  if (den.terms.empty()) return atom();
  if (num.terms.empty() || a == b) return table.integer(num.terms.empty() ? 0 : 1);
  auto x = table.as_integer(a);
  auto y = table.as_integer(b);
  if (x && y) return table.integer(floor_div(*x, *y));
  auto done = [&](PolynomialResult p) { return bounded(table, DimOp::Div, a, b, std::move(p)); };
  if (auto exact = poly_div_exact(num, den)) return done(std::move(exact));
  if (num.terms.size() == 1 && den.terms.size() == 1) {
    if (auto quotient = poly_div_term(num, den.terms[0])) return done(std::move(quotient));
  }
  if (auto small = reduced(num, den)) return table.div(small->first, small->second);
  return atom();
}

// Both without what divides all of their terms; nothing where only 1 does.
std::optional<std::pair<DimId, DimId>> DimTable::Impl::reduced(const Polynomial& num,
                                                               const Polynomial& den) {
  Term common = common_factor(num, den);
  if (common.factors.empty() && common.coefficient.num == 1) return {};
  auto small_num = poly_div_term(num, common);
  auto small_den = poly_div_term(den, common);
  if (!small_num || !small_den) return {};
  DimId left = make(std::move(*small_num));
  return std::pair(left, make(std::move(*small_den)));
}

DimId DimTable::add(DimId a, DimId b) {
  return impl_->remembered(DimOp::Add, a, b, [&] { return impl_->add(*this, a, b); });
}
DimId DimTable::sub(DimId a, DimId b) {
  return impl_->remembered(DimOp::Sub, a, b, [&] { return impl_->sub(*this, a, b); });
}
DimId DimTable::mul(DimId a, DimId b) {
  return impl_->remembered(DimOp::Mul, a, b, [&] { return impl_->mul(*this, a, b); });
}
DimId DimTable::div(DimId a, DimId b) {
  return impl_->remembered(DimOp::Div, a, b, [&] { return impl_->div(*this, a, b); });
}

DimId DimTable::mod(DimId a, DimId b) {
  auto x = as_integer(a);
  auto y = as_integer(b);
  if (x && y && *y != 0) return integer(floor_mod(*x, *y));
  if (a == b || (y && *y == 1)) return integer(0);
  // A quotient of symbols, as of 2 / B by 2, is itself rounded: nothing is known of what is left.
  auto exact = poly_div_exact(impl_->poly(a), impl_->poly(b));
  bool whole = exact && std::all_of(exact->terms.begin(), exact->terms.end(), [](const Term& t) {
                 return std::all_of(t.factors.begin(), t.factors.end(),
                                    [](const Factor& f) { return f.exponent > 0; });
               });
  if (whole) return integer(0);
  return impl_->bounded(*this, DimOp::Mod, a, b, AtomKind::Mod, {a, b});
}

// ---- minimum and maximum -------------------------------------------------------------------

// Operands of nested extrema of the same kind are merged, so order and grouping do not matter.
DimId DimTable::Impl::extremum(DimTable& table, AtomKind kind, DimId a, DimId b) {
  std::vector<DimId> operands;
  for (DimId side : {a, b}) {
    const Polynomial& p = poly(side);
    bool lone = p.terms.size() == 1 && p.terms[0].coefficient == Rational{1, 1} &&
                p.terms[0].factors.size() == 1 && p.terms[0].factors[0].exponent == 1;
    if (lone && atom(p.terms[0].factors[0].atom).kind == kind) {
      const DimAtom& inner = atom(p.terms[0].factors[0].atom);
      operands.insert(operands.end(), inner.operands.begin(), inner.operands.end());
    } else {
      operands.push_back(side);
    }
  }
  std::vector<DimId> kept;
  for (DimId operand : operands) {
    bool absorbed = false;
    for (DimId& other : kept) {
      auto difference = poly_sub(poly(operand), poly(other));
      auto value = difference ? poly_constant(*difference) : std::nullopt;
      if (!value) continue;
      absorbed = true;
      if ((kind == AtomKind::Min) == (value->num < 0)) other = operand;
      break;
    }
    if (!absorbed) kept.push_back(operand);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  if (kept.size() == 1) return kept[0];
  const DimOp op = kind == AtomKind::Min ? DimOp::Min : DimOp::Max;
  return bounded(table, op, a, b, kind, std::move(kept));
}

DimId DimTable::min(DimId a, DimId b) { return impl_->extremum(*this, AtomKind::Min, a, b); }
DimId DimTable::max(DimId a, DimId b) { return impl_->extremum(*this, AtomKind::Max, a, b); }

}  // namespace axon
