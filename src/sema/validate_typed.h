// Checks of what typecheck promises (language.md 10.8).
#pragma once

#include <set>

#include "sema/stages.h"

namespace axon::sema {

// Reports BUG-STAGE for each broken promise: an expression, parameter or result without a type, a
// tuple whose type has another number of items, a dim that nothing in its definition binds. In the
// text of `final` sizes are computed by statements, and the types of their values bind names too.
//
// Each name that is read has a value, in scopes and in defaults of the interface, too.
void validate_typed(const TypedProgram& typed, Session& session, bool values_bind = false);

// The names that several sizes of a type have: of a result they say that these are one, and nothing
// else need bind them.
std::set<SymbolId> shared_symbols(TypeId type, const TypeTable& types);

// The last of these alone.
void validate_names(const TypedProgram& typed, Session& session);

}  // namespace axon::sema
