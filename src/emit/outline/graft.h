// Blocks that only one round of a list has.
#pragma once

#include "emit/outline/outline.h"

namespace axon::emit {

// A list that stands for the rounds of a loop may have parts under a number too: what is read of
// one round only. They join the block of the rounds, marked by `only`. Errors: BACK-UNSUPPORTED.
Result<void> graft_rounds(Outline& outline);

}  // namespace axon::emit
