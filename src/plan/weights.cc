// From key resolution to weight trees.
#include "plan/weights.h"

#include <algorithm>

#include "support/check.h"

namespace axon::plan {
namespace {

runtime::WeightNode tree_of(const model::Resolved& resolved) {
  using Kind = runtime::WeightNode::Kind;
  runtime::WeightNode node;
  for (const model::Resolved& part : resolved.parts) node.parts.push_back(tree_of(part));
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

}  // namespace

runtime::WeightId Weights::get(std::string_view key, runtime::Weight::Use use, bool transposed) {
  std::tuple<std::string, int, bool> id(key, static_cast<int>(use), transposed);
  auto known = known_.find(id);
  if (known != known_.end()) return known->second;
  std::optional<model::Resolved> resolved = params_ ? params_->resolve(key) : std::nullopt;
  AXON_CHECK(resolved.has_value(), "a parameter that specialisation found");
  runtime::Weight weight;
  weight.source = tree_of(*resolved);
  weight.shape = resolved->shape;
  weight.storage = resolved->storage;
  weight.use = use;
  if (transposed) {
    runtime::WeightNode turned;
    turned.kind = runtime::WeightNode::Kind::Transpose;
    turned.parts.push_back(std::move(weight.source));
    weight.source = std::move(turned);
    std::swap(weight.shape[weight.shape.size() - 1], weight.shape[weight.shape.size() - 2]);
  }
  runtime::WeightId made = program_.weights.add(std::move(weight));
  known_.emplace(std::move(id), made);
  return made;
}

}  // namespace axon::plan
