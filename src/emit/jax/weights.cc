// Finds the readers of weights.
#include "emit/jax/weights.h"

namespace axon::emit::jax {
namespace {

// A cache is one stack, or a list of layers.
bool can_scan(const Program& p) {
  size_t stacked = 0, written = 0;
  for (const LoopBlock& loop : p.outline.loops) {
    if (loop.first_store < 0) continue;
    stacked += loop.count;
    ++written;
  }
  return written <= 1 && stacked == p.joined.stores.size();
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
  if (out.scan && !can_scan(p))
    return unsupported("a scan over layers", "they are not one loop of layers that are alike");
  return out;
}

}  // namespace axon::emit::jax
