// The flat modules of all calls joined into one, in which choices on left-out inputs are steps.
//
// Contract for back ends. A step is a primitive or fused node as in opt/specialise.h, or one of:
//   Choice  inputs: an optional input, the value when it is given, the value when it is not
//   Write   inputs: new keys or values of one layer; outputs: the same with all positions so far.
//           The layer's stores are written at the positions P … P + S
//   Keep    the keep mask of an attention, [B or 1, 1, S, C]; inputs: the padding mask [B,C] or
//   null;
//           attributes causal, offset, length, window as in the fused row `attention`, whose
//           operand `mask` it is
// In calls that start a cache or have none, P is 0 and C is S. Every value keeps its type, element
// type and source name; every step its scope and span.
#pragma once

#include <string>
#include <vector>

#include "emit/outline/calls.h"

namespace axon::emit {

struct Step {
  enum class Kind : uint8_t { Node, Choice, Write, Keep } kind = Kind::Node;
  graph::Node node;
  int32_t store = -1;  // Write: which of Joined::stores; in a loop that of the written round
};

// The tensors of a cache that are written together: those of one layer.
struct StoreTensor {
  std::vector<DimId> dims;  // with the capacity C on `axis`
  DType dtype = DType::Unknown;
  size_t axis = 0;
};

struct JoinedInput {
  NameId name;
  size_t input = 0;  // of MAIN
  graph::ValueId value;
  bool optional = false;
};

// A number that differs from round to round of a loop: a value without a producer, read in its
// rounds.
struct Setting {
  graph::ValueId value;
  int32_t loop = 0;  // index into Joined::loops
  std::vector<graph::Operand> by_round;
};

struct Joined {
  Store<graph::ValueId, graph::Value> values;
  Store<graph::NodeId, Step> steps;
  std::vector<graph::NodeId> order;
  std::vector<JoinedInput> inputs;                         // tensors, without the cache's
  std::vector<std::pair<NameId, graph::Operand>> outputs;  // without the cache; null: never there
  std::vector<opt::FlatLoop> loops;  // of one class each; others are refused by outline()
  std::vector<Setting> settings;
  std::vector<std::vector<StoreTensor>> stores;  // by layer, in order of the cache
  const graph::Node* producer(graph::ValueId value) const {
    graph::NodeId id = values[value].producer;
    return id.valid() ? &steps[id].node : nullptr;
  }
};

// Errors: BACK-UNSUPPORTED.
Result<Joined> join_calls(const Calls& calls, const graph::Graph& graph, TypeTable& types);

// Visits every value that a step reads.
template <class Visit>
void for_each_read(const graph::Node& node, Visit&& visit) {
  for (const graph::Operand& input : node.inputs) {
    if (const auto* ref = input.get<graph::Ref>()) visit(ref->value);
  }
  for (const graph::Attr& attr : node.attrs) {
    if (const auto* ref = attr.value.get<graph::Ref>()) visit(ref->value);
  }
}

}  // namespace axon::emit
