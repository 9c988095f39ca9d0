// What inputs that stay for many calls decide alone: functions of their own beside those of blocks.
#pragma once

#include "emit/outline/calls.h"
#include "emit/outline/outline.h"

namespace axon::emit {

// Where a program with a cache has inputs that stay (an encoder's), every block that computes
// something from these alone and something else too is parted: the block keeps what is left, and a
// twin (Block::twin, Outline::encode for the root) gives what the rest reads. What a loop's rounds
// give is kept in lists. Nothing changes where there is no such part.
void split_early(Outline& outline, Joined& joined, const Calls& calls, TypeTable& types);

}  // namespace axon::emit
