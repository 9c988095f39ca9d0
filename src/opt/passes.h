// Runs the structured passes (design.md 2): what emitters, dumps and the evaluator read. Calls,
// loops and scopes stay; meaning stays as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "opt/specialise.h"
#include "source/diag.h"
#include "support/function_ref.h"

namespace axon::opt {

struct PassOptions {
  std::vector<std::string> skip;  // names of passes
  std::string stop_after;         // name of the last pass to run, once; empty: to the fixpoint
  int max_rounds = 64;            // of all passes, before giving up
  bool verify = false;            // after every pass that changed something
};

// One run of one pass.
struct PassRun {
  std::string_view name;
  int round = 0;
  size_t nodes_before = 0, nodes_after = 0;
  double ms = 0;
};

std::vector<std::string_view> pass_names();
size_t count_nodes(const graph::Graph& graph);

// `after` sees the graph after each pass that changed it. Nothing after an error, which is in
// `sink`: OPT-DIVERGE, GRAPH-INVALID.
std::optional<std::vector<PassRun>> run_passes(
    graph::Graph& graph, TypeTable& types, const Answers& answers, const PassOptions& options,
    DiagSink& sink, function_ref<void(const PassRun&, const graph::Graph&)> after);

// What a pass works on.
struct PassContext {
  graph::Graph& graph;
  TypeTable& types;
  const Answers& answers;
};
#define AXON_PASS(ident, name, what) bool pass_##ident(PassContext& context);
#include "opt/passes.def"

}  // namespace axon::opt
