// Appending to a flat module, with merging of equal nodes.
#include "opt/specialise/emitter.h"

#include <fmt/format.h>

#include <algorithm>

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

void Emitter::rename(graph::ValueId value, NameId name, int depth) {
  if (!module().values[value].producer.valid()) return;
  auto [known, fresh] = named_at_.emplace(value, depth);
  if (!fresh && known->second <= depth) return;
  known->second = depth;
  std::string_view now = names_.text(module().values[value].name), wanted = names_.text(name);
  bool same =
      starts_with(now, wanted) && (now.size() == wanted.size() || now[wanted.size()] == '_');
  if (!same) module().values[value].name = unique_name(name);
}

const graph::Node* Emitter::producer(graph::ValueId value) {
  graph::NodeId node = module().values[value].producer;
  return node.valid() ? &module().nodes[node] : nullptr;
}

size_t Emitter::marker_length(std::string_view text) const {
  if (text.substr(0, 1) != "{") return 0;
  size_t end = text.find('}');
  if (end == text.npos) return 0;
  return marker(names_.intern(text.substr(0, end + 1))).valid() ? end + 1 : 0;
}

graph::Path Emitter::path(NameId dotted) {
  graph::Path path;
  if (!dotted.valid()) return path;
  for (std::string_view segment : split(names_.text(dotted), '.')) {
    bool joined = false;
    while (!segment.empty()) {
      size_t length = marker_length(segment);
      bool marker = length > 0;
      if (!marker) length = std::min(segment.find('{', 1), segment.size());
      graph::PathPiece piece;
      piece.text = names_.intern(segment.substr(0, length));
      piece.joined = joined;
      if (marker) {
        piece.placeholder = true;
        piece.dim = this->marker(piece.text);
        piece.text = names_.intern(segment.substr(1, length - 2));
      }
      path.pieces.push_back(piece);
      segment.remove_prefix(length);
      joined = true;
    }
  }
  return path;
}

// ---- rounds of loops -----------------------------------------------------------------------

void Emitter::begin_round() {
  in_round_ = true;
  round_.clear();
}

// Nodes of a round are equal to none of another round, whatever their operands say.
std::vector<graph::NodeId> Emitter::end_round() {
  in_round_ = false;
  std::unordered_set<graph::NodeId, IdHash> mine(round_.begin(), round_.end());
  for (auto it = by_hash_.begin(); it != by_hash_.end();) {
    it = mine.count(it->second) ? by_hash_.erase(it) : std::next(it);
  }
  module().order.insert(module().order.end(), round_.begin(), round_.end());
  return std::move(round_);
}

void Emitter::end_loop() { dependent_.clear(); }

void Emitter::depends_on_round(graph::ValueId value) { dependent_.insert(value); }

bool Emitter::depends(graph::ValueId value) const { return dependent_.count(value) != 0; }

bool Emitter::depends(const graph::Node& node) const {
  for (const graph::Operand& input : node.inputs) {
    if (auto* ref = input.get<graph::Ref>(); ref && depends(ref->value)) return true;
    const graph::Path* path = input.get<graph::Path>();
    if (!path) continue;
    for (const graph::PathPiece& piece : path->pieces) {
      if (piece.placeholder) return true;
    }
  }
  return false;
}

graph::ValueId Emitter::alias(graph::ValueId value, const Origin& origin) {
  graph::Node node;
  node.op = Op::CoreAlias;
  node.inputs.push_back(ref(value));
  graph::Value facts = module().values[value];
  dependent_.insert(value);
  return append(std::move(node), 0, {facts.type}, {facts.dtype}, origin)[0];
}

graph::ValueId Emitter::phantom(graph::ValueId like) {
  graph::Value value = module().values[like];
  value.name = unique_name(value.name);
  value.producer = {};
  graph::ValueId id = module().values.add(value);
  phantoms_.insert(id);
  return id;
}

std::vector<graph::ValueId> Emitter::find(size_t hash, const graph::Node& node,
                                          const Origin& origin) {
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

std::vector<graph::ValueId> Emitter::append(graph::Node node, size_t hash,
                                            const std::vector<TypeId>& types,
                                            const std::vector<DType>& dtypes,
                                            const Origin& origin) {
  node.source = origin.source;
  node.scope = path(origin.scope);
  node.span = origin.span;
  node.more_spans = origin.calls;
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
  if (in_round_ && depends(module().nodes[id])) {
    round_.push_back(id);
    for (graph::ValueId v : outputs) dependent_.insert(v);
  } else if (in_round_) {
    module().order.insert(module().order.begin() + static_cast<int64_t>(before_loop_++), id);
  } else {
    module().order.push_back(id);
  }
  if (module().nodes[id].op != Op::CoreAlias) by_hash_.emplace(hash, id);
  return outputs;
}

std::vector<graph::ValueId> Emitter::node(Op op, std::vector<graph::Operand> inputs,
                                          std::vector<graph::Attr> attrs,
                                          const std::vector<Result>& results,
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
