// Hashes and equality of operands and nodes, for merging equal ones.
#pragma once

#include <cstddef>

#include "graph/graph.h"

namespace axon::opt {

size_t hash_operand(const graph::Operand& operand);
bool same_operand(const graph::Operand& a, const graph::Operand& b);
// Operation, callee, operands and attributes; not outputs, scope and span.
size_t hash_node(const graph::Node& node);
bool same_node(const graph::Node& a, const graph::Node& b);

}  // namespace axon::opt
