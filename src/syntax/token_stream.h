// Tokens with layout (language.md 3): the parser sees SEP and DEDENT between real tokens. Because
// `do` is a keyword only where the parser says so, blocks are opened by the parser, not by
// spelling.
#pragma once

#include <optional>

#include "syntax/lexer.h"

namespace axon::syntax {

class TokenStream {
 public:
  enum class Suite : uint8_t { Block, Inline, Empty };
  enum class Stop : uint8_t { Line, NestedBlock };

  TokenStream(Lexer& lexer, const WordTable& words, DiagSink& sink);

  const Token& peek() { return current_ ? *current_ : look(); }
  // The kind of the token behind the next one, when no line end parts them.
  Tok peek_second();
  // The `count` tokens behind the next one, as far as they belong to its statement.
  std::vector<Token> ahead(size_t count);
  // How many `word`s follow in this statement outside of brackets, without those of `if`s between.
  int words_ahead(Word word);
  // Whether `=`, `::` or `<-` follows in this statement outside of brackets.
  bool mark_ahead();
  // Whether the token behind the next one starts a deeper line that reads like a statement.
  bool block_ahead();
  // Whether the next token, on the line of the one before, is the last of that line.
  bool ends_line();
  // Whether the statement of the next token is the last of its block.
  bool ends_block();
  // The next real token, behind a SEP.
  const Token& behind_sep();
  void drop_sep();
  // Moves past the next token and reports its lexical errors.
  Token take();
  // After `do` was taken: opens a block when the next line is deeper.
  Suite open_suite();
  // The next token is a Name: takes only its first `size` bytes, a keyword.
  void take_word(size_t size);
  // Reads the next token again in another mode.
  void relex(Lexer::Mode mode);
  // Skips to the next line that can start a statement of the innermost block, or to the end of that
  // block. Stops early, with NestedBlock, after a `do` whose block has just been opened.
  Stop recover();
  // When the brackets around the next token were probably left open: where the last line inside of
  // them ended, and the bracket. Reports since then are forgotten, and recover() goes back there.
  struct LeftOpen {
    int32_t line_end = 0;
    int32_t bracket = 0;
  };
  std::optional<LeftOpen> left_open();
  // What the line of the next token (behind a SEP) reads like.
  enum class Line : uint8_t { Statement, Item, Other };
  Line line_kind();
  Span next_line();
  // Whether an empty line parts the next token from the one before.
  bool after_gap();
  bool at_top_level() const { return blocks_.size() == 1; }
  // After an error of layout: a deeper line that reads like a statement continues no other.
  void set_loose(bool loose) { loose_ = loose; }
  // Whether the next token is the first of a statement or item.
  bool starts_line() const { return previous_ == Tok::Sep; }
  // End of the token taken last, where something missing should have been.
  int32_t last_end() const { return last_end_; }
  int32_t last_begin() const { return last_begin_; }

 private:
  struct Block {
    int column = 0;
    int depth = 0;
    // The first line of the current statement that only an open bracket joins to it, although it
    // stands and looks like the next statement; -1 when there is none.
    int32_t suspect_end = -1;
    int32_t suspect_bracket = 0;
    size_t suspect_reports = 0;
  };
  template <class Each>
  void scan(Each each);
  Line kind_of(const Token& first);
  const Token& look();
  void load();
  void place();
  bool closes_block() const;
  void emit(Tok kind);
  void count_bracket(Tok kind);
  bool is_word(const Token& token, Word word) const;
  bool starts_line_here() const;
  void note_suspect();
  bool is_told(const Diagnostic& error);

  Lexer& lexer_;
  const WordTable& words_;
  DiagSink& sink_;
  const Token* current_ = nullptr;  // what peek() gives, once known
  Token raw_;                       // the next real token
  bool loaded_ = false;
  bool placed_ = false;  // layout has been settled for it
  Token virtual_;        // SEP or DEDENT that comes before it
  bool has_virtual_ = false;
  std::vector<Block> blocks_{{}};
  int depth_ = 0;
  std::vector<int32_t> brackets_;  // the open ones
  bool go_back_ = false;
  int braces_ = 0;  // `{` that have been told, with their `}` to come
  bool at_start_ = true;
  bool loose_ = false;
  bool top_is_off_ = false;  // the first item stood too deep, which has been told
  Tok previous_ = Tok::Eof;
  int32_t last_begin_ = 0;
  int32_t last_end_ = 0;
};

}  // namespace axon::syntax
