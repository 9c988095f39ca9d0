// Misspelt keywords: which name was meant as one, its report, and going on as if it were written.
#include <cstdlib>

#include "support/text.h"
#include "syntax/parser_base.h"

namespace axon::syntax {
namespace {

// One edit away from a short word, two from a long one, or the word in other letters.
bool is_near(std::string_view name, std::string_view word) {
  const int allowed = word.size() < 5 ? 1 : 2;
  const int longer = static_cast<int>(name.size()) - static_cast<int>(word.size());
  if (name.size() < 2 || name == word || std::abs(longer) > allowed) return false;
  return edit_distance(lower_ascii(name), word) <= allowed;
}

bool is_bare(const Token& token) { return token.kind == Tok::Name && token.bare; }

bool starts_scope(const Token& token) {
  return token.kind == Tok::Path || token.kind == Tok::At || token.kind == Tok::String;
}

}  // namespace

// A name that is nearly the keyword; only of `for` and `scope` a path may hang.
bool ParserBase::is_slip(const Token& token, Word word) const {
  if (token.kind != Tok::Name) return false;
  const bool prefix = word == Word::For || word == Word::Scope;
  if (!token.bare && !(prefix && !token.paths.empty())) return false;
  return is_near(names_.text(token.name), spelling(word));
}

bool ParserBase::is_word(const Token& token, Word word) const {
  return is_bare(token) && (token.name == words_[word] || is_slip(token, word));
}

// Whether the name here is nearly the keyword, and what follows fits the keyword and no name.
bool ParserBase::slips(Word word) { return at(Tok::Name) && is_slip(peek(), word) && fits(word); }

bool ParserBase::fits(Word word) {
  switch (word) {
    case Word::If: {
      const int others = open_ifs_ > 0 && awaited_ == Word::Then ? 1 : 0;
      return stream_.words_ahead(Word::Then) > others;
    }
    case Word::Then:
      return open_ifs_ > 0 && awaited_ == word && stream_.words_ahead(word) == 0;
    case Word::Else:
      return open_ifs_ > 0 && awaited_ == word && stream_.words_ahead(word) < open_ifs_;
    case Word::Do:
      return stream_.block_ahead();
    case Word::For:
      return loop_ahead();
    case Word::Scope:
      return scope_ahead();
    case Word::Step:
      return stream_.peek_second() == Tok::Equal;
    case Word::Carry:
      return carry_ahead();
    case Word::Import:
    case Word::Export: {
      const Tok second = stream_.peek_second();
      const bool list = second == Tok::Name || (word == Word::Export && second == Tok::LParen);
      return list && !stream_.mark_ahead();
    }
    case Word::Type:
      return alias_ahead();
    default:
      return true;
  }
}

// `i <-` of a loop's head, perhaps behind its scope.
bool ParserBase::loop_ahead() {
  const std::vector<Token> next = stream_.ahead(4);
  const size_t at = !next.empty() && starts_scope(next[0]) ? (next[0].kind == Tok::At ? 2 : 1) : 0;
  return next.size() > at + 1 && is_bare(next[at]) && next[at + 1].kind == Tok::LArrow;
}

// `do` behind the path of a scope.
bool ParserBase::scope_ahead() {
  const bool has_path = !peek().paths.empty();
  const std::vector<Token> next = stream_.ahead(3);
  size_t at = 0;
  if (!has_path && !next.empty() && starts_scope(next[0])) at = next[0].kind == Tok::At ? 2 : 1;
  return (has_path || at > 0) && next.size() > at && is_word(next[at], Word::Do);
}

// `(a, b) do` behind the range of a loop.
bool ParserBase::carry_ahead() {
  constexpr size_t kMost = 64;
  const std::vector<Token> next = stream_.ahead(kMost);
  if (next.empty() || next[0].kind != Tok::LParen) return false;
  for (size_t i = 1; i + 1 < next.size(); i += 2) {
    if (!is_bare(next[i])) return false;
    if (next[i + 1].kind == Tok::Comma) continue;
    return next[i + 1].kind == Tok::RParen && i + 2 < next.size() && is_word(next[i + 2], Word::Do);
  }
  return false;
}

// `a, b do` behind `carry`: the parentheses are missing.
bool ParserBase::bare_carry_ahead() {
  constexpr size_t kMost = 64;
  const std::vector<Token> next = stream_.ahead(kMost);
  for (size_t i = 0; i + 1 < next.size() && is_bare(next[i]); i += 2) {
    if (next[i + 1].kind != Tok::Comma) return is_word(next[i + 1], Word::Do);
  }
  return false;
}

// `P[A] =` or `P = T`, where P and T begin with a capital as types do.
bool ParserBase::alias_ahead() {
  const std::vector<Token> next = stream_.ahead(3);
  auto is_type = [&](const Token& token) {
    const char first = token.kind == Tok::Name ? names_.text(token.name)[0] : ' ';
    return first >= 'A' && first <= 'Z';
  };
  if (next.size() < 3 || !is_bare(next[0]) || !is_type(next[0])) return false;
  if (next[1].kind == Tok::LBracket) return true;
  return next[1].kind == Tok::Equal && (is_type(next[2]) || next[2].kind == Tok::Question);
}

// The one of `words` that the name here was meant as.
std::optional<Word> ParserBase::slip_of(std::initializer_list<Word> words) {
  if (!at(Tok::Name)) return {};
  for (Word word : words) {
    if (slips(word)) return word;
  }
  return {};
}

// Reports the name here; the caller goes on as if the keyword stood there.
void ParserBase::misspelt(Word word) {
  if (panic_ || faulty()) return;
  const Token& token = peek();
  const auto size = static_cast<int32_t>(names_.text(token.name).size());
  const Span where{file_, token.begin, token.begin + size};
  const std::string shown = "`" + std::string(spelling(word)) + "`";
  sink_
      .report(Diag::ParSyntax, where,
              {"name `" + std::string(names_.text(token.name)) + "`", shown, place()})
      .note(Note::NoteDidYouMean, where, {shown})
      .fix(where, std::string(spelling(word)));
  ++mended_;
}

// At the keyword, or at a misspelt one, which is reported.
bool ParserBase::at_keyword(Word word) {
  if (at_word(word)) return true;
  if (!slips(word)) return false;
  misspelt(word);
  return true;
}

// The same of `for` and `scope`, of which a path may hang.
bool ParserBase::at_prefix(Word word) {
  if (at_keyword_prefix(word)) return true;
  if (!slips(word)) return false;
  misspelt(word);
  return true;
}

// Takes a keyword without the path that hangs of it, or a name that was meant as one.
void ParserBase::take_prefix() { stream_.take_word(names_.text(peek().name).size()); }

// Where a keyword should stand is something else: a line that only a block can hold, or a `:`.
void ParserBase::lacks_word(Word word) {
  const bool joined = word == Word::Do && at_line_start();
  const int32_t end = stream_.last_end();
  std::string_view hint;
  if (joined) hint = "a block is opened by `do` at the end of the line above";
  if (at(Tok::Colon) && word == Word::Then)
    hint = "a condition is followed by `then do`, and no `:`";
  if (at(Tok::Colon) && word == Word::Do) hint = "a block is opened by `do`, and no `:`";
  Diagnostic* report = unexpected("`" + std::string(spelling(word)) + "`", hint);
  if (!report) return;
  if (joined) report->fix({file_, end, end}, " do");
}

// `then:`, `else:` and the like at the end of a line, where the block is clear: reported, and taken
// for the `do` that was meant.
bool ParserBase::colon_opens(Word word) {
  if (std::exchange(opened_, false)) return word == Word::Do;
  const bool opens = (word == Word::Then || word == Word::Do) && at(Tok::Colon) && !faulty();
  if (!opens || !stream_.ends_line()) return false;
  const Span where = span(peek());
  const bool condition = word == Word::Then;
  sink_
      .report(Diag::ParSyntax, where,
              {shown(peek()), "`" + std::string(spelling(word)) + "`", place()})
      .note(Note::NoteHere, where,
            {condition ? "a condition is followed by `then do`, and no `:`"
                       : "a block is opened by `do`, and no `:`"})
      .fix(where, condition ? " then do" : " do");
  ++mended_;
  opened_ = condition;
  take();
  return true;
}

bool ParserBase::expect_word(Word word) {
  if (colon_opens(word)) return true;
  if (!at_word(word)) {
    if (!at(Tok::Name) || !is_slip(peek(), word)) {
      lacks_word(word);
      return false;
    }
    misspelt(word);
  }
  take();
  return true;
}

}  // namespace axon::syntax
