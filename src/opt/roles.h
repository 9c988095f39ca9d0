// What the inputs and outputs of MAIN are for, by name (language.md 14.4).
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "support/interner.h"

namespace axon::opt {

struct Roles {
  // Inputs. With decoder ids these are the ids and their mask that grow from call to call; those of
  // the encoder are `source` and `source_mask`, and stay.
  int ids = -1, mask = -1, cache = -1, use_cache = -1, capacity = -1;
  int source = -1, source_mask = -1;
  bool encoder = false;             // there are decoder ids
  int logits = -1, new_cache = -1;  // outputs
  bool cached() const { return cache >= 0 && new_cache >= 0; }
  // The mask that marks padding: of what is there from the start.
  int padding() const { return encoder ? source_mask : mask; }
  // Whether an input of MAIN is the same in every call of one generation.
  bool stays(int input) const {
    return encoder && input != ids && input != mask && input != cache && input != use_cache &&
           input != capacity;
  }
};
Roles find_roles(const graph::Module& main, const Interner& names);

}  // namespace axon::opt
