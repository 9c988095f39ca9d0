// Functions of the tree of blocks, and of the shapes of their parameters.
#pragma once

#include "emit/jax/weights.h"
#include "emit/py/tree.h"

namespace axon::emit::jax {

// All functions, inner ones first, each behind the one that gives its parameters' shapes; blocks
// whose functions come out alike share them. Names are in `program.classes`. The root's are
// `shapes` and `forward`, the last. Errors: BACK-UNSUPPORTED.
Result<std::vector<py::Stmt>> write_functions(Program& program, const Weights& weights);

}  // namespace axon::emit::jax
