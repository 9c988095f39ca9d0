// Random programs: natively, on general instructions and as a straight line, fusions off and on,
// what the evaluator says. AXON_RANDOM_SEEDS=N runs N of them.
#include <cstdlib>

#include "random_graph.h"

namespace axon::driver::ways {
namespace {

TEST(Random, ProgramsEqualTheEvaluator) {
  const char* wanted = std::getenv("AXON_RANDOM_SEEDS");
  uint64_t seeds = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 150;
  const char* first = std::getenv("AXON_RANDOM_FIRST");
  uint64_t from = first != nullptr ? std::strtoull(first, nullptr, 10) : 0;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    RandomGraph program(seed);
    compare(program.graph(), program.types(), program.given());
  }
}

}  // namespace
}  // namespace axon::driver::ways
