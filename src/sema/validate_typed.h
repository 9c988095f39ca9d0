// Checks of what typecheck promises (language.md 10.8).
#pragma once

#include "sema/stages.h"

namespace axon::sema {

// Reports BUG-STAGE for each broken promise: an expression, parameter or result without a type, a
// tuple whose type has another number of items, a dim that nothing in its definition binds.
void validate_typed(const TypedProgram& typed, Session& session);

}  // namespace axon::sema
