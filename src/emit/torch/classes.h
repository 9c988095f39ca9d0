// Module classes of the tree of blocks.
#pragma once

#include "emit/py/tree.h"
#include "emit/write/program.h"

namespace axon::emit::torch {

// All classes, inner ones first; blocks whose classes come out alike share one. Names are in
// `program.classes`. The root's class is the last. Errors: BACK-UNSUPPORTED.
Result<std::vector<py::Stmt>> write_classes(Program& program);

}  // namespace axon::emit::torch
