// Makes modules, nodes and values by hand: for lowering, passes and tests.
#include "graph/builder.h"

#include <string>

namespace axon::graph {

Operand ref(const Module& module, ValueId value) { return {Ref{value}, module.values[value].type}; }
Operand global_ref(ModuleId module, TypeId type) { return {GlobalRef{module}, type}; }
Operand lit_null(const TypeTable& types) { return {LitNull{}, types.null()}; }
Operand lit_bool(bool value, const TypeTable& types) { return {LitBool{value}, types.bool_()}; }
Operand lit_int(int64_t value, const TypeTable& types) { return {LitInt{value}, types.int_()}; }
Operand lit_float(double value, const TypeTable& types) {
  return {LitFloat{value}, types.float_()};
}
Operand lit_string(NameId value, const TypeTable& types) {
  return {LitString{value}, types.string()};
}
Operand dim_operand(DimId dim, const TypeTable& types) { return {DimRef{dim}, types.dim()}; }
Operand path_operand(Path path, const TypeTable& types) { return {std::move(path), types.path()}; }

TypeId natural_type(const Module& module, const Graph* graph, const Operand& operand,
                    const TypeTable& types) {
  switch (operand.kind()) {
    case OperandKind::Ref:
      return module.values[operand.as<Ref>().value].type;
    case OperandKind::Global: {
      ModuleId global = operand.as<GlobalRef>().module;
      bool known =
          graph && global.valid() && static_cast<size_t>(global.index) < graph->modules.size();
      return known ? (*graph)[global].return_type : TypeId{};
    }
    case OperandKind::Dim:
      return types.dim();
    case OperandKind::Null:
      return types.null();
    case OperandKind::Bool:
      return types.bool_();
    case OperandKind::Int:
      return types.int_();
    case OperandKind::Float:
      return types.float_();
    case OperandKind::String:
      return types.string();
    case OperandKind::Path:
      return types.path();
    case OperandKind::Nested:
      return module.nested[operand.as<Nested>().expr].type;
  }
  AXON_UNREACHABLE("operand kind");
}

ModuleId add_module(Graph& graph, NameId name) {
  Module module;
  module.name = name;
  graph.modules.push_back(std::move(module));
  return {static_cast<int32_t>(graph.modules.size() - 1)};
}

ModuleId find_module(const Graph& graph, NameId name) {
  for (size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].name == name) return {static_cast<int32_t>(i)};
  }
  return {};
}

std::vector<bool> reached_modules(const Graph& graph) {
  std::vector<bool> reached(graph.modules.size());
  std::vector<ModuleId> work;
  auto reach = [&](ModuleId id) {
    if (reached[static_cast<size_t>(id.index)]) return;
    reached[static_cast<size_t>(id.index)] = true;
    work.push_back(id);
  };
  reach(graph.main);
  for (size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].inputs.empty()) reach({static_cast<int32_t>(i)});
  }
  while (!work.empty()) {
    ModuleId id = work.back();
    work.pop_back();
    for_each_module(graph[id], reach);
  }
  return reached;
}

Builder::Builder(Graph& graph, ModuleId module, TypeTable& types)
    : source(graph[module].name), graph_(graph), module_(module), types_(types) {}

bool Builder::name_taken(NameId name) const {
  for (const Value& value : module().values) {
    if (value.name == name) return true;
  }
  return false;
}

NameId Builder::fresh_name(std::string_view base) {
  Interner& names = types_.dims().names();
  NameId name = names.intern(base);
  for (int n = 1; name_taken(name); ++n) {
    name = names.intern(std::string(base) + "_" + std::to_string(n));
  }
  return name;
}

ValueId Builder::add_value(std::string_view name, TypeId type, DType dtype) {
  Interner& names = types_.dims().names();
  Value value;
  value.type = type;
  value.dtype = dtype;
  if (name.empty()) {
    do {
      value.name = names.intern("_v" + std::to_string(next_temporary_++));
    } while (name_taken(value.name));
  } else {
    value.name = names.intern(name);
    AXON_CHECK(!name_taken(value.name), "value name used twice in a module");
  }
  return module().values.add(value);
}

ValueId Builder::input(std::string_view name, TypeId type, DType dtype, bool optional) {
  ValueId value = add_value(name, type, dtype);
  module().values[value].optional = optional;
  module().inputs.push_back(value);
  return value;
}

NodeId Builder::add_node(Node node, const std::vector<std::string_view>& names,
                         const std::vector<TypeId>& types) {
  AXON_CHECK(names.size() == types.size(), "names and types of outputs differ in number");
  node.source = source;
  node.scope = scope;
  node.span = span;
  if (!node.type.valid()) node.type = types.size() == 1 ? types[0] : types_.tuple(types);
  NodeId id = module().nodes.add(std::move(node));
  for (size_t i = 0; i < names.size(); ++i) {
    ValueId value = add_value(names[i], types[i], DType::Unknown);
    module().values[value].producer = id;
    module().values[value].output_index = static_cast<int32_t>(i);
    module().nodes[id].outputs.push_back(value);
  }
  module().order.push_back(id);
  return id;
}

ValueId Builder::add(Op op, std::vector<Operand> inputs, TypeId type, std::string_view name,
                     DType dtype) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  ValueId value = module().nodes[add_node(std::move(node), {name}, {type})].outputs[0];
  module().values[value].dtype = dtype;
  return value;
}

std::vector<ValueId> Builder::add_many(Op op, std::vector<Operand> inputs,
                                       const std::vector<std::string_view>& names,
                                       const std::vector<TypeId>& types) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  return module().nodes[add_node(std::move(node), names, types)].outputs;
}

ValueId Builder::call(ModuleId callee, std::vector<Operand> inputs, TypeId type,
                      std::string_view name) {
  Node node;
  node.op = Op::CoreCall;
  node.callee = callee;
  node.inputs = std::move(inputs);
  return module().nodes[add_node(std::move(node), {name}, {type})].outputs[0];
}

Operand Builder::nested(Op op, std::vector<Operand> inputs, TypeId type, ModuleId callee) {
  NestedExpr expr;
  expr.op = op;
  expr.callee = callee;
  expr.inputs = std::move(inputs);
  expr.type = type;
  expr.span = span;
  return {Nested{module().nested.add(std::move(expr))}, type};
}

std::vector<ValueId> Builder::repeat(RepeatInfo info, std::vector<Operand> inputs,
                                     const std::vector<std::string_view>& names,
                                     const std::vector<TypeId>& types) {
  Node node;
  node.op = Op::CoreRepeat;
  node.inputs = std::move(inputs);
  node.repeat = static_cast<int32_t>(module().repeats.size());
  module().repeats.push_back(std::move(info));
  return module().nodes[add_node(std::move(node), names, types)].outputs;
}

void Builder::output(Operand operand, std::string_view name) {
  module().outputs.push_back(std::move(operand));
  if (!name.empty()) module().output_names.push_back(types_.dims().names().intern(name));
}

void Builder::finish() {
  std::vector<TypeId> items;
  for (const Operand& operand : module().outputs) items.push_back(operand.type);
  AXON_CHECK(!items.empty(), "module without outputs");
  module().return_type = items.size() == 1 ? items[0] : types_.tuple(items);
}

}  // namespace axon::graph
