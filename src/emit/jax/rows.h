// One expression for each operation.
#pragma once

#include <optional>

#include "emit/jax/weights.h"
#include "emit/write/row_context.h"

namespace axon::emit::jax {

// Nothing for an operation that has no row here.
std::optional<py::Expr> row(const graph::Node& node, const Weights& weights, RowContext& context);

// Whether a helper is just this operation on these parameters.
bool has_layer(const graph::Node& node, const std::vector<BlockParam>& params,
               const Weights& weights, const Interner& names);
// Its call, with the parameters under `tree`.
py::Expr layer(const graph::Node& node, const py::Expr& tree, RowContext& context);
// The shapes of such a layer's parameters.
py::Expr layer_shapes(const graph::Node& node, const std::vector<BlockParam>& params,
                      const Weights& weights);
// `Stored((84, 60))`.
py::Expr stored(const BlockParam& param, const Weights& weights);

}  // namespace axon::emit::jax
