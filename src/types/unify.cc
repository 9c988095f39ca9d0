// Unification of dims: binding by priority, solving, recording.
#include "types/unify.h"

#include <algorithm>
#include <cctype>

#include "types/rests.h"

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

DimId Unifier::resolve(DimId dim) {
  if (settled(dim)) return with_exact(dim);
  // Bindings never form a cycle (each is made after an occurs check on resolved sides).
  return with_exact(dims_.substitute(dim, [&](SymbolId symbol) -> DimId {
    auto bound = dim_bindings_.find(symbol);
    if (bound == dim_bindings_.end()) return {};
    return bound->second = resolve(bound->second);
  }));
}

// Quotients that are known to be exact cancel: `H*(D/H)` is `D`.
DimId Unifier::with_exact(DimId dim) {
  if (!dims_.rounds(dim)) return dim;
  DimId out = dims_.exact(dim);
  if (out == dim) return dim;
  const std::vector<Rest>& all = rests(dim);
  bool known =
      std::all_of(all.begin(), all.end(), [&](const Rest& rest) { return is_exact(rest.dim); });
  return known ? out : dim;
}

bool Unifier::is_exact(DimId rest) {
  if (exact_.count(rest) > 0) return true;
  if (auto number = value(rest)) return *number == 0;
  if (comparing_) return false;
  comparing_ = true;  // what a name is bound to may have quotients of its own
  const std::vector<DimId> all(exact_.begin(), exact_.end());
  bool found = std::any_of(all.begin(), all.end(),
                           [&](DimId other) { return !settled(other) && resolve(other) == rest; });
  comparing_ = false;
  return found;
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
  auto [known, added] = recorded_.try_emplace({kind, left, right}, constraints_.size());
  if (!added) {
    DimConstraint& c = constraints_[known->second];
    c.guarded = c.guarded && constraint.guarded;
    if (c.branch != constraint.branch) c.branch = -1;
    return;
  }
  constraints_.push_back(constraint);
  if (kind != DimConstraint::Kind::Equal || right != dims_.integer(0)) return;
  if (exact_.insert(left).second && !branches_.empty()) branches_.back().exact.push_back(left);
}

void Unifier::bind(SymbolId symbol, DimId dim) {
  dim_bindings_[symbol] = dim;
  if (branches_.empty()) return;
  guarded_.insert(symbol);
  Branch& branch = branches_.back();
  if (anchored_.count(symbol) > 0 && branch.own.count(symbol) == 0) branch.bound.push_back(symbol);
}

void Unifier::leave_branch() {
  for (DimId rest : branches_.back().exact) exact_.erase(rest);
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
  for (DimId rest : branches_.back().exact) exact_.erase(rest);
  for (SymbolId symbol : branches_.back().bound) {
    dim_bindings_.erase(symbol);
    guarded_.erase(symbol);
  }
  for (size_t i = branches_.back().constraints; i < constraints_.size(); ++i)
    recorded_.erase({constraints_[i].kind, constraints_[i].left, constraints_[i].right});
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

const std::vector<Rest>& Unifier::rests(DimId dim) {
  auto [it, added] = rests_.try_emplace(dim);
  if (added) it->second = rests_of(dims_, dim);
  return it->second;
}

// An equation that holds just where divisions are exact says so: `2*(D/2) == D` is `D%2 == 0`.
void Unifier::record_equal(DimId left, DimId right) {
  DimId zero = dims_.integer(0);
  DimId difference = dims_.value_sub(left, right);
  const std::vector<Rest>& all = rests(difference);
  bool same = !all.empty() && dims_.exact(difference) == zero;
  for (const Rest& rest : all) same = same && rest.sign != 0 && rest.sign == all[0].sign;
  if (!same) return record(DimConstraint::Kind::Equal, left, right);
  for (const Rest& rest : all) record(DimConstraint::Kind::Equal, rest.dim, zero);
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
  DimId difference = dims_.value_sub(left, right);
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
      left = resolve(left), right = resolve(right);
      if (left != right) record_equal(left, right);  // the division may leave something
      return true;
    }
  }
  return false;
}

// Solves the equation for its one variable (or its one generated variable).
bool Unifier::solve_one(DimId left, DimId right) {
  DimId difference = dims_.value_sub(left, right);
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
  const DimId apart = dims_.value_sub(left, right);
  if (dims_.as_integer(apart) || dims_.never_zero(apart)) return clash(Mismatch::Kind::Dim);
  if (dims_.never_zero(with_values(apart))) return clash(Mismatch::Kind::DimConst);
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
  record_equal(left, right);
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

DimId Unifier::with_values(DimId dim) {
  return dims_.substitute(dim, [&](SymbolId symbol) -> DimId {
    auto number = dims_.symbol(symbol).value;
    return number ? dims_.integer(*number) : DimId{};
  });
}

// Whether the two are different multiples of one product of sizes: `6*B == 8*B`.
bool Unifier::only_when_empty(DimId left, DimId right) {
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
         (is_product(dims_.value_sub(left, right)) || is_product(dims_.value_sub(right, left)));
}

std::vector<DimConstraint> Unifier::open_constraints(std::vector<DimConstraint>& violated) {
  std::vector<DimConstraint> open;
  std::map<std::tuple<DimConstraint::Kind, DimId, DimId>, size_t> places;
  for (const DimConstraint& c : constraints_) {
    DimConstraint now{c.kind, resolve(c.left), resolve(c.right), c.origin, c.guarded, c.branch};
    if (now.left == now.right || expand(now.left) == expand(now.right)) continue;
    auto left = value(now.left);
    auto right = value(now.right);
    bool broadcast = c.kind == DimConstraint::Kind::Broadcast;
    if (broadcast && right && *right == 1) continue;
    const DimId apart = with_values(dims_.value_sub(now.left, now.right));
    bool empty = !broadcast && !c.guarded && only_when_empty(now.left, now.right);
    if ((left && right && *left != *right) || (!broadcast && dims_.never_zero(apart)) || empty) {
      violated.push_back(now);
      continue;
    }
    if (left && right) continue;
    auto [known, added] = places.try_emplace({now.kind, now.left, now.right}, open.size());
    if (added) {
      open.push_back(now);
      continue;
    }
    DimConstraint* seen = &open[known->second];
    seen->guarded = seen->guarded && now.guarded;
    if (seen->branch != now.branch) seen->branch = -1;
  }
  split_contradictions(open, violated);
  return open;
}

// Equations that hold everywhere may set a size to two numbers: `n == 3` and `n == 2`.
void Unifier::split_contradictions(std::vector<DimConstraint>& open,
                                   std::vector<DimConstraint>& violated) {
  std::map<DimId, DimId> numbers;  // of names, and of whole dims such as `S / 2`
  for (const DimConstraint& c : open) {
    if (c.guarded || c.kind != DimConstraint::Kind::Equal) continue;
    if (auto left = value(c.left)) numbers.try_emplace(c.right, dims_.integer(*left));
    if (auto right = value(c.right)) numbers.try_emplace(c.left, dims_.integer(*right));
  }
  if (numbers.empty()) return;
  auto known = [&](DimId dim) {
    auto whole = numbers.find(dim);
    if (whole != numbers.end()) return whole->second;
    return with_values(dims_.substitute(dim, [&](SymbolId symbol) {
      auto number = numbers.find(dims_.of(symbol));
      return number == numbers.end() ? DimId{} : number->second;
    }));
  };
  auto contradicts = [&](DimConstraint& c) {
    if (c.guarded) return false;
    const DimId left = known(c.left), right = known(c.right);
    const DimId one = dims_.integer(1);
    bool never = dims_.never_zero(dims_.value_sub(left, right));
    if (c.kind == DimConstraint::Kind::Broadcast)
      never = never && right != one && dims_.never_zero(dims_.value_sub(right, one));
    if (never) c.left = left, c.right = right;
    return never;
  };
  std::vector<DimConstraint> rest;
  for (DimConstraint& c : open) (contradicts(c) ? violated : rest).push_back(c);
  open = std::move(rest);
}

}  // namespace axon
