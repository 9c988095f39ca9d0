// Choosing the next token from logits: greedy, or seeded sampling.
#pragma once

#include <cstdint>
#include <vector>

namespace axon::runtime {

// The order of the steps is that of Transformers' processors:
//   1. repetition penalty p over all tokens so far, prompt included: negative scores times p,
//      others divided by p
//   2. presence and frequency penalties over the generated tokens: score - presence - frequency *
//   count
//   3. (sampling only) temperature: score / t
//   4. top-k: scores below the k-th largest go; ties with it stay
//   5. top-p: in order of falling probability, what comes after a total of at least p goes
//   6. min-p: probabilities below min_p times the largest go
//   7. one draw from the softmax of what is left, in order of token ids
// At least one token is always left.
struct SamplingOptions {
  bool sample = false;       // false: the largest score after steps 1 and 2; ties: the lowest id
  double temperature = 1.0;  // 0 is the same as sample = false
  int64_t top_k = 0;         // 0: off
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  uint64_t seed = 0;
  int32_t logprobs = -1;  // ≥ 0: log probabilities of the chosen and of so many best tokens
};

// Log probabilities come from the raw logits, before any step.
struct TokenLogprob {
  int64_t id = 0;
  float logprob = 0;
};
struct Choice {
  int64_t id = 0;
  float logprob = 0;  // with logprobs ≥ 0
  const TokenLogprob* best = nullptr;
  int32_t best_count = 0;
};

// SplitMix64: one stream per row, the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  double uniform();  // [0, 1)

 private:
  uint64_t state_;
};

// The sampler of one row. Allocates on construction only.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, int64_t vocabulary, uint64_t row = 0);
  // Tokens of the prompt count for the repetition penalty.
  void prompt(const int64_t* ids, int64_t count);
  // Chooses and counts the chosen token. `logits` is not changed.
  Choice choose(const float* logits);

 private:
  void penalise();
  void keep_top_k();
  void keep_top_p_and_min_p();
  int64_t draw();
  void measure(const float* logits, Choice& choice);

  SamplingOptions options_;
  Random random_;
  std::vector<float> scores_;
  std::vector<int32_t> generated_;  // times generated, by id
  std::vector<uint8_t> seen_;       // in prompt or generated
  std::vector<int32_t> order_;      // ids by falling score
  std::vector<float> probabilities_;
  std::vector<TokenLogprob> best_;
};

}  // namespace axon::runtime
