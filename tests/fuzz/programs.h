// Makes programs that mostly check: definitions over tensors with symbolic sizes, conditionals,
// loops, lists and calls.
#pragma once

#include <string>

#include "fuzz/random.h"

namespace axon::fuzz {

std::string make_program(Random& random);

}  // namespace axon::fuzz
