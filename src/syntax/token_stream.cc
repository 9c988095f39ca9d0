// Tokens with layout (language.md 3).
#include "syntax/token_stream.h"

#include <algorithm>

namespace axon::syntax {
namespace {

bool opens(Tok kind) {
  return kind == Tok::LParen || kind == Tok::LBracket || kind == Tok::PragmaOpen;
}
bool closes(Tok kind) {
  return kind == Tok::RParen || kind == Tok::RBracket || kind == Tok::PragmaClose;
}

}  // namespace

TokenStream::TokenStream(Lexer& lexer, const WordTable& words, DiagSink& sink)
    : lexer_(lexer), words_(words), sink_(sink) {}

void TokenStream::load() {
  if (loaded_) return;
  raw_ = lexer_.next();
  loaded_ = true;
  placed_ = !raw_.line_start && raw_.kind != Tok::Eof;
}

bool TokenStream::is_word(const Token& token, Word word) const {
  return token.kind == Tok::Name && token.bare && token.name == words_[word];
}

void TokenStream::emit(Tok kind) {
  if (kind == Tok::Sep) blocks_.back().suspect_end = -1;
  virtual_ = Token{};
  virtual_.kind = kind;
  virtual_.begin = virtual_.end = last_end_;
  has_virtual_ = true;
}

// A closing bracket ends the blocks that were opened inside its bracket.
bool TokenStream::closes_block() const {
  return closes(raw_.kind) && blocks_.back().depth > 0 && depth_ - 1 < blocks_.back().depth;
}

const Token& TokenStream::look() {
  if (!has_virtual_) {
    load();
    if (closes_block()) {
      blocks_.pop_back();
      emit(Tok::Dedent);
    } else if (!placed_) {
      place();
    }
  }
  current_ = has_virtual_ ? &virtual_ : &raw_;
  return *current_;
}

// Decides what comes before the first token of a line, one virtual token at a time.
void TokenStream::place() {
  if (raw_.kind == Tok::Eof) {
    if (blocks_.size() == 1 || depth_ > blocks_.back().depth) {
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
      top_is_off_ = true;
    }
    placed_ = true;
    return;
  }
  Block& top = blocks_.back();
  bool after_pipe = previous_ == Tok::PipeOp || previous_ == Tok::BindOp;
  bool is_else = is_word(raw_, Word::Else);
  if (depth_ > top.depth && raw_.column <= top.column && !is_else) note_suspect();
  if (loose_ && depth_ == top.depth && raw_.column > top.column && line_kind() == Line::Statement) {
    placed_ = true;
    emit(Tok::Sep);
    return;
  }
  if (depth_ > top.depth || raw_.column > top.column || (after_pipe && raw_.column >= top.column) ||
      (is_else && (raw_.column >= top.column || blocks_.size() == 1))) {
    placed_ = true;
  } else if (raw_.column == top.column) {
    placed_ = true;
    emit(Tok::Sep);
  } else if (blocks_.size() == 1) {
    if (!top_is_off_) sink_.report(Diag::LayDedent, {lexer_.file(), raw_.begin, raw_.end});
    top_is_off_ = false;
    top.column = raw_.column;
    placed_ = true;
    emit(Tok::Sep);
  } else {
    blocks_.pop_back();
    emit(Tok::Dedent);
  }
}

void TokenStream::count_bracket(Tok kind) {
  if (opens(kind)) {
    ++depth_;
    brackets_.push_back(raw_.begin);
  } else if (closes(kind) && depth_ > 0) {
    --depth_;
    brackets_.pop_back();
  }
}

// Judged by its first word and by the first of `<-`, `::` and `=` outside of brackets. A name in
// capitals that is bound is taken for a constant of the file.
TokenStream::Line TokenStream::line_kind() {
  load();
  return kind_of(raw_);
}

TokenStream::Line TokenStream::kind_of(const Token& line) {
  if (line.kind == Tok::PragmaOpen) return Line::Item;
  if (line.kind != Tok::Name) return Line::Other;
  for (Word word : {Word::Import, Word::Export, Word::Type}) {
    if (is_word(line, word)) return Line::Item;
  }
  lexer_.seek(line.end);
  int depth = 0;
  std::optional<Tok> mark;
  while (!mark && depth >= 0) {
    Token token = lexer_.next();
    if (token.line_start || token.kind == Tok::Eof) break;
    if (opens(token.kind)) ++depth;
    if (closes(token.kind)) --depth;
    bool marks = token.kind == Tok::LArrow || token.kind == Tok::ColonColon ||
                 (token.kind == Tok::Equal && token.blank_before);
    if (marks && depth == 0) mark = token.kind;
  }
  lexer_.seek(raw_.end);
  for (Word word : {Word::Return, Word::Yield, Word::For, Word::If}) {
    bool says_so = line.name == words_[word] && (!mark || *mark == Tok::LArrow);
    if (says_so) return Line::Statement;
  }
  if (!mark) return Line::Other;
  if (*mark != Tok::LArrow) return Line::Item;
  char first = lexer_.text()[static_cast<size_t>(line.begin)];
  return first >= 'A' && first <= 'Z' && blocks_.size() == 1 ? Line::Item : Line::Statement;
}

bool TokenStream::after_gap() {
  load();
  std::string_view between = lexer_.text().substr(
      static_cast<size_t>(last_end_), static_cast<size_t>(std::max(0, raw_.begin - last_end_)));
  bool empty = false;  // what was seen of the line so far, after the first line end
  for (char c : between) {
    if (c == '\n' && empty) return true;
    if (c == '\n') empty = true;
    if (c != '\n' && c != '\r' && c != ' ') empty = false;
  }
  return false;
}

Span TokenStream::next_line() {
  load();
  return {lexer_.file(), raw_.begin, raw_.end};
}

void TokenStream::note_suspect() {
  Block& top = blocks_.back();
  if (top.suspect_end >= 0 || raw_.kind != Tok::Name || line_kind() == Line::Other) return;
  top.suspect_end = last_end_;
  top.suspect_bracket = brackets_.back();
  top.suspect_reports = sink_.all().size();
}

std::optional<TokenStream::LeftOpen> TokenStream::left_open() {
  peek();
  const Block& top = blocks_.back();
  if (has_virtual_ || depth_ <= top.depth) return {};
  if (top.suspect_end < 0) {
    if (raw_.kind != Tok::Eof) return {};
    return LeftOpen{last_end_, brackets_.back()};
  }
  sink_.truncate(top.suspect_reports);
  go_back_ = true;
  return LeftOpen{top.suspect_end, top.suspect_bracket};
}

// A `}` was told with its `{`.
bool TokenStream::is_told(const Diagnostic& error) {
  if (error.id == Diag::ParBrace) ++braces_;
  const bool closes = error.id == Diag::LexChar && error.args[0].text == "}";
  return closes && braces_ > 0 && braces_-- > 0;
}

Token TokenStream::take() {
  peek();
  current_ = nullptr;
  if (has_virtual_) {
    has_virtual_ = false;
    previous_ = Tok::Sep;
    return virtual_;
  }
  if (raw_.kind == Tok::Eof) return raw_;
  for (Diagnostic& error : raw_.errors) {
    if (is_told(error)) continue;
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

// Reads on behind the next token up to the end of its statement, while `each` says so.
template <class Each>
void TokenStream::scan(Each each) {
  load();
  if (raw_.kind == Tok::Eof) return;
  lexer_.seek(raw_.end);
  int depth = depth_;
  const Block& top = blocks_.back();
  while (true) {
    Token token = lexer_.next();
    if (token.kind == Tok::Eof) break;
    const bool parted = token.line_start && depth <= top.depth && token.column <= top.column &&
                        !is_word(token, Word::Then) && !is_word(token, Word::Else);
    if (closes(token.kind)) --depth;
    if (parted || depth < depth_ || !each(token, depth - depth_)) break;
    if (opens(token.kind)) ++depth;
  }
  lexer_.seek(raw_.end);
}

std::vector<Token> TokenStream::ahead(size_t count) {
  std::vector<Token> out;
  scan([&](Token& token, int) {
    out.push_back(std::move(token));
    return out.size() < count;
  });
  return out;
}

int TokenStream::words_ahead(Word word) {
  int count = 0;
  int inner = 0;
  scan([&](const Token& token, int depth) {
    if (depth > 0) return true;
    if (is_word(token, Word::If)) ++inner;
    if (!is_word(token, word)) return true;
    if (inner > 0) {
      --inner;
    } else {
      ++count;
    }
    return true;
  });
  return count;
}

bool TokenStream::mark_ahead() {
  bool found = false;
  scan([&](const Token& token, int depth) {
    const bool marks =
        token.kind == Tok::LArrow || token.kind == Tok::ColonColon || token.kind == Tok::Equal;
    found = marks && depth == 0;
    return !found;
  });
  return found;
}

bool TokenStream::block_ahead() {
  load();
  if (raw_.kind == Tok::Eof) return false;
  lexer_.seek(raw_.end);
  const Token next = lexer_.next();
  const bool deeper = next.line_start && next.column > blocks_.back().column;
  const bool block = deeper && kind_of(next) == Line::Statement;
  lexer_.seek(raw_.end);
  return block;
}

bool TokenStream::ends_line() {
  load();
  if (raw_.kind == Tok::Eof || raw_.line_start) return false;
  lexer_.seek(raw_.end);
  const Token next = lexer_.next();
  lexer_.seek(raw_.end);
  return next.line_start || next.kind == Tok::Eof;
}

bool TokenStream::ends_block() {
  int32_t end = raw_.end;
  scan([&](const Token& token, int) {
    end = token.end;
    return true;
  });
  lexer_.seek(end);
  const Token next = lexer_.next();
  lexer_.seek(raw_.end);
  return next.kind == Tok::Eof || (next.line_start && next.column < blocks_.back().column);
}

const Token& TokenStream::behind_sep() {
  load();
  return raw_;
}

void TokenStream::drop_sep() {
  has_virtual_ = false;
  current_ = nullptr;
}

TokenStream::Suite TokenStream::open_suite() {
  current_ = nullptr;
  load();
  if (raw_.kind != Tok::Eof && !raw_.line_start) {
    bool body = !closes(raw_.kind) && raw_.kind != Tok::Semicolon && raw_.kind != Tok::Comma;
    if (body) return Suite::Inline;
  } else if (raw_.kind != Tok::Eof && raw_.column > blocks_.back().column) {
    blocks_.push_back({raw_.column, depth_});
    placed_ = true;
    previous_ = Tok::Sep;
    return Suite::Block;
  }
  return Suite::Empty;
}

void TokenStream::take_word(size_t size) {
  peek();
  current_ = nullptr;
  last_begin_ = raw_.begin;
  last_end_ = raw_.begin + static_cast<int32_t>(size);
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
  if (raw_.column < blocks_.back().column) return true;
  if (is_word(raw_, Word::Else)) return false;
  bool may_start = raw_.kind == Tok::Name || raw_.kind == Tok::PragmaOpen || raw_.kind == Tok::Bad;
  return raw_.column == blocks_.back().column && may_start;
}

TokenStream::Stop TokenStream::recover() {
  current_ = nullptr;
  if (go_back_) {
    lexer_.seek(blocks_.back().suspect_end);
    loaded_ = false;
    go_back_ = false;
    load();
    placed_ = false;
    depth_ = blocks_.back().depth;
  }
  while (!has_virtual_) {
    load();
    if (raw_.kind == Tok::Eof || closes_block() || starts_line_here()) break;
    bool is_do = is_word(raw_, Word::Do);
    for (const Diagnostic& error : raw_.errors) is_told(error);
    count_bracket(raw_.kind);
    last_begin_ = raw_.begin;
    last_end_ = raw_.end;
    at_start_ = false;
    loaded_ = false;
    if (!is_do) continue;
    load();
    if (raw_.line_start && raw_.kind != Tok::Eof && open_suite() == Suite::Block) {
      return Stop::NestedBlock;
    }
  }
  depth_ = std::max(0, std::min(depth_, blocks_.back().depth));
  brackets_.resize(static_cast<size_t>(depth_));
  if (loaded_ && raw_.kind == Tok::Eof) placed_ = false;
  previous_ = Tok::Sep;
  return Stop::Line;
}

}  // namespace axon::syntax
