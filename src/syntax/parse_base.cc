// Token helpers, error messages and recovery of the parser.
#include "support/text.h"
#include "syntax/parser_base.h"

namespace axon::syntax {
namespace {

constexpr int kMaxDepth = 1000;

}  // namespace

ParserBase::ParserBase(FileId file, const FileTable& files, Interner& names, Ast& ast,
                       DiagSink& sink)
    : file_(file),
      files_(files),
      names_(names),
      ast_(ast),
      sink_(sink),
      words_(names),
      lexer_(file, files.text(file), names),
      stream_(lexer_, words_, sink) {}

ParserBase::Nest::Nest(ParserBase& parser, bool closed)
    : parser_(parser), saved_ifs_(parser.open_ifs_), saved_awaited_(parser.awaited_) {
  if (closed) parser.open_ifs_ = 0;
  if (++parser.depth_ <= kMaxDepth || parser.stopped_) return;
  if (!parser.panic_) {
    parser.sink_.report(Diag::ParDepth, parser.span(parser.peek()), {kMaxDepth});
  }
  parser.panic_ = parser.stopped_ = true;
  ++parser.damage_;
}

ParserBase::Nest::~Nest() {
  parser_.open_ifs_ = saved_ifs_;
  parser_.awaited_ = saved_awaited_;
  --parser_.depth_;
}

bool ParserBase::at_word(Word word) {
  return at(Tok::Name) && peek().bare && peek().name == words_[word];
}

// A keyword that may be glued to a scope reference (`for@layers`).
bool ParserBase::at_keyword_prefix(Word word) {
  return at(Tok::Name) && peek().name == words_[word];
}

bool ParserBase::accept(Tok kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

bool ParserBase::expect(Tok kind, std::string_view expected) {
  if (accept(kind)) return true;
  unexpected(expected.empty() ? describe(kind) : expected);
  return false;
}

// A plain identifier; a dotted or suffixed name is reported and read as if it were one.
Target ParserBase::expect_ident(std::string_view role) {
  if (!at(Tok::Name)) {
    unexpected(role);
    return {};
  }
  Token token = take();
  bool told = faulty() && sink_.all().back().span.begin == token.begin;
  if (!token.bare && !told)
    sink_.report(Diag::AstName, span(token), {source_text(span(token)), role});
  return {token.name, span(token)};
}

// The name of a value. One that means something else wherever an expression starts could never be
// read.
Target ParserBase::expect_local(std::string_view role) {
  for (Word word : {Word::Do, Word::If, Word::True, Word::False, Word::Null}) {
    if (!at_word(word)) continue;
    unexpected(role);
    return {};
  }
  return expect_ident(role);
}

std::string ParserBase::source_text(Span where, size_t limit) const {
  std::string_view text = files_.text(file_).substr(static_cast<size_t>(where.begin),
                                                    static_cast<size_t>(where.end - where.begin));
  std::string out;
  for (char c : text) {
    bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
  }
  if (out.size() <= limit) return out;
  size_t cut = limit;
  while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80) --cut;
  return out.substr(0, cut) + "...";
}

std::string ParserBase::shown(const Token& token) const {
  std::string out(describe(token.kind));
  bool has_text = token.kind >= Tok::Name && token.kind <= Tok::ScopeRef;
  if (has_text) out += " `" + source_text(span(token), 40) + "`";
  return out;
}

// What is being parsed, in words.
std::string ParserBase::place() const {
  std::string where(construct_.what);
  if (construct_.name.valid()) where += " `" + std::string(names_.text(construct_.name)) + "`";
  return where;
}

// A name that is nearly one of the keywords expected here.
void ParserBase::suggest_keyword(const Token& token, std::string_view expected,
                                 Diagnostic& report) const {
  std::vector<std::string> words;
  for (size_t i = 0; i < kWordCount; ++i) {
    std::string_view word = spelling(static_cast<Word>(i));
    if (word.size() > 2 && expected.find(word) != expected.npos) words.emplace_back(word);
  }
  if (starts_with(expected, "an operator")) words.insert(words.end(), {"and", "or"});
  for (const std::string& near : closest(names_.text(token.name), words, 1))
    report.note(Note::NoteDidYouMean, span(token), {"`" + near + "`"});
}

// Reports what stands here, unless the lexer has its own complaint about it, and panics.
Diagnostic* ParserBase::unexpected(std::string_view expected, std::string_view hint) {
  if (panic_) return nullptr;
  std::optional<TokenStream::LeftOpen> left_open;
  if (peek().kind != Tok::Bad) left_open = stream_.left_open();
  const Token& token = peek();
  Diagnostic* out = nullptr;
  if (faulty()) {
    // What was wrong before leaves the parser anywhere.
  } else if (token.kind == Tok::Bad) {
    take();
  } else if (left_open) {
    Span bracket{file_, left_open->bracket, left_open->bracket + 1};
    std::string_view open = files_.text(file_).substr(static_cast<size_t>(bracket.begin), 1);
    out = &sink_.report(Diag::ParSyntax, {file_, left_open->line_end, left_open->line_end},
                        {"the end of the line",
                         open == "("   ? "`)`"
                         : open == "[" ? "`)` or `]`"
                                       : "`#-}`",
                         "brackets"});
    out->note(Note::NoteOpenedHere, bracket);
  } else {
    Span where = span(token);
    std::string found = shown(token);
    const std::string_view here = hint.empty() ? habit_of(token, where) : hint;
    if (where != span(token)) found = "`" + source_text(where) + "`";
    out = &sink_.report(Diag::ParSyntax, where, {found, expected, place()});
    if (!here.empty()) out->note(Note::NoteHere, where, {here});
    if (hint.empty()) note_callee(*out, where);
    if (token.kind == Tok::Name && token.bare && here.empty())
      suggest_keyword(token, expected, *out);
    bool joined = token.line_start && token.kind != Tok::Eof && stream_.last_end() > 0;
    if (joined && !stream_.starts_line()) out->note(Note::NoteContinues, span(token));
  }
  panic_ = true;
  ++damage_;
  return out;
}

// Ends a panic: skips to the next line, but reads the blocks on the way for their own errors.
void ParserBase::recover() {
  const ExprId hole = std::exchange(unread_, ExprId{});
  while (!stopped_ && stream_.recover() == TokenStream::Stop::NestedBlock) {
    panic_ = false;
    Nest nest(*this, true);
    skip_block();
  }
  panic_ = stopped_;
  end_unread(hole);
}

ExprId ParserBase::unread_from(int32_t begin) {
  const ExprId hole = ast_.add(Expr{Null{true}, {file_, begin, begin}});
  end_unread(hole);
  if (panic_) unread_ = hole;
  return hole;
}

void ParserBase::end_unread(ExprId hole) {
  if (!hole.valid()) return;
  Span& where = ast_.exprs[hole].span;
  where.end = std::max(where.end, stream_.last_end());
}

}  // namespace axon::syntax
