// The mutators.
#include "fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace axon::fuzz {
namespace {

using Tokens = std::vector<std::string>;

constexpr std::string_view kWords[] = {"do",          "if",
                                       "then",        "else",
                                       "for",         "scope",
                                       "return",      "yield",
                                       "carry",       "step",
                                       "true",        "false",
                                       "null",        "and",
                                       "or",          "import",
                                       "export",      "type",
                                       "List",        "Tensor",
                                       "Int",         "Dim",
                                       "Path",        "Float",
                                       "Bool",        "String",
                                       "?",           "::",
                                       "<-",          "->",
                                       "|>",          ">>=",
                                       "\\",          "@",
                                       "@@",          "..",
                                       "(",           ")",
                                       "[",           "]",
                                       ",",           ";",
                                       "=",           "==",
                                       "!=",          "<=",
                                       "+",           "-",
                                       "*",           "/",
                                       "%",           "{-#",
                                       "#-}",         "'{i}.w'",
                                       "\"",          "\n",
                                       "\n  ",        "\n    ",
                                       "--",          "9223372036854775807",
                                       "1e308",       "0",
                                       "-1",          "1",
                                       "2",           "Any",
                                       "_T1",         "..S",
                                       "STAGE",       "\t",
                                       "_",           "_reshape",
                                       "_concat",     "_slice",
                                       "_chunk",      "_list_append",
                                       "_list_index", "_shape",
                                       "_sum",        "[B,S]",
                                       "Tensor[B]",   "Tensor[..S]",
                                       "?Tensor",     "List[Dim]",
                                       "(Int, Int)",  "9223372036854775808",
                                       "0.5",         "x",
                                       "core.call",   "core.select",
                                       "%x",          "<B>",
                                       "constraint",  "\xC3\xA9",
                                       "\xE2\x80\xA8"};

std::string word(Random& random) { return std::string(kWords[random.below(std::size(kWords))]); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words, numbers, blanks, line starts with their indentation, single other characters.
Tokens cut(const std::string& text) {
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

// Another token of the same kind: most of these texts still parse.
void replace_alike(Tokens& tokens, Random& random) {
  for (int tries = 0; tries < 20; ++tries) {
    std::string& target = tokens[random.below(tokens.size())];
    const std::string& other = tokens[random.below(tokens.size())];
    if (!is_word(target[0]) || !is_word(other[0]) || other == target) continue;
    bool numbers = std::isdigit(static_cast<unsigned char>(target[0])) != 0;
    if (numbers && random.chance(60)) {
      target = std::to_string(random.below(random.chance(80) ? 6 : 100000));
      return;
    }
    target = other;
    return;
  }
}

// Whole lines go, come twice, change places or their indentation.
void edit_lines(Tokens& tokens, Random& random) {
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i][0] == '\n') starts.push_back(i);
  }
  starts.push_back(tokens.size());
  size_t line = random.below(starts.size() - 1);
  auto begin = tokens.begin() + static_cast<int64_t>(starts[line]);
  auto end = tokens.begin() + static_cast<int64_t>(starts[line + 1]);
  Tokens piece(begin, end);
  switch (random.below(4)) {
    case 0:
      tokens.erase(begin, end);
      break;
    case 1:
      tokens.insert(begin, piece.begin(), piece.end());
      break;
    case 2: {
      tokens.erase(begin, end);
      size_t at = std::min(starts[random.below(starts.size())], tokens.size());
      tokens.insert(tokens.begin() + static_cast<int64_t>(at), piece.begin(), piece.end());
      break;
    }
    default:
      if (begin != end && (*begin)[0] == '\n')
        *begin = "\n" + std::string(random.below(4) * 2, ' ');
  }
}

// Some tokens of the same text or another.
Tokens piece_of(const Tokens& tokens, Random& random, size_t most) {
  if (tokens.empty()) return {};
  size_t from = random.below(tokens.size());
  size_t count = std::min(1 + random.below(most), tokens.size() - from);
  return Tokens(tokens.begin() + static_cast<int64_t>(from),
                tokens.begin() + static_cast<int64_t>(from + count));
}

void edit(Tokens& tokens, const Texts& corpus, Random& random) {
  size_t at = random.below(tokens.size() + 1);
  auto place = tokens.begin() + static_cast<int64_t>(at);
  bool inside = at < tokens.size();
  switch (random.below(10)) {
    case 0:
      if (inside) tokens.erase(place);
      break;
    case 1:
      if (inside) *place = word(random);
      break;
    case 2:
      tokens.insert(place, word(random));
      break;
    case 3:
      if (inside) std::swap(*place, tokens[random.below(tokens.size())]);
      break;
    case 4: {
      // Of another text only what lies around one place is cut into tokens.
      const std::string& other = corpus.pick(random);
      Tokens piece = piece_of(cut(other.substr(random.below(other.size()), 120)), random, 10);
      tokens.insert(place, piece.begin(), piece.end());
      break;
    }
    case 5: {
      Tokens piece = piece_of(tokens, random, 8);
      tokens.insert(place, piece.begin(), piece.end());
      break;
    }
    case 6:
      if (!tokens.empty()) edit_lines(tokens, random);
      break;
    default:
      if (!tokens.empty()) replace_alike(tokens, random);
  }
}

}  // namespace

std::string mutate_bytes(const std::string& text, const Texts& corpus, Random& random) {
  std::string out = text;
  size_t edits = random.chance(60) ? 1 : 1 + random.below(6);
  for (size_t i = 0; i < edits; ++i) {
    size_t at = random.below(out.size() + 1);
    size_t length = std::min(1 + random.below(12), out.size() - at);
    switch (random.below(7)) {
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
        const std::string& other = corpus.pick(random);
        out.insert(at, other.substr(random.below(other.size() + 1), random.below(60)));
        break;
      }
      case 5:
        if (at < out.size()) out[at] = static_cast<char>(32 + random.below(95));
        break;
      default:
        out.insert(at, word(random));
    }
  }
  return out;
}

std::string mutate_tokens(const std::string& text, const Texts& corpus, Random& random) {
  Tokens tokens = cut(text);
  size_t edits = random.chance(60) ? 1 : 1 + random.below(5);
  for (size_t i = 0; i < edits; ++i) edit(tokens, corpus, random);
  std::string out;
  for (const std::string& token : tokens) out += token;
  return out;
}

}  // namespace axon::fuzz
