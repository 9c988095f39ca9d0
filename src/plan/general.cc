// Routines: inputs, types as patterns, where dims come from, entry facts, ends of lives.
#include "plan/general.h"

#include <algorithm>
#include <utility>

#include "graph/builder.h"
#include "graph/text.h"
#include "support/check.h"

namespace axon::plan {

using runtime::GeneralCode;
using runtime::Pattern;
using runtime::PatternId;

bool General::fail(std::string_view what, std::string_view why) {
  context_.sink.report(Diag::PlanUnsupported, span_, {what, why});
  return false;
}

// Callees come before their callers.
void General::reach(graph::ModuleId id) {
  if (reached_[static_cast<size_t>(id.index)]) return;
  reached_[static_cast<size_t>(id.index)] = true;
  graph::for_each_module(graph_[id], [&](graph::ModuleId callee) { reach(callee); });
  // A name of a dim may be a global constant without a known value.
  for (SymbolId symbol : constants_of(graph_[id])) {
    graph::ModuleId global = graph::find_module(graph_, context_.dims.symbol(symbol).name);
    if (global.valid() && graph_[global].inputs.empty()) reach(global);
  }
  order_.push_back(id);
}

// Rigid symbols without a value that the module reads as numbers or compares sizes with: those of
// its inputs, of what it makes and of the result.
std::vector<SymbolId> General::constants_of(const graph::Module& module) const {
  std::vector<SymbolId> out;
  std::unordered_set<SymbolId, IdHash> seen;
  auto add = [&](DimId dim) {
    for (SymbolId id : context_.dims.symbols(dim)) {
      const Symbol& symbol = context_.dims.symbol(id);
      if (symbol.kind == SymbolKind::Rigid && !symbol.value && seen.insert(id).second)
        out.push_back(id);
    }
  };
  auto add_type = [&](auto&& self, TypeId type) -> void {
    if (!type.valid()) return;
    const TypeData& data = context_.types.get(type);
    for (const Axis& axis : data.axes) {
      if (!axis.is_run()) add(axis.dim);
    }
    for (TypeId item : data.items) self(self, item);
  };
  for (DimId dim : dims_read(module)) add(dim);
  for (graph::ValueId input : module.inputs) add_type(add_type, module.values[input].type);
  for (graph::NodeId id : module.order) add_type(add_type, module.nodes[id].type);
  for (const graph::NestedExpr& expr : module.nested) add_type(add_type, expr.type);
  add_type(add_type, module.return_type);
  return out;
}

// Dims that the module reads as numbers.
std::vector<DimId> General::dims_read(const graph::Module& module) const {
  std::vector<DimId> out;
  auto visit_path = [&](const graph::Path& path) {
    for (const graph::PathPiece& piece : path.pieces) {
      if (piece.dim.valid()) out.push_back(piece.dim);
    }
  };
  auto visit = [&](const graph::Operand& operand) {
    if (const auto* d = operand.get<graph::DimRef>()) out.push_back(d->dim);
    if (const auto* p = operand.get<graph::Path>()) visit_path(*p);
  };
  for (const graph::Node& node : module.nodes) {
    for (const graph::Operand& input : node.inputs) visit(input);
    for (const graph::Attr& attr : node.attrs) visit(attr.value);
  }
  for (const graph::NestedExpr& expr : module.nested) {
    for (const graph::Operand& input : expr.inputs) visit(input);
    for (const graph::Attr& attr : expr.attrs) visit(attr.value);
  }
  for (const graph::Operand& output : module.outputs) visit(output);
  for (const graph::Constraint& c : module.constraints) {
    visit(c.fact.left);
    visit(c.fact.right);
  }
  return out;
}

runtime::RoutineId General::run() {
  reached_.assign(graph_.modules.size(), false);
  routines_.assign(graph_.modules.size(), {});
  reach(graph_.main);
  for (graph::ModuleId id : order_) {
    if (!compile(id)) return {};
  }
  return routines_[static_cast<size_t>(graph_.main.index)];
}

bool General::compile(graph::ModuleId id) {
  id_ = id;
  module_ = &graph_[id];
  span_ = module_->span;
  routine_ = {};
  routine_.name = std::string(context_.names.text(module_->name));
  used_.clear();
  for (DimId dim : dims_read(*module_)) {
    for (SymbolId symbol : context_.dims.symbols(dim)) used_.insert(symbol);
  }
  // Inputs come first in the stores of modules, and registers are named as values.
  for (size_t i = 0; i < module_->inputs.size(); ++i) {
    AXON_CHECK(module_->inputs[i].index == static_cast<int32_t>(i), "inputs are the first values");
  }
  routine_.registers = static_cast<int32_t>(module_->values.size());
  make_inputs();
  if (id == graph_.main && !make_defaults()) return false;
  if (id == graph_.main) make_checks();
  for (graph::NodeId node_id : module_->order) {
    if (!node(module_->nodes[node_id])) return false;
  }
  const TypeData* whole =
      module_->return_type.valid() ? &context_.types.get(module_->return_type) : nullptr;
  bool tuple =
      whole && whole->kind == TypeKind::Tuple && whole->items.size() == module_->outputs.size();
  for (size_t i = 0; i < module_->outputs.size(); ++i) {
    runtime::RoutineOutput out;
    if (i < module_->output_names.size())
      out.name = std::string(context_.names.text(module_->output_names[i]));
    if (!operand(module_->outputs[i], out.value)) return false;
    TypeId type = module_->outputs.size() == 1 ? module_->return_type
                  : tuple                      ? whole->items[i]
                                               : TypeId{};
    // MAIN's outputs are known by their sizes, too.
    out.pattern = id == graph_.main ? pattern(type) : declared(type);
    if (!out.pattern.valid()) out.pattern = widening(type);
    routine_.outputs.push_back(std::move(out));
  }
  make_sources();
  note_dead();
  routines_[static_cast<size_t>(id.index)] = context_.program.routines.add(std::move(routine_));
  return true;
}

// ---- types ---------------------------------------------------------------------------------

runtime::IntId General::expr(DimId dim) {
  return context_.symbols.expr(context_.dims.substitute(dim, [&](SymbolId s) {
    const Symbol& facts = context_.dims.symbol(s);
    return facts.value ? context_.dims.integer(*facts.value) : DimId{};
  }));
}

// `declared`: sizes that nobody has written are left open.
Pattern General::pattern_of(TypeId type, bool declared) {
  const TypeData data = context_.types.get(type);
  Pattern out;
  out.text = context_.types.show(type);
  using Kind = Pattern::Kind;
  switch (data.kind) {
    case TypeKind::Optional:
      out = pattern_of(data.items[0], declared);
      out.optional = true;
      out.text = context_.types.show(type);
      return out;
    case TypeKind::Null:
      out.kind = Kind::Null;
      return out;
    case TypeKind::Int:
    case TypeKind::Dim:
      out.kind = Kind::Int;
      return out;
    case TypeKind::Float:
      out.kind = Kind::Float;
      return out;
    case TypeKind::Bool:
      out.kind = Kind::Bool;
      return out;
    case TypeKind::String:
      out.kind = Kind::String;
      return out;
    case TypeKind::Path:
      out.kind = Kind::Path;
      return out;
    case TypeKind::Tensor:
      out.kind = Kind::Tensor;
      out.ranked = data.known_rank;
      for (const Axis& axis : data.axes) {
        const bool open = declared && !axis.is_run() && !is_declared(axis.dim);
        out.axes.push_back(axis.is_run() ? IntId{}
                           : open        ? context_.program.constant(-1)
                                         : expr(axis.dim));
        if (axis.is_run()) out.run = context_.names.text(context_.dims.symbol(axis.run).name);
      }
      return out;
    case TypeKind::List:
    case TypeKind::Tuple:
      out.kind = data.kind == TypeKind::List ? Kind::List : Kind::Tuple;
      for (TypeId item : data.items) out.items.push_back(pattern_of(item, declared));
      return out;
    case TypeKind::Error:
    case TypeKind::Any:
    case TypeKind::Variable:
      return out;
  }
  return out;
}

PatternId General::pattern(TypeId type) {
  if (!type.valid()) return {};
  auto [it, fresh] = patterns_.emplace(type, PatternId{});
  if (fresh) it->second = context_.program.patterns.add(pattern_of(type, false));
  return it->second;
}

bool General::is_declared(DimId dim) const {
  const std::vector<SymbolId> symbols = context_.dims.symbols(dim);
  return std::none_of(symbols.begin(), symbols.end(), [&](SymbolId id) {
    return context_.dims.symbol(id).kind == SymbolKind::Unknown;
  });
}

// Whether a value of the type has sizes to look at.
bool General::declares(TypeId type) const {
  if (!type.valid()) return false;
  const TypeData& data = context_.types.get(type);
  if (data.kind == TypeKind::Tensor)
    return data.known_rank && std::any_of(data.axes.begin(), data.axes.end(), [&](const Axis& a) {
             return !a.is_run() && is_declared(a.dim);
           });
  const bool inside = data.kind == TypeKind::Optional || data.kind == TypeKind::Tuple ||
                      data.kind == TypeKind::List;
  return inside && std::any_of(data.items.begin(), data.items.end(),
                               [&](TypeId item) { return declares(item); });
}

PatternId General::declared(TypeId type) {
  if (!declares(type)) return {};
  auto [it, fresh] = declared_.emplace(type, PatternId{});
  if (!fresh) return it->second;
  Pattern pattern = pattern_of(type, true);
  pattern.optional = true;  // that something is null is told where it is needed
  return it->second = context_.program.patterns.add(std::move(pattern));
}

bool General::widens(TypeId type) const {
  if (!type.valid()) return false;
  const TypeData& data = context_.types.get(type);
  if (data.kind == TypeKind::Float) return true;
  bool inside = data.kind == TypeKind::Optional || data.kind == TypeKind::List ||
                data.kind == TypeKind::Tuple;
  return inside && std::any_of(data.items.begin(), data.items.end(),
                               [&](TypeId item) { return widens(item); });
}

PatternId General::widening(TypeId type) { return widens(type) ? pattern(type) : PatternId{}; }

// ---- entry ---------------------------------------------------------------------------------

void General::make_inputs() {
  for (graph::ValueId id : module_->inputs) {
    const graph::Value& value = module_->values[id];
    runtime::RoutineInput in;
    in.name = std::string(context_.names.text(value.name));
    in.pattern = pattern(value.type);
    in.optional = value.optional ||
                  (value.type.valid() && context_.types.kind(value.type) == TypeKind::Optional);
    routine_.inputs.push_back(std::move(in));
  }
  // A dim that names an integer parameter is that argument, where types have it and where facts and
  // operands alone do.
  std::unordered_set<SymbolId, IdHash> seen;
  auto visit_dim = [&](DimId dim) {
    for (SymbolId symbol : context_.dims.symbols(dim)) {
      const Symbol& s = context_.dims.symbol(symbol);
      if (s.kind != SymbolKind::Param || !seen.insert(symbol).second) continue;
      for (graph::ValueId other : module_->inputs) {
        if (module_->values[other].name != s.name) continue;
        routine_.named.push_back({context_.symbols.symbol(symbol), {}, other.index, {}});
      }
    }
  };
  auto visit = [&](auto&& self, TypeId type) -> void {
    if (!type.valid()) return;
    const TypeData data = context_.types.get(type);
    for (const Axis& axis : data.axes) {
      if (!axis.is_run()) visit_dim(axis.dim);
    }
    for (TypeId item : data.items) self(self, item);
  };
  for (graph::ValueId id : module_->inputs) visit(visit, module_->values[id].type);
  for (graph::NodeId id : module_->order) visit(visit, module_->nodes[id].type);
  for (const graph::NestedExpr& expr : module_->nested) visit(visit, expr.type);
  visit(visit, module_->return_type);
  for (DimId dim : dims_read(*module_)) visit_dim(dim);
}

bool General::make_defaults() {
  using graph::OperandKind;
  for (const graph::InputDefault& d : module_->defaults) {
    runtime::RoutineInput& in = routine_.inputs[static_cast<size_t>(d.input)];
    in.has_default = true;
    const graph::Operand& value = d.value;
    std::optional<int64_t> number;
    if (const auto* dim = value.get<graph::DimRef>()) number = context_.dims.as_integer(dim->dim);
    if (const auto* i = value.get<graph::LitInt>()) number = i->value;
    if (number)
      in.fallback = *number;
    else if (const auto* b = value.get<graph::LitBool>())
      in.fallback = b->value;
    else if (const auto* f = value.get<graph::LitFloat>())
      in.fallback = f->value;
    else if (const auto* s = value.get<graph::LitString>())
      in.fallback = std::string(context_.names.text(s->value));
    else if (value.kind() != OperandKind::Null && !compute_default(value, in))
      return false;
  }
  return true;
}

// A default that has to be computed is a routine of its own, without inputs.
bool General::compute_default(const graph::Operand& value, runtime::RoutineInput& in) {
  runtime::Routine entry = std::exchange(routine_, {});
  routine_.name = in.name;
  runtime::RoutineOutput out;
  bool fine = operand(value, out.value);
  routine_.outputs.push_back(std::move(out));
  runtime::Routine computed = std::exchange(routine_, std::move(entry));
  if (fine) in.computed = context_.program.routines.add(std::move(computed));
  return fine;
}

// In the order in which the evaluator looks: a global of that name, an integer input, then values
// in the order in which they are made.
void General::make_sources() {
  std::vector<SymbolId> symbols = constants_of(*module_);
  for (DimId dim : dims_read(*module_)) {
    for (SymbolId s : context_.dims.symbols(dim)) {
      if (std::find(symbols.begin(), symbols.end(), s) == symbols.end()) symbols.push_back(s);
    }
  }
  for (SymbolId s : symbols) {
    const Symbol& facts = context_.dims.symbol(s);
    if (facts.value) continue;
    if (facts.kind == SymbolKind::Rigid) {
      graph::ModuleId id = graph::find_module(graph_, facts.name);
      if (!id.valid() || !graph_[id].inputs.empty()) continue;
      routine_.sources.push_back(
          {context_.symbols.symbol(s), routines_[static_cast<size_t>(id.index)], -1, {}});
      continue;
    }
    for (graph::ValueId input : module_->inputs) {
      if (module_->values[input].name == facts.name)
        routine_.sources.push_back({context_.symbols.symbol(s), {}, input.index, {}});
    }
  }
  auto mentions = [&](auto&& self, TypeId type) -> bool {
    if (!type.valid()) return false;
    const TypeData& data = context_.types.get(type);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId s : context_.dims.symbols(axis.dim)) {
        if (used_.count(s)) return true;
      }
    }
    return std::any_of(data.items.begin(), data.items.end(),
                       [&](TypeId item) { return self(self, item); });
  };
  for (graph::NodeId id : module_->order) {
    for (graph::ValueId output : module_->nodes[id].outputs) {
      TypeId type = module_->values[output].type;
      if (mentions(mentions, type))
        routine_.sources.push_back({{}, {}, output.index, pattern(type)});
    }
  }
}

bool General::fact_side(const graph::Operand& operand, IntId& dim, Register& value,
                        std::string& text) {
  text = graph::show_operand(graph_, *module_, operand, context_.types);
  if (const auto* d = operand.get<graph::DimRef>()) {
    dim = expr(d->dim);
  } else if (const auto* i = operand.get<graph::LitInt>()) {
    dim = context_.program.constant(i->value);
  } else if (const auto* r = operand.get<graph::Ref>()) {
    if (module_->values[r->value].producer.valid()) return false;  // not there on entry
    value = r->value.index;
  } else {
    return false;
  }
  return true;
}

bool General::make_fact(const graph::Fact& fact, runtime::RoutineFact& out) {
  out.relation = static_cast<runtime::RoutineFact::Relation>(fact.relation);
  if (!fact_side(fact.left, out.left, out.left_value, out.left_text)) return false;
  bool unary = fact.relation >= graph::Relation::IsTrue;
  return unary || fact_side(fact.right, out.right, out.right_value, out.right_text);
}

// Facts on values that are made later are not entry facts.
void General::make_checks() {
  for (const graph::Constraint& c : module_->constraints) {
    runtime::RoutineCheck check;
    bool known = make_fact(c.fact, check.fact);
    for (const graph::Fact& guard : c.guards) {
      check.guards.emplace_back();
      known = known && make_fact(guard, check.guards.back());
    }
    if (known) routine_.checks.push_back(std::move(check));
  }
}

// Code only goes forwards, so that the last place in the text is the last in time.
void General::note_dead() {
  std::vector<int64_t> last(static_cast<size_t>(routine_.registers), -1);
  auto visit = [](const runtime::GeneralInstr& instr, auto&& body) {
    for (Register r : instr.inputs) {
      if (r >= 0) body(r);
    }
    for (const runtime::PathPart& part : instr.path) {
      if (part.from >= 0) body(part.from);
    }
  };
  for (size_t i = 0; i < routine_.code.size(); ++i) {
    visit(routine_.code[i],
          [&](Register r) { last[static_cast<size_t>(r)] = static_cast<int64_t>(i); });
  }
  for (const runtime::RoutineOutput& out : routine_.outputs)
    last[static_cast<size_t>(out.value)] = -1;
  for (size_t i = 0; i < routine_.code.size(); ++i) {
    runtime::GeneralInstr& instr = routine_.code[i];
    visit(instr, [&](Register r) {
      bool here = last[static_cast<size_t>(r)] == static_cast<int64_t>(i);
      bool known = std::find(instr.dead.begin(), instr.dead.end(), r) != instr.dead.end();
      if (here && !known) instr.dead.push_back(r);
    });
  }
}

}  // namespace axon::plan
