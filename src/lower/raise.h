// From a Graph back to a closed, flat, typed program, for `graph-ir-axon` dumps (language.md 12.8).
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "sema/stages.h"

namespace axon::lower {

struct RaiseOptions {
  std::string_view target = "native";  // fused rows print as `__<target>_<op>`
};

// Every statement is a node; nested operands outside of branches become binds of their own.
// Lowering the result of an unoptimised graph gives that graph again, but for compound dims as
// operands.
sema::TypedProgram raise(const graph::Graph& graph, sema::Session& session,
                         const RaiseOptions& options = {});

}  // namespace axon::lower
