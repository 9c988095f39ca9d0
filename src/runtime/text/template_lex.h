// Tokens of a template.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace axon::text::tmpl {

enum class TokenKind : uint8_t {
  Text,
  OutputBegin,
  OutputEnd,
  BlockBegin,
  BlockEnd,
  Name,
  Int,
  Float,
  String,
  Operator,
  End
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;  // Text, Name, String (unescaped), Operator
  int64_t integer = 0;
  double number = 0;
  size_t offset = 0;
};

Result<std::vector<Token>> lex_template(const std::string& source);

}  // namespace axon::text::tmpl
