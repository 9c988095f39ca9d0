// What this machine can do at most, measured: the yardstick of `bench --roofline`.
#pragma once

#include "runtime/kernels/kernel.h"
#include "support/result.h"
#include "support/thread_pool.h"

namespace axon::runtime {

struct MachineLimits {
  double bytes_per_s = 0;  // read from memory that no cache holds, all workers together
  double flops_per_s = 0;  // our f32 products on data in the first cache
  double int8_per_s = 0;   // our int8 products there; 0: this machine has none
};

// Takes half a second. Errors: MEM-ALLOC.
Result<MachineLimits> measure_limits(ThreadPool& pool, const KernelChoice& choice);

}  // namespace axon::runtime
