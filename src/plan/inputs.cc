// Input trees of MAIN for one shape of call.
#include <fmt/format.h>

#include <algorithm>

#include "plan/planner.h"

namespace axon::plan {

DimId Planner::variable(std::string_view name) {
  return context_.dims.of(context_.dims.symbol(context_.names.intern(name), SymbolKind::Variable));
}

opt::TreeId Planner::scalar_input(Call& call, std::string_view place, SymbolId symbol) {
  runtime::Input input;
  input.name = std::string(place);
  input.is_scalar = true;
  input.symbol = context_.symbols.symbol(symbol);
  call.phase.inputs.push_back(std::move(input));
  return forest_.integer(context_.dims.of(symbol));
}

// Types say nothing of elements: they are the caller's, where it said. Else masks are boolean, what
// has more than two axes is floating and the rest int64.
opt::TreeId Planner::tensor_input(Call& call, size_t index, TypeId type, const std::string& place) {
  const graph::Value& value = main_.values[main_.inputs[index]];
  std::vector<DimId> dims = context_.types.dims_of(type);
  for (DimId& dim : dims) {
    dim = context_.dims.substitute(dim, [&](SymbolId s) {
      const Symbol& facts = context_.dims.symbol(s);
      return facts.value ? context_.dims.integer(*facts.value) : DimId{};
    });
  }
  bool grows = static_cast<int>(index) == roles_.mask;
  bool mask = grows || static_cast<int>(index) == roles_.padding();
  if (grows && dims.size() == 2) {
    // A buffer has the call's capacity; a plain mask, or one without capacity, covers this call's
    // tokens.
    bool buffer = place != context_.names.text(value.name);
    if (buffer && capacity_.valid())
      dims[1] = call.kind == Kind::Score && !call.sized ? ids_dims_[1] : capacity_;
    else if (!buffer)
      dims[1] = ids_dims_[1];
  }
  DType dtype = value.dtype;
  for (const auto& [name, given] : options_.given) {
    bool takes = name == place && !mask;
    if (call.exact)  // the store of a mask may be made of a plain one
      takes =
          same_input(name, place) || (mask && same_input(name, context_.names.text(value.name)));
    if (takes) dtype = given;
  }
  if (dtype == DType::Unknown)
    dtype = mask ? DType::Bool : dims.size() <= 2 ? DType::I64 : DType::F32;
  runtime::Input input;
  input.name = place;
  input.dtype = dtype;
  input.shape = context_.symbols.exprs(dims);
  call.sizes.insert(call.sizes.end(), dims.begin(), dims.end());
  call.phase.inputs.push_back(std::move(input));
  return forest_.tensor(std::move(dims), dtype);
}

opt::TreeId Planner::input_tree(Call& call, size_t index, TypeId type, const std::string& place) {
  type = context_.types.strip_optional(type);
  const TypeData data = context_.types.get(type);
  if (!context_.types.dims_of(type).empty()) return tensor_input(call, index, type, place);
  if (data.kind == TypeKind::Int || data.kind == TypeKind::Dim) {
    call.free.push_back(context_.dims.symbol(context_.names.intern(place), SymbolKind::Data));
    return scalar_input(call, place, call.free.back());
  }
  if (data.kind != TypeKind::Tuple) {
    fail(fmt::format("input `{}`", place),
         fmt::format("its type `{}` cannot be given by a caller", context_.types.show(type)));
    return {};
  }
  std::vector<opt::TreeId> items;
  for (size_t i = 0; i < data.items.size(); ++i) {
    opt::TreeId item = input_tree(call, index, data.items[i], fmt::format("{}.{}", place, i));
    if (!item.valid()) return {};
    items.push_back(item);
  }
  return forest_.tuple(std::move(items));
}

bool Planner::make_inputs(Call& call) {
  uint32_t extras = call.extras;
  call.sized = call.exact && roles_.capacity >= 0 && is_given(static_cast<size_t>(roles_.capacity));
  for (size_t i = 0; i < main_.inputs.size(); ++i) {
    const graph::Value& value = main_.values[main_.inputs[i]];
    int role = static_cast<int>(i);
    std::string name = text_of(value.name);
    opt::TreeId tree = forest_.null();
    bool plain = call.exact && !roles_.cached();  // names of caching mean nothing
    if (plain && (role == roles_.cache || role == roles_.use_cache)) {
      if (!value.optional || is_given(i)) tree = input_tree(call, i, value.type, name);
    } else if (role == roles_.cache) {
      if (call.kind == Kind::Extend) tree = cache_input(cache_, name);
    } else if (role == roles_.use_cache) {
      tree = forest_.boolean(call.kind != Kind::Score);
    } else if (role == roles_.capacity) {
      if (call.kind == Kind::Score && !call.sized)
        tree = forest_.integer(ids_dims_[1]);
      else
        tree = scalar_input(call, name, *context_.dims.as_symbol(capacity_));
    } else if (role != roles_.padding() || call.masked) {
      bool given = !value.optional || role == roles_.padding();
      if (call.exact) {
        given = given || is_given(i);
      } else if (is_extra(i)) {
        given = given || extras % 2 != 0;
        extras = extras == ~0u ? extras : extras / 2;
      }
      if (given) tree = input_tree(call, i, value.type, name);
    }
    if (!tree.valid()) return false;
    call.inputs.push_back(tree);
  }
  return check_sizes(call);
}

// A straight line takes names of sizes from whole axes; solving a compound is for the general
// machine.
bool Planner::check_sizes(const Call& call) {
  if (roles_.cached()) return true;  // states name more
  std::vector<SymbolId> named = call.free;
  for (DimId size : call.sizes) {
    if (auto symbol = context_.dims.as_symbol(size)) named.push_back(*symbol);
  }
  for (DimId size : call.sizes) {
    for (SymbolId symbol : context_.dims.symbols(size)) {
      if (std::find(named.begin(), named.end(), symbol) == named.end())
        return fail(fmt::format("an axis `{}`", context_.dims.show(size)),
                    "no axis is one name of it");
    }
  }
  return true;
}

}  // namespace axon::plan
