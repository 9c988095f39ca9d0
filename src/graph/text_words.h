// The words and marks that the graph writer and reader share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace axon::graph::words {

// `f32`, `i64`, …; empty for Unknown.
std::string_view short_dtype(DType dtype);
std::optional<DType> read_dtype(std::string_view word);

// The mark behind a symbol's name: none, `!` rigid, `^` parameter, `~` unknown, `#` data.
std::string_view mark(SymbolKind kind);
std::optional<SymbolKind> read_mark(char c);

// `==`, `is null`, …
std::string_view relation(Relation relation);
bool is_unary(Relation relation);

// Types without parts: `Int`, `Any`, …
std::string_view plain_type(TypeKind kind);
std::optional<TypeKind> read_plain_type(std::string_view word);

// A plain name as it is (letters, digits, `_` and `.`, no digit first), any other in backticks.
void put_name(std::string& out, std::string_view name);
bool is_name_start(char c);
bool is_name_char(char c);
// Text with `\`, line ends, tabs, other control characters and the characters `also` escaped.
void put_escaped(std::string& out, std::string_view text, std::string_view also);

}  // namespace axon::graph::words
