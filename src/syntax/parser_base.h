// What all parts of the parser share: tokens, error messages, recovery.
//
// A syntax error sets `panic_`; from then on nothing matches, so every rule returns at once, up to
// the statement or item loop, which skips to the next line and goes on. Mistakes that do not hinder
// parsing (AST-…, PAR-TUPLE-ARG and the like) are reported without panic.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "source/file_table.h"
#include "syntax/token_stream.h"

namespace axon::syntax {

// `name`, `@p` … of a signature or of the head of a definition.
struct DefName {
  NameId name;
  Span span;
  std::vector<Target> path_params;
};

struct Signature {
  DefName head;
  std::vector<TypeExprId> types;  // the last one is the return type
  Span span;
};

class ParserBase {
 protected:
  ParserBase(FileId file, const FileTable& files, Interner& names, Ast& ast, DiagSink& sink);
  ~ParserBase() = default;
  // Reads the lines of a block and drops them; recover() uses it for the errors inside.
  virtual void skip_block() = 0;

  // What is being parsed, for messages; `name` may be invalid.
  struct Construct {
    std::string_view what;
    NameId name;
  };
  struct In {
    In(ParserBase& parser, std::string_view what, NameId name = {})
        : parser_(parser), saved_(parser.construct_) {
      parser.construct_ = {what, name};
    }
    ~In() { parser_.construct_ = saved_; }
    ParserBase& parser_;
    Construct saved_;
  };
  // One more bracket, block or branch around what follows; `then` and `else` of an outer `if` mean
  // nothing inside of brackets and blocks.
  struct Nest {
    Nest(ParserBase& parser, bool closed);
    ~Nest();
    ParserBase& parser_;
    int saved_ifs_;
    Word saved_awaited_;
  };

  // One statement or item: of what is wrong in it, the first complaint about its syntax counts.
  struct Fresh {
    explicit Fresh(ParserBase& parser)
        : parser_(parser), saved_(std::exchange(parser.errors_before_, parser.lasting_errors())) {}
    ~Fresh() { parser_.errors_before_ = saved_; }
    ParserBase& parser_;
    size_t saved_;
  };
  // Reports after which parsing did not go on as if all were well.
  size_t lasting_errors() const {
    return sink_.error_count() - std::min(mended_, sink_.error_count());
  }
  bool faulty() const { return lasting_errors() > errors_before_; }

  const Token& peek() { return stream_.peek(); }
  bool at(Tok kind) { return !panic_ && peek().kind == kind; }
  bool at_word(Word word);
  bool at_keyword_prefix(Word word);
  Token take() { return stream_.take(); }
  bool accept(Tok kind);
  bool expect(Tok kind, std::string_view expected = {});
  bool expect_word(Word word);
  [[gnu::noinline]] void lacks_word(Word word);
  bool colon_opens(Word word);
  bool at_line_start() { return !panic_ && peek().line_start && peek().kind != Tok::Eof; }

  // parse_keywords.cc: misspelt keywords
  bool at_keyword(Word word);
  bool at_prefix(Word word);
  void take_prefix();
  bool slips(Word word);
  std::optional<Word> slip_of(std::initializer_list<Word> words);
  [[gnu::noinline]] void misspelt(Word word);
  bool bare_carry_ahead();
  bool is_slip(const Token& token, Word word) const;
  bool is_word(const Token& token, Word word) const;

  Target expect_ident(std::string_view role);
  Target expect_local(std::string_view role);
  // The report, or null where this statement has one already.
  // `hint` says more than the table of habits would.
  [[gnu::noinline]] Diagnostic* unexpected(std::string_view expected, std::string_view hint = {});
  std::string shown(const Token& token) const;
  void suggest_keyword(const Token& token, std::string_view expected, Diagnostic& report) const;
  std::string place() const;

  // parse_habits.cc: how what stands here is written in Axon
  std::string_view habit_of(const Token& token, Span& where) const;
  std::string_view word_habit(const Token& token) const;
  std::string_view sign_habit(const Token& token, Span& where) const;
  void note_callee(Diagnostic& report, Span where) const;
  std::string source_text(Span span, size_t limit = 80) const;
  void recover();
  // Stands for what is read from `begin` on to the end of the panic.
  ExprId unread_from(int32_t begin);
  void end_unread(ExprId hole);
  Span span(const Token& token) const { return {file_, token.begin, token.end}; }
  Span since(int32_t begin) { return {file_, begin, stream_.last_end()}; }
  int32_t here() { return peek().begin; }
  bool word_is(NameId name, std::string_view word) const { return names_.text(name) == word; }

  FileId file_;
  const FileTable& files_;
  Interner& names_;
  Ast& ast_;
  DiagSink& sink_;
  WordTable words_;
  Lexer lexer_;
  TokenStream stream_;
  Construct construct_{"the file", {}};
  bool panic_ = false;
  bool stopped_ = false;  // nesting too deep: nothing more is parsed
  int damage_ = 0;        // counts places where something was dropped
  bool opened_ = false;   // a `:` stands for the `do` that comes next
  int kept_ = 0;          // those of them for which an unread value stands
  int losses() const { return damage_ - kept_; }
  ExprId unread_;      // the value whose text ends where this panic does
  size_t mended_ = 0;  // counts reports of what was read as it was meant
  size_t errors_before_ = 0;
  int depth_ = 0;
  Target callee_;  // what was called last
  int open_ifs_ = 0;
  Word awaited_ = Word::Then;  // the part of the innermost open `if` that comes next

 private:
  [[gnu::noinline]] bool fits(Word word);
  bool loop_ahead();
  bool scope_ahead();
  bool carry_ahead();
  bool alias_ahead();
};

}  // namespace axon::syntax
