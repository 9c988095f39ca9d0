// What the inputs and outputs of MAIN are for, by name (language.md 14.4).
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "support/interner.h"

namespace axon::opt {

struct Roles {
  int ids = -1, mask = -1, cache = -1, use_cache = -1, capacity = -1;  // inputs
  int logits = -1, new_cache = -1;                                     // outputs
  bool cached() const { return cache >= 0 && new_cache >= 0; }
};
Roles find_roles(const graph::Module& main, const Interner& names);

}  // namespace axon::opt
