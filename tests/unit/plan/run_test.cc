// Plans are run: cached calls equal uncached ones, fused ones the primitives, padded batches single
// rows.
#include <algorithm>
#include <cmath>

#include "mini.h"

namespace axon::plan {
namespace {

constexpr int64_t kVocab = 11;

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    double d = std::fabs(a[i] - b[i]);
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

std::vector<float> rows(const std::vector<float>& all, int64_t from, int64_t to) {
  return {all.begin() + from * kVocab, all.begin() + to * kVocab};
}

const std::vector<int64_t> kIds = {3, 1, 4, 1, 5, 9, 2, 6};

TEST(Run, CachedEqualsUncached) {
  for (bool optimise : {false, true}) {
    Mini mini;
    PlanOptions options;
    options.optimise = optimise;
    auto program = mini.run(options);
    ASSERT_TRUE(program);
    std::vector<float> whole = Model(*program, 1, 16).call("score", kIds);
    ASSERT_EQ(whole.size(), 8u * kVocab);
    for (int64_t capacity : {8, 16, 33}) {
      Model model(*program, 1, capacity);
      EXPECT_LT(distance(model.call("start", {3, 1, 4}), rows(whole, 0, 3)), 1e-5);
      EXPECT_LT(distance(model.call("extend", {1, 5, 9, 2}), rows(whole, 3, 7)), 1e-5);
      EXPECT_LT(distance(model.call("extend", {6}), rows(whole, 7, 8)), 1e-5);
    }
  }
}

// Rounds that are copies of their class do what unrolled rounds do, to the bit.
TEST(Run, LayerClassesEqualUnrolledLayers) {
  for (const std::vector<int>& biased :
       std::vector<std::vector<int>>{{}, {2}, {4}, {0, 3}, {0, 1, 2, 3, 4}}) {
    for (bool optimise : {false, true}) {
      Mini a(5, biased), b(5, biased);
      PlanOptions classes, unrolled;
      classes.optimise = unrolled.optimise = optimise;
      classes.masked = unrolled.masked = false;
      unrolled.classes = false;
      auto short_one = a.run(classes), long_one = b.run(unrolled);
      ASSERT_TRUE(short_one && long_one);
      EXPECT_EQ(short_one->states.size(), 10u);
      Model x(*short_one, 2, 9), y(*long_one, 2, 9);
      EXPECT_EQ(distance(x.call("score", kIds), y.call("score", kIds)), 0);
      EXPECT_EQ(distance(x.call("start", kIds), y.call("start", kIds)), 0);
      EXPECT_EQ(distance(x.call("extend", {1, 2, 3, 4}), y.call("extend", {1, 2, 3, 4})), 0);
    }
  }
}

TEST(Run, FusedEqualsPrimitives) {
  Mini a, b;
  PlanOptions plain;
  plain.optimise = false;
  auto fused = a.run(), primitive = b.run(plain);
  ASSERT_TRUE(fused && primitive);
  std::vector<float> x = Model(*fused, 2, 8).call("score", kIds);
  EXPECT_LT(distance(x, Model(*primitive, 2, 8).call("score", kIds)), 1e-5);
  double largest = 0;
  for (float v : x) largest = std::max(largest, std::fabs(static_cast<double>(v)));
  EXPECT_GT(largest, 0.1);
}

TEST(Run, PaddedBatchesEqualSingleRows) {
  for (bool optimise : {false, true}) {
    Mini mini;
    PlanOptions options;
    options.optimise = optimise;
    auto program = mini.run(options);
    ASSERT_TRUE(program);
    Model alone(*program, 1, 9);
    std::vector<float> first = alone.call("start", {3, 1, 4, 1, 5});
    std::vector<float> next = alone.call("extend", {9});
    // The second row of the batch is the same text with two padding tokens behind it.
    Model batch(*program, 2, 9);
    std::vector<float> both = batch.call("start", {7, 8, 2, 6, 0, 3, 2, 3, 1, 4, 1, 5, 0, 0},
                                         {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
    EXPECT_LT(distance(rows(both, 7, 12), first), 1e-5);
    std::vector<float> after = batch.call("extend", {4, 9}, {1, 1});
    EXPECT_GT(distance(rows(after, 1, 2), next), 0);  // positions went on behind the padding
  }
}

TEST(Run, SavedProgramsRunAlike) {
  Mini mini;
  auto program = mini.run();
  ASSERT_TRUE(program);
  auto read = runtime::deserialise(runtime::serialise(*program));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(Model(*program, 1, 16).call("start", kIds), Model(*read, 1, 16).call("start", kIds));
}

}  // namespace
}  // namespace axon::plan
