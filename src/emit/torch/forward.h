// The `forward` of a block.
#pragma once

#include "emit/py/tree.h"
#include "emit/write/program.h"

namespace axon::emit::torch {

// `forward`; before it `encode`, where inputs that stay decide a part alone.
// Errors: BACK-UNSUPPORTED, with the operation and where it stands.
Result<std::vector<py::Stmt>> write_functions(Program& program, BlockId id);
// The constructor of a layer of the framework; nothing where the block must be a class of its own.
std::optional<py::Expr> layer_constructor(Program& program, BlockId id);
// Of what `encode` of the root gives.
py::Expr encoded_type(const Program& program);
// `Tensor`, `Tensor | None`, `list[Tensor]`.
py::Expr annotation(const Program& program, graph::ValueId value);

}  // namespace axon::emit::torch
