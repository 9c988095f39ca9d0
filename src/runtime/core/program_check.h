// The check that a Program which comes from a file passes before anything uses it.
#pragma once

#include "runtime/core/program.h"

namespace axon::runtime {

// Null, or what is wrong: an id, register or jump that leads out of range, a size that cannot be.
const char* unsound(const Program& program);

}  // namespace axon::runtime
