// Where all workers of a phase wait for each other.
#pragma once

#include "runtime/core/program.h"

namespace axon::runtime {

// Sets Instr::barrier: an instruction waits when one since the last barrier wrote what it reads or
// writes, or read what it writes. What lies in one slot of the arena, or in one state, counts as
// one thing.
void place_barriers(Phase& phase);

// Barriers that one call of the phase passes.
int64_t count_barriers(const Phase& phase);

}  // namespace axon::runtime
