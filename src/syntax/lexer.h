// Text to tokens, on demand: which word is a keyword, and so how it is cut, only the parser knows.
#pragma once

#include "source/file_table.h"
#include "syntax/token.h"

namespace axon::syntax {

class Lexer {
 public:
  // `Scope` is for what follows the keywords `for` and `scope` (language.md 2.8).
  enum class Mode : uint8_t { Normal, Scope };

  Lexer(FileId file, std::string_view text, Interner& names);
  Token next(Mode mode = Mode::Normal);
  // Goes on at a byte offset; comments before the furthest point are not collected twice.
  void seek(int32_t pos) { pos_ = static_cast<size_t>(pos); }
  std::string_view text() const { return text_; }
  FileId file() const { return file_; }
  std::vector<Comment> take_comments() { return std::move(comments_); }
  // Where `#` was read as the start of a comment.
  const std::vector<Span>& hashes() const { return hashes_; }

 private:
  void skip_blanks(Token& token);
  void read_comment(bool own_line);
  void skip_hash_comment();
  void read_name(Token& token);
  bool read_double_colon(Token& token);
  bool at_suffix() const;
  PathLit read_path(Token& token);
  void read_segments(Token& token, bool placeholders);
  void read_placeholder(Token& token);
  void read_scope_ref(Token& token);
  void read_number(Token& token);
  std::string read_quoted(Token& token, bool is_path);
  void read_escape(Token& token, std::string& out, bool is_path);
  void read_punctuation(Token& token);
  void read_bad(Token& token);
  void error(Token& token, Diag id, size_t begin, std::vector<DiagArg> args);

  char at(size_t pos) const { return pos < text_.size() ? text_[pos] : '\0'; }
  Span span(size_t begin, size_t end) const {
    return {file_, static_cast<int32_t>(begin), static_cast<int32_t>(end)};
  }

  FileId file_;
  std::string_view text_;
  Interner& names_;
  size_t pos_ = 0;
  size_t first_line_ = 0;  // where the first line starts, after a byte-order mark
  size_t comments_until_ = 0;
  std::vector<Comment> comments_;
  std::vector<Span> hashes_;
};

}  // namespace axon::syntax
