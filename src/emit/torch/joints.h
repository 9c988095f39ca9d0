// Linear layers that read one value: they are called together, so that they can be one product.
#pragma once

#include "emit/write/program.h"

namespace axon::emit::torch {

// Fills `program.joints`: in each block, layers called on the same value, all with a bias or none,
// whose parameters nothing else reads. Their results get names that tell them apart. `joined` is
// what the program refers to.
void find_joints(Program& program, Joined& joined);

}  // namespace axon::emit::torch
