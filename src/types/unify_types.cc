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

std::vector<Axis> Unifier::resolve(const std::vector<Axis>& axes) {
  std::vector<Axis> out;
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
  const TypeData data = types_.get(type);
  switch (data.kind) {
    case TypeKind::Variable: {
      auto bound = type_bindings_.find(data.variable);
      return bound == type_bindings_.end() ? type : resolve(bound->second);
    }
    case TypeKind::Tensor: return data.known_rank ? types_.tensor(resolve(data.axes)) : type;
    case TypeKind::List: return types_.list(resolve(data.items[0]));
    case TypeKind::Optional: return types_.optional(resolve(data.items[0]));
    case TypeKind::Tuple: {
      std::vector<TypeId> items;
      for (TypeId item : data.items) items.push_back(resolve(item));
      return types_.tuple(std::move(items));
    }
    case TypeKind::Error: case TypeKind::Any: case TypeKind::Null: case TypeKind::Int:
    case TypeKind::Dim: case TypeKind::Float: case TypeKind::Bool: case TypeKind::String:
    case TypeKind::Path:
      return type;
  }
  AXON_UNREACHABLE("type kind");
}

TypeId Unifier::binding_of_variable(SymbolId symbol) {
  auto bound = type_bindings_.find(symbol);
  return bound == type_bindings_.end() ? TypeId{} : resolve(bound->second);
}

std::vector<Axis> Unifier::binding_of_run(SymbolId symbol) {
  auto bound = run_bindings_.find(symbol);
  return bound == run_bindings_.end() ? std::vector<Axis>{} : resolve(std::vector<Axis>(bound->second));
}

bool Unifier::occurs(SymbolId variable, TypeId type) {
  const TypeData& data = types_.get(type);
  if (data.kind == TypeKind::Variable) return data.variable == variable;
  return std::any_of(data.items.begin(), data.items.end(),
                     [&](TypeId item) { return occurs(variable, item); });
}

// ---- shapes --------------------------------------------------------------------------------

std::optional<Mismatch> Unifier::unify_axes(const std::vector<Axis>& left_in,
                                            const std::vector<Axis>& right_in,
                                            std::vector<Axis>& result) {
  std::vector<Axis> left = resolve(left_in);
  std::vector<Axis> right = resolve(right_in);
  size_t l = run_position(left);
  size_t r = run_position(right);
  auto shapes = [&](Mismatch::Kind kind) {
    return clash(kind, types_.tensor(left), types_.tensor(right));
  };
  auto pair = [&](size_t i, size_t j) -> std::optional<Mismatch> {
    auto bad = unify_dim(left[i].dim, right[j].dim);
    if (!bad) return {};
    bad->left = types_.tensor(left);
    bad->right = types_.tensor(right);
    bad->axis = static_cast<int>(i);
    return bad;
  };
  // The unified shape; `from` is the side whose axes are listed, aligned at both ends with `to`.
  auto finish = [&](const std::vector<Axis>& from, const std::vector<Axis>& to, size_t prefix, size_t suffix) {
    result.clear();
    for (size_t i = 0; i < from.size(); ++i) {
      size_t behind = from.size() - 1 - i;
      Axis axis = from[i];
      size_t j = i < prefix ? i : to.size() - 1 - behind;
      if (!axis.is_run() && (i < prefix || behind < suffix)) axis.dim = choose(axis.dim, to[j].dim);
      result.push_back(axis);
    }
    result = resolve(result);
  };
  bool left_run = l != std::string::npos;
  bool right_run = r != std::string::npos;
  if (!left_run && !right_run) {
    if (left.size() != right.size()) return shapes(Mismatch::Kind::Rank);
    for (size_t i = 0; i < left.size(); ++i) {
      if (auto bad = pair(i, i)) return bad;
    }
    finish(left, right, left.size(), 0);
    return {};
  }
  if (left_run && right_run) {
    if (left == right) {
      result = left;
      return {};
    }
    size_t ls = left.size() - l - 1;
    size_t rs = right.size() - r - 1;
    bool same_run = left[l].run == right[r].run;
    bool aligned = l == r && ls == rs;
    if (same_run && !aligned) return shapes(Mismatch::Kind::Variadic);
    if (!aligned && !(l == 0 && ls <= rs) && !(r == 0 && rs <= ls)) {
      return shapes(Mismatch::Kind::Variadic);
    }
    size_t suffix = std::min(ls, rs);
    for (size_t i = 0; i < suffix; ++i) {
      if (auto bad = pair(left.size() - 1 - i, right.size() - 1 - i)) return bad;
    }
    if (aligned) {
      for (size_t i = 0; i < l; ++i) {
        if (auto bad = pair(i, i)) return bad;
      }
      if (!same_run) {
        bool keep_left = prefers_left(left[l].run, right[r].run);
        run_bindings_[keep_left ? right[r].run : left[l].run] = {keep_left ? left[l] : right[r]};
      }
      finish(left, right, l, suffix);
      return {};
    }
    bool bind_left = l == 0 && ls <= rs;
    const auto& other = bind_left ? right : left;
    SymbolId run = bind_left ? left[l].run : right[r].run;
    run_bindings_[run] = {other.begin(), other.end() - static_cast<std::ptrdiff_t>(suffix)};
    finish(other, bind_left ? left : right, 0, suffix);
    return {};
  }
  const auto& open = left_run ? left : right;
  const auto& closed = left_run ? right : left;
  size_t prefix = left_run ? l : r;
  size_t suffix = open.size() - prefix - 1;
  if (closed.size() < prefix + suffix) return shapes(Mismatch::Kind::Rank);
  for (size_t i = 0; i < prefix; ++i) {
    if (auto bad = pair(i, i)) return bad;
  }
  for (size_t i = 0; i < suffix; ++i) {
    if (auto bad = pair(left.size() - 1 - i, right.size() - 1 - i)) return bad;
  }
  run_bindings_[open[prefix].run] = {closed.begin() + static_cast<std::ptrdiff_t>(prefix),
                                     closed.end() - static_cast<std::ptrdiff_t>(suffix)};
  finish(closed, open, prefix, suffix);
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
  if (a.kind == TypeKind::Tuple || a.kind == TypeKind::List) {
    return unify_items(a, r, result, notes);
  }
  return clash(Mismatch::Kind::Type, actual, required);
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
    dim_bindings_[*symbol] = other;
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

std::optional<Mismatch> Unifier::join(TypeId left, TypeId right, TypeId& result) {
  left = resolve(left);
  right = resolve(right);
  result = left;
  if (left == right) return {};
  const TypeData a = types_.get(left);
  const TypeData b = types_.get(right);
  if (a.kind == TypeKind::Error || b.kind == TypeKind::Error) {
    result = a.kind == TypeKind::Error ? right : left;
    return {};
  }
  if (a.kind == TypeKind::Any || b.kind == TypeKind::Any) {
    result = types_.any();
    return {};
  }
  bool optional = a.kind == TypeKind::Null || b.kind == TypeKind::Null ||
                  a.kind == TypeKind::Optional || b.kind == TypeKind::Optional;
  if (optional) {
    TypeId inner = a.kind == TypeKind::Null ? right : left;
    if (a.kind != TypeKind::Null && b.kind != TypeKind::Null) {
      if (auto bad = join(types_.strip_optional(left), types_.strip_optional(right), inner)) return bad;
    }
    result = types_.optional(types_.strip_optional(inner));
    return {};
  }
  if (a.kind == TypeKind::Variable) return unify_variable(left, right, true, result);
  if (b.kind == TypeKind::Variable) return unify_variable(right, left, false, result);
  if (is_number(a.kind) && is_number(b.kind)) {
    bool is_float = a.kind == TypeKind::Float || b.kind == TypeKind::Float;
    result = is_float ? types_.float_() : types_.dim();
    return {};
  }
  if (a.kind == TypeKind::Tuple && b.kind == TypeKind::List) return join(right, left, result);
  if (a.kind == TypeKind::List && b.kind == TypeKind::Tuple) {
    TypeId item = a.items[0];
    for (TypeId other : b.items) {
      if (auto bad = join(item, other, item)) return bad;
    }
    result = types_.list(item);
    return {};
  }
  if (a.kind != b.kind) return clash(Mismatch::Kind::Type, left, right);
  if (a.kind == TypeKind::Tensor) {
    if (a.known_rank && b.known_rank) return join_axes(a, b, result);
    result = types_.tensor();
    return {};
  }
  if (a.items.size() != b.items.size()) return clash(Mismatch::Kind::TupleSize, left, right);
  std::vector<TypeId> items;
  for (size_t i = 0; i < a.items.size(); ++i) {
    TypeId item;
    if (auto bad = join(a.items[i], b.items[i], item)) return bad;
    items.push_back(item);
  }
  if (a.kind == TypeKind::List) result = types_.list(items[0]);
  if (a.kind == TypeKind::Tuple) result = types_.tuple(std::move(items));
  return {};
}

}  // namespace axon
