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

// Whether the blocks of a definition end as later stages expect: what could not be read may hide an
// end, of which `validate_ast` says nothing more.
bool has_whole_blocks(const Definition& definition, const Ast& ast, const Interner& names);

}  // namespace axon::syntax
