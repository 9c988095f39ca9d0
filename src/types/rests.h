// What the quotients in a dim leave: where all of it is 0, they are exact.
#pragma once

#include <vector>

#include "types/unify.h"

namespace axon {

std::vector<Rest> rests_of(DimTable& dims, DimId dim);

}  // namespace axon
