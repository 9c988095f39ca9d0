// `fuzz front|programs SECONDS SEED STATE` and `fuzz replay FILE`: see scripts/fuzz.py.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz/front.h"
#include "fuzz/mutate.h"
#include "fuzz/soundness.h"
#include "support/file.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kHangSeconds = 10;  // sanitizers and a busy machine included

void on_alarm(int) {
  constexpr char kText[] = "fuzz: hang\n";
  if (write(2, kText, sizeof kText - 1) < 0) _exit(3);
  _exit(3);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The text under test, so that it is known after a crash.
void note(const char* path, const std::string& text) {
  if (!axon::write_file(path, text)) std::exit(2);
}

int failure(const std::string& wrong) {
  std::fprintf(stderr, "fuzz: %s\n", wrong.c_str());
  return 1;
}

int front(double seconds, uint64_t seed, const char* state) {
  axon::fuzz::Random random(seed);
  auto corpus = axon::fuzz::read_corpus({"tests/syntax", "tests/sema", "tests/typecheck",
                                         "tests/diag", "zoo", "tests/fuzz/crashers"});
  if (corpus.empty()) return failure("no corpus here");
  auto begin = Clock::now();
  size_t count = 0;
  double slowest = 0;
  for (; seconds_since(begin) < seconds; ++count) {
    const std::string& base = random.pick(corpus);
    std::string text = random.chance(50) ? axon::fuzz::mutate_bytes(base, corpus, random)
                                         : axon::fuzz::mutate_tokens(base, corpus, random);
    note(state, text);
    alarm(kHangSeconds);
    auto started = Clock::now();
    std::string wrong = axon::fuzz::try_front(text);
    slowest = std::max(slowest, seconds_since(started));
    alarm(0);
    if (!wrong.empty()) return failure(wrong);
  }
  std::printf("front: %zu inputs, slowest %.2f s\n", count, slowest);
  return 0;
}

int programs(double seconds, uint64_t seed, const char* state) {
  axon::fuzz::Counts counts;
  auto begin = Clock::now();
  while (seconds_since(begin) < seconds) {
    axon::fuzz::Random random(seed * 1000003 + counts.programs);
    alarm(kHangSeconds);
    std::string wrong = axon::fuzz::try_program(random, counts);
    alarm(0);
    if (wrong.empty()) continue;
    note(state, wrong);
    return failure("seed " + std::to_string(seed) + "\n" + wrong);
  }
  std::printf("programs: %zu made, %zu check, %zu have sizes, %zu runs\n", counts.programs,
              counts.checked, counts.satisfied, counts.runs);
  bool enough = counts.satisfied * 10 >= counts.checked * 9;
  return enough ? 0 : failure("too few programs have sizes that their entry lets pass");
}

int replay(const char* path) {
  auto text = axon::read_file(path);
  if (!text) return 2;
  alarm(kHangSeconds);
  std::string wrong = axon::fuzz::try_front(*text);
  return wrong.empty() ? 0 : failure(wrong);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGALRM, on_alarm);
  if (argc == 3 && std::strcmp(argv[1], "replay") == 0) return replay(argv[2]);
  if (argc != 5) return failure("usage: fuzz front|programs SECONDS SEED STATE, fuzz replay FILE");
  double seconds = std::strtod(argv[2], nullptr);
  uint64_t seed = std::strtoull(argv[3], nullptr, 10);
  if (std::strcmp(argv[1], "front") == 0) return front(seconds, seed, argv[4]);
  return programs(seconds, seed, argv[4]);
}
