// Trees of logical weights.
#include "runtime/core/weight_tree.h"

namespace axon::runtime {

WeightNode weight_tree(const model::Resolved& resolved) {
  using Kind = WeightNode::Kind;
  WeightNode node;
  for (const model::Resolved& part : resolved.parts) node.parts.push_back(weight_tree(part));
  switch (resolved.kind) {
    case model::Resolved::Kind::Exact:
      node.kind = Kind::Param;
      node.name = resolved.name;
      break;
    case model::Resolved::Kind::Stack:
      node.kind = Kind::Stack;
      break;
    case model::Resolved::Kind::ConcatRows:
      node.kind = Kind::Concat;
      node.axis = static_cast<int32_t>(resolved.shape.size()) - 2;
      break;
    case model::Resolved::Kind::Slice:
      node.kind = Kind::Select;
      node.from = resolved.index;
      break;
  }
  return node;
}

}  // namespace axon::runtime
