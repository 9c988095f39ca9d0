// The flat modules of all calls joined into one, in which choices on left-out inputs are steps.
//
// Contract for back ends. A step is a primitive or fused node as in opt/specialise.h, or one of:
//   Choice  inputs: an optional input, the value when it is given, the value when it is not
//   Write   inputs: new keys or values of one layer; outputs: the same with all positions so far.
//           The layer's stores are written at the positions P … P + S
//   Keep    the keep mask of an attention, [B or 1, 1, S, C]; inputs: the padding mask [B,C] or
//           null; attributes causal, offset, length, window as in the fused row `attention`, whose
//           operand `mask` it is. The row keeps its attribute `causal`: a mask that says nothing
//           else and belongs to a call that starts a cache may be left out, unless `always`
//   Bias    what an attention adds to its scores, with minus infinity where a key is not kept;
//           inputs: the operand `bias`, a keep mask. It becomes the row's `bias`, `mask` is null
// In calls that start a cache or have none, P is 0 and C is S. Every value keeps its type, element
// type and source name; every step its scope and span.
#pragma once

#include <string>
#include <vector>

#include "emit/outline/calls.h"

namespace axon::emit {

struct Step {
  enum class Kind : uint8_t { Node, Choice, Write, Keep, Bias } kind = Kind::Node;
  graph::Node node;
  int32_t store = -1;   // Write: which of Joined::stores; in a loop that of the written round
  bool always = false;  // Keep: needed as a tensor
  int32_t bank = -1;    // which of Joined::banks the step is part of
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

// A number, or a value from before the loop, that differs from round to round: a value without a
// producer, read in its rounds.
struct Setting {
  graph::ValueId value;
  int32_t loop = 0;  // index into Joined::loops
  std::vector<graph::Operand> by_round;
};

// Modules of one form, of which each row of a tensor goes through the one of its number: experts.
// The steps of a bank are written for one of them; one tensor enters and one leaves, both with the
// axes of `chosen` and one more. Their paths have `{variable}` for the number, which is no loop's
// variable. Their matrices are `linear` rows whose operand `expert` is `chosen`.
struct Bank {
  std::string variable;
  std::string path;  // of the list: `model.layers.{i}.mlp.experts`
  size_t count = 0;
  graph::ValueId chosen;
};

struct Joined {
  Store<graph::ValueId, graph::Value> values;
  Store<graph::NodeId, Step> steps;
  std::vector<graph::NodeId> order;
  std::vector<JoinedInput> inputs;                         // tensors, without the cache's
  std::vector<std::pair<NameId, graph::Operand>> outputs;  // without the cache; null: never there
  std::vector<opt::FlatLoop> loops;  // of one class each; others are refused by outline()
  std::vector<Setting> settings;
  std::vector<Bank> banks;
  std::vector<std::vector<StoreTensor>> stores;  // by layer, in order of the cache
  const graph::Node* producer(graph::ValueId value) const {
    graph::NodeId id = values[value].producer;
    return id.valid() ? &steps[id].node : nullptr;
  }
};

// Errors: BACK-UNSUPPORTED.
Result<Joined> join_calls(const Calls& calls, const graph::Graph& graph, TypeTable& types);

// The values from before the loop among its settings, each once.
std::vector<graph::ValueId> setting_reads(const Joined& joined, int32_t loop);

// Steps whose results nothing reads are left out.
void drop_unused(Joined& joined);

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
