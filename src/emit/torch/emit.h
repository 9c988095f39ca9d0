// `--target torch`: a standalone PyTorch module from a structured Graph (design.md 5).
//
// rows.h has one expression for each operation, function.h writes the function of a block (on
// emit/write), classes.h the classes of the tree, emit.cc the file. What runs beside the classes
// are helpers under prelude/torch/.
#pragma once

#include <string>

#include "emit/write/request.h"

namespace axon::emit {

// The source of the module. Errors: BACK-UNSUPPORTED; what the program itself does wrong is in
// `sink`.
Result<std::string> emit_torch(const EmitRequest& request, TypeTable& types, DiagSink& sink);

}  // namespace axon::emit
