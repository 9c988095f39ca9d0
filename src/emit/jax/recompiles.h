// Sizes that a compiled function has as numbers.
#pragma once

#include "emit/outline/joined.h"
#include "source/diag.h"

namespace axon::emit::jax {

// Shapes are constants of a function that `jax.jit` compiled, and so is what is computed with a
// size: W-RECOMPILE for each dim that is an axis of a value and an operand of arithmetic too.
// Lengths and positions are arrays, and none of these.
void warn_recompiles(const Joined& joined, TypeTable& types, DiagSink& sink);

}  // namespace axon::emit::jax
