// Types back to syntax, for rendering typed programs.
#pragma once

#include "sema/stages.h"

namespace axon::sema {

// The type as a user writes it.
syntax::TypeExprId to_syntax(TypeId type, Session& session);
// For RenderOptions::types: by ExprId, invalid where an expression has no type.
std::vector<syntax::TypeExprId> types_to_syntax(const TypedProgram& typed, Session& session);

}  // namespace axon::sema
