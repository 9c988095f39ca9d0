// From a Graph back to a closed, flat, typed program, for `graph-ir-axon` dumps (language.md 12.8).
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "sema/stages.h"

namespace axon::lower {

struct RaiseOptions {
  // Lowering the result gives exactly this graph again: sizes stay names, and the constraints say
  // what each name stands for. Otherwise sizes are computed by statements, for readers.
  bool exact = false;
  std::string_view target = "native";  // fused rows print as `__<target>_<op>`
};

// Every statement is a node; nested operands outside of branches become binds of their own.
sema::TypedProgram raise(const graph::Graph& graph, sema::Session& session,
                         const RaiseOptions& options = {});

}  // namespace axon::lower
