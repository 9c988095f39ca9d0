// The layout of source files: canonical text with comments, blank lines and item order kept.
#pragma once

#include <optional>
#include <string>

#include "source/diag.h"
#include "source/file_table.h"
#include "syntax/nodes.h"

namespace axon::syntax {

// The layout of a whole file, checked: nothing with a report when it has errors, or when the layout
// would not hold the same tree and comments (a bug of ours).
std::optional<std::string> format_file(FileId file, FileTable& files, DiagSink& sink);

// Lines are broken behind this column.
constexpr size_t kFormatWidth = 120;

// The file in its layout. `module` is what the parser made of it, without errors.
std::string format(const Module& module, const FileTable& files, const Ast& ast, Interner& names);

// Whether two texts hold the same comments in the same order.
bool same_comments(std::string_view a, const Module& in_a, std::string_view b, const Module& in_b);

}  // namespace axon::syntax
