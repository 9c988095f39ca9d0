// From the typed program to the Graph (language.md 10.10, 12.3, 12.4, 14.3).
#pragma once

#include <vector>

#include "graph/graph.h"
#include "sema/stages.h"

namespace axon::lower {

// One module per definition, callees before callers; one node per bind; loops become core.repeat.
// Needs a program that typechecked without errors; what cannot be lowered is reported as
// GRAPH-INVALID.
graph::Graph lower(const sema::TypedProgram& program, sema::Session& session);

// What the entry's `count` outputs are called, by its return statement.
std::vector<NameId> main_output_names(const sema::TypedProgram& program, size_t count,
                                      sema::Session& session);

}  // namespace axon::lower
