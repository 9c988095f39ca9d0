// Checks that a Graph keeps its contracts (language.md 12.5). A fault is a bug of the compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "source/diag.h"

namespace axon::graph {

// Tolerant compares types as optimised graphs need it: names in shapes match anything. Strict wants
// equal dims and forbids a float where an integer is declared.
enum class Compatibility : uint8_t { Tolerant, Strict };

// Whether a value of type `actual` may stand where `formal` is declared. Invalid types match
// anything only in the tolerant relation.
bool compatible(TypeId actual, TypeId formal, const TypeTable& types, Compatibility how);

struct Fault {
  std::string message;  // names module and node
  Span span;
};
std::vector<Fault> find_faults(const Graph& graph, const TypeTable& types,
                               Compatibility how = Compatibility::Tolerant);

// What the text of a Graph must not have, and passes may cause: names of sizes that neither an
// input nor the type of an operation brings, an alias of another type than its operand's, operands
// of primitives by name or left out, fused operations, relative paths.
std::vector<Fault> find_text_faults(const Graph& graph, const TypeTable& types);

// Reports each fault as GRAPH-INVALID after `stage` ("lower", "pass `inline`"). True when sound.
bool verify(const Graph& graph, const TypeTable& types, std::string_view stage, DiagSink& sink,
            Compatibility how = Compatibility::Tolerant);

}  // namespace axon::graph
