// Loops whose rounds differ in numbers and in values from before the loop.
#pragma once

#include "emit/outline/joined.h"

namespace axon::emit {

// Rounds of several classes become those of the first class; the numbers and outer values in which
// they differ become settings. `is_store` tells the cache's tensors, which differ from round to
// round anyhow. Loops whose rounds differ otherwise stay as they are.
void unite_rounds(Joined& joined, function_ref<bool(graph::ValueId)> is_store, TypeTable& types);

}  // namespace axon::emit
