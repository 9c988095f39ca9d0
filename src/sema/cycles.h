// Finds definitions and global bindings that depend on themselves (language.md 7.8, 7.10).
#pragma once

#include <string>
#include <vector>

#include "source/span.h"

namespace axon::sema {

struct CycleEdge {
  size_t to = 0;
  Span span;
};
struct CycleNode {
  std::string name;
  bool is_global = false;
  std::vector<CycleEdge> edges;
};
struct Cycle {
  std::vector<size_t> nodes;  // starting with the smallest index
  Span span;                  // of the edge that leaves the first node
};
// One cycle per group of nodes that reach each other, in order of first node.
std::vector<Cycle> find_cycles(const std::vector<CycleNode>& nodes);

}  // namespace axon::sema
