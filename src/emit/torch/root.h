// What the whole model can do beside forward: loading, caches, generation.
#pragma once

#include <vector>

#include "emit/py/tree.h"
#include "emit/write/program.h"

namespace axon::emit::torch {

std::vector<py::Stmt> root_methods(Program& program);
// The named results of a model with several.
std::vector<py::Stmt> output_class(Program& program);

}  // namespace axon::emit::torch
