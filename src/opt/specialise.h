// Partial evaluation of a structured Graph for one shape of call (design.md 4.2): given a tree for
// each input of MAIN, everything but tensor arithmetic is decided, and what is left is a flat
// module.
//
// A flat module has no calls, selects, repeats, tuples or globals. Its nodes are primitives, fused
// rows, core.binary on tensors, and core.list where an operand is a list (shapes, pieces to
// concatenate); core.alias stands only where a loop's carried tensors enter and leave a round (see
// FlatLoop). Equal total nodes are merged. Integers are literals or DimRefs over shape symbols (B,
// S, C, …) and data symbols (lengths, positions); paths are literal, dotted and absolute. Layer
// primitives keep their paths: `linear` has concrete weight_path and bias_path, and `bias` is true
// only where the checkpoint has one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "model/config_value.h"
#include "model/param_index.h"
#include "opt/param_reads.h"
#include "opt/tree.h"
#include "source/diag.h"

namespace axon::opt {

// The checkpoint's answers.
struct Answers {
  const model::ParamIndex* params = nullptr;
  const model::ConfigValue* config = nullptr;  // most reads were decided before
};

struct SpecialiseOptions {
  DType compute = DType::F32;  // what float parameters read as
  // Least values of symbols; Data symbols count from 0, others from 1 where nothing is said.
  std::vector<std::pair<SymbolId, int64_t>> lower;
  std::vector<SymbolId> free;  // integers that a caller gives: nothing is known of them
  // The least value of a symbol; nothing where it has none.
  std::optional<int64_t> least(const DimTable& dims, SymbolId symbol) const;
  bool classes = true;  // equal rounds of loops are written once; else loops are unrolled
  bool calls = false;   // `more_spans` of nodes are the calls around them, innermost first
  // Gets the reads of the call, which the caller then reports; null: they are reported at once.
  ParamReads* reads = nullptr;
};

// A tensor input of the flat module: leaf `place` of MAIN's input `input`.
struct FlatInput {
  NameId name;  // `input_ids`, `attn_mask.0`: the name of the value too
  size_t input = 0;
  graph::ValueId value;
};

// A fact on dims that the specialisation relied on and could not prove: checked on entry.
struct DimFact {
  enum class Relation : uint8_t {
    Eq,
    Le,
    Fits,    // sizes: `left` is at most `right`
    NotZero  // `left` divides
  } relation = Relation::Eq;
  DimId left, right;
  Span span;
  bool or_one = false;      // a `left` of 1 will do as well
  NameId tensor;            // the parameter that has the size `right`, where it is one's
  std::vector<Span> calls;  // around it, innermost first
};

// A loop whose rounds fall into classes (design.md 2, layer classes). The flat module has the nodes
// of the first round of each class, one after the other; every other round is a copy of its class
// with other parameters (paths with placeholders over `var`), other inputs and other results.
struct LoopClass {
  int64_t round = 0;                 // of the loop variable, of the nodes in the module
  std::vector<graph::NodeId> nodes;  // that depend on the round; in order
  // Carried tensors, by position: the aliases through which they enter and leave.
  std::vector<std::pair<graph::ValueId, graph::ValueId>> carries;
};
struct LoopRound {
  int64_t round = 0;
  int32_t cls = 0;
  bool written = false;  // the round that the module has
  // For the others: values of the class that are other values here, and results that nothing in the
  // module computes (they stand in output trees only).
  std::vector<std::pair<graph::ValueId, graph::ValueId>> replaced, produced;
};
struct FlatLoop {
  SymbolId var;
  std::vector<LoopClass> classes;
  std::vector<LoopRound> rounds;  // in order of execution
};

struct Specialised {
  graph::Graph graph;  // its main is the flat module
  std::vector<FlatInput> inputs;
  std::vector<TreeId>
      outputs;  // one per output of MAIN; tensor leaves name values of the flat module
  std::vector<NameId> output_names;
  std::vector<DimFact> facts;
  std::vector<FlatLoop> loops;

  graph::Module& module() { return graph[graph.main]; }
  const graph::Module& module() const { return graph[graph.main]; }
};

// `inputs` has a tree for each input of MAIN, in order. Nothing after an error, which is in `sink`.
std::optional<Specialised> specialise(const graph::Graph& graph, TypeTable& types, Forest& forest,
                                      const std::vector<TreeId>& inputs, const Answers& answers,
                                      const SpecialiseOptions& options, DiagSink& sink);

}  // namespace axon::opt
