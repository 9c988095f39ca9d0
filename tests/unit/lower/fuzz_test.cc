// A little of what ./dev fuzz does, and everything that it ever found.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/front.h"
#include "fuzz/mutate.h"
#include "fuzz/soundness.h"

namespace axon::fuzz {
namespace {

TEST(Soundness, ProgramsThatCheckMeetNoOtherShapes) {
  Counts counts;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    ASSERT_EQ(try_program(random, counts), "") << "seed " << seed;
  }
  EXPECT_GE(counts.checked, 120u);
  EXPECT_GE(counts.satisfied * 10, counts.checked * 9);
  RecordProperty("checked", static_cast<int>(counts.checked));
  RecordProperty("runs", static_cast<int>(counts.runs));
}

TEST(Mutations, EndInDiagnosticsOrGraphs) {
  auto corpus = read_corpus({"tests/syntax", "tests/sema", "tests/typecheck", "tests/diag"});
  ASSERT_FALSE(corpus.empty());
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string& base = random.pick(corpus);
    std::string text =
        i % 2 ? mutate_bytes(base, corpus, random) : mutate_tokens(base, corpus, random);
    ASSERT_EQ(try_front(text), "") << text;
  }
}

TEST(Crashers, AreMended) {
  for (const std::string& text : read_corpus({"tests/fuzz/crashers"}))
    EXPECT_EQ(try_front(text), "") << text;
}

}  // namespace
}  // namespace axon::fuzz
