// A little of what ./dev fuzz does, and everything that it ever found.
#include <gtest/gtest.h>

#include "fuzz/corpus.h"
#include "fuzz/front.h"
#include "fuzz/programs.h"
#include "fuzz/soundness.h"

namespace axon::fuzz {
namespace {

// `./dev test` runs many more of both with scripts/fuzz.py; this is for a quick look.
TEST(Soundness, ProgramsThatCheckRunTheSameAllWays) {
  Counts counts;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    std::string text = make_program(random);
    ASSERT_EQ(try_text(text, counts), "") << "seed " << seed << "\n" << text;
  }
  EXPECT_GE(counts.checked, 30u);
  EXPECT_GE(counts.satisfied * 10, counts.checked * 9);
}

TEST(Mutations, EndInDiagnosticsOrGraphs) {
  Corpus corpus;
  ASSERT_FALSE(corpus.empty());
  FrontCounts counts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::string text = corpus.mutant(random);
    ASSERT_EQ(try_front(text, 8, counts), "") << text;
  }
}

TEST(Crashers, AreMended) {
  FrontCounts front;
  Counts counts;
  for (const std::string& text : read_corpus({"tests/fuzz/crashers"})) {
    EXPECT_EQ(try_front(text, 1, front), "") << text;
    EXPECT_EQ(try_text(text, counts), "") << text;
  }
}

}  // namespace
}  // namespace axon::fuzz
