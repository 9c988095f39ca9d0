// Aliases, dead nodes and unreachable modules of structured graphs.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/builder.h"
#include "opt/passes.h"

namespace axon::opt {
namespace {

using graph::Operand;

// Calls `visit` with every operand of a module that stands anywhere but within a nested expression,
// and with those of nested expressions.
template <class Visit>
void each_operand(graph::Module& module, Visit&& visit) {
  for (graph::NodeId id : module.order) {
    for (Operand& input : module.nodes[id].inputs) visit(input);
    for (graph::Attr& attr : module.nodes[id].attrs) visit(attr.value);
  }
  for (graph::NestedExpr& expr : module.nested) {
    for (Operand& input : expr.inputs) visit(input);
    for (graph::Attr& attr : expr.attrs) visit(attr.value);
  }
  for (Operand& output : module.outputs) visit(output);
  for (graph::InputDefault& d : module.defaults) visit(d.value);
}

Effect worse(Effect a, Effect b) { return std::max(a, b); }

// The worst of what a module does, from those of the modules before it.
class Effects {
 public:
  explicit Effects(const graph::Graph& graph) : of_(graph.modules.size(), Effect::TotalPure) {
    for (size_t i = 0; i < graph.modules.size(); ++i) {
      const graph::Module& module = graph.modules[i];
      for (graph::NodeId id : module.order) of_[i] = worse(of_[i], node(module, module.nodes[id]));
    }
  }
  Effect node(const graph::Module& module, const graph::Node& node) const {
    Effect effect = one(module, node.op, node.callee, node.inputs);
    if (node.op == Op::CoreRepeat)
      effect = callee(module.repeats[static_cast<size_t>(node.repeat)].callee);
    for (const Operand& input : node.inputs) effect = worse(effect, operand(module, input));
    return effect;
  }

 private:
  Effect callee(graph::ModuleId id) const { return of_[static_cast<size_t>(id.index)]; }
  Effect one(const graph::Module& module, Op op, graph::ModuleId called,
             const std::vector<Operand>& inputs) const {
    if (op == Op::CoreCall) return callee(called);
    // An item that may not be there, and what an ascription says, are looked at by running.
    const bool looks = (op == Op::ListIndex && !is_item(module, inputs)) || op == Op::CoreAscribe;
    return looks ? Effect::PartialPure : op_info(op).effect;
  }
  // Whether the list is made here and has the item.
  static bool is_item(const graph::Module& module, const std::vector<Operand>& inputs) {
    const auto* list = inputs.size() == 2 ? inputs[0].get<graph::Ref>() : nullptr;
    const auto* index = inputs.size() == 2 ? inputs[1].get<graph::LitInt>() : nullptr;
    if (!list || !index || !module.values[list->value].producer.valid()) return false;
    const graph::Node& made = module.nodes[module.values[list->value].producer];
    const bool listed = made.op == Op::CoreList || made.op == Op::CoreTuple;
    const auto count = static_cast<int64_t>(made.inputs.size());
    return listed && index->value >= -count && index->value < count;
  }
  Effect operand(const graph::Module& module, const Operand& operand) const {
    const graph::Nested* nested = operand.get<graph::Nested>();
    if (!nested) return Effect::TotalPure;
    const graph::NestedExpr& expr = module.nested[nested->expr];
    Effect effect = one(module, expr.op, expr.callee, expr.inputs);
    for (const Operand& input : expr.inputs) effect = worse(effect, this->operand(module, input));
    return effect;
  }
  std::vector<Effect> of_;
};

}  // namespace

bool pass_aliases(PassContext& context) {
  bool changed = false;
  for (graph::Module& module : context.graph.modules) {
    std::unordered_map<graph::ValueId, graph::ValueId, IdHash> target;
    for (graph::NodeId id : module.order) {
      const graph::Node& node = module.nodes[id];
      if (node.op != Op::CoreAlias || node.inputs.size() != 1 || node.outputs.size() != 1) continue;
      const graph::Ref* ref = node.inputs[0].get<graph::Ref>();
      if (!ref || module.values[ref->value].type != module.values[node.outputs[0]].type) continue;
      auto further = target.find(ref->value);
      target.emplace(node.outputs[0], further == target.end() ? ref->value : further->second);
    }
    if (target.empty()) continue;
    each_operand(module, [&](Operand& operand) {
      if (auto* ref = operand.get<graph::Ref>()) {
        auto it = target.find(ref->value);
        if (it != target.end()) ref->value = it->second, changed = true;
      } else if (auto* path = operand.get<graph::Path>()) {
        for (graph::PathPiece& piece : path->pieces) {
          auto it = target.find(piece.value);
          if (piece.placeholder && it != target.end()) piece.value = it->second, changed = true;
        }
      }
    });
  }
  return changed;
}

namespace {

// Sizes that live operands read. What does not stand in the types of a module's inputs has its
// value from those of values made before, so that these stay although nothing reads the values
// themselves.
class ReadSizes {
 public:
  ReadSizes(const graph::Module& module, const TypeTable& types) : module_(module), types_(types) {
    for (graph::ValueId input : module.inputs) {
      entry_names_.insert(module.values[input].name);
      each_symbol(module.values[input].type, [&](SymbolId symbol) { entry_.insert(symbol); });
    }
  }
  void read(const Operand& operand) {
    if (const auto* dim = operand.get<graph::DimRef>()) read(dim->dim);
    if (const auto* path = operand.get<graph::Path>()) read(*path);
    if (const auto* nested = operand.get<graph::Nested>()) {
      const graph::NestedExpr& expr = module_.nested[nested->expr];
      for (const Operand& input : expr.inputs) read(input);
      for (const graph::Attr& attr : expr.attrs) read(attr.value);
    }
  }
  void read(const graph::Path& path) {
    for (const graph::PathPiece& piece : path.pieces) {
      if (piece.dim.valid()) read(piece.dim);
    }
  }
  bool stand_in(TypeId type) const {
    bool found = false;
    each_symbol(type, [&](SymbolId symbol) { found |= needed_.count(symbol) > 0; });
    return found;
  }

 private:
  template <class Visit>
  void each_symbol(TypeId type, Visit&& visit) const {
    if (!type.valid()) return;
    const TypeData& data = types_.get(type);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId symbol : types_.dims().symbols(axis.dim)) visit(symbol);
    }
    for (TypeId item : data.items) each_symbol(item, visit);
  }
  void read(DimId dim) {
    for (SymbolId symbol : types_.dims().symbols(dim)) {
      const Symbol& s = types_.dims().symbol(symbol);
      const bool elsewhere = s.kind == SymbolKind::Rigid || s.value || entry_names_.count(s.name);
      if (!elsewhere && !entry_.count(symbol)) needed_.insert(symbol);
    }
  }

  const graph::Module& module_;
  const TypeTable& types_;
  std::unordered_set<NameId, IdHash> entry_names_;
  std::unordered_set<SymbolId, IdHash> entry_;
  std::unordered_set<SymbolId, IdHash> needed_;
};

}  // namespace

bool pass_dead(PassContext& context) {
  Effects effects(context.graph);
  bool changed = false;
  for (graph::Module& module : context.graph.modules) {
    std::vector<bool> used(module.values.size());
    ReadSizes sizes(module, context.types);
    auto mark = [&](const Operand& operand) {
      sizes.read(operand);
      graph::for_each_value(module, operand,
                            [&](graph::ValueId v) { used[static_cast<size_t>(v.index)] = true; });
    };
    for (const Operand& output : module.outputs) mark(output);
    for (const graph::Constraint& constraint : module.constraints) {
      mark(constraint.fact.left);
      mark(constraint.fact.right);
      for (const graph::Fact& guard : constraint.guards) mark(guard.left), mark(guard.right);
    }
    std::vector<graph::NodeId> kept;
    for (auto it = module.order.rbegin(); it != module.order.rend(); ++it) {
      const graph::Node& node = module.nodes[*it];
      bool wanted = effects.node(module, node) != Effect::TotalPure;
      for (graph::ValueId out : node.outputs) {
        wanted |= used[static_cast<size_t>(out.index)] || sizes.stand_in(module.values[out].type);
      }
      if (!wanted) continue;
      for (const Operand& input : node.inputs) mark(input);
      for (const graph::Attr& attr : node.attrs) mark(attr.value);
      sizes.read(node.scope);
      for (const graph::PathPiece& piece : node.scope.pieces) {
        if (piece.placeholder && piece.value.valid())
          used[static_cast<size_t>(piece.value.index)] = true;
      }
      kept.push_back(*it);
    }
    changed |= kept.size() != module.order.size();
    std::reverse(kept.begin(), kept.end());
    module.order = std::move(kept);
  }
  return changed;
}

bool pass_prune(PassContext& context) {
  graph::Graph& graph = context.graph;
  std::vector<bool> reached(graph.modules.size());
  auto reach = [&](auto&& self, graph::ModuleId id) -> void {
    if (!id.valid() || reached[static_cast<size_t>(id.index)]) return;
    reached[static_cast<size_t>(id.index)] = true;
    graph::for_each_module(graph[id], [&](graph::ModuleId used) { self(self, used); });
  };
  reach(reach, graph.main);
  // A rigid dim without a value names its global binding, or its definition without parameters.
  for (size_t i = 0; i < graph.modules.size(); ++i) {
    TypeKind kind = context.types.kind(graph.modules[i].return_type);
    const bool whole = kind == TypeKind::Int || kind == TypeKind::Dim || kind == TypeKind::Any;
    if (!graph.modules[i].inputs.empty() || !whole) continue;
    SymbolId rigid = context.types.dims().symbol(graph.modules[i].name, SymbolKind::Rigid);
    if (!context.types.dims().symbol(rigid).value)
      reach(reach, graph::ModuleId{static_cast<int32_t>(i)});
  }
  if (std::find(reached.begin(), reached.end(), false) == reached.end()) return false;
  std::vector<graph::ModuleId> now(graph.modules.size());
  std::vector<graph::Module> kept;
  for (size_t i = 0; i < graph.modules.size(); ++i) {
    if (!reached[i]) continue;
    now[i] = graph::ModuleId{static_cast<int32_t>(kept.size())};
    kept.push_back(std::move(graph.modules[i]));
  }
  graph.modules = std::move(kept);
  auto move = [&](graph::ModuleId& id) {
    if (id.valid()) id = now[static_cast<size_t>(id.index)];
  };
  move(graph.main);
  for (graph::Module& module : graph.modules) {
    for (graph::NodeId id : module.order) {
      move(module.nodes[id].callee);
      for (graph::PathPiece& piece : module.nodes[id].scope.pieces) move(piece.global);
    }
    for (graph::RepeatInfo& info : module.repeats) move(info.callee);
    for (graph::NestedExpr& expr : module.nested) move(expr.callee);
    each_operand(module, [&](Operand& operand) {
      if (auto* global = operand.get<graph::GlobalRef>()) move(global->module);
      if (auto* path = operand.get<graph::Path>()) {
        for (graph::PathPiece& piece : path->pieces) move(piece.global);
      }
    });
  }
  return true;
}

}  // namespace axon::opt
