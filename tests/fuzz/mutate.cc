// The mutators.
#include "fuzz/mutate.h"

#include <algorithm>
#include <cctype>

namespace axon::fuzz {
namespace {

using Tokens = std::vector<std::string>;

// Words, numbers, blanks, line starts with their indentation, single other characters.
Tokens cut(const std::string& text) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  Tokens out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (text[i] == ' ' || text[i] == '\n') {
      while (end < text.size() && text[end] == ' ') ++end;
    }
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

const Tokens& words() {
  static const Tokens all = {"do",
                             "if",
                             "then",
                             "else",
                             "for",
                             "scope",
                             "return",
                             "yield",
                             "carry",
                             "step",
                             "true",
                             "false",
                             "null",
                             "and",
                             "or",
                             "import",
                             "export",
                             "type",
                             "List",
                             "Tensor",
                             "Int",
                             "Dim",
                             "Path",
                             "?",
                             "::",
                             "<-",
                             "->",
                             "|>",
                             ">>=",
                             "\\",
                             "@",
                             "@@",
                             "..",
                             "(",
                             ")",
                             "[",
                             "]",
                             ",",
                             ";",
                             "=",
                             "==",
                             "+",
                             "-",
                             "*",
                             "/",
                             "%",
                             "{-#",
                             "#-}",
                             "'{i}.w'",
                             "\"",
                             "\n",
                             "\n  ",
                             "\n    ",
                             "--",
                             "9223372036854775807",
                             "9223372036854775808",
                             "1e308",
                             "0",
                             "Any",
                             "_T1",
                             "..S",
                             "STAGE",
                             "\t",
                             "_"};
  return all;
}

}  // namespace

std::string mutate_bytes(const std::string& text, const std::vector<std::string>& corpus,
                         Random& random) {
  std::string out = text;
  size_t edits = 1 + random.below(6);
  for (size_t i = 0; i < edits; ++i) {
    size_t at = random.below(out.size() + 1);
    size_t length = std::min(random.below(12), out.size() - at);
    switch (random.below(6)) {
      case 0:
        out.erase(at, length);
        break;
      case 1:
        out.insert(at, 1, static_cast<char>(random.below(256)));
        break;
      case 2:
        if (at < out.size()) out[at] = static_cast<char>(out[at] ^ (1 << random.below(8)));
        break;
      case 3:
        out.insert(at, out.substr(random.below(out.size() + 1), random.below(40)));
        break;
      case 4: {
        const std::string& other = random.pick(corpus);
        out.insert(at, other.substr(random.below(other.size() + 1), random.below(60)));
        break;
      }
      default:
        out.insert(at, random.pick(words()));
    }
  }
  return out;
}

std::string mutate_tokens(const std::string& text, const std::vector<std::string>& corpus,
                          Random& random) {
  Tokens tokens = cut(text);
  size_t edits = 1 + random.below(5);
  for (size_t i = 0; i < edits; ++i) {
    auto at = tokens.begin() + static_cast<int64_t>(random.below(tokens.size() + 1));
    bool inside = at != tokens.end();
    switch (random.below(6)) {
      case 0:
        if (inside) tokens.erase(at);
        break;
      case 1:
        if (inside) *at = random.pick(words());
        break;
      case 2:
        tokens.insert(at, random.pick(words()));
        break;
      case 3:
        if (inside) std::swap(*at, tokens[random.below(tokens.size())]);
        break;
      case 4: {
        Tokens other = cut(random.pick(corpus));
        if (other.empty()) break;
        size_t from = random.below(other.size());
        size_t count = std::min(1 + random.below(10), other.size() - from);
        tokens.insert(at, other.begin() + static_cast<int64_t>(from),
                      other.begin() + static_cast<int64_t>(from + count));
        break;
      }
      default: {
        if (tokens.empty()) break;
        Tokens piece(tokens.begin() + static_cast<int64_t>(random.below(tokens.size())),
                     tokens.end());
        piece.resize(std::min(piece.size(), 1 + random.below(8)));
        at = tokens.begin() + static_cast<int64_t>(random.below(tokens.size() + 1));
        tokens.insert(at, piece.begin(), piece.end());
      }
    }
  }
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

}  // namespace axon::fuzz
