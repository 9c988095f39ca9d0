// Diagnostics as text for a terminal and as JSON lines (design.md 7).
#pragma once

#include <string>

#include "source/diag.h"
#include "source/file_table.h"

namespace axon {

// Several lines: place, severity, code and message; the source line with its range marked; notes;
// the fix. Without a place only the message and the notes.
std::string render_terminal(const Diagnostic& diagnostic, const FileTable& files, Severity severity,
                            bool colour);
// One object on one line: code, severity, message, file, line, column, end_line, end_column, notes
// and, when there is one, fix. Lines and columns count from 1, columns in bytes; the end is
// exclusive.
std::string render_json(const Diagnostic& diagnostic, const FileTable& files, Severity severity);

}  // namespace axon
