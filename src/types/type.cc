// Interning, substitution and text of types.
#include "types/type.h"

#include <unordered_map>

#include "support/check.h"
#include "support/store.h"

namespace axon {

struct TypeTable::Impl {
  Store<TypeId, TypeData> types;
  std::unordered_multimap<size_t, TypeId> ids;

  static size_t hash(const TypeData& t) {
    size_t seed = hash_mix(static_cast<size_t>(t.kind), static_cast<size_t>(t.variable.index));
    seed = hash_mix(seed, t.known_rank);
    for (const Axis& axis : t.axes) {
      seed = hash_mix(seed, static_cast<size_t>(axis.dim.index));
      seed = hash_mix(seed, static_cast<size_t>(axis.run.index));
    }
    for (TypeId item : t.items) seed = hash_mix(seed, static_cast<size_t>(item.index));
    return seed;
  }

  TypeId intern(TypeData data) {
    size_t h = hash(data);
    auto [begin, end] = ids.equal_range(h);
    for (auto it = begin; it != end; ++it) {
      if (types[it->second] == data) return it->second;
    }
    TypeId id = types.add(std::move(data));
    ids.emplace(h, id);
    return id;
  }
};

TypeTable::TypeTable(DimTable& dims) : dims_(dims), impl_(std::make_unique<Impl>()) {
  for (int kind = 0; kind <= static_cast<int>(TypeKind::Path); ++kind) {
    TypeData data;
    data.kind = static_cast<TypeKind>(kind);
    impl_->intern(std::move(data));
  }
}
TypeTable::~TypeTable() = default;

// The constructor interns the plain kinds first, so that their ids equal their kinds.
namespace {
TypeId plain(TypeKind kind) { return TypeId{static_cast<int32_t>(kind)}; }
}  // namespace

TypeId TypeTable::error() const { return plain(TypeKind::Error); }
TypeId TypeTable::any() const { return plain(TypeKind::Any); }
TypeId TypeTable::null() const { return plain(TypeKind::Null); }
TypeId TypeTable::int_() const { return plain(TypeKind::Int); }
TypeId TypeTable::dim() const { return plain(TypeKind::Dim); }
TypeId TypeTable::float_() const { return plain(TypeKind::Float); }
TypeId TypeTable::bool_() const { return plain(TypeKind::Bool); }
TypeId TypeTable::string() const { return plain(TypeKind::String); }
TypeId TypeTable::path() const { return plain(TypeKind::Path); }

TypeId TypeTable::variable(SymbolId symbol) {
  return impl_->intern({TypeKind::Variable, symbol, false, {}, {}});
}
TypeId TypeTable::tensor() { return impl_->intern({TypeKind::Tensor, {}, false, {}, {}}); }
TypeId TypeTable::tensor(std::vector<Axis> axes) {
  bool known = !axes.empty();
  return impl_->intern({TypeKind::Tensor, {}, known, std::move(axes), {}});
}
TypeId TypeTable::tensor_of(const std::vector<DimId>& dims) {
  std::vector<Axis> axes;
  for (DimId dim : dims) axes.push_back({dim, {}});
  return tensor(std::move(axes));
}
TypeId TypeTable::list(TypeId item) {
  return impl_->intern({TypeKind::List, {}, false, {}, {item}});
}
TypeId TypeTable::tuple(std::vector<TypeId> items) {
  AXON_CHECK(items.size() >= 2, "tuple of fewer than two items");
  return impl_->intern({TypeKind::Tuple, {}, false, {}, std::move(items)});
}
TypeId TypeTable::optional(TypeId inner) {
  TypeKind k = kind(inner);
  if (k == TypeKind::Optional || k == TypeKind::Null || k == TypeKind::Any ||
      k == TypeKind::Error) {
    return inner;
  }
  return impl_->intern({TypeKind::Optional, {}, false, {}, {inner}});
}

const TypeData& TypeTable::get(TypeId id) const { return impl_->types[id]; }

TypeId TypeTable::strip_optional(TypeId id) const {
  const TypeData& data = get(id);
  return data.kind == TypeKind::Optional ? data.items[0] : id;
}

std::vector<DimId> TypeTable::dims_of(TypeId id) const {
  const TypeData& data = get(id);
  std::vector<DimId> out;
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) return {};
    out.push_back(axis.dim);
  }
  return out;
}

TypeId TypeTable::substitute(TypeId id, function_ref<DimId(SymbolId)> dim_map,
                             function_ref<std::vector<Axis>(SymbolId, bool&)> run_map,
                             function_ref<TypeId(SymbolId)> var_map) {
  const TypeData data = get(id);  // a copy: the store grows below
  switch (data.kind) {
    case TypeKind::Variable: {
      TypeId mapped = var_map(data.variable);
      return mapped.valid() ? mapped : id;
    }
    case TypeKind::Tensor: {
      if (!data.known_rank) return id;
      std::vector<Axis> axes;
      for (const Axis& axis : data.axes) {
        if (!axis.is_run()) {
          axes.push_back({dims_.substitute(axis.dim, dim_map), {}});
          continue;
        }
        bool replaced = false;
        std::vector<Axis> middle = run_map(axis.run, replaced);
        if (!replaced) middle = {axis};
        axes.insert(axes.end(), middle.begin(), middle.end());
      }
      return tensor(std::move(axes));
    }
    case TypeKind::List:
    case TypeKind::Tuple:
    case TypeKind::Optional: {
      std::vector<TypeId> items;
      for (TypeId item : data.items) items.push_back(substitute(item, dim_map, run_map, var_map));
      if (data.kind == TypeKind::List) return list(items[0]);
      if (data.kind == TypeKind::Optional) return optional(items[0]);
      return tuple(std::move(items));
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
      return id;
  }
  AXON_UNREACHABLE("type kind");
}

std::string TypeTable::show(TypeId id) const {
  const TypeData& data = get(id);
  auto name = [&](SymbolId symbol) {
    return std::string(dims_.names().text(dims_.symbol(symbol).name));
  };
  switch (data.kind) {
    case TypeKind::Error:
      return "?";
    case TypeKind::Any:
      return "Any";
    case TypeKind::Null:
      return "Null";
    case TypeKind::Int:
      return "Int";
    case TypeKind::Dim:
      return "Dim";
    case TypeKind::Float:
      return "Float";
    case TypeKind::Bool:
      return "Bool";
    case TypeKind::String:
      return "String";
    case TypeKind::Path:
      return "Path";
    case TypeKind::Variable:
      return name(data.variable);
    case TypeKind::Tensor: {
      if (!data.known_rank) return "Tensor";
      std::string out = "Tensor[";
      for (size_t i = 0; i < data.axes.size(); ++i) {
        const Axis& axis = data.axes[i];
        out += (i > 0 ? "," : "") + (axis.is_run() ? ".." + name(axis.run) : dims_.show(axis.dim));
      }
      return out + "]";
    }
    case TypeKind::List:
      return "List[" + show(data.items[0]) + "]";
    case TypeKind::Tuple: {
      std::string out = "(";
      for (size_t i = 0; i < data.items.size(); ++i)
        out += (i > 0 ? ", " : "") + show(data.items[i]);
      return out + ")";
    }
    case TypeKind::Optional:
      return "?" + show(data.items[0]);
  }
  AXON_UNREACHABLE("type kind");
}

}  // namespace axon
