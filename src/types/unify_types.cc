// Unification and joins of whole types.
#include <algorithm>

#include "support/check.h"
#include "types/unify.h"

namespace axon {
namespace {

Mismatch clash(Mismatch::Kind kind, TypeId left, TypeId right) {
  Mismatch out;
  out.kind = kind;
  out.left = left;
  out.right = right;
  return out;
}

bool is_number(TypeKind kind) {
  return kind == TypeKind::Int || kind == TypeKind::Dim || kind == TypeKind::Float;
}

// Position of the run, or npos.
size_t run_position(const std::vector<Axis>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].is_run()) return i;
  }
  return std::string::npos;
}

}  // namespace

// ---- resolution ----------------------------------------------------------------------------

bool Unifier::settled(const std::vector<Axis>& axes) const {
  return std::all_of(axes.begin(), axes.end(), [&](const Axis& axis) {
    return axis.is_run() ? run_bindings_.count(axis.run) == 0 : settled(axis.dim);
  });
}

bool Unifier::settled(TypeId type) const {
  const TypeData& data = types_.get(type);
  if (data.kind == TypeKind::Variable) return type_bindings_.count(data.variable) == 0;
  return settled(data.axes) && std::all_of(data.items.begin(), data.items.end(),
                                           [&](TypeId item) { return settled(item); });
}

std::vector<Axis> Unifier::resolve(const std::vector<Axis>& axes) {
  if (settled(axes)) return axes;
  std::vector<Axis> out;
  out.reserve(axes.size());
  for (const Axis& axis : axes) {
    if (!axis.is_run()) {
      out.push_back({resolve(axis.dim), {}});
      continue;
    }
    auto bound = run_bindings_.find(axis.run);
    if (bound == run_bindings_.end()) {
      out.push_back(axis);
      continue;
    }
    for (const Axis& inner : resolve(std::vector<Axis>(bound->second))) out.push_back(inner);
  }
  return out;
}

TypeId Unifier::resolve(TypeId type) {
  if (settled(type)) return type;
  const TypeData data = types_.get(type);  // a copy: the store grows below
  switch (data.kind) {
    case TypeKind::Variable: {
      auto bound = type_bindings_.find(data.variable);
      return bound == type_bindings_.end() ? type : resolve(bound->second);
    }
    case TypeKind::Tensor:
      return data.known_rank ? types_.tensor(resolve(data.axes)) : type;
    case TypeKind::List:
      return types_.list(resolve(data.items[0]));
    case TypeKind::Optional:
      return types_.optional(resolve(data.items[0]));
    case TypeKind::Tuple: {
      std::vector<TypeId> items;
      for (TypeId item : data.items) items.push_back(resolve(item));
      return types_.tuple(std::move(items));
    }
    case TypeKind::Error:
    case TypeKind::Any:
    case TypeKind::Null:
    case TypeKind::Int:
    case TypeKind::Dim:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::String:
    case TypeKind::Path:
      return type;
  }
  AXON_UNREACHABLE("type kind");
}

TypeId Unifier::renew_unknowns(TypeId type) {
  std::map<SymbolId, DimId> renewed;
  return types_.substitute(
      resolve(type),
      [&](SymbolId symbol) -> DimId {
        if (dims_.symbol(symbol).kind != SymbolKind::Unknown) return {};
        auto [it, added] = renewed.try_emplace(symbol);
        if (added) it->second = unknown();
        return it->second;
      },
      [](SymbolId, bool&) { return std::vector<Axis>{}; }, [](SymbolId) { return TypeId{}; });
}

TypeId Unifier::binding_of_variable(SymbolId symbol) {
  auto bound = type_bindings_.find(symbol);
  return bound == type_bindings_.end() ? TypeId{} : resolve(bound->second);
}

std::vector<Axis> Unifier::binding_of_run(SymbolId symbol) {
  auto bound = run_bindings_.find(symbol);
  return bound == run_bindings_.end() ? std::vector<Axis>{}
                                      : resolve(std::vector<Axis>(bound->second));
}

bool Unifier::occurs(SymbolId variable, TypeId type) {
  const TypeData& data = types_.get(type);
  if (data.kind == TypeKind::Variable) return data.variable == variable;
  return std::any_of(data.items.begin(), data.items.end(),
                     [&](TypeId item) { return occurs(variable, item); });
}

// ---- shapes --------------------------------------------------------------------------------

// Two resolved shapes on the way to one.
struct AxisPairing {
  Unifier& u;
  std::vector<Axis> left, right;

  Mismatch shapes(Mismatch::Kind kind) {
    return clash(kind, u.types().tensor(left), u.types().tensor(right));
  }
  std::optional<Mismatch> pair(size_t i, size_t j) {
    auto bad = u.unify_dim(left[i].dim, right[j].dim);
    if (!bad) return {};
    bad->left = u.types().tensor(left);
    bad->right = u.types().tensor(right);
    bad->axis = static_cast<int>(i);
    return bad;
  }
  std::optional<Mismatch> pair_ends(size_t prefix, size_t suffix) {
    for (size_t i = 0; i < prefix; ++i) {
      if (auto bad = pair(i, i)) return bad;
    }
    for (size_t i = 0; i < suffix; ++i) {
      if (auto bad = pair(left.size() - 1 - i, right.size() - 1 - i)) return bad;
    }
    return {};
  }
  // The unified shape: the axes of `from`, of which `prefix` and `suffix` have partners in `to`.
  std::vector<Axis> finish(const std::vector<Axis>& from, const std::vector<Axis>& to,
                           size_t prefix, size_t suffix) {
    std::vector<Axis> out;
    for (size_t i = 0; i < from.size(); ++i) {
      size_t behind = from.size() - 1 - i;
      Axis axis = from[i];
      bool paired = i < prefix || behind < suffix;
      if (!axis.is_run() && paired)
        axis.dim = u.choose(axis.dim, to[i < prefix ? i : to.size() - 1 - behind].dim);
      out.push_back(axis);
    }
    return u.resolve(out);
  }
};

// Both shapes have a run, at l and r.
std::optional<Mismatch> Unifier::unify_runs(AxisPairing& p, size_t l, size_t r,
                                            std::vector<Axis>& result) {
  result = p.left;
  if (p.left == p.right) return {};
  size_t ls = p.left.size() - l - 1;
  size_t rs = p.right.size() - r - 1;
  SymbolId left_run = p.left[l].run;
  SymbolId right_run = p.right[r].run;
  bool same_run = left_run == right_run;
  bool aligned = l == r && ls == rs;
  bool bind_left = l == 0 && ls <= rs;
  bool bind_right = r == 0 && rs <= ls;
  if (!aligned && (same_run || (!bind_left && !bind_right)))
    return p.shapes(Mismatch::Kind::Variadic);
  size_t suffix = std::min(ls, rs);
  if (auto bad = p.pair_ends(aligned ? l : 0, suffix)) return bad;
  if (aligned) {
    if (!same_run) {
      bool keep_left = prefers_left(left_run, right_run);
      run_bindings_[keep_left ? right_run : left_run] = {keep_left ? p.left[l] : p.right[r]};
    }
    result = p.finish(p.left, p.right, l, suffix);
    return {};
  }
  const auto& other = bind_left ? p.right : p.left;
  run_bindings_[bind_left ? left_run : right_run] = {
      other.begin(), other.end() - static_cast<std::ptrdiff_t>(suffix)};
  result = p.finish(other, bind_left ? p.left : p.right, 0, suffix);
  return {};
}

std::optional<Mismatch> Unifier::unify_axes(const std::vector<Axis>& left,
                                            const std::vector<Axis>& right,
                                            std::vector<Axis>& result) {
  AxisPairing p{*this, resolve(left), resolve(right)};
  size_t l = run_position(p.left);
  size_t r = run_position(p.right);
  bool left_run = l != std::string::npos;
  bool right_run = r != std::string::npos;
  if (left_run && right_run) return unify_runs(p, l, r, result);
  if (!left_run && !right_run) {
    if (p.left.size() != p.right.size()) return p.shapes(Mismatch::Kind::Rank);
    if (auto bad = p.pair_ends(p.left.size(), 0)) return bad;
    result = p.finish(p.left, p.right, p.left.size(), 0);
    return {};
  }
  const auto& open = left_run ? p.left : p.right;
  const auto& closed = left_run ? p.right : p.left;
  size_t prefix = left_run ? l : r;
  size_t suffix = open.size() - prefix - 1;
  if (closed.size() < prefix + suffix) return p.shapes(Mismatch::Kind::Rank);
  if (auto bad = p.pair_ends(prefix, suffix)) return bad;
  run_bindings_[open[prefix].run] = {closed.begin() + static_cast<std::ptrdiff_t>(prefix),
                                     closed.end() - static_cast<std::ptrdiff_t>(suffix)};
  result = p.finish(closed, open, prefix, suffix);
  return {};
}

// ---- unification ---------------------------------------------------------------------------

std::optional<Mismatch> Unifier::unify_variable(TypeId variable, TypeId other, bool actual_left,
                                                TypeId& result) {
  SymbolId symbol = types_.get(variable).variable;
  result = other;
  if (occurs(symbol, other)) {
    return actual_left ? clash(Mismatch::Kind::Type, variable, other)
                       : clash(Mismatch::Kind::Type, other, variable);
  }
  const TypeData& data = types_.get(other);
  if (data.kind == TypeKind::Error) return {};
  // Of two variables the one that the user wrote survives.
  if (data.kind == TypeKind::Variable && !prefers_left(data.variable, symbol)) {
    type_bindings_[data.variable] = variable;
    result = variable;
    return {};
  }
  type_bindings_[symbol] = other;
  return {};
}

std::optional<Mismatch> Unifier::unify_items(const TypeData& actual, const TypeData& required,
                                             TypeId& result, UnifyNotes& notes) {
  std::vector<TypeId> items;
  for (size_t i = 0; i < actual.items.size(); ++i) {
    TypeId item;
    if (auto bad = unify(actual.items[i], required.items[i], item, notes)) return bad;
    items.push_back(item);
  }
  result = actual.kind == TypeKind::List ? types_.list(items[0]) : types_.tuple(std::move(items));
  return {};
}

// Two types that are neither equal, open nor optional.
std::optional<Mismatch> Unifier::unify_plain(TypeId actual, TypeId required, TypeId& result,
                                             UnifyNotes& notes) {
  const TypeData a = types_.get(actual);
  const TypeData r = types_.get(required);
  if (is_number(a.kind) && is_number(r.kind)) {
    if (a.kind == TypeKind::Float) return clash(Mismatch::Kind::Numeric, actual, required);
    result = required;
    return {};
  }
  if (a.kind == TypeKind::Tuple && r.kind == TypeKind::List) {
    // The pieces of a split are a tuple wherever their number is known.
    start_join();
    TypeId item = a.items[0];
    for (TypeId other : a.items) {
      if (auto bad = join(item, other, item)) return bad;
    }
    return unify(item, r.items[0], item, notes);
  }
  if (a.kind != r.kind) return clash(Mismatch::Kind::Type, actual, required);
  if (a.kind == TypeKind::Tensor) {
    if (!a.known_rank || !r.known_rank) {
      result = a.known_rank ? actual : required;
      return {};
    }
    std::vector<Axis> axes;
    if (auto bad = unify_axes(a.axes, r.axes, axes)) return bad;
    result = types_.tensor(std::move(axes));
    return {};
  }
  if (a.kind == TypeKind::Tuple && a.items.size() != r.items.size()) {
    return clash(Mismatch::Kind::TupleSize, actual, required);
  }
  if (a.kind == TypeKind::Tuple || a.kind == TypeKind::List)
    return unify_items(a, r, result, notes);
  return clash(Mismatch::Kind::Type, actual, required);
}

std::optional<Mismatch> Unifier::unify(TypeId actual, TypeId required, TypeId& result,
                                       UnifyNotes& notes) {
  actual = resolve(actual);
  required = resolve(required);
  result = actual;
  if (actual == required) return {};
  const TypeData a = types_.get(actual);
  const TypeData r = types_.get(required);
  if (a.kind == TypeKind::Error || r.kind == TypeKind::Error) return {};
  if (r.kind == TypeKind::Any) return {};
  if (a.kind == TypeKind::Any) {
    result = required;
    return {};
  }
  if (r.kind == TypeKind::Optional) {
    if (a.kind == TypeKind::Null) {
      result = required;
      return {};
    }
    TypeId inner;
    if (auto bad = unify(types_.strip_optional(actual), r.items[0], inner, notes)) return bad;
    result = types_.optional(inner);
    return {};
  }
  if (r.kind == TypeKind::Variable) return unify_variable(required, actual, false, result);
  if (a.kind == TypeKind::Variable) return unify_variable(actual, required, true, result);
  if (a.kind == TypeKind::Null) return clash(Mismatch::Kind::Null, actual, required);
  if (a.kind == TypeKind::Optional) {
    notes.dropped_optional = true;
    return unify(a.items[0], required, result, notes);
  }
  return unify_plain(actual, required, result, notes);
}

// ---- joins ---------------------------------------------------------------------------------

void Unifier::start_join() {
  joined_.clear();
  kept_.clear();
}

DimId Unifier::join_dim(DimId a, DimId b) {
  a = resolve(a);
  b = resolve(b);
  if (a == b) return a;
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    auto symbol = dims_.as_symbol(one);
    bool open = symbol && bindable(*symbol) && dims_.symbol(*symbol).generated &&
                anchored_.count(*symbol) == 0 && !dims_.mentions(other, *symbol);
    if (!open) continue;
    bind(*symbol, other);
    return other;
  }
  auto [it, added] = joined_.try_emplace({a, b});
  if (!added) return it->second;
  auto symbol = dims_.as_symbol(a);
  bool own = keep_unknowns_ && symbol && loop_unknowns_.count(*symbol) > 0;
  // One unknown may stand for one pair only: two axes that change differently must part.
  if (own && kept_.insert(*symbol).second) return it->second = a;
  DimId fresh = unknown();
  if (keep_unknowns_) loop_unknowns_.insert(*dims_.as_symbol(fresh));
  return it->second = fresh;
}

std::optional<Mismatch> Unifier::join_axes(const TypeData& a, const TypeData& b, TypeId& result) {
  std::vector<Axis> left = resolve(a.axes);
  std::vector<Axis> right = resolve(b.axes);
  size_t l = run_position(left);
  size_t r = run_position(right);
  if (l != r || left.size() != right.size()) {
    if (l == std::string::npos && r == std::string::npos) {
      return clash(Mismatch::Kind::Rank, types_.tensor(left), types_.tensor(right));
    }
    std::vector<Axis> axes;  // a run takes what the other side has
    if (auto bad = unify_axes(left, right, axes)) return bad;
    result = types_.tensor(std::move(axes));
    return {};
  }
  std::vector<Axis> axes;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i].is_run()) {
      axes.push_back({join_dim(left[i].dim, right[i].dim), {}});
    } else if (left[i].run == right[i].run) {
      axes.push_back(left[i]);
    } else {
      result = types_.tensor();
      return {};
    }
  }
  result = types_.tensor(std::move(axes));
  return {};
}

// Lists, tuples and the pieces of a split, which is a list of as many items as the tuple has.
std::optional<Mismatch> Unifier::join_items(TypeId left, TypeId right, TypeId& result) {
  const TypeData a = types_.get(left);
  const TypeData b = types_.get(right);
  if (a.kind == TypeKind::Tuple && b.kind == TypeKind::List) return join_items(right, left, result);
  if (a.kind == TypeKind::List && b.kind == TypeKind::Tuple) {
    TypeId item = a.items[0];
    for (TypeId other : b.items) {
      if (auto bad = join(item, other, item)) return bad;
    }
    result = types_.list(item);
    return {};
  }
  if (a.items.size() != b.items.size()) return clash(Mismatch::Kind::TupleSize, left, right);
  std::vector<TypeId> items;
  for (size_t i = 0; i < a.items.size(); ++i) {
    TypeId item;
    if (auto bad = join(a.items[i], b.items[i], item)) return bad;
    items.push_back(item);
  }
  result = a.kind == TypeKind::List ? types_.list(items[0]) : types_.tuple(std::move(items));
  return {};
}

std::optional<Mismatch> Unifier::join(TypeId left, TypeId right, TypeId& result) {
  left = resolve(left);
  right = resolve(right);
  result = left;
  if (left == right) return {};
  const TypeData a = types_.get(left);
  const TypeData b = types_.get(right);
  auto either = [&](TypeKind kind) { return a.kind == kind || b.kind == kind; };
  if (either(TypeKind::Error)) {
    result = a.kind == TypeKind::Error ? right : left;
    return {};
  }
  if (either(TypeKind::Any)) {
    result = types_.any();
    return {};
  }
  if (either(TypeKind::Null) || either(TypeKind::Optional)) {
    TypeId inner = a.kind == TypeKind::Null ? right : left;
    if (!either(TypeKind::Null)) {
      if (auto bad = join(types_.strip_optional(left), types_.strip_optional(right), inner))
        return bad;
    }
    result = types_.optional(types_.strip_optional(inner));
    return {};
  }
  if (a.kind == TypeKind::Variable) return unify_variable(left, right, true, result);
  if (b.kind == TypeKind::Variable) return unify_variable(right, left, false, result);
  if (is_number(a.kind) && is_number(b.kind)) {
    result = either(TypeKind::Float) ? types_.float_() : types_.dim();
    return {};
  }
  auto many = [](TypeKind kind) { return kind == TypeKind::List || kind == TypeKind::Tuple; };
  if (many(a.kind) && many(b.kind)) return join_items(left, right, result);
  if (a.kind != b.kind || a.kind != TypeKind::Tensor)
    return clash(Mismatch::Kind::Type, left, right);
  if (a.known_rank && b.known_rank) return join_axes(a, b, result);
  result = types_.tensor();
  return {};
}

}  // namespace axon
