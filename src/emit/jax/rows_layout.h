// Rows of operations that move elements.
#pragma once

#include "emit/write/row_context.h"

namespace axon::emit::jax {

std::optional<py::Expr> layout_row(const graph::Node& node, RowContext& context);

}  // namespace axon::emit::jax
