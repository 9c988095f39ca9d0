// Text to one-file AST (language.md 2-5, 10.2). Pure: touches no file, resolves no name.
#pragma once

#include "source/diag.h"
#include "source/file_table.h"
#include "syntax/nodes.h"

namespace axon::syntax {

// Parses a file of the table. Errors go to the sink; the module then holds what could be recovered.
// The MAIN pragma is explicit afterwards (language.md 4.6). Includes the structural checks of 5.1.
Module parse(FileId file, const FileTable& files, Interner& names, Ast& ast, DiagSink& sink);

}  // namespace axon::syntax
