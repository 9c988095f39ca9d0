// `--target jax`: standalone functions over a tree of parameters, from a structured Graph
// (design.md 5).
//
// rows.h has one expression for each operation, function.h writes the function of a block (on
// emit/write), functions.h those of all blocks and the tree of shapes, root.h what the whole model
// can do. What runs beside them are helpers under prelude/jax/.
#pragma once

#include <string>

#include "emit/write/request.h"

namespace axon::emit {

// The source of the file. Errors: BACK-UNSUPPORTED; what the program itself does wrong is in
// `sink`.
Result<std::string> emit_jax(const EmitRequest& request, TypeTable& types, DiagSink& sink);

}  // namespace axon::emit
