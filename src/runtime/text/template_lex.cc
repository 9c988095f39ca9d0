// Splits a template into text and the tokens of its tags, applying whitespace control.
#include "runtime/text/template_lex.h"

#include <algorithm>
#include <cstring>

#include "runtime/text/template_ast.h"
#include "support/text.h"

namespace axon::text::tmpl {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (pos_ < source_.size() && !failed_) lex_data();
    if (failed_) return error_;
    tokens_.push_back({TokenKind::End, {}, 0, 0, source_.size()});
    return std::move(tokens_);
  }

 private:
  bool at(const char* text, size_t pos) const {
    return source_.compare(pos, std::strlen(text), text) == 0;
  }

  void fail(size_t offset, std::string message) {
    if (!failed_) error_ = template_error("TMPL-SYNTAX", source_, offset, std::move(message));
    failed_ = true;
  }

  // Text up to the next tag, trimmed by the tag's sign and the line rules, then the tag.
  void lex_data() {
    size_t tag = pos_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == source_.npos || tag + 1 >= source_.size()) {
        push_text(pos_, source_.size());
        pos_ = source_.size();
        return;
      }
      char second = source_[tag + 1];
      if (second == '{' || second == '%' || second == '#') break;
      ++tag;
    }
    char kind = source_[tag + 1];
    size_t inside = tag + 2;
    char sign = inside < source_.size() ? source_[inside] : '\0';
    size_t text_end = tag;
    if (sign == '-') {
      while (text_end > pos_ && is_space(source_[text_end - 1])) --text_end;
    } else if (sign != '+' && kind != '{') {
      text_end = strip_line_blanks(pos_, tag);
    }
    if (sign == '-' || sign == '+') ++inside;
    push_text(pos_, text_end);
    if (kind == '#') {
      lex_comment(tag, inside);
    } else if (kind == '%' && is_raw_tag(inside)) {
      lex_raw(tag, inside);
    } else {
      tokens_.push_back(
          {kind == '{' ? TokenKind::OutputBegin : TokenKind::BlockBegin, {}, 0, 0, tag});
      pos_ = inside;
      lex_tag(tag, kind);
    }
  }

  // The end of the text when blanks between the line's start and a block tag are dropped.
  size_t strip_line_blanks(size_t begin, size_t tag) const {
    size_t line = tag;
    while (line > begin && source_[line - 1] != '\n') --line;
    bool starts_line = line > begin || line_starting_;
    if (!starts_line) return tag;
    for (size_t i = line; i < tag; ++i) {
      if (source_[i] != ' ' && source_[i] != '\t') return tag;
    }
    return line;
  }

  void push_text(size_t begin, size_t end) {
    if (begin >= end) return;
    tokens_.push_back({TokenKind::Text, source_.substr(begin, end - begin), 0, 0, begin});
  }

  // After a tag's end sign: `-` drops all blanks, otherwise block tags drop one newline.
  void after_tag(char sign, bool is_output) {
    size_t begin = pos_;
    if (sign == '-') {
      while (pos_ < source_.size() && is_space(source_[pos_])) ++pos_;
    } else if (sign != '+' && !is_output && pos_ < source_.size() && source_[pos_] == '\n') {
      ++pos_;
    }
    line_starting_ = pos_ > begin && source_[pos_ - 1] == '\n';
  }

  void lex_comment(size_t tag, size_t inside) {
    size_t end = source_.find("#}", inside);
    if (end == source_.npos) return fail(tag, "comment is not closed with `#}`");
    char sign = end > inside ? source_[end - 1] : '\0';
    pos_ = end + 2;
    after_tag(sign == '-' || sign == '+' ? sign : '\0', false);
  }

  bool is_raw_tag(size_t inside) const {
    while (inside < source_.size() && is_space(source_[inside])) ++inside;
    if (!at("raw", inside)) return false;
    inside += 3;
    while (inside < source_.size() && is_space(source_[inside])) ++inside;
    return at("%}", inside) || at("-%}", inside) || at("+%}", inside);
  }

  void lex_raw(size_t tag, size_t inside) {
    size_t close = source_.find("%}", inside);
    char sign = source_[close - 1];
    pos_ = close + 2;
    after_tag(sign == '-' || sign == '+' ? sign : '\0', false);
    size_t begin = pos_;
    for (size_t open = source_.find("{%", pos_); open != source_.npos;
         open = source_.find("{%", open + 2)) {
      size_t word = open + 2;
      char open_sign = word < source_.size() ? source_[word] : '\0';
      if (open_sign == '-' || open_sign == '+') ++word;
      while (word < source_.size() && is_space(source_[word])) ++word;
      if (!at("endraw", word)) continue;
      size_t end = source_.find("%}", word);
      if (end == source_.npos) break;
      size_t text_end = open;
      if (open_sign == '-') {
        while (text_end > begin && is_space(source_[text_end - 1])) --text_end;
      } else if (open_sign != '+') {
        text_end = strip_line_blanks(begin, open);
      }
      push_text(begin, text_end);
      pos_ = end + 2;
      char end_sign = source_[end - 1];
      return after_tag(end_sign == '-' || end_sign == '+' ? end_sign : '\0', false);
    }
    fail(tag, "`raw` is not closed with `endraw`");
  }

  void lex_tag(size_t tag, char kind) {
    const char* close = kind == '{' ? "}}" : "%}";
    std::vector<char> brackets;
    while (!failed_) {
      while (pos_ < source_.size() && is_space(source_[pos_])) ++pos_;
      if (pos_ >= source_.size())
        return fail(tag, std::string("tag is not closed with `") + close + "`");
      if (brackets.empty()) {
        char sign = source_[pos_];
        bool signed_close = (sign == '-' || (sign == '+' && kind == '%')) && at(close, pos_ + 1);
        if (signed_close || at(close, pos_)) {
          tokens_.push_back(
              {kind == '{' ? TokenKind::OutputEnd : TokenKind::BlockEnd, {}, 0, 0, pos_});
          pos_ += signed_close ? 3 : 2;
          return after_tag(signed_close ? sign : '\0', kind == '{');
        }
      }
      lex_token(brackets);
    }
  }

  void lex_token(std::vector<char>& brackets) {
    char c = source_[pos_];
    if (is_name_start(c)) {
      size_t begin = pos_;
      while (pos_ < source_.size() && (is_name_start(source_[pos_]) || is_digit(source_[pos_])))
        ++pos_;
      tokens_.push_back({TokenKind::Name, source_.substr(begin, pos_ - begin), 0, 0, begin});
    } else if (is_digit(c)) {
      lex_number();
    } else if (c == '"' || c == '\'') {
      lex_string(c);
    } else {
      lex_operator(brackets);
    }
  }

  void lex_number() {
    size_t begin = pos_;
    std::string digits;
    auto take_digits = [&] {
      while (pos_ < source_.size() && (is_digit(source_[pos_]) || source_[pos_] == '_')) {
        if (source_[pos_] != '_') digits += source_[pos_];
        ++pos_;
      }
    };
    take_digits();
    bool real = false;
    if (pos_ + 1 < source_.size() && source_[pos_] == '.' && is_digit(source_[pos_ + 1])) {
      real = true;
      digits += source_[pos_++];
      take_digits();
    }
    if (pos_ < source_.size() && (source_[pos_] == 'e' || source_[pos_] == 'E')) {
      size_t exponent = pos_ + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-'))
        ++exponent;
      if (exponent < source_.size() && is_digit(source_[exponent])) {
        real = true;
        digits.append(source_, pos_, exponent - pos_);
        pos_ = exponent;
        take_digits();
      }
    }
    Token token{real ? TokenKind::Float : TokenKind::Int, {}, 0, 0, begin};
    if (real) {
      token.number = parse_double(digits).value_or(0);
    } else if (auto value = parse_int(digits)) {
      token.integer = *value;
    } else {
      return fail(begin, "integer does not fit 64 bits");
    }
    tokens_.push_back(token);
  }

  void lex_string(char quote) {
    size_t begin = pos_++;
    std::string text;
    while (pos_ < source_.size() && source_[pos_] != quote) {
      if (source_[pos_] != '\\' || pos_ + 1 >= source_.size()) {
        text += source_[pos_++];
        continue;
      }
      ++pos_;
      lex_escape(text);
    }
    if (pos_ >= source_.size()) return fail(begin, "string is not closed");
    ++pos_;
    tokens_.push_back({TokenKind::String, std::move(text), 0, 0, begin});
  }

  // The part of an escape after the backslash; unknown escapes keep the backslash, as in Python.
  void lex_escape(std::string& text) {
    static const char* const kPlain = "n\nt\tr\rb\bf\fv\va\a0\0\\\\'\'\"\"";
    char c = source_[pos_++];
    if (c == '\n') return;
    size_t width = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (width) {
      uint32_t value = 0;
      for (size_t i = 0; i < width; ++i, ++pos_) {
        int digit = pos_ < source_.size() ? hex(source_[pos_]) : -1;
        if (digit < 0) return fail(pos_, "escape needs hexadecimal digits");
        value = value << 4 | static_cast<uint32_t>(digit);
      }
      append_utf8(text, value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0xFFFD : value);
      return;
    }
    for (int i = 0; i < 22; i += 2) {
      if (kPlain[i] == c) {
        text += kPlain[i + 1];
        return;
      }
    }
    text += '\\';
    text += c;
  }

  static int hex(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  void lex_operator(std::vector<char>& brackets) {
    static const char* const kOperators[] = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                             "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                             "]",  "{",  "}",  ",",  ":",  ".",  "|", ";"};
    for (const char* op : kOperators) {
      if (!at(op, pos_)) continue;
      char c = op[0];
      if (c == '(' || c == '[' || c == '{') brackets.push_back(c);
      if (c == ')' || c == ']' || c == '}') {
        char open = c == ')' ? '(' : c == ']' ? '[' : '{';
        if (brackets.empty() || brackets.back() != open) {
          return fail(pos_, std::string("`") + c + "` closes nothing");
        }
        brackets.pop_back();
      }
      tokens_.push_back({TokenKind::Operator, op, 0, 0, pos_});
      pos_ += std::strlen(op);
      return;
    }
    fail(pos_, std::string("`") + source_[pos_] + "` does not start anything here");
  }

  const std::string& source_;
  std::vector<Token> tokens_;
  size_t pos_ = 0;
  bool line_starting_ = true;
  bool failed_ = false;
  Error error_;
};

}  // namespace

Error template_error(const char* code, const std::string& source, size_t offset,
                     std::string message) {
  auto line =
      1 + std::count(source.begin(),
                     source.begin() + static_cast<ptrdiff_t>(std::min(offset, source.size())),
                     '\n');
  return Error{code,
               "chat template, line " + std::to_string(line) + ": " + std::move(message),
               {},
               static_cast<int64_t>(offset),
               {}};
}

Result<std::vector<Token>> lex_template(const std::string& source) { return Lexer(source).run(); }

}  // namespace axon::text::tmpl
