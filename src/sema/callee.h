// What a call needs to know of the definition or primitive that it calls (language.md 7.6).
#pragma once

#include <vector>

#include "ops/signature.h"
#include "sema/stages.h"

namespace axon::sema {

struct Formal {
  NameId name;
  bool optional = false;
};

struct Callee {
  const syntax::Definition* def = nullptr;  // exactly one of the two is set
  const OpSignature* primitive = nullptr;
  std::vector<Formal> formals;  // path parameters first
  size_t path_slots = 0;        // leading formals that take paths
  bool known() const { return def || primitive; }
};

Callee find_callee(NameId name, const Program& program, const syntax::Ast& ast, Interner& names);

const syntax::Definition* find_definition(const Program& program, NameId name);
// Neither parameters nor path parameters: a global binding or a zero-argument definition.
bool is_constant(const syntax::Definition& def);
// Leading parameters of declared type Path, not counting path parameters.
size_t leading_paths(const syntax::Definition& def, const syntax::Ast& ast, const Interner& names);
// Dim names in a type, variadic runs left out.
std::vector<NameId> dims_in(syntax::TypeExprId type, const syntax::Ast& ast);
// Every dim name in the types of the definition, ascriptions included, variadic runs left out.
std::vector<NameId> dim_names(const syntax::Definition& def, const syntax::Ast& ast);

}  // namespace axon::sema
