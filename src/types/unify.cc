// Unification of dims: binding by priority, solving, recording.
#include "types/unify.h"

#include <algorithm>
#include <cctype>

namespace axon {

bool Unifier::bindable(SymbolId symbol) const {
  return dims_.symbol(symbol).kind == SymbolKind::Variable && dim_bindings_.count(symbol) == 0;
}

DimId Unifier::unknown() {
  SymbolId symbol = dims_.fresh("_d", SymbolKind::Unknown);
  return dims_.of(symbol);
}

bool Unifier::settled(DimId dim) const {
  if (auto symbol = dims_.as_symbol(dim)) return dim_bindings_.count(*symbol) == 0;
  if (dims_.as_integer(dim)) return true;
  for (SymbolId symbol : dims_.symbols(dim)) {
    if (dim_bindings_.count(symbol) > 0) return false;
  }
  return true;
}

namespace {

// With which sign a symbol is a term of a sum; 0 where it is none or has both.
int sign_of(const DimTable::Tree& tree, SymbolId symbol) {
  using Kind = DimTable::Tree::Kind;
  if (tree.kind == Kind::Symbol) return tree.symbol == symbol ? 1 : 0;
  if (tree.kind != Kind::Add && tree.kind != Kind::Sub && tree.kind != Kind::Mul) return 0;
  int sign = 0;
  for (size_t i = 0; i < tree.operands.size(); ++i) {
    const bool negative = tree.kind == Kind::Sub && i > 0;
    const int here = sign_of(tree.operands[i], symbol) * (negative ? -1 : 1);
    if (here != 0 && sign != 0 && here != sign) return 0;
    if (here != 0) sign = here;
  }
  return sign;
}

}  // namespace

DimId Unifier::resolve(DimId dim) {
  if (settled(dim)) return dim;
  // Bindings never form a cycle (each is made after an occurs check on resolved sides).
  std::vector<std::pair<SymbolId, DimId>> parts;
  DimId out = dims_.substitute(dim, [&](SymbolId symbol) -> DimId {
    auto bound = dim_bindings_.find(symbol);
    if (bound == dim_bindings_.end()) return {};
    parts.emplace_back(symbol, bound->second = resolve(bound->second));
    return parts.back().second;
  });
  for (auto [symbol, part] : parts) {
    if (rests(part).empty()) continue;
    keep_exact(part, out, sign_of(dims_.tree(dim), symbol));
  }
  return out;
}

DimId Unifier::expand(DimId dim) {
  if (definitions_.empty()) return dim;
  return dims_.substitute(dim, [&](SymbolId symbol) -> DimId {
    auto meaning = definitions_.find(symbol);
    return meaning == definitions_.end() ? DimId{} : expand(meaning->second);
  });
}

std::optional<int64_t> Unifier::value(DimId dim) {
  return dims_.evaluate(dim, [&](SymbolId symbol) { return dims_.symbol(symbol).value; });
}

// ---- priorities ----------------------------------------------------------------------------

int Unifier::priority(SymbolId id) const {
  const Symbol& symbol = dims_.symbol(id);
  if (symbol.kind == SymbolKind::Rigid) return 6;
  if (symbol.generated) return 0;
  std::string_view name = dims_.names().text(symbol.name);
  bool upper = std::any_of(name.begin(), name.end(),
                           [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; });
  if (name.size() == 1) return upper ? 2 : 1;
  return upper ? 4 : 3;
}

// Whether `left` survives when the two are made equal.
bool Unifier::prefers_left(SymbolId left, SymbolId right) const {
  bool left_anchored = anchored_.count(left) > 0;
  bool right_anchored = anchored_.count(right) > 0;
  if (left_anchored != right_anchored) return left_anchored;
  int l = priority(left);
  int r = priority(right);
  if (l != r) return l > r;
  size_t left_size = dims_.names().text(dims_.symbol(left).name).size();
  size_t right_size = dims_.names().text(dims_.symbol(right).name).size();
  return left_size <= right_size;
}

// ---- unification ---------------------------------------------------------------------------

void Unifier::record(DimConstraint::Kind kind, DimId left, DimId right) {
  DimConstraint constraint{kind, left, right, origin_, !branches_.empty()};
  if (constraint.guarded) constraint.branch = branches_.back().number;
  for (DimConstraint& c : constraints_) {
    if (c.kind != kind || c.left != left || c.right != right) continue;
    c.guarded = c.guarded && constraint.guarded;
    if (c.branch != constraint.branch) c.branch = -1;
    return;
  }
  constraints_.push_back(constraint);
}

void Unifier::bind(SymbolId symbol, DimId dim) {
  dim_bindings_[symbol] = dim;
  if (branches_.empty()) return;
  guarded_.insert(symbol);
  Branch& branch = branches_.back();
  if (anchored_.count(symbol) > 0 && branch.own.count(symbol) == 0) branch.bound.push_back(symbol);
}

void Unifier::leave_branch() {
  std::vector<std::pair<SymbolId, DimId>> found;
  for (SymbolId symbol : branches_.back().bound)
    found.emplace_back(symbol, resolve(dims_.of(symbol)));
  for (const auto& [symbol, dim] : found) {
    dim_bindings_.erase(symbol);
    guarded_.erase(symbol);
  }
  for (const auto& [symbol, dim] : found) record(DimConstraint::Kind::Equal, dims_.of(symbol), dim);
  branches_.pop_back();
}

void Unifier::forget_branch() {
  for (SymbolId symbol : branches_.back().bound) {
    dim_bindings_.erase(symbol);
    guarded_.erase(symbol);
  }
  constraints_.erase(constraints_.begin() + static_cast<int64_t>(branches_.back().constraints),
                     constraints_.end());
  branches_.pop_back();
}

// An unknown size says nothing about the callers, so no name of the interface is bound to one.
bool Unifier::may_bind(SymbolId symbol, DimId dim) const {
  if (anchored_.count(symbol) == 0) return !dims_.mentions(dim, symbol);
  for (SymbolId s : dims_.symbols(dim)) {
    if (s == symbol || dims_.symbol(s).kind == SymbolKind::Unknown) return false;
  }
  return true;
}

namespace {

DimId dim_of(const DimTable::Tree& tree, DimTable& dims) {
  using Kind = DimTable::Tree::Kind;
  if (tree.kind == Kind::Integer) return dims.integer(tree.value);
  if (tree.kind == Kind::Symbol) return dims.of(tree.symbol);
  DimId out = dim_of(tree.operands[0], dims);
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    DimId next = dim_of(tree.operands[i], dims);
    out = tree.kind == Kind::Add   ? dims.add(out, next)
          : tree.kind == Kind::Sub ? dims.sub(out, next)
          : tree.kind == Kind::Mul ? dims.mul(out, next)
          : tree.kind == Kind::Div ? dims.div(out, next)
          : tree.kind == Kind::Mod ? dims.mod(out, next)
          : tree.kind == Kind::Min ? dims.min(out, next)
                                   : dims.max(out, next);
  }
  return out;
}

void collect_rests(const DimTable::Tree& tree, int sign, DimTable& dims, std::vector<Rest>& out) {
  using Kind = DimTable::Tree::Kind;
  const bool sum = tree.kind == Kind::Add || tree.kind == Kind::Sub || tree.kind == Kind::Mul;
  for (size_t i = 0; i < tree.operands.size(); ++i) {
    const bool negative = tree.kind == Kind::Sub && i > 0;
    collect_rests(tree.operands[i], sum ? (negative ? -sign : sign) : 0, dims, out);
  }
  if (tree.kind != Kind::Div) return;
  out.push_back({dims.mod(dim_of(tree.operands[0], dims), dim_of(tree.operands[1], dims)), sign});
}

}  // namespace

// What must be 0 for the quotients in a dim to be exact.
const std::vector<Rest>& Unifier::rests(DimId dim) {
  auto [it, added] = rests_.try_emplace(dim);
  if (added && !dims_.symbols(dim).empty()) collect_rests(dims_.tree(dim), 1, dims_, it->second);
  return it->second;
}

void Unifier::record_exact(DimId dim) {
  DimId zero = dims_.integer(0);
  for (const Rest& rest : rests(resolve(dim))) {
    if (rest.dim != zero) record(DimConstraint::Kind::Equal, rest.dim, zero);
  }
}

void Unifier::keep_exact(DimId part, DimId whole, int sign) {
  const std::vector<Rest>& before = rests(part);
  if (before.empty()) return;
  const std::vector<Rest>& after = rests(whole);
  DimId zero = dims_.integer(0);
  for (const Rest& rest : before) {
    bool shown = std::any_of(after.begin(), after.end(), [&](const Rest& other) {
      return other.dim == rest.dim && other.sign * rest.sign * sign >= 0;
    });
    if (!shown && rest.dim != zero) record(DimConstraint::Kind::Equal, rest.dim, zero);
  }
}

DimId Unifier::sum(DimId left, DimId right) {
  DimId out = dims_.add(left, right);
  keep_exact(left, out);
  keep_exact(right, out);
  return out;
}

DimId Unifier::difference(DimId left, DimId right) {
  DimId out = dims_.sub(left, right);
  keep_exact(left, out);
  keep_exact(right, out, -1);
  return out;
}

bool Unifier::mentions_unknown(DimId dim) const {
  for (SymbolId symbol : dims_.symbols(dim)) {
    if (dims_.symbol(symbol).kind == SymbolKind::Unknown) return true;
  }
  return false;
}

// Whether a variable that was made for a callee occurs, which arguments determine.
bool Unifier::has_own(DimId dim) const {
  for (SymbolId symbol : dims_.symbols(dim)) {
    if (bindable(symbol) && dims_.symbol(symbol).generated && anchored_.count(symbol) == 0)
      return true;
  }
  return false;
}

// Solves for such a variable. One that stands with a factor is what divides exactly.
bool Unifier::solve_own(DimId left, DimId right) {
  DimId difference = dims_.sub(left, right);
  DimId zero = dims_.integer(0);
  for (bool scaled : {false, true}) {
    for (SymbolId symbol : dims_.symbols(difference)) {
      bool own = bindable(symbol) && dims_.symbol(symbol).generated && anchored_.count(symbol) == 0;
      if (!own) continue;
      auto solution = scaled ? dims_.solve_exact(difference, symbol, zero)
                             : dims_.solve(difference, symbol, zero);
      if (!solution || !may_bind(symbol, *solution)) continue;
      if (scaled && mentions_unknown(*solution)) continue;
      bind(symbol, *solution);
      if (scaled) record_exact(*solution);
      return true;
    }
  }
  return false;
}

// Solves the equation for its one variable (or its one generated variable).
bool Unifier::solve_one(DimId left, DimId right) {
  DimId difference = dims_.sub(left, right);
  DimId zero = dims_.integer(0);
  std::optional<std::pair<SymbolId, DimId>> found;
  std::optional<std::pair<SymbolId, DimId>> generated;
  int count = 0;
  int generated_count = 0;
  for (SymbolId symbol : dims_.symbols(difference)) {
    if (!bindable(symbol)) continue;
    ++count;
    auto solution = dims_.solve(difference, symbol, zero);
    if (!solution || !may_bind(symbol, *solution)) continue;
    found = {symbol, *solution};
    if (!dims_.symbol(symbol).generated || anchored_.count(symbol) > 0) continue;
    ++generated_count;
    generated = found;
  }
  if (count == 1 && found) {
    bind(found->first, found->second);
    return true;
  }
  if (generated_count == 1) {
    bind(generated->first, generated->second);
    return true;
  }
  return false;
}

std::optional<Mismatch> Unifier::unify_dim(DimId left, DimId right) {
  left = resolve(left);
  right = resolve(right);
  if (left == right) return {};
  auto clash = [&](Mismatch::Kind kind) {
    Mismatch out;
    out.kind = kind;
    out.left_dim = left;
    out.right_dim = right;
    return out;
  };
  auto left_symbol = dims_.as_symbol(left);
  auto right_symbol = dims_.as_symbol(right);
  bool left_binds = left_symbol && bindable(*left_symbol);
  bool right_binds = right_symbol && bindable(*right_symbol);
  if (left_binds && right_binds) {
    if (prefers_left(*left_symbol, *right_symbol)) {
      bind(*right_symbol, left);
    } else {
      bind(*left_symbol, right);
    }
    return {};
  }
  if (dims_.as_integer(dims_.sub(left, right))) return clash(Mismatch::Kind::Dim);
  // What the caller has determines the callee's names, not the other way round.
  bool callers = (left_binds && anchored_.count(*left_symbol) > 0 && has_own(right)) ||
                 (right_binds && anchored_.count(*right_symbol) > 0 && has_own(left));
  if (callers && solve_own(left, right)) return {};
  if (left_binds && may_bind(*left_symbol, right)) {
    bind(*left_symbol, right);
    return {};
  }
  if (right_binds && may_bind(*right_symbol, left)) {
    bind(*right_symbol, left);
    return {};
  }
  auto left_value = value(left);
  auto right_value = value(right);
  if (left_value && right_value) {
    if (*left_value == *right_value) return {};
    bool constants = !dims_.symbols(left).empty() || !dims_.symbols(right).empty();
    return clash(constants ? Mismatch::Kind::DimConst : Mismatch::Kind::Dim);
  }
  if (expand(left) == expand(right)) return {};
  if (!left_binds && !right_binds && (solve_one(left, right) || solve_own(left, right))) return {};
  record(DimConstraint::Kind::Equal, left, right);
  return {};
}

// Of two dims that were unified, the one that says more.
DimId Unifier::choose(DimId left, DimId right) {
  left = resolve(left);
  right = resolve(right);
  if (left == right) return left;
  auto vague = [&](DimId dim) {
    for (SymbolId symbol : dims_.symbols(dim)) {
      const Symbol& s = dims_.symbol(symbol);
      if (s.kind == SymbolKind::Unknown || (s.generated && bindable(symbol))) return true;
    }
    return false;
  };
  return vague(right) ? left : right;
}

// Whether the two are different multiples of one product of sizes: `6*B == 8*B`.
bool Unifier::only_when_empty(DimId left, DimId right) {
  auto with_values = [&](DimId dim) {
    return dims_.substitute(dim, [&](SymbolId symbol) -> DimId {
      auto number = dims_.symbol(symbol).value;
      return number ? dims_.integer(*number) : DimId{};
    });
  };
  using Tree = DimTable::Tree;
  auto is_sum = [](const Tree& t) {
    return t.kind == Tree::Kind::Add || t.kind == Tree::Kind::Sub;
  };
  auto is_product = [&](DimId dim) {
    const Tree tree = dims_.tree(dim);
    const bool sums = std::any_of(tree.operands.begin(), tree.operands.end(), is_sum);
    return !is_sum(tree) && !(tree.kind == Tree::Kind::Mul && sums) && !dims_.symbols(dim).empty();
  };
  left = with_values(left), right = with_values(right);
  return left != right && is_product(left) && is_product(right) &&
         (is_product(dims_.sub(left, right)) || is_product(dims_.sub(right, left)));
}

std::vector<DimConstraint> Unifier::open_constraints(std::vector<DimConstraint>& violated) {
  std::vector<DimConstraint> open;
  for (const DimConstraint& c : constraints_) {
    DimConstraint now{c.kind, resolve(c.left), resolve(c.right), c.origin, c.guarded, c.branch};
    if (now.left == now.right || expand(now.left) == expand(now.right)) continue;
    auto left = value(now.left);
    auto right = value(now.right);
    bool broadcast = c.kind == DimConstraint::Kind::Broadcast;
    if (broadcast && right && *right == 1) continue;
    auto difference = dims_.as_integer(dims_.sub(now.left, now.right));
    bool empty = !broadcast && !c.guarded && only_when_empty(now.left, now.right);
    if ((left && right && *left != *right) || (difference && *difference != 0 && !broadcast) ||
        empty) {
      violated.push_back(now);
      continue;
    }
    if (left && right) continue;
    auto seen = std::find_if(open.begin(), open.end(), [&](const DimConstraint& o) {
      return o.kind == now.kind && o.left == now.left && o.right == now.right;
    });
    if (seen == open.end()) {
      open.push_back(now);
      continue;
    }
    seen->guarded = seen->guarded && now.guarded;
    if (seen->branch != now.branch) seen->branch = -1;
  }
  return open;
}

}  // namespace axon
