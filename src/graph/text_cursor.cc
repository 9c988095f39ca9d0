// Tokens, names, numbers, dims and types of the graph text; the reader's lower half.
#include "graph/text_cursor.h"

#include <algorithm>
#include <limits>

#include "graph/text_words.h"
#include "source/diag.h"
#include "support/text.h"

namespace axon::graph {
namespace {

bool is_word_char(char c) { return words::is_name_char(c) || c == '-'; }

}  // namespace

void Cursor::fail(std::string message) {
  if (failed_) return;
  failed_ = true;
  size_t line = 1;
  for (size_t i = 0; i < pos_ && i < text_.size(); ++i) line += text_[i] == '\n';
  const DiagInfo& info = diag_info(Diag::GraphSyntax);
  error_.code = info.code;
  error_.message = format_message(info.format, {message + " in line " + std::to_string(line)});
  error_.offset = static_cast<int64_t>(pos_);
  pos_ = text_.size();
}

std::vector<size_t> Cursor::header_lines() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < text_.size();) {
    if (starts_with(text_.substr(i), "module ") || starts_with(text_.substr(i), "global ")) {
      out.push_back(i);
    }
    size_t end = text_.find('\n', i);
    if (end == text_.npos) break;
    i = end + 1;
  }
  return out;
}

bool Cursor::at_header() const {
  std::string_view rest = text_.substr(pos_);
  return starts_with(rest, "module ") || starts_with(rest, "global ");
}

void Cursor::skip() {
  const size_t from = pos_;
  while (pos_ < text_.size()) {
    char c = text_[pos_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++pos_;
    } else if (starts_with(text_.substr(pos_), "--")) {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else {
      break;
    }
  }
  if (pos_ == from) return;
  skipped_from_ = from;
  skipped_to_ = pos_;
}

char Cursor::peek() {
  skip();
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

bool Cursor::accept(std::string_view token) {
  skip();
  if (!starts_with(text_.substr(pos_), token)) return false;
  pos_ += token.size();
  return true;
}

bool Cursor::raw_accept(char c) {
  if (pos_ >= text_.size() || text_[pos_] != c) return false;
  ++pos_;
  return true;
}

void Cursor::expect(std::string_view token) {
  if (!failed_ && !accept(token)) fail("expected `" + std::string(token) + "`");
}

bool Cursor::accept_blank() {
  if (peek_word() != "_") return false;
  ++pos_;
  return true;
}

std::string_view Cursor::peek_word() {
  skip();
  size_t end = pos_;
  if (end < text_.size() && words::is_name_start(text_[end])) {
    while (end < text_.size() && is_word_char(text_[end]) &&
           !starts_with(text_.substr(end), "--")) {
      ++end;
    }
  }
  return text_.substr(pos_, end - pos_);
}

std::string_view Cursor::word() {
  std::string_view out = peek_word();
  if (out.empty()) fail("expected a word");
  pos_ += failed_ ? 0 : out.size();
  return out;
}

std::string_view Cursor::op_word() {
  skip();
  size_t end = pos_;
  while (end < text_.size() && text_[end] != ' ' && text_[end] != '\n' && text_[end] != ')') ++end;
  std::string_view out = text_.substr(pos_, end - pos_);
  if (out.empty()) fail("expected an operation");
  pos_ = failed_ ? pos_ : end;
  return out;
}

std::string Cursor::rest_of_line() {
  if (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  size_t end = std::min(text_.find('\n', pos_), text_.size());
  std::string out(text_.substr(pos_, end - pos_));
  pos_ = end;
  return out;
}

NameId Cursor::name() {
  skip();
  Interner& names = types_.dims().names();
  if (raw_accept('`')) {
    std::string text = escaped("`");
    if (!raw_accept('`')) fail("name in backticks is not closed");
    return names.intern(text);
  }
  size_t end = pos_;
  if (end < text_.size() && words::is_name_start(text_[end])) {
    while (end < text_.size() && words::is_name_char(text_[end])) ++end;
  }
  if (end == pos_) {
    fail("expected a name");
    return {};
  }
  NameId out = names.intern(text_.substr(pos_, end - pos_));
  pos_ = end;
  return out;
}

Cursor::Number Cursor::number() {
  skip();
  size_t end = pos_;
  while (end < text_.size() &&
         (words::is_name_char(text_[end]) || text_[end] == '+' || text_[end] == '-')) {
    bool sign = text_[end] == '-' || text_[end] == '+';
    if (sign && end > pos_ && text_[end - 1] != 'e') break;
    ++end;
  }
  std::string_view word = text_.substr(pos_, end - pos_);
  Number out;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (auto integer = parse_int(word)) {
    out.integer = *integer;
  } else if (word == "inf" || word == "-inf" || word == "nan") {
    out = {true, 0, word == "nan" ? std::numeric_limits<double>::quiet_NaN() : kInf};
    if (word == "-inf") out.real = -kInf;
  } else if (auto real = parse_double(word)) {
    out = {true, 0, *real};
  } else {
    fail("expected a number or an operand");
  }
  pos_ = failed_ ? pos_ : end;
  return out;
}

int64_t Cursor::integer() {
  skip();
  size_t end = pos_ + (pos_ < text_.size() && text_[pos_] == '-' ? 1 : 0);
  while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
  auto value = parse_int(text_.substr(pos_, end - pos_));
  if (!value) {
    fail("expected an integer");
    return 0;
  }
  pos_ = end;
  return *value;
}

// Reads up to an unescaped stop, which stays.
std::string Cursor::escaped(std::string_view stops) {
  std::string out;
  while (pos_ < text_.size() && text_[pos_] != '\n' && stops.find(text_[pos_]) == stops.npos) {
    char c = text_[pos_++];
    if (c != '\\' || pos_ >= text_.size()) {
      out += c;
      continue;
    }
    c = text_[pos_++];
    if (c == 'n')
      out += '\n';
    else if (c == 't')
      out += '\t';
    else if (c == 'r')
      out += '\r';
    else if (c == '+')
      return out;
    else if (c == 'x' && pos_ + 1 < text_.size()) {
      auto digit = [](char h) { return h <= '9' ? h - '0' : (h | 32) - 'a' + 10; };
      out += static_cast<char>(digit(text_[pos_]) * 16 + digit(text_[pos_ + 1]));
      pos_ += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string Cursor::string() {
  expect("\"");
  std::string out = escaped("\"");
  if (!raw_accept('"')) fail("string is not closed");
  return out;
}

std::string Cursor::path_text() {
  size_t begin = pos_;
  std::string out = escaped("'{.");
  if (pos_ == begin) fail("path is not closed");
  return out;
}

// ---- types and dims ------------------------------------------------------------------------

SymbolId Cursor::symbol(SymbolKind kind) {
  NameId id = name();
  if (failed_) return {};
  if (kind == SymbolKind::Variable && pos_ < text_.size()) {
    if (auto mark = words::read_mark(text_[pos_])) {
      kind = *mark;
      ++pos_;
    }
  }
  return types_.dims().symbol(id, kind);
}

TypeId Cursor::tensor() {
  if (!accept("[")) return types_.tensor();
  std::vector<Axis> axes;
  do {
    Axis axis;
    if (accept(".."))
      axis.run = symbol(SymbolKind::Run);
    else
      axis.dim = dim();
    axes.push_back(axis);
  } while (ok() && accept(","));
  expect("]");
  return ok() ? types_.tensor(std::move(axes)) : TypeId{};
}

// A type, or `_` for a missing one.
TypeId Cursor::type() {
  if (failed_ || accept_blank()) return {};
  return type_part();
}

TypeId Cursor::type_part() {
  if (failed_) return {};
  if (accept("?")) {
    TypeId inner = type_part();
    return ok() ? types_.optional(inner) : inner;
  }
  if (accept("(")) {
    std::vector<TypeId> items;
    do {
      items.push_back(type_part());
    } while (ok() && accept(","));
    expect(")");
    if (ok() && items.size() < 2) fail("a tuple type of one item");
    return ok() ? types_.tuple(std::move(items)) : TypeId{};
  }
  std::string_view word = peek_word();
  if (word == "Tensor") {
    pos_ += word.size();
    return tensor();
  }
  if (word == "List") {
    pos_ += word.size();
    expect("[");
    TypeId item = type_part();
    expect("]");
    return ok() ? types_.list(item) : item;
  }
  if (word == "_") fail("a missing type inside of a type");
  auto plain = words::read_plain_type(word);
  if (!plain) {
    SymbolId variable = symbol(SymbolKind::Type);
    return ok() ? types_.variable(variable) : TypeId{};
  }
  pos_ += word.size();
  switch (*plain) {
    case TypeKind::Any:
      return types_.any();
    case TypeKind::Null:
      return types_.null();
    case TypeKind::Int:
      return types_.int_();
    case TypeKind::Dim:
      return types_.dim();
    case TypeKind::Float:
      return types_.float_();
    case TypeKind::Bool:
      return types_.bool_();
    case TypeKind::String:
      return types_.string();
    case TypeKind::Path:
      return types_.path();
    default:
      return types_.error();
  }
}

DimId Cursor::dim() {
  DimTable& dims = types_.dims();
  DimId left = dim_product();
  while (ok()) {
    if (accept("+")) {
      DimId right = dim_product();
      if (ok()) left = dims.value_add(left, right);
    } else if (peek() == '-' && accept("-")) {
      DimId right = dim_product();
      if (ok()) left = dims.value_sub(left, right);
    } else {
      return left;
    }
  }
  return left;
}

DimId Cursor::dim_product() {
  DimTable& dims = types_.dims();
  DimId left = dim_atom();
  while (ok()) {
    char c = peek();
    if (c != '*' && c != '/' && c != '%') return left;
    ++pos_;
    DimId right = dim_atom();
    if (!ok()) return left;
    left = c == '*'   ? dims.value_mul(left, right)
           : c == '/' ? dims.value_div(left, right)
                      : dims.mod(left, right);
  }
  return left;
}

DimId Cursor::dim_atom() {
  DimTable& dims = types_.dims();
  char c = peek();
  if (failed_) return {};
  if ((c >= '0' && c <= '9') || c == '-') {
    int64_t value = integer();
    return ok() ? dims.integer(value) : DimId{};
  }
  if (accept("(")) {
    DimId inner = dim();
    expect(")");
    return inner;
  }
  bool lowest = accept("min(");
  if (lowest || accept("max(")) {
    DimId left = dim();
    do {
      expect(",");
      DimId right = dim();
      if (!ok()) return left;
      left = lowest ? dims.min(left, right) : dims.max(left, right);
    } while (peek() == ',');
    expect(")");
    return left;
  }
  SymbolId id = symbol();
  return ok() ? dims.of(id) : DimId{};
}

}  // namespace axon::graph
