// The text form of a Graph, `graph-ir` (docs/decisions/graph-text.md): writer, reader, equality.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "source/file_table.h"
#include "support/result.h"

namespace axon::graph {

struct WriteOptions {
  // With a file table, each node ends in a comment `-- file:line`, which the reader skips.
  const FileTable* files = nullptr;
};

// Deterministic; says everything of a graph but spans and storage that nothing refers to.
std::string write_graph(const Graph& graph, const TypeTable& types,
                        const WriteOptions& options = {});
std::string write_module(const Graph& graph, ModuleId module, const TypeTable& types,
                         const WriteOptions& options = {});
// For messages: an operand as the text form shows it.
std::string show_operand(const Graph& graph, const Module& module, const Operand& operand,
                         const TypeTable& types);
std::string show_path(const Graph& graph, const Module& module, const Path& path,
                      const TypeTable& types);

// Reads what write_graph wrote. Names, dims and types are interned in `types`. Errors:
// GRAPH-SYNTAX with the line. The result is well formed as text only; verify() judges the rest.
// Spans of modules, nodes, nested expressions and constraints lie in `file`, which holds the text.
Result<Graph> read_graph(std::string_view text, TypeTable& types, FileId file = {});

// Structural equality (language.md 12.1): scopes count, spans and the numbering of storage do not.
// Both graphs belong to one session. The result names the first difference; nothing when equal.
std::optional<std::string> difference(const Graph& a, const Graph& b, const TypeTable& types);

}  // namespace axon::graph
