// Places of temporaries in the arena: liveness on the straight line, sizes as expressions.
#pragma once

#include <unordered_map>
#include <vector>

#include "plan/symbols.h"
#include "runtime/core/program.h"

namespace axon::plan {

// A buffer wanted in the arena.
struct Buffer {
  runtime::ValId value;
  DimId bytes;
  size_t first = 0;  // instruction that writes it first
  size_t last = 0;   // instruction that reads it last
};

// Sets PlaceArena of each buffer's value, and the phase's arena size. Buffers that live at
// different times share a slot when one size provably bounds the other for all symbols ≥ 1.
void place_buffers(std::vector<Buffer> buffers, DimTable& dims, Symbols& symbols,
                   runtime::Program& program, runtime::Phase& phase);

}  // namespace axon::plan
