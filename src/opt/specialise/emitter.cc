// Appending to a flat module, with merging of equal nodes.
#include "opt/specialise/emitter.h"

#include <fmt/format.h>

#include "support/text.h"

namespace axon::opt {
namespace {

// The longest common prefix, in whole segments: where a merged node lives.
size_t common_prefix(const graph::Path& a, const graph::Path& b) {
  size_t n = 0;
  while (n < a.pieces.size() && n < b.pieces.size() && a.pieces[n] == b.pieces[n]) ++n;
  return n;
}

}  // namespace

Emitter::Emitter(graph::Graph& graph, TypeTable& types)
    : graph_(graph), types_(types), names_(types.dims().names()) {
  graph_.modules.emplace_back();
  graph_.main = graph::ModuleId{static_cast<int32_t>(graph_.modules.size() - 1)};
}

NameId Emitter::unique_name(NameId base) {
  if (!base.valid()) base = names_.intern("_v");
  auto [it, fresh] = taken_.emplace(base, 1);
  if (fresh) return base;
  for (;;) {
    NameId name = names_.intern(fmt::format("{}_{}", names_.text(base), it->second++));
    if (taken_.emplace(name, 1).second) return name;
    it = taken_.find(base);
  }
}

graph::ValueId Emitter::input(NameId name, const std::vector<DimId>& dims, DType dtype) {
  graph::Value value;
  value.name = unique_name(name);
  value.type = types_.tensor_of(dims);
  value.dtype = dtype;
  graph::ValueId id = module().values.add(value);
  module().inputs.push_back(id);
  return id;
}

graph::Operand Emitter::ref(graph::ValueId value) {
  graph::Operand operand;
  operand.data = graph::Ref{value};
  operand.type = module().values[value].type;
  return operand;
}

const graph::Node* Emitter::producer(graph::ValueId value) {
  graph::NodeId node = module().values[value].producer;
  return node.valid() ? &module().nodes[node] : nullptr;
}

graph::Path Emitter::path(NameId dotted) {
  graph::Path path;
  if (!dotted.valid()) return path;
  for (std::string_view segment : split(names_.text(dotted), '.')) {
    if (segment.empty()) continue;
    graph::PathPiece piece;
    piece.text = names_.intern(segment);
    path.pieces.push_back(piece);
  }
  return path;
}

std::vector<graph::ValueId> Emitter::find(size_t hash, const graph::Node& node, const Origin& origin) {
  auto [from, to] = by_hash_.equal_range(hash);
  for (auto it = from; it != to; ++it) {
    graph::Node& other = module().nodes[it->second];
    if (!same_node(other, node)) continue;
    graph::Path scope = path(origin.scope);
    other.scope.pieces.resize(common_prefix(other.scope, scope));
    return other.outputs;
  }
  return {};
}

std::vector<graph::ValueId> Emitter::append(graph::Node node, size_t hash, const std::vector<TypeId>& types,
                                            const std::vector<DType>& dtypes, const Origin& origin) {
  node.source = origin.source;
  node.scope = path(origin.scope);
  node.span = origin.span;
  node.type = types.size() == 1 ? types[0] : types_.tuple(types);
  graph::NodeId id = module().nodes.add(std::move(node));
  std::vector<graph::ValueId> outputs;
  for (size_t i = 0; i < types.size(); ++i) {
    graph::Value value;
    value.name = unique_name(origin.name);
    value.type = types[i];
    value.dtype = dtypes[i];
    value.producer = id;
    value.output_index = static_cast<int32_t>(i);
    outputs.push_back(module().values.add(value));
  }
  module().nodes[id].outputs = outputs;
  module().order.push_back(id);
  by_hash_.emplace(hash, id);
  return outputs;
}

std::vector<graph::ValueId> Emitter::node(Op op, std::vector<graph::Operand> inputs,
                                          std::vector<graph::Attr> attrs, const std::vector<Result>& results,
                                          const Origin& origin) {
  graph::Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  size_t hash = hash_node(node);
  if (op_info(op).effect != Effect::Effectful) {
    std::vector<graph::ValueId> existing = find(hash, node, origin);
    if (!existing.empty()) return existing;
  }
  std::vector<TypeId> types;
  std::vector<DType> dtypes;
  for (const Result& r : results) {
    types.push_back(types_.tensor_of(r.dims));
    dtypes.push_back(r.dtype);
  }
  return append(std::move(node), hash, types, dtypes, origin);
}

graph::ValueId Emitter::list(std::vector<graph::Operand> items, TypeId type, const Origin& origin) {
  graph::Node node;
  node.op = Op::CoreList;
  node.inputs = std::move(items);
  size_t hash = hash_node(node);
  std::vector<graph::ValueId> existing = find(hash, node, origin);
  if (!existing.empty()) return existing[0];
  return append(std::move(node), hash, {type}, {DType::Unknown}, origin)[0];
}

}  // namespace axon::opt
