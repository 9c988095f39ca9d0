// `fuzz front|programs SECONDS LIMIT SEED FIRST STRIDE STATE` and `fuzz replay front|programs
// FILE`: see scripts/fuzz.py. Statuses: 1 something is wrong, 2 usage, 3 a hang; others are
// crashes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz/corpus.h"
#include "fuzz/front.h"
#include "fuzz/programs.h"
#include "fuzz/soundness.h"
#include "fuzz/state.h"
#include "support/file.h"

namespace {

using namespace axon::fuzz;
using Clock = std::chrono::steady_clock;

constexpr size_t kStagedOneIn = 8;

int failure(const std::string& wrong) {
  std::fprintf(stderr, "fuzz: %s\n", wrong.c_str());
  return 1;
}

// One process of several that share a seed: it takes every STRIDE-th index, from FIRST on.
struct Share {
  double seconds;
  uint64_t limit, seed, first, stride;
  State state;

  // Calls `one` for each index with its own random numbers until the time or the indices are over.
  template <class One>
  int run(One one) {
    auto begin = Clock::now();
    for (uint64_t index = first; index < limit; index += stride) {
      if (std::chrono::duration<double>(Clock::now() - begin).count() >= seconds) break;
      Random random(seed * 0x9E3779B97F4A7C15ull + index);
      state[Count::Next] = index + stride;
      double before = cpu_seconds();
      restart_clock();
      std::string wrong = one(random);
      auto took = static_cast<uint64_t>((cpu_seconds() - before) * 1e3);
      state[Count::SlowestMs] = std::max(state[Count::SlowestMs], took);
      state[Count::Milliseconds] = static_cast<uint64_t>(cpu_seconds() * 1e3);
      if (!wrong.empty()) return failure(wrong);
    }
    return 0;
  }
};

int front(Share& share) {
  Corpus corpus;
  if (corpus.empty()) return failure("no corpus here");
  State& state = share.state;
  FrontCounts counts{.begin_run = restart_clock};
  return share.run([&](Random& random) {
    std::string text = corpus.mutant(random);
    state.note(text);
    std::string wrong = try_front(text, kStagedOneIn, counts);
    state[Count::Inputs] = counts.inputs;
    state[Count::Parsed] = counts.parsed;
    state[Count::Checked] = counts.checked;
    state[Count::Staged] = counts.staged;
    return wrong;
  });
}

int programs(Share& share) {
  State& state = share.state;
  Counts counts{.begin_run = restart_clock};
  return share.run([&](Random& random) {
    std::string text = make_program(random);
    state.note(text);
    std::string wrong = try_text(text, counts);
    state[Count::Programs] = counts.programs;
    state[Count::Checked] = counts.checked;
    state[Count::Satisfied] = counts.satisfied;
    state[Count::Runs] = counts.runs;
    state[Count::Compared] = counts.compared;
    state[Count::Unstable] = counts.unstable;
    state[Count::Failures] = counts.failures;
    state[Count::Straight] = counts.straight;
    return wrong;
  });
}

int replay(const char* kind, const char* path) {
  auto text = axon::read_file(path);
  if (!text) return 2;
  FrontCounts front_counts{.begin_run = restart_clock};
  Counts counts{.begin_run = restart_clock};
  restart_clock();
  bool is_front = std::strcmp(kind, "front") == 0;
  std::string wrong = is_front ? try_front(*text, 1, front_counts) : try_text(*text, counts);
  return wrong.empty() ? 0 : failure(wrong);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "replay") == 0) return replay(argv[2], argv[3]);
  if (argc != 8)
    return failure("usage: fuzz front|programs SECONDS LIMIT SEED FIRST STRIDE STATE"), 2;
  auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  Share share{
      std::strtod(argv[2], nullptr), number(3), number(4), number(5), number(6), State(argv[7])};
  return std::strcmp(argv[1], "front") == 0 ? front(share) : programs(share);
}
