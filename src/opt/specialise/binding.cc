// Dimension names at run time (language.md 6.5): binding from arguments, and coercion to declared
// types.
#include <fmt/format.h>

#include "opt/specialise/specialiser.h"

namespace axon::opt {

DimId Specialiser::lookup(Frame& frame, SymbolId symbol) {
  for (const auto& [bound, value] : frame.dims) {
    if (bound == symbol) return value;
  }
  const Symbol& facts = dims_.symbol(symbol);
  if (facts.value) return dims_.integer(*facts.value);
  if (facts.kind == SymbolKind::Data) return dims_.of(symbol);
  if (facts.kind != SymbolKind::Rigid) return {};
  // A constant: its module, a global's or one without inputs, has the same name.
  for (size_t i = 0; i < graph_.modules.size(); ++i) {
    const graph::Module& module = graph_.modules[i];
    if (!module.inputs.empty() || module.name != facts.name) continue;
    TreeId tree = global(graph::ModuleId{static_cast<int32_t>(i)});
    if (!tree.valid()) return {};
    const Tree& value = forest_[tree];
    if (value.kind == Tree::Kind::Int) return value.dim;
    if (value.kind != Tree::Kind::Null) fail("a constant whose name is a size is no integer");
    return {};
  }
  return {};
}

DimId Specialiser::resolve_dim(Frame& frame, DimId dim) {
  if (dims_.as_integer(dim)) return dim;
  if (std::optional<SymbolId> plain = dims_.as_symbol(dim)) return lookup(frame, *plain);
  bool unbound = false;
  DimId result = dims_.substitute(dim, [&](SymbolId symbol) {
    DimId value = lookup(frame, symbol);
    if (!value.valid()) unbound = true;
    return value;
  });
  return unbound ? DimId{} : result;
}

void Specialiser::bind_symbol(Frame& frame, SymbolId symbol, DimId value) {
  for (const auto& [bound, known] : frame.dims) {
    if (bound == symbol) return;
  }
  frame.dims.emplace_back(symbol, value);
}

void Specialiser::bind_param_symbol(Frame& frame, NameId name, TreeId tree) {
  if (forest_[tree].kind != Tree::Kind::Int) return;
  bind_symbol(frame, dims_.symbol(name, SymbolKind::Param), forest_[tree].dim);
}

// The first binding of a name wins; a compound dim with one unknown name is solved for it.
void Specialiser::bind_dims(Frame& frame, TypeId type, TreeId id) {
  if (!type.valid()) return;
  const TypeData data = types_.get(type);  // a copy: evaluating a global may make types
  const Tree& tree = forest_[id];
  if (data.kind == TypeKind::Optional) {
    if (tree.kind != Tree::Kind::Null) bind_dims(frame, data.items[0], id);
  } else if (data.kind == TypeKind::List && tree.kind == Tree::Kind::List) {
    if (!tree.items.empty()) bind_dims(frame, data.items[0], tree.items[0]);
  } else if (data.kind == TypeKind::Tuple && tree.kind == Tree::Kind::Tuple) {
    for (size_t i = 0; i < tree.items.size() && i < data.items.size(); ++i) {
      bind_dims(frame, data.items[i], tree.items[i]);
    }
  }
  if (data.kind != TypeKind::Tensor || !data.known_rank || tree.kind != Tree::Kind::Tensor) return;
  size_t run = data.axes.size();
  for (size_t i = 0; i < data.axes.size(); ++i) {
    if (data.axes[i].is_run()) run = i;
  }
  size_t fixed = data.axes.size() - (run < data.axes.size() ? 1 : 0);
  if (tree.dims.size() < fixed) return;
  size_t shift =
      tree.dims.size() - data.axes.size();  // of axes behind the run; wraps when it is empty
  for (size_t i = 0; i < data.axes.size(); ++i) {
    if (i == run) continue;
    DimId written = data.axes[i].dim;
    DimId actual = tree.dims[i < run ? i : i + shift];
    SymbolId unknown;
    int unknowns = 0;
    for (SymbolId symbol : dims_.symbols(written)) {
      if (lookup(frame, symbol).valid()) continue;
      unknown = symbol;
      ++unknowns;
    }
    if (unknowns != 1) continue;
    if (dims_.as_symbol(written)) {
      bind_symbol(frame, unknown, actual);
      continue;
    }
    DimId partial = dims_.substitute(
        written, [&](SymbolId s) { return s == unknown ? DimId{} : lookup(frame, s); });
    if (std::optional<DimId> solved = dims_.solve(partial, unknown, actual))
      bind_symbol(frame, unknown, *solved);
  }
}

// Integers become floats where a Float is declared (language.md 6.4).
TreeId Specialiser::coerce(TreeId id, TypeId type) {
  if (!id.valid() || !type.valid()) return id;
  const TypeData& data = types_.get(type);
  const Tree& tree = forest_[id];
  if (data.kind == TypeKind::Optional) return coerce(id, data.items[0]);
  if (data.kind == TypeKind::Float && tree.kind == Tree::Kind::Int) {
    std::optional<int64_t> value = integer_of(tree.dim);
    if (value) return forest_.number(static_cast<double>(*value));
    return fail(fmt::format("`{}` is used as a Float but its value is known only at run time",
                            dims_.show(tree.dim)));
  }
  bool sequence = (data.kind == TypeKind::List && tree.kind == Tree::Kind::List) ||
                  (data.kind == TypeKind::Tuple && tree.kind == Tree::Kind::Tuple);
  if (!sequence || (data.kind == TypeKind::Tuple && data.items.size() != tree.items.size()))
    return id;
  bool changed = false;
  Args items = tree.items;
  for (size_t i = 0; i < items.size(); ++i) {
    const TypeData& now = types_.get(type);
    TreeId item = coerce(items[i], now.kind == TypeKind::List ? now.items[0] : now.items[i]);
    if (!item.valid()) return {};
    changed |= item != items[i];
    items[i] = item;
  }
  if (!changed) return id;
  return forest_[id].kind == Tree::Kind::List ? forest_.list(std::move(items))
                                              : forest_.tuple(std::move(items));
}

// Binds names that the type of a result introduces, and compares the sizes that both sides know.
// Those that only the program's word makes the same must be so where it is entered.
bool Specialiser::check_type(Frame& frame, TypeId type, TreeId id, bool trusted) {
  if (failed_ || !id.valid()) return false;
  if (!type.valid() || forest_[id].kind != Tree::Kind::Tensor) return true;
  bind_dims(frame, type, id);
  TypeId plain = types_.strip_optional(type);
  std::vector<DimId> declared =
      types_.kind(plain) == TypeKind::Tensor ? types_.dims_of(plain) : std::vector<DimId>{};
  const Tree& tree = forest_[id];
  if (declared.size() != tree.dims.size()) return true;
  for (size_t i = 0; i < declared.size(); ++i) {
    DimId want = resolve_dim(frame, declared[i]);
    if (!want.valid()) continue;
    std::optional<int64_t> a = dims_.as_integer(want), b = dims_.as_integer(tree.dims[i]);
    auto param = params_.find(tree.value);
    if (!a && b && param != params_.end() && !depends_on_round(want))
      bind_width(want, *b, param->second);
    if (trusted && (!a || !b) && param == params_.end())
      require_equal(want, tree.dims[i], node_ ? node_->span : Span{});
    if (!a || !b || *a == *b) continue;
    if (param != params_.end()) {
      spoil(param->second, types_.show(type));
      unsure_ = true;
      return true;
    }
    report(Diag::RunShape, {fmt::format("axis {} of {}", i, forest_.show(id, dims_)), *b,
                            fmt::format("`{}`", dims_.show(declared[i])), *a});
    return false;
  }
  return true;
}

}  // namespace axon::opt
