// One expression for each operation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emit/write/row_context.h"

namespace axon::emit::torch {

// Nothing for an operation that has no row here.
std::optional<py::Expr> row(const graph::Node& node, RowContext& context);

// The constructor of a layer that is one operation on its own parameters; nothing when the
// framework has none and it must be a class of its own.
std::optional<py::Expr> layer(const graph::Node& node, const std::vector<BlockParam>& params,
                              RowContext& context);

}  // namespace axon::emit::torch
