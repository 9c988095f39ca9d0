// Introduces fused rows (ops.def) into a flat module, proven from primitives (language.md 13.4).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace axon::opt {

// Which rows a target takes.
struct FusionSet {
  bool rms_norm = true;
  bool rope = true;
  bool attention = true;
  bool linear = true;
};

// Rewrites the graph's flat main module; returns the number of rows introduced. What the rows
// replace is removed when nothing else reads it. `lower` gives least values of symbols.
size_t run_fuse(graph::Graph& graph, TypeTable& types, const FusionSet& set,
                function_ref<std::optional<int64_t>(SymbolId)> lower);

}  // namespace axon::opt
