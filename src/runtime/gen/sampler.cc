// The steps of sampler.h, each over all scores; a token that is out has score minus infinity.
#include "runtime/gen/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace axon::runtime {

uint64_t Random::next() {
  state_ += 0x9E3779B97F4A7C15ull;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

Sampler::Sampler(const SamplingOptions& options, int64_t vocabulary, uint64_t row)
    : options_(options), random_(options.seed + row * 0xD1342543DE82EF95ull) {
  const auto size = static_cast<size_t>(vocabulary);
  scores_.resize(size);
  generated_.assign(size, 0);
  seen_.assign(size, 0);
  order_.resize(size);
  probabilities_.resize(size);
  if (options.logprobs > 0) best_.resize(std::min(size, static_cast<size_t>(options.logprobs)));
  if (options_.temperature <= 0) options_.sample = false;
}

void Sampler::prompt(const int64_t* ids, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] >= 0 && static_cast<size_t>(ids[i]) < seen_.size())
      seen_[static_cast<size_t>(ids[i])] = 1;
  }
}

void Sampler::penalise() {
  const auto repetition = static_cast<float>(options_.repetition_penalty);
  const auto presence = static_cast<float>(options_.presence_penalty);
  const auto frequency = static_cast<float>(options_.frequency_penalty);
  if (repetition != 1.0f) {
    for (size_t i = 0; i < scores_.size(); ++i) {
      if (seen_[i] == 0) continue;
      scores_[i] = scores_[i] < 0 ? scores_[i] * repetition : scores_[i] / repetition;
    }
  }
  if (presence == 0.0f && frequency == 0.0f) return;
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (generated_[i] > 0) scores_[i] -= presence + frequency * static_cast<float>(generated_[i]);
  }
}

void Sampler::keep_top_k() {
  const auto k = static_cast<size_t>(std::max<int64_t>(options_.top_k, 0));
  if (k == 0 || k >= scores_.size()) return;
  std::copy(scores_.begin(), scores_.end(), probabilities_.begin());
  std::nth_element(probabilities_.begin(), probabilities_.begin() + static_cast<int64_t>(k) - 1,
                   probabilities_.end(), [](float a, float b) { return a > b; });
  const float least = probabilities_[k - 1];
  for (float& score : scores_) {
    if (score < least) score = -INFINITY;
  }
}

void Sampler::keep_top_p_and_min_p() {
  const bool top_p = options_.top_p<1.0, min_p = options_.min_p> 0.0;
  if (!top_p && !min_p) return;
  const float largest = *std::max_element(scores_.begin(), scores_.end());
  double total = 0;
  size_t left = 0;
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i] == -INFINITY) continue;
    total += std::exp(static_cast<double>(scores_[i]) - largest);
    order_[left++] = static_cast<int32_t>(i);
  }
  const auto by_score = [&](int32_t a, int32_t b) {
    const float x = scores_[static_cast<size_t>(a)], y = scores_[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::sort(order_.begin(), order_.begin() + static_cast<int64_t>(left), by_score);
  double before = 0, kept = 0;  // probability of what comes before, of what stays
  for (size_t i = 0; i < left; ++i) {
    float& score = scores_[static_cast<size_t>(order_[i])];
    const double p = std::exp(static_cast<double>(score) - largest) / total;
    if (top_p && i > 0 && before >= options_.top_p) {
      score = -INFINITY;
    } else {
      kept += p;
    }
    before += p;
  }
  if (!min_p || kept <= 0) return;
  // The largest has probability exp(0) / …, so the quotient of two probabilities is exp of a
  // difference.
  for (float& score : scores_) {
    if (std::exp(static_cast<double>(score) - largest) < options_.min_p) score = -INFINITY;
  }
}

int64_t Sampler::draw() {
  const float largest = *std::max_element(scores_.begin(), scores_.end());
  double total = 0;
  for (size_t i = 0; i < scores_.size(); ++i) {
    probabilities_[i] = std::exp(scores_[i] - largest);
    total += probabilities_[i];
  }
  double left = random_.uniform() * total;
  int64_t last = 0;
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (probabilities_[i] == 0.0f) continue;
    last = static_cast<int64_t>(i);
    left -= probabilities_[i];
    if (left < 0) break;
  }
  return last;
}

void Sampler::measure(const float* logits, Choice& choice) {
  const size_t size = scores_.size();
  const float largest = *std::max_element(logits, logits + size);
  double total = 0;
  for (size_t i = 0; i < size; ++i) total += std::exp(static_cast<double>(logits[i]) - largest);
  const double norm = largest + std::log(total);
  choice.logprob = static_cast<float>(logits[choice.id] - norm);
  if (best_.empty()) return;
  std::iota(order_.begin(), order_.end(), 0);
  std::partial_sort(
      order_.begin(), order_.begin() + static_cast<int64_t>(best_.size()), order_.end(),
      [&](int32_t a, int32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  for (size_t i = 0; i < best_.size(); ++i) {
    best_[i] = {order_[i], static_cast<float>(logits[order_[i]] - norm)};
  }
  choice.best = best_.data();
  choice.best_count = static_cast<int32_t>(best_.size());
}

Choice Sampler::choose(const float* logits) {
  std::copy(logits, logits + scores_.size(), scores_.begin());
  penalise();
  Choice choice;
  if (options_.sample) {
    if (options_.temperature != 1.0) {
      for (float& score : scores_) score /= static_cast<float>(options_.temperature);
    }
    keep_top_k();
    keep_top_p_and_min_p();
    choice.id = draw();
  } else {
    choice.id = std::max_element(scores_.begin(), scores_.end()) - scores_.begin();
  }
  if (options_.logprobs >= 0) measure(logits, choice);
  seen_[static_cast<size_t>(choice.id)] = 1;
  ++generated_[static_cast<size_t>(choice.id)];
  return choice;
}

}  // namespace axon::runtime
