// What a dim name written in a definition stands for in its checked types.
#include "sema/dim_names.h"

namespace axon::sema {

using namespace syntax;

void DimNames::learn(TypeExprId written, TypeId checked) {
  if (!written.valid() || !checked.valid()) return;
  const TypeExpr& w = ast_[written];
  const TypeData data = types_.get(types_.strip_optional(checked));
  switch (w.kind()) {
    case TypeExprKind::Optional:
      return learn(w.as<TypeOptional>().inner, checked);
    case TypeExprKind::List:
      if (data.kind == TypeKind::List) learn(w.as<TypeList>().item, data.items[0]);
      return;
    case TypeExprKind::Tuple: {
      const auto& items = w.as<TypeTuple>().items;
      if (data.kind != TypeKind::Tuple || data.items.size() != items.size()) return;
      for (size_t i = 0; i < items.size(); ++i) learn(items[i], data.items[i]);
      return;
    }
    case TypeExprKind::Named:
      break;
  }
  const auto& args = w.as<TypeNamed>().args;
  if (data.kind == TypeKind::List && args.size() == 1) return learn(args[0].type, data.items[0]);
  if (data.kind != TypeKind::Tensor || !data.known_rank) return;
  auto learn_axis = [&](const TypeArg& arg, const Axis& axis) {
    bool plain = arg.dim.valid() && ast_[arg.dim].kind() == DimExprKind::Name && !axis.is_run();
    if (plain) tell(ast_[arg.dim].as<DimName>().name, axis.dim);
  };
  auto is_run = [&](const TypeArg& arg) {
    return !arg.dim.valid() || ast_[arg.dim].kind() == DimExprKind::Variadic;
  };
  // Axes before a run are counted from the front, those behind it from the back.
  size_t front = 0;
  while (front < args.size() && front < data.axes.size() && !is_run(args[front]) &&
         !data.axes[front].is_run()) {
    learn_axis(args[front], data.axes[front]);
    ++front;
  }
  if (front == args.size()) return;
  for (size_t i = 1; i <= args.size() && i <= data.axes.size(); ++i) {
    const TypeArg& arg = args[args.size() - i];
    const Axis& axis = data.axes[data.axes.size() - i];
    if (is_run(arg) || axis.is_run()) return;
    learn_axis(arg, axis);
  }
}

void DimNames::learn_symbols(TypeId checked) {
  if (!checked.valid()) return;
  const TypeData data = types_.get(checked);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types_.dims().symbols(axis.dim)) {
      tell(types_.dims().symbol(symbol).name, types_.dims().of(symbol));
    }
  }
  for (TypeId item : data.items) learn_symbols(item);
}

void DimNames::tell(NameId name, DimId dim) {
  if (dims_.emplace(name, dim).second) order_.emplace_back(name, dim);
}

DimId DimNames::find(NameId name) const {
  auto found = dims_.find(name);
  return found == dims_.end() ? DimId{} : found->second;
}

}  // namespace axon::sema
