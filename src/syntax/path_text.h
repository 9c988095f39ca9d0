// The text of paths: splitting at dots, placeholders (language.md 2.7).
#pragma once

#include <string_view>
#include <vector>

#include "source/diag.h"
#include "syntax/nodes.h"

namespace axon::syntax {

bool is_ident_start(char c);
bool is_ident_char(char c);
bool is_digit(char c);
bool is_ident(std::string_view text);
// An identifier or digits.
bool is_segment(std::string_view text);

// The path written in `text`. Malformed placeholders and paths without a segment are added to
// `errors` with `path_span`; only the absolute path of an empty text may be empty.
PathLit path_from_text(bool absolute, std::string_view text, Span path_span, Interner& names,
                       std::vector<Diagnostic>& errors);

}  // namespace axon::syntax
