// JSON documents: the reader and the values.
#include "support/json.h"

#include <charconv>
#include <limits>
#include <optional>

#include "support/text.h"

namespace axon::json {

constexpr int kMaxDepth = 200;

class Reader {
 public:
  Reader(std::string_view text, Document& out) : text_(text), out_(out) {}

  Result<void> document() {
    if (text_.size() >= std::numeric_limits<uint32_t>::max())
      return fail(0, "the text is too long");
    size_t bad = find_invalid_utf8(text_);
    if (bad != text_.npos) return fail(bad, "bytes that are not UTF-8");
    AXON_TRY_VOID(value(0));
    skip_blanks();
    if (pos_ != text_.size()) return fail(pos_, "text after the end of the document");
    return {};
  }

 private:
  using Node = Document::Node;

  Error fail(size_t at, const std::string& what) const {
    return Error{"FILE-JSON", what, {}, static_cast<int64_t>(at), {}};
  }

  std::string found() const {
    if (pos_ >= text_.size()) return "found the end of the text";
    size_t end = pos_;
    next_code_point(text_, end);
    return "found `" + std::string(text_.substr(pos_, end - pos_)) + "`";
  }

  void skip_blanks() {
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\n' ||
                                   text_[pos_] == '\t' || text_[pos_] == '\r')) {
      ++pos_;
    }
  }

  bool take(std::string_view word) {
    if (text_.compare(pos_, word.size(), word) != 0) return false;
    pos_ += word.size();
    return true;
  }

  Node& add(Kind kind, size_t offset) {
    Node node;
    node.kind = kind;
    node.offset = static_cast<uint32_t>(offset);
    node.end = static_cast<uint32_t>(out_.nodes_.size() + 1);
    out_.nodes_.push_back(node);
    return out_.nodes_.back();
  }
  Result<void> add_number(double number, size_t offset) {
    add(Kind::Float, offset).number = number;
    return {};
  }
  Result<void> add_bool(bool value, size_t offset) {
    add(Kind::Bool, offset).integer = value;
    return {};
  }

  Result<void> value(int depth) {
    if (depth > kMaxDepth) return fail(pos_, "more than 200 nested values");
    skip_blanks();
    size_t begin = pos_;
    char c = pos_ < text_.size() ? text_[pos_] : '\0';
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (c == '"') return string();
    if (take("null")) return add(Kind::Null, begin), Result<void>();
    if (take("true")) return add_bool(true, begin);
    if (take("false")) return add_bool(false, begin);
    if (take("NaN")) return add_number(std::numeric_limits<double>::quiet_NaN(), begin);
    if (take("Infinity")) return add_number(std::numeric_limits<double>::infinity(), begin);
    if (take("-Infinity")) return add_number(-std::numeric_limits<double>::infinity(), begin);
    if (c == '-' || (c >= '0' && c <= '9')) return number();
    return fail(pos_, found() + ", expected a value");
  }

  bool digits() {
    size_t from = pos_;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
    return pos_ > from;
  }

  Result<void> number() {
    size_t begin = pos_;
    take("-");
    bool leading_zero = pos_ < text_.size() && text_[pos_] == '0';
    size_t first = pos_;
    if (!digits() || (leading_zero && pos_ > first + 1)) return fail(begin, "malformed number");
    bool whole = true;
    if (take(".")) {
      whole = false;
      if (!digits()) return fail(begin, "malformed number");
    }
    if (take("e") || take("E")) {
      whole = false;
      if (!take("+")) take("-");
      if (!digits()) return fail(begin, "malformed number");
    }
    std::string_view word = text_.substr(begin, pos_ - begin);
    if (whole) {
      if (auto integer = parse_int(word)) {
        add(Kind::Int, begin).integer = *integer;
        return {};
      }
    }
    double out = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    if (error == std::errc::result_out_of_range) out = overflow(word);
    return add_number(out, begin);
  }

  // A number too large or too small for a double, as Python reads it.
  static double overflow(std::string_view word) {
    size_t exponent = word.find_first_of("eE");
    bool small = exponent != word.npos && word.substr(exponent + 1, 1) == "-";
    double magnitude = small ? 0.0 : std::numeric_limits<double>::infinity();
    return word[0] == '-' ? -magnitude : magnitude;
  }

  std::optional<uint32_t> hex4() {
    if (pos_ + 4 > text_.size()) return {};
    uint32_t out = 0;
    auto [end, error] = std::from_chars(text_.data() + pos_, text_.data() + pos_ + 4, out, 16);
    if (error != std::errc() || end != text_.data() + pos_ + 4) return {};
    pos_ += 4;
    return out;
  }

  Result<void> escape() {
    size_t begin = pos_ - 1;
    char c = pos_ < text_.size() ? text_[pos_++] : '\0';
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (size_t plain = kFrom.find(c); c != '\0' && plain != kFrom.npos) {
      out_.texts_ += kTo[plain];
      return {};
    }
    if (c != 'u') return fail(begin, "unknown escape in a string");
    auto unit = hex4();
    if (!unit) return fail(begin, "`\\u` without four hexadecimal digits");
    uint32_t code = *unit;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(pos_, 2) == "\\u") {
      pos_ += 2;
      auto low = hex4();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return fail(begin, "unpaired surrogate escape");
      code = 0x10000 + ((code - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (code >= 0xD800 && code < 0xE000) return fail(begin, "unpaired surrogate escape");
    append_utf8(out_.texts_, code);
    return {};
  }

  Result<void> string() {
    size_t begin = pos_++, from = out_.texts_.size();
    while (true) {
      size_t stop = pos_;
      while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\' &&
             static_cast<uint8_t>(text_[stop]) >= 0x20)
        ++stop;
      out_.texts_.append(text_.substr(pos_, stop - pos_));
      pos_ = stop;
      if (pos_ == text_.size()) return fail(begin, "string is not closed");
      if (static_cast<uint8_t>(text_[pos_]) < 0x20)
        return fail(pos_, "control character in a string");
      if (text_[pos_++] == '"') break;
      AXON_TRY_VOID(escape());
    }
    Node& node = add(Kind::String, begin);
    node.text = from;
    node.count = static_cast<uint32_t>(out_.texts_.size() - from);
    return {};
  }

  void close(size_t node, uint32_t count) {
    out_.nodes_[node].count = count;
    out_.nodes_[node].end = static_cast<uint32_t>(out_.nodes_.size());
  }

  Result<void> array(int depth) {
    size_t node = out_.nodes_.size();
    add(Kind::Array, pos_++);
    skip_blanks();
    uint32_t count = 0;
    if (!take("]")) {
      while (true) {
        AXON_TRY_VOID(value(depth + 1));
        ++count;
        skip_blanks();
        if (take("]")) break;
        if (!take(",")) return fail(pos_, found() + ", expected `,` or `]`");
      }
    }
    close(node, count);
    return {};
  }

  Result<void> object(int depth) {
    size_t node = out_.nodes_.size();
    add(Kind::Object, pos_++);
    skip_blanks();
    uint32_t count = 0;
    if (!take("}")) {
      while (true) {
        skip_blanks();
        if (pos_ >= text_.size() || text_[pos_] != '"')
          return fail(pos_, found() + ", expected a key");
        AXON_TRY_VOID(string());
        skip_blanks();
        if (!take(":")) return fail(pos_, found() + ", expected `:`");
        AXON_TRY_VOID(value(depth + 1));
        ++count;
        skip_blanks();
        if (take("}")) break;
        if (!take(",")) return fail(pos_, found() + ", expected `,` or `}`");
      }
    }
    close(node, count);
    return {};
  }

  std::string_view text_;
  Document& out_;
  size_t pos_ = 0;
};

Kind Value::kind() const { return document_ ? document_->nodes_[node_].kind : Kind::Missing; }
size_t Value::offset() const { return document_ ? document_->nodes_[node_].offset : 0; }

bool Value::get(bool& out) const {
  if (kind() != Kind::Bool) return false;
  out = document_->nodes_[node_].integer != 0;
  return true;
}

bool Value::get(int64_t& out) const {
  if (kind() != Kind::Int) return false;
  out = document_->nodes_[node_].integer;
  return true;
}

bool Value::get(double& out) const {
  if (kind() == Kind::Int)
    out = static_cast<double>(document_->nodes_[node_].integer);
  else if (kind() == Kind::Float)
    out = document_->nodes_[node_].number;
  else
    return false;
  return true;
}

bool Value::get(std::string_view& out) const {
  if (kind() != Kind::String) return false;
  const Document::Node& node = document_->nodes_[node_];
  out = std::string_view(document_->texts_).substr(node.text, node.count);
  return true;
}

size_t Value::size() const {
  return kind() == Kind::Array || kind() == Kind::Object ? document_->nodes_[node_].count : 0;
}

Value::Iterator Value::begin() const {
  return {document_, size() ? node_ + 1 : 0, kind() == Kind::Object};
}
Value::Iterator Value::end() const {
  return {document_, size() ? document_->nodes_[node_].end : 0, kind() == Kind::Object};
}

Value::Iterator& Value::Iterator::operator++() {
  node_ = document_->nodes_[keyed_ ? node_ + 1 : node_].end;
  return *this;
}
Value Value::Iterator::operator*() const { return Value(document_, keyed_ ? node_ + 1 : node_); }
std::string_view Value::Iterator::key() const {
  const Document::Node& node = document_->nodes_[node_];
  return std::string_view(document_->texts_).substr(node.text, node.count);
}
size_t Value::Iterator::key_offset() const { return document_->nodes_[node_].offset; }

Value Value::at(size_t index) const {
  if (kind() != Kind::Array || index >= size()) return {};
  Iterator it = begin();
  for (size_t i = 0; i < index; ++i) ++it;
  return *it;
}

Value Value::operator[](std::string_view key) const {
  Value found;
  if (kind() != Kind::Object) return found;
  for (Iterator it = begin(); it != end(); ++it) {
    if (it.key() == key) found = *it;
  }
  return found;
}

bool get(const Value& value, Array& out) {
  if (value.kind() != Kind::Array) return false;
  out = Array(value);
  return true;
}

bool get(const Value& value, Object& out) {
  if (value.kind() != Kind::Object) return false;
  out = Object(value);
  return true;
}

Result<Document> parse(std::string_view text) {
  Document out;
  auto done = Reader(text, out).document();
  if (!done) return done.error();
  return out;
}

}  // namespace axon::json
