// Contracts of single operations: number, names and types of operands and attributes.
#pragma once

#include <string>
#include <vector>

#include "graph/verify.h"

namespace axon::graph {

// One use of an operation, by a node or a nested expression.
struct Application {
  Op op;
  ModuleId callee;
  const std::vector<Operand>& inputs;
  const std::vector<Attr>& attrs;
  TypeId type;
  bool nested = false;
};

// What is wrong with the use of an operation other than core.call; core.repeat is checked by
// verify.
std::vector<std::string> operation_faults(const Application& use, const TypeTable& types,
                                          Compatibility how);

}  // namespace axon::graph
