// What this target adds to the facts of a program: how weights lie in the tree, and what is
// scanned.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emit/write/program.h"

namespace axon::emit::jax {

// Weights of linear layers are [in, out] in the tree, so that a product with one row of activations
// reads them in order. `turned` are those that the checkpoint has as [out, in], by path: what
// linear layers alone read.
struct Weights {
  std::set<std::string> turned;
  bool scan = false;     // the rounds of loops are stacked and run by `lax.scan`
  bool stacked = false;  // the cache is a stack too
  // What one round alone has cannot be stacked: it lies beside the stack, under this name.
  struct Beside {
    BlockId block, list;
    std::string name;
  };
  std::vector<Beside> beside;
};

// Errors: BACK-UNSUPPORTED, where loops cannot be scanned.
Result<Weights> find_weights(const Program& program);

}  // namespace axon::emit::jax
