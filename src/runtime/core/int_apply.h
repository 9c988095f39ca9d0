// One operation of an integer expression.
#pragma once

#include "runtime/core/int_expr.h"

namespace axon::runtime {

// False on overflow and on division by zero. `kind` has operands.
bool apply(IntExpr::Kind kind, int64_t a, int64_t b, int64_t& out);

}  // namespace axon::runtime
