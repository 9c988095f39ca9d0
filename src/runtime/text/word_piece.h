// WordPiece encoding of one word.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/vocabulary.h"
#include "support/result.h"

namespace axon::text {

class WordPiece {
 public:
  // Errors: TOK-FORMAT.
  static Result<WordPiece> create(const ModelSpec& spec, const Vocabulary& vocabulary);
  // Appends the ids of a word: the longest known piece each time, or the unknown token alone.
  void encode(std::string_view word, const Vocabulary& vocabulary, std::vector<int32_t>& out) const;

 private:
  int32_t unknown_ = Vocabulary::kNone;
  std::string prefix_;
  int64_t max_chars_ = 100;
};

}  // namespace axon::text
