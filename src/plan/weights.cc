// From key resolution to weight trees.
#include "plan/weights.h"

#include <algorithm>

#include "runtime/core/weight_tree.h"
#include "support/check.h"

namespace axon::plan {
runtime::WeightId Weights::get(std::string_view key, runtime::Weight::Use use, bool transposed,
                               int64_t item) {
  // A table that is looked up and multiplied with (a tied head) is one weight.
  const bool dense = use == runtime::Weight::Use::Elementwise;
  std::tuple<std::string, bool, bool, int64_t> id(key, dense, transposed, item);
  auto known = known_.find(id);
  if (known != known_.end()) return known->second;
  std::optional<model::Resolved> resolved = params_ ? params_->resolve(key) : std::nullopt;
  AXON_CHECK(resolved.has_value(), "a parameter that specialisation found");
  runtime::Weight weight;
  weight.source = runtime::weight_tree(*resolved);
  weight.shape = resolved->shape;
  weight.storage = resolved->storage;
  weight.use = use;
  if (item >= 0) {
    runtime::WeightNode one;
    one.kind = runtime::WeightNode::Kind::Select;
    one.from = item;
    one.parts.push_back(std::move(weight.source));
    weight.source = std::move(one);
    weight.shape.erase(weight.shape.begin());
  }
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
