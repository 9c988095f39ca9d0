// What the whole model can do beside forward: loading, caches, generation.
#pragma once

#include <optional>
#include <vector>

#include "emit/py/tree.h"
#include "emit/write/program.h"

namespace axon::emit::torch {

std::vector<py::Stmt> root_methods(Program& program);
// The module of the embedding whose table makes the logits as well, as the root sees it; nothing
// when there is none or a number lies in its path.
std::optional<py::Expr> shared_table(const Program& program);
// The named results of functions of the model that give several.
std::vector<py::Stmt> result_classes(Program& program);

}  // namespace axon::emit::torch
