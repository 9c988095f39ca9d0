// The `forward` of a block.
#pragma once

#include "emit/py/tree.h"
#include "emit/write/program.h"

namespace axon::emit::torch {

// Errors: BACK-UNSUPPORTED, with the operation and where it stands.
Result<py::Stmt> write_forward(Program& program, BlockId id);
// The constructor of a layer of the framework; nothing where the block must be a class of its own.
std::optional<py::Expr> layer_constructor(Program& program, BlockId id);
// `Tensor`, `Tensor | None`.
py::Expr annotation(const Program& program, graph::ValueId value);

}  // namespace axon::emit::torch
