// Tokens as the parser sees them (language.md 2 and 3).
#pragma once

#include <string_view>
#include <vector>

#include "source/diag.h"
#include "syntax/nodes.h"

namespace axon::syntax {

enum class Tok : uint8_t {
#define AXON_TOKEN(kind, description) kind,
#define AXON_PUNCT(kind, spelling) kind,
#include "syntax/tokens.def"
};

enum class Word : uint8_t {
#define AXON_WORD(ident, spelling) ident,
#include "syntax/tokens.def"
};
std::string_view spelling(Word word);
constexpr size_t kWordCount = 0
#define AXON_WORD(ident, spelling) +1
#include "syntax/tokens.def"
    ;

// The ids of all words, so that tokens are compared by id.
class WordTable {
 public:
  explicit WordTable(Interner& names);
  NameId operator[](Word word) const { return ids_[static_cast<size_t>(word)]; }

 private:
  std::vector<NameId> ids_;
};

// The spelling of punctuation in backticks, a word for the rest.
std::string_view describe(Tok kind);

struct Token {
  Tok kind = Tok::Eof;
  bool blank_before = false;
  bool line_start = false;   // the first token of its line
  bool glued_digit = false;  // a digit follows directly (for `-`)
  bool bare = false;         // a Name that is one identifier
  int32_t begin = 0;
  int32_t end = 0;
  int column = 0;              // indentation of the line, when line_start
  NameId name;                 // Name without suffixes; unescaped String; spelling of Int and Float
  std::vector<PathLit> paths;  // suffixes of a Name; the one of Path and ScopeRef
  std::vector<Diagnostic> errors;  // reported when the token is taken
};

}  // namespace axon::syntax
