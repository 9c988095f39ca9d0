// Checks that a Graph keeps its contracts.
#include "graph/verify.h"

#include <algorithm>
#include <unordered_set>

#include "graph/builder.h"
#include "graph/text.h"
#include "graph/verify_ops.h"

namespace axon::graph {
namespace {

std::string number(size_t n) { return std::to_string(n); }

class Verifier {
 public:
  Verifier(const Graph& graph, const TypeTable& types, Compatibility how)
      : graph_(graph), types_(types), how_(how) {}

  std::vector<Fault> run() {
    if (!known(graph_.main))
      fault("graph has no main module", {});
    else if (graph_[graph_.main].is_global)
      fault("main module is a global binding", {});
    std::unordered_set<NameId, IdHash> names;
    for (const Module& m : graph_.modules) {
      if (!m.name.valid() || !names.insert(m.name).second) {
        fault("module name " + text(m.name) + " is missing or occurs twice", m.span);
      }
    }
    for (const Module& m : graph_.modules) module(m);
    if (faults_.empty()) cycles();
    return std::move(faults_);
  }

 private:
  std::string text(NameId name) const {
    return name.valid() ? "`" + std::string(types_.dims().names().text(name)) + "`" : "`_`";
  }
  std::string show(TypeId type) const { return type.valid() ? types_.show(type) : "no type"; }
  void fault(std::string message, Span span) { faults_.push_back({std::move(message), span}); }
  // A fault at the node under way, or of the module.
  void complain(const std::string& message) {
    std::string where = module_ ? "module " + text(module_->name) : std::string();
    if (node_) {
      where += ", node " + number(node_number_);
      if (!node_->outputs.empty() && live_id(node_->outputs[0])) {
        where += " " + text(module_->values[node_->outputs[0]].name);
      }
      where += " (" + std::string(spelling(node_->op)) + ")";
    }
    fault(where + ": " + message, node_ ? node_->span : module_->span);
  }
  bool known(ModuleId id) const {
    return id.valid() && static_cast<size_t>(id.index) < graph_.modules.size();
  }
  bool live_id(ValueId id) const {
    return id.valid() && static_cast<size_t>(id.index) < module_->values.size();
  }
  bool fits(TypeId actual, TypeId formal) const { return compatible(actual, formal, types_, how_); }
  void need(TypeId actual, TypeId formal, const std::string& what) {
    if (!fits(actual, formal)) {
      complain(what + " has type " + show(actual) + ", needs " + show(formal));
    }
  }

  void module(const Module& m);
  void collect_dims();
  void collect_type(TypeId type);
  void define(ValueId id);
  void node(const Node& n, NodeId id);
  void application(const Application& use);
  void call(const Application& use);
  void repeat(const Node& n);
  void outputs_of(const Node& n);
  void operand(const Operand& o, int depth = 0);
  void dim(DimId id);
  void path(const Path& p);
  void results(const Module& m);
  void cycles();
  bool visit(size_t index, std::vector<int>& state);

  const Graph& graph_;
  const TypeTable& types_;
  Compatibility how_;
  std::vector<Fault> faults_;
  const Module* module_ = nullptr;
  const Node* node_ = nullptr;
  size_t node_number_ = 0;
  std::vector<bool> defined_;
  std::unordered_set<NameId, IdHash> value_names_;
  std::unordered_set<SymbolId, IdHash> dims_;
};

void Verifier::module(const Module& m) {
  module_ = &m;
  node_ = nullptr;
  defined_.assign(m.values.size(), false);
  value_names_.clear();
  for (ValueId input : m.inputs) define(input);
  collect_dims();
  if (m.is_global && (!m.inputs.empty() || m.outputs.size() != 1)) {
    complain("a global binding has no inputs and one output");
  }
  for (const InputDefault& d : m.defaults) {
    if (d.input < 0 || static_cast<size_t>(d.input) >= m.inputs.size()) {
      complain("a default is for input " + std::to_string(d.input));
    }
    for_each_value(m, d.value, [&](ValueId) { complain("a default refers to a value"); });
  }
  std::vector<bool> seen(m.nodes.size(), false);
  node_number_ = 0;
  for (NodeId id : m.order) {
    ++node_number_;
    size_t index = static_cast<size_t>(id.index);
    if (!id.valid() || index >= m.nodes.size() || seen[index]) {
      complain("the order names node " + std::to_string(id.index) + " wrongly");
      continue;
    }
    seen[index] = true;
    node_ = &m.nodes[id];
    node(*node_, id);
  }
  node_ = nullptr;
  results(m);
  for (const Constraint& c : m.constraints) {
    operand(c.fact.left);
    operand(c.fact.right);
    for (const Fact& guard : c.guards) {
      operand(guard.left);
      operand(guard.right);
    }
  }
  module_ = nullptr;
}

void Verifier::define(ValueId id) {
  if (!live_id(id)) return complain("a value is out of its store");
  const Value& v = module_->values[id];
  if (defined_[static_cast<size_t>(id.index)]) complain("value " + text(v.name) + " is made twice");
  defined_[static_cast<size_t>(id.index)] = true;
  if (!v.name.valid() || !value_names_.insert(v.name).second) {
    complain("value name " + text(v.name) + " is missing or occurs twice");
  }
  if (v.type.valid() && types_.kind(v.type) == TypeKind::Error) {
    complain("value " + text(v.name) + " has the error type");
  }
}

// Dims that may be used as numbers: those in the types of inputs and nodes, and the names of
// integer inputs.
void Verifier::collect_dims() {
  dims_.clear();
  for (ValueId input : module_->inputs) {
    if (live_id(input)) collect_type(module_->values[input].type);
  }
  for (NodeId id : module_->order) {
    if (!id.valid() || static_cast<size_t>(id.index) >= module_->nodes.size()) continue;
    const Node& n = module_->nodes[id];
    collect_type(n.type);
    for (ValueId output : n.outputs) {
      if (live_id(output)) collect_type(module_->values[output].type);
    }
  }
}

void Verifier::collect_type(TypeId type) {
  if (!type.valid()) return;
  const TypeData& data = types_.get(type);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types_.dims().symbols(axis.dim)) dims_.insert(symbol);
  }
  for (TypeId item : data.items) collect_type(item);
}

void Verifier::dim(DimId id) {
  if (!id.valid()) return complain("a dim operand has no dim");
  for (SymbolId symbol : types_.dims().symbols(id)) {
    const Symbol& s = types_.dims().symbol(symbol);
    if (s.value || dims_.contains(symbol)) continue;
    bool found = false;
    for (ValueId input : module_->inputs) found = found || module_->values[input].name == s.name;
    ModuleId global = find_module(graph_, s.name);
    found = found || (global.valid() && graph_[global].inputs.empty());
    if (!found) complain("dim " + text(s.name) + " occurs in no type of the module");
  }
}

void Verifier::path(const Path& p) {
  for (size_t i = 0; i < p.pieces.size(); ++i) {
    const PathPiece& piece = p.pieces[i];
    if (!piece.text.valid()) complain("a path piece has no text");
    if (i == 0 && piece.joined) complain("the first piece of a path is joined");
    if (!piece.placeholder) continue;
    if (piece.global.valid()) {
      if (!known(piece.global) || !graph_[piece.global].is_global) {
        complain("placeholder " + text(piece.text) + " names no global binding");
      }
    } else if (piece.dim.valid()) {
      dim(piece.dim);
    } else if (!live_id(piece.value) || !defined_[static_cast<size_t>(piece.value.index)]) {
      complain("placeholder " + text(piece.text) + " reads a value that is not made before");
    }
  }
}

void Verifier::operand(const Operand& o, int depth) {
  switch (o.kind()) {
    case OperandKind::Ref: {
      ValueId id = o.as<Ref>().value;
      if (!live_id(id)) return complain("an operand refers to no value");
      const Value& v = module_->values[id];
      if (!defined_[static_cast<size_t>(id.index)]) {
        complain("value " + text(v.name) + " is used before it is made");
      }
      if (!fits(o.type, v.type) && !fits(v.type, o.type)) {
        complain("use of " + text(v.name) + " has type " + show(o.type) + ", the value has " +
                 show(v.type));
      }
      return;
    }
    case OperandKind::Global: {
      ModuleId id = o.as<GlobalRef>().module;
      if (!known(id) || !graph_[id].is_global) complain("an operand names no global binding");
      return;
    }
    case OperandKind::Dim:
      return dim(o.as<DimRef>().dim);
    case OperandKind::Path:
      return path(o.as<Path>());
    case OperandKind::Nested: {
      NestedId id = o.as<Nested>().expr;
      if (!id.valid() || static_cast<size_t>(id.index) >= module_->nested.size()) {
        return complain("a nested expression is out of its store");
      }
      if (depth > static_cast<int>(module_->nested.size())) {
        return complain("nested expressions contain each other");
      }
      const NestedExpr& expr = module_->nested[id];
      for (const Operand& input : expr.inputs) operand(input, depth + 1);
      for (const Attr& attr : expr.attrs) operand(attr.value, depth + 1);
      if (!fits(expr.type, o.type) && !fits(o.type, expr.type)) {
        complain("a nested expression has type " + show(expr.type) + ", its operand " +
                 show(o.type));
      }
      return application({expr.op, expr.callee, expr.inputs, expr.attrs, expr.type, true});
    }
    default:
      return;
  }
}

void Verifier::node(const Node& n, NodeId id) {
  size_t before = faults_.size();
  for (const Operand& o : n.inputs) operand(o);
  for (const Attr& attr : n.attrs) operand(attr.value);
  path(n.scope);
  bool is_repeat = n.op == Op::CoreRepeat;
  if (is_repeat != (n.repeat >= 0)) complain("loop facts belong to core.repeat alone");
  if (faults_.size() == before) {
    application({n.op, n.callee, n.inputs, n.attrs, n.type, false});
    if (is_repeat) repeat(n);
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    if (!live_id(n.outputs[i])) {
      complain("an output is out of the store");
      continue;
    }
    const Value& v = module_->values[n.outputs[i]];
    if (v.producer != id || v.output_index != static_cast<int32_t>(i)) {
      complain("output " + text(v.name) + " does not point back to its node");
    }
    define(n.outputs[i]);
  }
  if (faults_.size() == before) outputs_of(n);
}

void Verifier::outputs_of(const Node& n) {
  if (n.outputs.empty()) return complain("the node has no output");
  if (n.outputs.size() == 1) {
    return need(module_->values[n.outputs[0]].type, n.type, "the output");
  }
  TypeKind kind = n.type.valid() ? types_.kind(n.type) : TypeKind::Any;
  if (kind == TypeKind::Any || kind == TypeKind::Variable) return;
  TypeId whole = types_.strip_optional(n.type);
  const TypeData& data = types_.get(whole);
  bool list = data.kind == TypeKind::List;
  if (!list && (data.kind != TypeKind::Tuple || data.items.size() != n.outputs.size())) {
    return complain(number(n.outputs.size()) + " outputs come from type " + show(n.type));
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    need(module_->values[n.outputs[i]].type, data.items[list ? 0 : i], "output " + number(i));
  }
}

void Verifier::application(const Application& use) {
  if (use.op == Op::CoreCall) return call(use);
  if (use.op == Op::CoreRepeat && use.nested) return complain("a loop is no nested expression");
  for (const std::string& message : operation_faults(use, types_, how_)) complain(message);
}

void Verifier::call(const Application& use) {
  if (!known(use.callee)) return complain("the callee is not in the graph");
  const Module& callee = graph_[use.callee];
  if (!use.attrs.empty()) complain("a call has attributes");
  for (size_t i = use.inputs.size(); i < callee.inputs.size(); ++i) {
    complain("argument for " + text(callee.values[callee.inputs[i]].name) + " of " +
             text(callee.name) + " is missing");
  }
  if (use.inputs.size() > callee.inputs.size()) {
    complain(text(callee.name) + " takes " + number(callee.inputs.size()) + " arguments, found " +
             number(use.inputs.size()));
  }
  for (size_t i = 0; i < std::min(use.inputs.size(), callee.inputs.size()); ++i) {
    const Value& formal = callee.values[callee.inputs[i]];
    need(use.inputs[i].type, formal.type, "argument for " + text(formal.name));
  }
  need(callee.return_type, use.type, "the result of " + text(callee.name));
}

void Verifier::repeat(const Node& n) {
  if (static_cast<size_t>(n.repeat) >= module_->repeats.size()) {
    return complain("loop facts are out of their store");
  }
  const RepeatInfo& info = module_->repeats[static_cast<size_t>(n.repeat)];
  size_t carries = info.carry_names.size();
  if (!known(info.callee)) return complain("the step module is not in the graph");
  const Module& step = graph_[info.callee];
  if (n.inputs.size() < 3 + carries) return complain("the loop lacks bounds or initial carries");
  if (n.outputs.size() != carries) complain("outputs and carries differ in number");
  // Several carries may come as one tuple, and one carry may be a tuple that is returned in parts;
  // its length is the type's matter.
  if (step.outputs.size() != std::max<size_t>(carries, 1) && step.outputs.size() != 1 &&
      carries != 1) {
    complain(text(step.name) + " returns " + number(step.outputs.size()) +
             " values, the loop has " + number(carries) + " carries");
  }
  if (step.inputs.size() != info.args.size()) {
    return complain(text(step.name) + " has " + number(step.inputs.size()) +
                    " inputs, the loop gives " + number(info.args.size()));
  }
  for (size_t i = 0; i < 3; ++i) need(n.inputs[i].type, types_.int_(), "a loop bound");
  for (size_t i = 0; i < info.args.size(); ++i) {
    const RepeatArg& arg = info.args[i];
    size_t index = static_cast<size_t>(arg.index);
    TypeId actual = types_.int_();
    if (arg.kind == RepeatArg::Kind::Carry) {
      if (index >= carries) return complain("a loop argument names no carry");
      actual = n.inputs[3 + index].type;
    } else if (arg.kind == RepeatArg::Kind::Input) {
      if (index >= n.inputs.size()) return complain("a loop argument names no input");
      actual = n.inputs[index].type;
    }
    need(actual, step.values[step.inputs[i]].type,
         "loop argument for " + text(step.values[step.inputs[i]].name));
  }
  for (int32_t i : info.scan_inputs) {
    if (i < 3 || static_cast<size_t>(i) >= n.inputs.size()) complain("a scan mark names no input");
  }
  for (int32_t i : info.stack_carries) {
    if (i < 0 || static_cast<size_t>(i) >= carries) complain("a stack mark names no carry");
  }
}

void Verifier::results(const Module& m) {
  if (m.outputs.empty()) return complain("the module has no output");
  for (const Operand& o : m.outputs) operand(o);
  bool is_main = known(graph_.main) && &graph_[graph_.main] == &m;
  if (m.output_names.size() != m.outputs.size() && (is_main || !m.output_names.empty())) {
    complain("outputs and output names differ in number");
  }
  if (m.outputs.size() == 1) return need(m.outputs[0].type, m.return_type, "the output");
  TypeKind kind = m.return_type.valid() ? types_.kind(m.return_type) : TypeKind::Any;
  if (kind == TypeKind::Any || kind == TypeKind::Variable) return;
  const TypeData& data = types_.get(types_.strip_optional(m.return_type));
  bool list = data.kind == TypeKind::List;
  if (!list && (data.kind != TypeKind::Tuple || data.items.size() != m.outputs.size())) {
    return complain(number(m.outputs.size()) + " outputs, return type " + show(m.return_type));
  }
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    need(m.outputs[i].type, data.items[list ? 0 : i], "output " + number(i));
  }
}

// Modules must not reach themselves. Runs on graphs whose ids are all sound.
void Verifier::cycles() {
  std::vector<int> state(graph_.modules.size(), 0);
  for (size_t i = 0; i < graph_.modules.size(); ++i) {
    if (!visit(i, state)) {
      fault("module " + text(graph_.modules[i].name) + " reaches itself", graph_.modules[i].span);
      return;
    }
  }
}

bool Verifier::visit(size_t index, std::vector<int>& state) {
  if (state[index] != 0) return state[index] == 2;
  state[index] = 1;
  bool sound = true;
  for_each_module(graph_.modules[index], [&](ModuleId used) {
    sound = sound && visit(static_cast<size_t>(used.index), state);
  });
  state[index] = 2;
  return sound;
}

}  // namespace

std::vector<Fault> find_faults(const Graph& graph, const TypeTable& types, Compatibility how) {
  return Verifier(graph, types, how).run();
}

bool verify(const Graph& graph, const TypeTable& types, std::string_view stage, DiagSink& sink,
            Compatibility how) {
  std::vector<Fault> faults = find_faults(graph, types, how);
  for (const Fault& f : faults) sink.report(Diag::GraphInvalid, f.span, {stage, f.message});
  return faults.empty();
}

}  // namespace axon::graph
