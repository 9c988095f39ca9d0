// Results whose sizes the body leaves open: what the signature says of them is taken on trust, and
// names that it gives to several are looked at when the program runs.
#include <algorithm>
#include <functional>

#include "sema/typecheck_checker.h"

namespace axon::sema::types {

namespace {

using Replace = std::function<DimId(DimId written, DimId found)>;

// Each axis of `found` that has a dim of its own in `written`, by what `replace` makes of the two.
// Items of lists may differ in their sizes.
TypeId with_axes(TypeTable& t, TypeId written, TypeId found, const Replace& replace) {
  const TypeData want = t.get(written);
  const TypeData have = t.get(found);
  if (want.kind == TypeKind::Optional)
    return have.kind == TypeKind::Optional
               ? t.optional(with_axes(t, want.items[0], have.items[0], replace))
               : with_axes(t, want.items[0], found, replace);
  if (have.kind == TypeKind::Optional)
    return t.optional(with_axes(t, written, have.items[0], replace));
  if (want.kind != have.kind) return found;
  if (want.kind == TypeKind::Tuple && want.items.size() == have.items.size()) {
    std::vector<TypeId> items;
    for (size_t i = 0; i < want.items.size(); ++i)
      items.push_back(with_axes(t, want.items[i], have.items[i], replace));
    return t.tuple(std::move(items));
  }
  if (want.kind != TypeKind::Tensor || !want.known_rank || !have.known_rank) return found;
  auto run = [](const Axis& axis) { return axis.is_run(); };
  if (std::any_of(have.axes.begin(), have.axes.end(), run)) return found;
  const size_t n = want.axes.size(), rank = have.axes.size();
  const bool open = std::any_of(want.axes.begin(), want.axes.end(), run);
  if (open ? n > rank + 1 : n != rank) return found;
  std::vector<Axis> axes = have.axes;
  bool behind = false;
  for (size_t i = 0; i < n; ++i) {
    behind = behind || want.axes[i].is_run();
    if (want.axes[i].is_run()) continue;
    Axis& axis = axes[behind ? rank - (n - i) : i];
    axis.dim = replace(want.axes[i].dim, axis.dim);
  }
  return t.tensor(std::move(axes));
}

}  // namespace

// `result` is what the body's type and the declared one make together. A size that nothing knows is
// what the signature says. Where a name that no parameter has is given to several sizes that are
// not known to be the same, the result of the definition's own check keeps the name.
TypeId Checker::promised(Frame& f, TypeId body, TypeId declared, TypeId result,
                         const std::map<NameId, DimId>& before) {
  if (f.dims.size() == before.size()) return result;  // the result has no name of its own
  std::map<SymbolId, int> unproven;
  auto count = [&](int by, bool only_equal) {
    return [this, &f, &unproven, by, only_equal](DimId written, DimId found) {
      if (only_equal && found != f.u.resolve(written)) return found;
      for (SymbolId symbol : d_.symbols(written)) unproven[symbol] += by;
      return found;
    };
  };
  std::map<SymbolId, int> uses;
  with_axes(t_, declared, result, count(1, false));
  uses = unproven;
  with_axes(t_, declared, f.u.resolve(body), count(-1, true));
  std::map<SymbolId, DimId> kept;
  for (const auto& [name, dim] : f.dims) {
    auto symbol = d_.as_symbol(dim);
    if (!f.generic || !symbol || before.count(name) > 0) continue;
    bool open = !f.u.is_bound(*symbol) || f.u.mentions_unknown(f.u.resolve(dim));
    if (!open || uses[*symbol] < 2 || unproven[*symbol] == 0) continue;
    SymbolId fresh = d_.fresh(s_.names.text(name), SymbolKind::Variable);
    f.promises.emplace_back(name, fresh);
    kept[*symbol] = d_.of(fresh);
  }
  return with_axes(t_, declared, result, [&](DimId written, DimId found) {
    DimId said = f.u.resolve(d_.substitute(written, [&](SymbolId symbol) {
      auto keeps = kept.find(symbol);
      return keeps == kept.end() ? DimId{} : keeps->second;
    }));
    bool keeps = said != f.u.resolve(written);
    return keeps || f.u.mentions_unknown(found) ? said : found;
  });
}

}  // namespace axon::sema::types
