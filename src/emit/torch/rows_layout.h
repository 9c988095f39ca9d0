// Rows of operations that move elements.
#pragma once

#include "emit/torch/rows.h"

namespace axon::emit::torch {

std::optional<py::Expr> layout_row(const graph::Node& node, RowContext& context);

}  // namespace axon::emit::torch
