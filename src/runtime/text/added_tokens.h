// Tokens that are cut out of a text before the model sees the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/tokenizer_spec.h"

namespace axon::text {

// A part of a text: a token, or text between tokens.
struct Segment {
  size_t begin, end;  // bytes
  int32_t id;         // of the token, or -1
};

// Finds tokens: of those that begin leftmost, the longest.
class AddedTokenMatcher {
 public:
  // `text` is what is looked for: the content, or its normalized form. Of two with one text the
  // first counts.
  void add(std::string_view text, int32_t id, const AddedToken& flags);
  bool empty() const { return tokens_.empty(); }
  // Segments in order. Where a token that strips blanks on its right is followed by one that begins
  // inside of these, segments overlap, as in the reference tokenizers.
  std::vector<Segment> split(std::string_view text) const;

 private:
  struct Token {
    int32_t id;
    bool single_word, left_strip, right_strip;
  };
  struct Node {
    int32_t token = -1;                             // that ends here
    std::vector<std::pair<uint8_t, int32_t>> next;  // by byte
  };
  int32_t step(int32_t node, uint8_t byte) const;
  std::vector<Node> nodes_{1};
  std::vector<Token> tokens_;
  bool starts_[256] = {};
};

}  // namespace axon::text
