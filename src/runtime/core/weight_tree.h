// From the key resolution of a checkpoint to the tree of a logical weight.
#pragma once

#include "model/param_index.h"
#include "runtime/core/program.h"

namespace axon::runtime {

WeightNode weight_tree(const model::Resolved& resolved);

}  // namespace axon::runtime
