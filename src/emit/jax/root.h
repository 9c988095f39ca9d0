// What the whole model can do beside forward: loading, caches, generation.
#pragma once

#include <vector>

#include "emit/jax/weights.h"
#include "emit/py/tree.h"

namespace axon::emit::jax {

std::vector<py::Stmt> root_functions(Program& program, const Weights& weights);
// The named results of a model with several.
std::vector<py::Stmt> result_classes(Program& program);

}  // namespace axon::emit::jax
