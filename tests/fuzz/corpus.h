// Texts to begin with: programs and cases of the tree, and what the stages make of small ones.
#pragma once

#include <string>
#include <vector>

#include "fuzz/texts.h"

namespace axon::fuzz {

// The .axon files below the folders and the texts in their cases, sorted by name.
std::vector<std::string> read_corpus(const std::vector<std::string>& folders);

class Corpus {
 public:
  Corpus();
  bool empty() const { return texts_.empty(); }
  // A file; sometimes a stage of it, where it has one.
  std::string pick(Random& random);
  std::string mutant(Random& random);

 private:
  Texts texts_;
};

}  // namespace axon::fuzz
