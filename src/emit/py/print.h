// Writes a document as Python source, laid out as the formatter (88 columns) would leave it.
#pragma once

#include <string>
#include <vector>

#include "emit/py/tree.h"

namespace axon::emit::py {

constexpr size_t kLineWidth = 88;

// A whole file: statements at the left margin. Ends in a newline.
std::string print(const std::vector<Stmt>& statements);
// An expression on one line.
std::string flat(const Expr& expr);
// Number of lines that a body takes, without comments, docstrings and blank lines.
size_t count_lines(const std::vector<Stmt>& statements);

}  // namespace axon::emit::py
