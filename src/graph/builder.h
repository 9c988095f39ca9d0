// Makes modules, nodes and values by hand: for lowering, passes and tests.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

// ---- operands ------------------------------------------------------------------------------

Operand ref(const Module& module, ValueId value);  // typed as the value
Operand global_ref(ModuleId module, TypeId type);
Operand lit_null(const TypeTable& types);
Operand lit_bool(bool value, const TypeTable& types);
Operand lit_int(int64_t value, const TypeTable& types);
Operand lit_float(double value, const TypeTable& types);
Operand lit_string(NameId value, const TypeTable& types);
Operand dim_operand(DimId dim, const TypeTable& types);
Operand path_operand(Path path, const TypeTable& types);

// The type that an operand has when nothing else is said: of the value it refers to, of the nested
// expression, or the plain type of the literal.
TypeId natural_type(const Module& module, const Graph* graph, const Operand& operand,
                    const TypeTable& types);

// Visits the values, and the nested expressions, that an operand mentions, placeholders included.
template <class Visit>
void for_each_value(const Module& module, const Operand& operand, Visit&& visit);

// Visits the modules that a module calls, loops over, or reads as globals; repeats included.
template <class Visit>
void for_each_module(const Module& module, Visit&& visit);

// Marks the main module, constants (dims alone may mean them) and what these use.
std::vector<bool> reached_modules(const Graph& graph);

// ---- modules -------------------------------------------------------------------------------

ModuleId add_module(Graph& graph, NameId name);
ModuleId find_module(const Graph& graph, NameId name);  // invalid when there is none

// Appends to one module of a graph. New nodes get the builder's current source, scope and span.
class Builder {
 public:
  Builder(Graph& graph, ModuleId module, TypeTable& types);

  // State that new nodes copy.
  NameId source;
  Path scope;
  Span span;

  ValueId input(std::string_view name, TypeId type, DType dtype = DType::Unknown,
                bool optional = false);
  // A node with one output. An empty name gives the next free `_v<n>`.
  ValueId add(Op op, std::vector<Operand> inputs, TypeId type, std::string_view name = "",
              DType dtype = DType::Unknown);
  // A node with several outputs, whose type is the tuple of theirs.
  std::vector<ValueId> add_many(Op op, std::vector<Operand> inputs,
                                const std::vector<std::string_view>& names,
                                const std::vector<TypeId>& types);
  ValueId call(ModuleId callee, std::vector<Operand> inputs, TypeId type,
               std::string_view name = "");
  // The general form: everything of the node but its outputs is filled in already.
  NodeId add_node(Node node, const std::vector<std::string_view>& names,
                  const std::vector<TypeId>& types);
  // A nested expression (an operand that is evaluated in place).
  Operand nested(Op op, std::vector<Operand> inputs, TypeId type, ModuleId callee = {});
  // Inputs `from, to, step, carries…, others…`; `args` in the order of the callee's inputs.
  std::vector<ValueId> repeat(RepeatInfo info, std::vector<Operand> inputs,
                              const std::vector<std::string_view>& names,
                              const std::vector<TypeId>& types);
  void output(Operand operand, std::string_view name = "");
  // Sets the module's return type from its outputs.
  void finish();
  Operand operator()(ValueId value) const { return ref(module(), value); }

  Module& module() { return graph_[module_]; }
  const Module& module() const { return graph_[module_]; }
  ModuleId id() const { return module_; }
  // A name that no value of the module has: `base` itself, else `base_1`, …
  NameId fresh_name(std::string_view base);

 private:
  ValueId add_value(std::string_view name, TypeId type, DType dtype);
  bool name_taken(NameId name) const;

  Graph& graph_;
  ModuleId module_;
  TypeTable& types_;
  int next_temporary_ = 1;
};

// ---- implementation of the template --------------------------------------------------------

template <class Visit>
void for_each_value(const Module& module, const Operand& operand, Visit&& visit) {
  if (const Ref* r = operand.get<Ref>()) {
    visit(r->value);
  } else if (const Path* p = operand.get<Path>()) {
    for (const PathPiece& piece : p->pieces) {
      if (piece.placeholder && piece.value.valid()) visit(piece.value);
    }
  } else if (const Nested* n = operand.get<Nested>()) {
    const NestedExpr& expr = module.nested[n->expr];
    for (const Operand& input : expr.inputs) for_each_value(module, input, visit);
    for (const Attr& attr : expr.attrs) for_each_value(module, attr.value, visit);
  }
}

namespace internal {

template <class Visit>
void visit_path_modules(const Path& path, Visit&& visit) {
  for (const PathPiece& piece : path.pieces) {
    if (piece.placeholder && piece.global.valid()) visit(piece.global);
  }
}

template <class Visit>
void visit_operand_modules(const Module& module, const Operand& operand, Visit&& visit) {
  if (const GlobalRef* g = operand.get<GlobalRef>()) {
    visit(g->module);
  } else if (const Path* p = operand.get<Path>()) {
    visit_path_modules(*p, visit);
  } else if (const Nested* n = operand.get<Nested>()) {
    const NestedExpr& expr = module.nested[n->expr];
    if (expr.callee.valid()) visit(expr.callee);
    for (const Operand& input : expr.inputs) visit_operand_modules(module, input, visit);
    for (const Attr& attr : expr.attrs) visit_operand_modules(module, attr.value, visit);
  }
}

}  // namespace internal

template <class Visit>
void for_each_module(const Module& module, Visit&& visit) {
  for (NodeId id : module.order) {
    const Node& node = module.nodes[id];
    if (node.callee.valid()) visit(node.callee);
    if (node.repeat >= 0) visit(module.repeats[static_cast<size_t>(node.repeat)].callee);
    for (const Operand& o : node.inputs) internal::visit_operand_modules(module, o, visit);
    for (const Attr& a : node.attrs) internal::visit_operand_modules(module, a.value, visit);
    internal::visit_path_modules(node.scope, visit);
  }
  for (const Operand& o : module.outputs) internal::visit_operand_modules(module, o, visit);
  for (const InputDefault& d : module.defaults)
    internal::visit_operand_modules(module, d.value, visit);
}

}  // namespace axon::graph
