// WordPiece encoding of one word.
#include "runtime/text/word_piece.h"

#include <algorithm>

namespace axon::text {

Result<WordPiece> WordPiece::create(const ModelSpec& spec, const Vocabulary& vocabulary) {
  WordPiece out;
  out.prefix_ = spec.continuing_prefix;
  out.max_chars_ = spec.max_word_chars;
  out.unknown_ = spec.unknown ? vocabulary.find(*spec.unknown) : Vocabulary::kNone;
  if (out.unknown_ < 0) {
    return Error{
        "TOK-FORMAT",
        "tokenizer: the vocabulary lacks the unknown token `" + spec.unknown.value_or("") + "`",
        {},
        -1,
        {}};
  }
  return out;
}

void WordPiece::encode(std::string_view word, const Vocabulary& vocabulary,
                       std::vector<int32_t>& out) const {
  size_t before = out.size();
  auto chars = std::count_if(word.begin(), word.end(),
                             [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
  size_t start = chars > max_chars_ ? word.size() + 1 : 0;
  std::string piece;
  while (start < word.size()) {
    piece = start > 0 ? prefix_ : "";
    size_t lead = piece.size();
    piece += word.substr(start);
    int32_t id = vocabulary.find(piece);
    while (id < 0 && piece.size() > lead) {
      while ((static_cast<uint8_t>(piece.back()) & 0xC0) == 0x80) piece.pop_back();
      piece.pop_back();
      if (piece.size() == lead) break;
      id = vocabulary.find(piece);
    }
    if (id < 0) {
      start = word.size() + 1;
      break;
    }
    out.push_back(id);
    start += piece.size() - lead;
  }
  if (start <= word.size()) return;
  out.resize(before);
  out.push_back(unknown_);
}

}  // namespace axon::text
