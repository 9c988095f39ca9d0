// What the quotients in a dim leave: where all of it is 0, they are exact.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "types/unify.h"

namespace axon {

std::vector<Rest> rests_of(DimTable& dims, DimId dim);
// Both sides of a dim that is a remainder.
std::optional<std::pair<DimId, DimId>> remainder_of(DimTable& dims, DimId dim);

}  // namespace axon
