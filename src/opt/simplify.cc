// Removal of dead nodes from a flat module.
#include "opt/simplify.h"

#include <algorithm>

#include "graph/builder.h"

namespace axon::opt {

void remove_dead(graph::Module& module) {
  std::vector<bool> live(module.values.size());
  auto mark = [&](const graph::Operand& operand) {
    graph::for_each_value(module, operand,
                          [&](graph::ValueId v) { live[static_cast<size_t>(v.index)] = true; });
  };
  for (const graph::Operand& output : module.outputs) mark(output);
  std::vector<graph::NodeId> kept;
  for (auto it = module.order.rbegin(); it != module.order.rend(); ++it) {
    const graph::Node& node = module.nodes[*it];
    bool used = std::any_of(node.outputs.begin(), node.outputs.end(),
                            [&](graph::ValueId v) { return live[static_cast<size_t>(v.index)]; });
    if (!used) continue;
    for (const graph::Operand& input : node.inputs) mark(input);
    for (const graph::Attr& attr : node.attrs) mark(attr.value);
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  module.order = std::move(kept);
}

}  // namespace axon::opt
