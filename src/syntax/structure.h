// Structural checks of language.md 5.1 (validate-ast), valid after every stage.
#pragma once

#include "source/diag.h"
#include "syntax/nodes.h"

namespace axon::syntax {

// All of a file.
void validate_ast(const Module& module, const Ast& ast, const Interner& names, DiagSink& sink);
// Any list of definitions; reports duplicates in it, then checks each.
void validate_ast(const std::vector<Definition>& definitions, const Ast& ast, const Interner& names,
                  DiagSink& sink);

}  // namespace axon::syntax
