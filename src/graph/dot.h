// A Graph as a drawing: the language of Graphviz.
#pragma once

#include <string>

#include "graph/graph.h"

namespace axon::graph {

// A box for each module with its nodes in it, arrows along values. Deterministic.
std::string write_dot(const Graph& graph, const TypeTable& types);

}  // namespace axon::graph
