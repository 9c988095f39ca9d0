// The sampler's steps on small distributions, and against Transformers' processors.
#include "runtime/gen/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "runtime/core/number.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

// The ids that many draws give.
std::map<int64_t, int> draws(const SamplingOptions& options, const std::vector<float>& logits,
                             int count) {
  std::map<int64_t, int> seen;
  for (int i = 0; i < count; ++i) {
    SamplingOptions one = options;
    one.sample = true;
    one.seed = static_cast<uint64_t>(i);
    Sampler sampler(one, static_cast<int64_t>(logits.size()));
    ++seen[sampler.choose(logits.data()).id];
  }
  return seen;
}

TEST(Sampler, GreedyTakesTheLowestOfTies) {
  Sampler sampler({}, 4);
  const float logits[] = {1, 3, 3, 2};
  EXPECT_EQ(sampler.choose(logits).id, 1);
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  const std::vector<float> logits = {std::log(0.5f), std::log(0.3f), std::log(0.2f)};
  const auto seen = draws({}, logits, 4000);
  EXPECT_NEAR(seen.at(0), 2000, 150);
  EXPECT_NEAR(seen.at(1), 1200, 150);
  EXPECT_NEAR(seen.at(2), 800, 150);
}

TEST(Sampler, SeedsRepeat) {
  SamplingOptions options;
  options.sample = true;
  options.seed = 42;
  const std::vector<float> logits(50, 0.0f);
  Sampler a(options, 50), b(options, 50), other_row(options, 50, 1);
  std::vector<int64_t> x, y, z;
  for (int i = 0; i < 20; ++i) {
    x.push_back(a.choose(logits.data()).id);
    y.push_back(b.choose(logits.data()).id);
    z.push_back(other_row.choose(logits.data()).id);
  }
  EXPECT_EQ(x, y);
  EXPECT_NE(x, z);
}

TEST(Sampler, FiltersLeaveWhatTheyShould) {
  const std::vector<float> logits = {std::log(0.4f), std::log(0.3f), std::log(0.2f),
                                     std::log(0.1f)};
  SamplingOptions options;
  options.top_k = 2;
  EXPECT_EQ(draws(options, logits, 300).size(), 2u);
  options = {};
  options.top_p = 0.75;  // 0.4 + 0.3 < 0.75: the third is still needed
  EXPECT_EQ(draws(options, logits, 300).size(), 3u);
  options.top_p = 0.65;
  EXPECT_EQ(draws(options, logits, 300).size(), 2u);
  options = {};
  options.min_p = 0.6;
  EXPECT_EQ(draws(options, logits, 300).size(), 2u);
  options = {};
  options.top_p = 0.0;
  EXPECT_EQ(draws(options, logits, 50).size(), 1u);
  options = {};
  options.temperature = 0.0;
  EXPECT_EQ(draws(options, logits, 50).size(), 1u);
}

TEST(Sampler, PresenceAndFrequency) {
  SamplingOptions options;
  options.presence_penalty = 0.5;
  options.frequency_penalty = 0.3;
  Sampler sampler(options, 2);
  const float logits[] = {1.0f, 0.5f};
  EXPECT_EQ(sampler.choose(logits).id, 0);  // 1.0 against 0.5
  EXPECT_EQ(sampler.choose(logits).id, 1);  // 0.2 against 0.5
  EXPECT_EQ(sampler.choose(logits).id, 0);  // 0.2 against -0.3
}

TEST(Sampler, LogprobsAreOfRawLogits) {
  SamplingOptions options;
  options.logprobs = 2;
  options.repetition_penalty = 4.0;
  Sampler sampler(options, 3);
  const int64_t prompt[] = {2};
  sampler.prompt(prompt, 1);
  const float logits[] = {0.0f, 1.0f, 2.0f};
  const Choice choice = sampler.choose(logits);
  EXPECT_EQ(choice.id, 1);  // 2 is divided by 4
  const double norm = std::log(1.0 + std::exp(1.0) + std::exp(2.0));
  EXPECT_NEAR(choice.logprob, 1.0 - norm, 1e-6);
  ASSERT_EQ(choice.best_count, 2);
  EXPECT_EQ(choice.best[0].id, 2);
  EXPECT_NEAR(choice.best[0].logprob, 2.0 - norm, 1e-6);
  EXPECT_EQ(choice.best[1].id, 1);
}

// Lines: options, prompt ids, logits (hex), ids that Transformers' processors leave.
TEST(Sampler, LeavesWhatTransformersLeaves) {
  const auto text = read_file(std::string(AXON_SOURCE_DIR) + "/tests/unit/runtime_gen/sampler.txt");
  ASSERT_TRUE(text.ok());
  int cases = 0;
  for (std::string_view line : split(*text, '\n')) {
    if (line.empty()) continue;
    const auto words = split(line, ' ');
    SamplingOptions options;
    options.repetition_penalty = *parse_double(words[0]);
    options.temperature = *parse_double(words[1]);
    options.top_k = *parse_int(words[2]);
    options.top_p = *parse_double(words[3]);
    options.min_p = *parse_double(words[4]);
    std::vector<int64_t> prompt;
    for (std::string_view id : split(words[5], ',')) prompt.push_back(*parse_int(id));
    std::vector<float> logits;
    for (std::string_view v : split(words[6], ','))
      logits.push_back(static_cast<float>(*parse_double(v)));
    std::map<int64_t, double> expected;
    for (std::string_view pair : split(words[7], ',')) {
      const auto both = split(pair, ':');
      expected[*parse_int(both[0])] = *parse_double(both[1]);
    }
    options.sample = true;
    std::map<int64_t, int> seen;
    constexpr int kDraws = 3000;
    for (int i = 0; i < kDraws; ++i) {
      options.seed = static_cast<uint64_t>(i) * 7919u;
      Sampler sampler(options, static_cast<int64_t>(logits.size()));
      sampler.prompt(prompt.data(), static_cast<int64_t>(prompt.size()));
      ++seen[sampler.choose(logits.data()).id];
    }
    for (const auto& [id, count] : seen) {
      ASSERT_TRUE(expected.count(id)) << "case " << cases << " gives id " << id;
    }
    for (const auto& [id, p] : expected) {
      EXPECT_NEAR(seen[id], p * kDraws, 5 * std::sqrt(kDraws * p * (1 - p)) + 3)
          << "case " << cases;
    }
    ++cases;
  }
  EXPECT_GE(cases, 10);
}

}  // namespace
}  // namespace axon::runtime
