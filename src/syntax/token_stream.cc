// Tokens with layout (language.md 3).
#include "syntax/token_stream.h"

namespace axon::syntax {
namespace {

bool opens(Tok kind) { return kind == Tok::LParen || kind == Tok::LBracket || kind == Tok::PragmaOpen; }
bool closes(Tok kind) {
  return kind == Tok::RParen || kind == Tok::RBracket || kind == Tok::PragmaClose;
}

}  // namespace

TokenStream::TokenStream(Lexer& lexer, Interner& names, DiagSink& sink)
    : lexer_(lexer), names_(names), sink_(sink) {}

void TokenStream::load() {
  if (loaded_) return;
  raw_ = lexer_.next();
  loaded_ = true;
  placed_ = !raw_.line_start && raw_.kind != Tok::Eof;
}

bool TokenStream::is_word(const Token& token, std::string_view word) const {
  return token.kind == Tok::Name && token.bare && names_.text(token.name) == word;
}

void TokenStream::emit(Tok kind) {
  virtual_ = Token{};
  virtual_.kind = kind;
  virtual_.begin = virtual_.end = last_end_;
  has_virtual_ = true;
}

// A closing bracket ends the blocks that were opened inside its bracket.
bool TokenStream::closes_block() const {
  return closes(raw_.kind) && blocks_.back().depth > 0 && depth_ - 1 < blocks_.back().depth;
}

const Token& TokenStream::peek() {
  if (has_virtual_) return virtual_;
  load();
  if (closes_block()) {
    blocks_.pop_back();
    emit(Tok::Dedent);
    return virtual_;
  }
  if (!placed_) place();
  return has_virtual_ ? virtual_ : raw_;
}

// Decides what comes before the first token of a line, one virtual token at a time.
void TokenStream::place() {
  if (raw_.kind == Tok::Eof) {
    if (blocks_.size() == 1) {
      placed_ = true;
    } else {
      blocks_.pop_back();
      emit(Tok::Dedent);
    }
    return;
  }
  if (at_start_) {
    if (raw_.column > 0) {
      sink_.report(Diag::LayTop, {lexer_.file(), raw_.begin, raw_.end}, {raw_.column + 1});
      blocks_[0].column = raw_.column;
    }
    placed_ = true;
    return;
  }
  Block& top = blocks_.back();
  bool after_pipe = previous_ == Tok::PipeOp || previous_ == Tok::BindOp;
  bool is_else = is_word(raw_, "else");
  if (depth_ > top.depth || raw_.column > top.column || (after_pipe && raw_.column >= top.column) ||
      (is_else && (raw_.column >= top.column || blocks_.size() == 1))) {
    placed_ = true;
  } else if (raw_.column == top.column) {
    placed_ = true;
    emit(Tok::Sep);
  } else if (blocks_.size() == 1) {
    sink_.report(Diag::LayDedent, {lexer_.file(), raw_.begin, raw_.end});
    top.column = raw_.column;
    placed_ = true;
    emit(Tok::Sep);
  } else {
    blocks_.pop_back();
    emit(Tok::Dedent);
  }
}

void TokenStream::count_bracket(Tok kind) {
  if (opens(kind)) ++depth_;
  if (closes(kind) && depth_ > 0) --depth_;
}

Token TokenStream::take() {
  peek();
  if (has_virtual_) {
    has_virtual_ = false;
    return virtual_;
  }
  if (raw_.kind == Tok::Eof) return raw_;
  for (Diagnostic& error : raw_.errors) {
    Diagnostic& reported = sink_.report(error.id, error.span, std::move(error.args));
    reported.notes = std::move(error.notes);
    reported.fixes = std::move(error.fixes);
  }
  raw_.errors.clear();
  count_bracket(raw_.kind);
  previous_ = raw_.kind;
  last_begin_ = raw_.begin;
  last_end_ = raw_.end;
  at_start_ = false;
  loaded_ = false;
  return std::move(raw_);
}

Tok TokenStream::peek_second() {
  peek();
  if (has_virtual_ || raw_.kind == Tok::Eof) return Tok::Eof;
  lexer_.seek(raw_.end);
  Token second = lexer_.next();
  lexer_.seek(raw_.end);
  const Block& top = blocks_.back();
  bool parted = second.line_start && depth_ <= top.depth && second.column <= top.column;
  return parted ? Tok::Sep : second.kind;
}

TokenStream::Suite TokenStream::open_suite() {
  load();
  if (raw_.kind != Tok::Eof && !raw_.line_start) {
    bool body = !closes(raw_.kind) && raw_.kind != Tok::Semicolon && raw_.kind != Tok::Comma;
    if (body) return Suite::Inline;
  } else if (raw_.kind != Tok::Eof && raw_.column > blocks_.back().column) {
    blocks_.push_back({raw_.column, depth_});
    placed_ = true;
    return Suite::Block;
  }
  return Suite::Empty;
}

void TokenStream::take_word(std::string_view word) {
  peek();
  last_begin_ = raw_.begin;
  last_end_ = raw_.begin + static_cast<int32_t>(word.size());
  lexer_.seek(last_end_);
  previous_ = Tok::Name;
  at_start_ = false;
  loaded_ = false;
}

void TokenStream::relex(Lexer::Mode mode) {
  peek();
  if (has_virtual_ || raw_.kind == Tok::Eof) return;
  Token old = std::move(raw_);
  lexer_.seek(old.begin);
  raw_ = lexer_.next(mode);
  raw_.line_start = old.line_start;
  raw_.blank_before = old.blank_before;
  raw_.column = old.column;
}

// Whether the next line can start a statement or item, judged while skipping.
bool TokenStream::starts_line_here() const {
  if (!raw_.line_start || placed_) return false;
  if (is_word(raw_, "else")) return false;
  if (raw_.column < blocks_.back().column) return true;
  return raw_.column == blocks_.back().column && (raw_.kind == Tok::Name || raw_.kind == Tok::PragmaOpen);
}

TokenStream::Stop TokenStream::recover() {
  while (!has_virtual_) {
    load();
    if (raw_.kind == Tok::Eof || closes_block() || starts_line_here()) break;
    bool is_do = is_word(raw_, "do");
    count_bracket(raw_.kind);
    last_begin_ = raw_.begin;
    last_end_ = raw_.end;
    at_start_ = false;
    loaded_ = false;
    if (!is_do) continue;
    load();
    if (raw_.line_start && raw_.kind != Tok::Eof && open_suite() == Suite::Block) {
      previous_ = Tok::Name;
      return Stop::NestedBlock;
    }
  }
  depth_ = blocks_.back().depth;
  previous_ = Tok::Sep;
  return Stop::Line;
}

}  // namespace axon::syntax
