// States: the leaves of the cache tree that stand at the same place before and after a call.
#include <fmt/format.h>

#include "plan/planner.h"

namespace axon::plan {
namespace {

std::string join_place(std::string_view name, const std::string& place) {
  return place.empty() ? std::string(name) : fmt::format("{}.{}", name, place);
}

}  // namespace

// Sizes of the batch and the capacity stay between calls; everything else may change.
bool Planner::varies(DimId dim) const {
  for (SymbolId symbol : context_.dims.symbols(dim)) {
    DimId of = context_.dims.of(symbol);
    if (of != ids_dims_[0] && of != capacity_) return true;
  }
  return false;
}

bool Planner::make_states(const opt::Specialised& start) {
  cache_ = start.outputs[static_cast<size_t>(roles_.new_cache)];
  std::string name = text_of(main_.values[main_.inputs[static_cast<size_t>(roles_.cache)]].name);
  for (const opt::Leaf& leaf : opt::leaves(forest_, cache_)) {
    const opt::Tree& tree = forest_[leaf.tree];
    if (tree.kind == opt::Tree::Kind::Int && varies(tree.dim)) {
      int32_t scalar = -1;
      for (size_t i = 0; i < lengths_.size(); ++i) {
        if (lengths_[i].first == tree.dim) scalar = static_cast<int32_t>(i);
      }
      if (scalar < 0) {
        scalar = static_cast<int32_t>(lengths_.size());
        std::string symbol = scalar == 0 ? "P" : fmt::format("P{}", scalar);
        SymbolId id = context_.dims.symbol(context_.names.intern(symbol), SymbolKind::Data);
        lengths_.emplace_back(tree.dim, id);
        program_.scalars.push_back({join_place(name, leaf.place), context_.symbols.symbol(id), 0});
      }
      scalars_.push_back({leaf.place, scalar});
    }
    if (tree.kind != opt::Tree::Kind::Tensor) continue;
    runtime::State state;
    state.name = join_place(name, leaf.place);
    state.dtype = tree.dtype;
    state.shape = context_.symbols.exprs(tree.dims);
    state.row_axis = -1;
    for (size_t i = 0; i < tree.dims.size(); ++i) {
      if (varies(tree.dims[i]))
        return fail(fmt::format("state `{}`", state.name), "its size changes from call to call");
      if (state.row_axis < 0 && tree.dims[i] == ids_dims_[0])
        state.row_axis = static_cast<int32_t>(i);
      if (tree.dims[i] == capacity_) state.token_axis = static_cast<int32_t>(i);
    }
    state.kind =
        state.token_axis >= 0 ? runtime::State::Kind::Token : runtime::State::Kind::Recurrent;
    if (state.row_axis < 0) {
      state.kind = runtime::State::Kind::Opaque;
      state.row_axis = 0;
    }
    states_.push_back({leaf.place, program_.states.add(std::move(state))});
  }
  return true;
}

// The tree that a later call gets: lengths become data symbols.
opt::TreeId Planner::cache_input(opt::TreeId id, const std::string& place) {
  const opt::Tree& tree = forest_[id];
  if (tree.kind == opt::Tree::Kind::Int && varies(tree.dim)) {
    for (const auto& [value, symbol] : lengths_) {
      if (value == tree.dim) return forest_.integer(context_.dims.of(symbol));
    }
  }
  if (tree.kind != opt::Tree::Kind::List && tree.kind != opt::Tree::Kind::Tuple) return id;
  std::vector<opt::TreeId> items;
  for (size_t i = 0; i < tree.items.size(); ++i) {
    items.push_back(cache_input(tree.items[i], fmt::format("{}.{}", place, i)));
  }
  return tree.kind == opt::Tree::Kind::List ? forest_.list(std::move(items))
                                            : forest_.tuple(std::move(items));
}

// The cache after `extend` must be the one after `start`, lengths aside.
bool Planner::check_cache(opt::TreeId after) {
  bool same = opt::same_structure(forest_, cache_, after);
  std::vector<opt::Leaf> a = opt::leaves(forest_, cache_), b = opt::leaves(forest_, after);
  for (size_t i = 0; same && i < a.size(); ++i) {
    const opt::Tree& x = forest_[a[i].tree];
    const opt::Tree& y = forest_[b[i].tree];
    if (x.kind == opt::Tree::Kind::Tensor)
      same = x.dims == y.dims;
    else if (x.kind == opt::Tree::Kind::Int && !varies(x.dim))
      same = x.dim == y.dim;
  }
  if (same) return true;
  return fail("calls with a cache",
              fmt::format("it changes its form from call to call: {} becomes {}",
                          forest_.show(cache_, context_.dims), forest_.show(after, context_.dims)));
}

// All leaves of a length must agree on its new value.
bool Planner::add_updates(Call& call, opt::TreeId after) {
  std::vector<DimId> values(lengths_.size());
  // Lengths are leaves of the cache tree in order.
  std::vector<opt::Leaf> before = opt::leaves(forest_, cache_), now = opt::leaves(forest_, after);
  size_t next = 0;
  for (size_t i = 0; i < now.size() && next < scalars_.size(); ++i) {
    const opt::Tree& old = forest_[before[i].tree];
    if (old.kind != opt::Tree::Kind::Int || !varies(old.dim)) continue;
    DimId& value = values[static_cast<size_t>(scalars_[next++].scalar)];
    DimId here = forest_[now[i].tree].dim;
    if (value.valid() && value != here) {
      return fail("calls with a cache",
                  fmt::format("lengths that start equal part at `{}`", now[i].place));
    }
    value = here;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    call.phase.updates.push_back({static_cast<int32_t>(i), context_.symbols.expr(values[i])});
  }
  return true;
}

// A length is bounded by what the stores that it addresses have room for.
void Planner::bound_lengths(const opt::Specialised& flat) {
  for (const auto& [value, symbol] : lengths_) {
    runtime::SymId id = context_.symbols.symbol(symbol);
    for (const opt::DimFact& fact : flat.facts) {
      using Relation = opt::DimFact::Relation;
      const bool bound = fact.relation == Relation::Le || fact.relation == Relation::Fits;
      if (program_.symbols[id].upper.valid() || !bound) continue;
      if (!context_.dims.mentions(fact.left, symbol) || varies(fact.right)) continue;
      runtime::IntId upper = context_.symbols.expr(fact.right);
      program_.symbols[id].upper = upper;
    }
  }
}

}  // namespace axon::plan
