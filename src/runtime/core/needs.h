// What one call of a phase costs, computed from the Program alone: nothing is run.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/program.h"
#include "support/result.h"

namespace axon::runtime {

// Bytes of a bound weight: of all of it in the form that products read, and of one row as stored.
struct WeightBytes {
  int64_t whole = 0, row = 0;
};

struct PhaseNeeds {
  int64_t barriers = 0;
  int64_t weight_bytes = 0;  // read from weights
  int64_t state_bytes = 0;   // read from stores
  int64_t flops = 0;         // of products and attention; a multiply-add counts as two
};

// `weights` by WeightId; `token_dtype`: of token stores whose program dtype is f32. All symbols
// must be bound, data symbols included. Errors: RUN-OVERFLOW.
Result<PhaseNeeds> needs_of(const Program& program, const Phase& phase, const Bindings& bindings,
                            const std::vector<WeightBytes>& weights, DType token_dtype);

}  // namespace axon::runtime
