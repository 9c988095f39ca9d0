// A set of texts to choose from at random.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuzz/random.h"

namespace axon::fuzz {

inline uint64_t hash_of(const std::string& text) {
  uint64_t hash = 1469598103934665603ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash ^ (hash >> 29);
}

// What is chosen hangs on contents alone: a text more or less changes the choices that fall on it,
// and no others.
class Texts {
 public:
  explicit Texts(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (const std::string& text : texts_) hashes_.push_back(hash_of(text));
  }
  bool empty() const { return texts_.empty(); }
  const std::string& pick(Random& random) const {
    uint64_t draw = random.next(), best = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < texts_.size(); ++i) {
      uint64_t score = Random(draw ^ hashes_[i]).next();
      if (i > 0 && score <= best) continue;
      best = score;
      chosen = i;
    }
    return texts_[chosen];
  }

 private:
  std::vector<std::string> texts_;
  std::vector<uint64_t> hashes_;
};

}  // namespace axon::fuzz
