// Text to tokens (language.md 2).
#include "syntax/lexer.h"

#include "source/habits.h"
#include "support/text.h"
#include "syntax/path_text.h"

namespace axon::syntax {
namespace {

struct Punctuation {
  std::string_view spelling;
  Tok kind;
};
constexpr Punctuation kPunctuation[] = {
#define AXON_PUNCT(kind, spelling) {spelling, Tok::kind},
#include "syntax/tokens.def"
};

constexpr std::string_view kDescriptions[] = {
#define AXON_TOKEN(kind, description) description,
#define AXON_PUNCT(kind, spelling) "`" spelling "`",
#include "syntax/tokens.def"
};

constexpr std::string_view kWords[] = {
#define AXON_WORD(ident, spelling) spelling,
#include <algorithm>

#include "syntax/tokens.def"
};

std::string shown_bytes(std::string_view text) {
  bool printable = find_invalid_utf8(text) == text.npos;
  for (char c : text) printable = printable && static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
  if (printable) return std::string(text);
  std::string out;
  for (char c : text) {
    const char* digits = "0123456789abcdef";
    out += "\\x";
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace

std::string_view describe(Tok kind) { return kDescriptions[static_cast<size_t>(kind)]; }

std::string_view spelling(Word word) { return kWords[static_cast<size_t>(word)]; }

WordTable::WordTable(Interner& names) {
  for (std::string_view word : kWords) ids_.push_back(names.intern(word));
}

Lexer::Lexer(FileId file, std::string_view text, Interner& names)
    : file_(file), text_(text), names_(names) {
  if (starts_with(text_, "\xEF\xBB\xBF")) pos_ = first_line_ = 3;
}

void Lexer::error(Token& token, Diag id, size_t begin, std::vector<DiagArg> args) {
  token.errors.push_back({id, span(begin, pos_), std::move(args), {}, {}, {}});
}

Token Lexer::next(Mode mode) {
  Token token;
  skip_blanks(token);
  size_t begin = pos_;
  char c = at(pos_);
  if (pos_ >= text_.size()) {
    token.kind = Tok::Eof;
  } else if (mode == Mode::Scope && (is_ident_char(c) || c == '{')) {
    read_scope_ref(token);
  } else if (mode == Mode::Scope && c == '@' && at(pos_ + 1) != '@' && at(pos_ + 1) != '\'') {
    token.kind = Tok::At;
    ++pos_;
  } else if (is_ident_start(c)) {
    read_name(token);
  } else if (is_digit(c)) {
    read_number(token);
  } else if (c == '"' || c == '\'') {
    token.kind = Tok::String;
    token.name = names_.intern(read_quoted(token, false));
  } else if (c == '@' && at_suffix()) {
    token.kind = Tok::Path;
    token.paths.push_back(read_path(token));
  } else {
    read_punctuation(token);
  }
  token.begin = static_cast<int32_t>(begin);
  token.end = static_cast<int32_t>(pos_);
  token.glued_digit = is_digit(at(pos_));
  return token;
}

// Also notes whether a line starts here, and its column (a tab counts 8).
void Lexer::skip_blanks(Token& token) {
  size_t line = first_line_;
  token.line_start = pos_ == first_line_;
  size_t begin = pos_;
  while (pos_ < text_.size()) {
    char c = text_[pos_];
    if (c == '\n') {
      token.line_start = true;
      line = ++pos_;
    } else if (c == ' ' || c == '\t' || (c == '\r' && at(pos_ + 1) == '\n')) {
      ++pos_;
    } else if (c == '-' && at(pos_ + 1) == '-') {
      read_comment(token.line_start);
    } else if (c == '#' && text_.substr(pos_, 3) != "#-}") {
      skip_hash_comment();
    } else {
      break;
    }
  }
  token.blank_before = pos_ > begin || token.line_start;
  if (!token.line_start) return;
  for (size_t i = line; i < pos_; ++i) token.column += text_[i] == '\t' ? 8 : 1;
}

void Lexer::read_comment(bool own_line) {
  size_t begin = pos_;
  pos_ = std::min(text_.find('\n', pos_), text_.size());
  size_t end = pos_ > begin && text_[pos_ - 1] == '\r' ? pos_ - 1 : pos_;
  if (begin < comments_until_) return;
  comments_until_ = pos_;
  comments_.push_back({span(begin, end), own_line});
}

// A comment as other languages have it; what follows is read as if it were one.
void Lexer::skip_hash_comment() {
  const bool again = !hashes_.empty() && static_cast<size_t>(hashes_.back().begin) >= pos_;
  if (!again) hashes_.push_back(span(pos_, pos_ + 1));
  pos_ = std::min(text_.find('\n', pos_), text_.size());
}

void Lexer::read_name(Token& token) {
  size_t begin = pos_;
  token.kind = Tok::Name;
  token.bare = true;
  while (is_ident_char(at(pos_))) ++pos_;
  while (at(pos_) == '.' && is_ident_start(at(pos_ + 1))) {
    token.bare = false;
    ++pos_;
    while (is_ident_char(at(pos_))) ++pos_;
  }
  token.name = names_.intern(text_.substr(begin, pos_ - begin));
  if (at(pos_) == '.' && at(pos_ + 1) != '.') {
    ++pos_;
    error(token, Diag::LexName, begin, {text_.substr(begin, pos_ - begin), "ends in `.`"});
  }
  if (read_double_colon(token)) {
    error(token, Diag::LexNs, begin, {text_.substr(begin, pos_ - begin)});
    size_t colons = text_.find("::", begin);
    const size_t right = text_.find_first_not_of(':', colons);
    const bool type = right < text_.size() && text_[right] >= 'A' && text_[right] <= 'Z';
    if (!type)
      token.errors.back().note(Note::NoteHere, span(colons, colons + 2),
                               {"what a module has is written with a point: `NN.linear`"});
    token.errors.back().fix(span(colons, colons + 2), type ? " :: " : ".");
    token.kind = Tok::Bad;
    return;
  }
  while (at(pos_) == '@') {
    token.bare = false;
    if (at_suffix()) {
      token.paths.push_back(read_path(token));
    } else {
      ++pos_;
      error(token, Diag::LexName, begin,
            {text_.substr(begin, pos_ - begin), "has an empty path suffix"});
    }
  }
}

// `a::b` without blanks is one (obsolete) name.
bool Lexer::read_double_colon(Token& token) {
  if (at(pos_) != ':' || at(pos_ + 1) != ':' || !is_ident_start(at(pos_ + 2))) return false;
  pos_ += 2;
  while (is_ident_char(at(pos_)) || (at(pos_) == '.' && is_ident_start(at(pos_ + 1)))) ++pos_;
  return true;
}

// Whether the `@` here starts a path.
bool Lexer::at_suffix() const {
  char c = at(pos_ + 1);
  return is_ident_char(c) || c == '\'' || c == '@';
}

PathLit Lexer::read_path(Token& token) {
  size_t begin = pos_++;
  bool absolute = at(pos_) == '@';
  if (absolute) ++pos_;
  if (at(pos_) == '\'') {
    std::string text = read_quoted(token, true);
    if (token.kind == Tok::Bad) return {};
    return path_from_text(absolute, text, span(begin, pos_), names_, token.errors);
  }
  size_t text_begin = pos_;
  read_segments(token, false);
  std::string_view text = text_.substr(text_begin, pos_ - text_begin);
  std::vector<Diagnostic> errors;
  PathLit path = path_from_text(absolute, text, span(begin, pos_), names_, errors);
  if (text.empty()) {
    error(token, Diag::LexName, begin, {text_.substr(begin, pos_ - begin), "is empty"});
    token.kind = Tok::Bad;
  }
  return path;
}

// segment { "." segment }
void Lexer::read_segments(Token& token, bool placeholders) {
  size_t begin = pos_;
  while (true) {
    size_t segment = pos_;
    if (placeholders && at(pos_) == '{') {
      read_placeholder(token);
    } else {
      while (is_ident_char(at(pos_))) ++pos_;
      std::string_view text = text_.substr(segment, pos_ - segment);
      if (!text.empty() && !is_segment(text)) {
        error(token, Diag::LexName, segment, {text, "runs digits into letters"});
      }
    }
    if (at(pos_) != '.' || at(pos_ + 1) == '.') return;
    ++pos_;
    if (!is_ident_char(at(pos_)) && !(placeholders && at(pos_) == '{')) {
      error(token, Diag::LexName, begin, {text_.substr(begin, pos_ - begin), "ends in `.`"});
      return;
    }
  }
}

void Lexer::read_placeholder(Token& token) {
  size_t begin = pos_++;
  size_t inside = pos_;
  while (is_ident_char(at(pos_))) ++pos_;
  bool ok = is_ident(text_.substr(inside, pos_ - inside)) && at(pos_) == '}';
  while (!ok && pos_ < text_.size() &&
         std::string_view("}\n \t").find(text_[pos_]) == std::string_view::npos)
    ++pos_;
  if (at(pos_) == '}') ++pos_;
  if (!ok) error(token, Diag::AstPlaceholder, begin, {text_.substr(begin, pos_ - begin)});
}

void Lexer::read_scope_ref(Token& token) {
  size_t begin = pos_;
  token.kind = Tok::ScopeRef;
  read_segments(token, true);
  std::vector<Diagnostic> errors;
  std::string_view text = text_.substr(begin, pos_ - begin);
  token.paths.push_back(path_from_text(false, text, span(begin, pos_), names_, errors));
}

void Lexer::read_number(Token& token) {
  size_t begin = pos_;
  token.kind = Tok::Int;
  while (is_digit(at(pos_))) ++pos_;
  if (at(pos_) == '.' && is_digit(at(pos_ + 1))) {
    token.kind = Tok::Float;
    ++pos_;
    while (is_digit(at(pos_))) ++pos_;
  }
  if (at(pos_) == 'e' || at(pos_) == 'E') {
    size_t digits = pos_ + 1;
    if (at(digits) == '+' || at(digits) == '-') ++digits;
    if (is_digit(at(digits))) {
      token.kind = Tok::Float;
      pos_ = digits;
      while (is_digit(at(pos_))) ++pos_;
    }
  }
  token.name = names_.intern(text_.substr(begin, pos_ - begin));
}

// The unescaped inside. What is not closed on its line makes the token Bad.
std::string Lexer::read_quoted(Token& token, bool is_path) {
  size_t begin = pos_;
  char quote = text_[pos_++];
  std::string out;
  while (true) {
    char c = at(pos_);
    if (pos_ >= text_.size() || c == '\n' || (c == '\r' && at(pos_ + 1) == '\n')) {
      token.kind = Tok::Bad;
      error(token, Diag::LexString, begin, {is_path ? "quoted path" : "string"});
      return out;
    }
    if (c == quote) break;
    if (c == '\\') {
      read_escape(token, out, is_path);
    } else {
      out += c;
      ++pos_;
    }
  }
  ++pos_;
  if (find_invalid_utf8(out) != std::string::npos) {
    error(token, Diag::LexChar, begin, {shown_bytes(out)});
  }
  return out;
}

void Lexer::read_escape(Token& token, std::string& out, bool is_path) {
  size_t begin = pos_++;
  char c = at(pos_);
  if (pos_ >= text_.size() || c == '\n' || c == '\r') return;
  constexpr std::string_view kFrom = "\\\"'ntr";
  constexpr std::string_view kTo = "\\\"'\n\t\r";
  size_t known = kFrom.find(c);
  if (known != kFrom.npos && (!is_path || c == '\\' || c == '\'')) {
    out += kTo[known];
    ++pos_;
    return;
  }
  next_code_point(text_, pos_);
  std::string_view text = text_.substr(begin, pos_ - begin);
  out += text;
  error(token, Diag::LexEscape, begin,
        {text, is_path ? "`\\\\`, `\\'`" : "`\\\\`, `\\\"`, `\\'`, `\\n`, `\\t`, `\\r`"});
}

void Lexer::read_punctuation(Token& token) {
  std::string_view rest = text_.substr(pos_);
  for (const Punctuation& row : kPunctuation) {
    if (row.spelling[0] != rest[0] || !starts_with(rest, row.spelling)) continue;
    token.kind = row.kind;
    pos_ += row.spelling.size();
    return;
  }
  read_bad(token);
}

void Lexer::read_bad(Token& token) {
  size_t begin = pos_++;
  token.kind = Tok::Bad;
  char c = text_[begin];
  if (c == '{') {
    error(token, Diag::ParBrace, begin, {});
    const size_t next = text_.find_first_not_of(" \t\r", pos_);
    if (next == text_.npos || text_[next] == '\n')
      token.errors.back().note(Note::NoteHere, span(begin, pos_),
                               {"a block is opened by `do`, and ends where its lines do"});
    return;
  }
  if (static_cast<unsigned char>(c) >= 0x80) {
    while (static_cast<unsigned char>(at(pos_)) >= 0x80) ++pos_;
  }
  std::string_view here = written_here(Habit::Sign, text_.substr(begin, 2));
  if (!here.empty()) pos_ = begin + 2;
  if (here.empty()) here = written_here(Habit::Sign, text_.substr(begin, 1));
  error(token, Diag::LexChar, begin, {shown_bytes(text_.substr(begin, pos_ - begin))});
  if (!here.empty()) token.errors.back().note(Note::NoteHere, span(begin, pos_), {here});
  bool number = c == '.' && (is_digit(at(pos_)) || (begin > 0 && is_digit(text_[begin - 1])));
  if (number) token.errors.back().note(Note::NoteFloatPoint, span(begin, pos_));
}

}  // namespace axon::syntax
