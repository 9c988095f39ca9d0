// Finds the readers of weights.
#include "emit/jax/weights.h"

namespace axon::emit::jax {
namespace {

// How many loops write to the cache, and to how many of its stores.
struct Writers {
  size_t loops = 0, stores = 0;
};

Writers writers_of(const Program& p) {
  Writers out;
  for (const LoopBlock& loop : p.outline.loops) {
    if (loop.first_store < 0) continue;
    out.stores += loop.count;
    ++out.loops;
  }
  return out;
}

// What lies beside a list, with the names given there so far.
std::set<std::string> names_beside(const Program& p, BlockId list, const Weights& weights) {
  std::set<std::string> out;
  const Block& around = p.block(p.block(list).parent);
  for (BlockId child : around.children) out.insert(p.block(child).segment);
  for (const BlockParam& param : around.params) out.insert(param.name);
  for (const Weights::Beside& other : weights.beside) {
    if (p.block(other.list).parent == p.block(list).parent) out.insert(other.name);
  }
  return out;
}

// The list around a block of one round.
BlockId list_above(const Program& p, BlockId id) {
  while (p.block(id).segment[0] != '{') id = p.block(id).parent;
  return p.block(id).parent;
}

void find_beside(const Program& p, Weights& out) {
  for (size_t i = 0; i < p.outline.blocks.size(); ++i) {
    BlockId id = p.outline.blocks.id_at(i);
    if (p.block(id).only < 0 || p.block(id).twin_of.valid()) continue;
    BlockId list = list_above(p, id);
    std::set<std::string> taken = names_beside(p, list, out);
    std::string name = p.block(id).segment;
    for (int n = 2; taken.count(name) != 0; ++n)
      name = p.block(id).segment + "_" + std::to_string(n);
    out.beside.push_back({id, list, std::move(name)});
  }
}

// Whether a value may be nothing when the program runs; a mask by position is always made.
bool may_be_none(const Program& p, const graph::Operand& operand) {
  const auto* ref = operand.get<graph::Ref>();
  if (!ref || !p.joined.values[ref->value].optional)
    return operand.kind() == graph::OperandKind::Null;
  graph::NodeId producer = p.joined.values[ref->value].producer;
  if (!producer.valid() || p.joined.steps[producer].kind != Step::Kind::Keep) return true;
  const graph::Node& keep = p.joined.steps[producer].node;
  return !keep.attrs[0].value.as<graph::LitBool>().value &&
         keep.attrs[3].value.kind() == graph::OperandKind::Null;
}

// What is nothing in some rounds is no stack.
bool has_optional_setting(const Program& p) {
  for (const Setting& setting : p.joined.settings) {
    for (const graph::Operand& operand : setting.by_round) {
      if (may_be_none(p, operand)) return true;
    }
  }
  return false;
}

}  // namespace

Result<Weights> find_weights(const Program& p) {
  Weights out;
  std::set<std::string> others;
  for (graph::NodeId id : p.joined.order) {
    const graph::Node& node = p.joined.steps[id].node;
    std::vector<std::string> params = params_of(node, p.types.dims().names());
    if (params.empty()) continue;
    const auto* kept = node.op == Op::Linear ? node.inputs[4].get<graph::LitBool>() : nullptr;
    bool turns = node.op == Op::Linear && !(kept && kept->value);
    for (size_t i = 0; i < params.size(); ++i)
      (turns && i == 0 ? out.turned : others).insert(params[i]);
  }
  for (const std::string& path : others) out.turned.erase(path);
  out.scan = p.request.scan_layers;
  Writers writers = writers_of(p);
  out.stacked = out.scan && writers.loops == 1;
  // A cache is one stack, or a list of layers.
  if (out.scan && (writers.loops > 1 || (out.stacked && writers.stores != p.joined.stores.size())))
    return unsupported("a scan over layers", "they are not one loop of layers that are alike");
  if (out.scan && has_optional_setting(p))
    return unsupported("a scan over layers", "some of them take a value that others lack");
  if (out.scan) find_beside(p, out);
  return out;
}

}  // namespace axon::emit::jax
