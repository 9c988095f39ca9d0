// One program, all ways to run it.
#pragma once

#include <string>
#include <vector>

#include "driver/frontend.h"
#include "fuzz/soundness.h"
#include "fuzz/ways.h"

namespace axon::fuzz {

// Runs a compiled program on general instructions and, where there is one, as a straight line:
// loops unrolled or in classes, fusions off and on, reference and fast kernels, one thread and two,
// before and after the structured passes. What differs from the evaluator, or nothing. The passes
// change the front end's graph.
std::string try_all_ways(driver::Frontend& f, const model::ParamIndex& params,
                         const std::vector<Given>& given, Counts& counts);

}  // namespace axon::fuzz
