// Reads JSON documents of checkpoints into ConfigValue, with the byte offset of every mistake.
#include "runtime/formats/json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;

constexpr int kMaxDepth = 200;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, const JsonOptions& options)
      : text_(text), file_(file), options_(options) {}

  Result<ConfigValue> document() {
    size_t bad = find_invalid_utf8(text_);
    if (bad != text_.npos) return fail(bad, "bytes that are not UTF-8");
    AXON_TRY(ConfigValue out, value(0));
    skip_blanks();
    if (pos_ != text_.size()) return fail(pos_, "text after the end of the document");
    return out;
  }

 private:
  Error fail(size_t at, const std::string& what) const {
    return Error{"FILE-JSON",
                 "`" + file_ + "` is not valid JSON: " + what,
                 file_,
                 options_.base_offset + static_cast<int64_t>(at),
                 {}};
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
    if (text_.substr(pos_, word.size()) != word) return false;
    pos_ += word.size();
    return true;
  }

  Result<ConfigValue> value(int depth) {
    if (depth > kMaxDepth) return fail(pos_, "more than 200 nested values");
    skip_blanks();
    char c = pos_ < text_.size() ? text_[pos_] : '\0';
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (c == '"') {
      AXON_TRY(std::string text, string());
      return ConfigValue::of(std::move(text));
    }
    if (take("null")) return ConfigValue::null();
    if (take("true")) return ConfigValue::of(true);
    if (take("false")) return ConfigValue::of(false);
    if (take("NaN")) return ConfigValue::of(std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return ConfigValue::of(std::numeric_limits<double>::infinity());
    if (take("-Infinity")) return ConfigValue::of(-std::numeric_limits<double>::infinity());
    if (c == '-' || (c >= '0' && c <= '9')) return number();
    return fail(pos_, found() + ", expected a value");
  }

  Result<ConfigValue> number() {
    size_t begin = pos_;
    auto digits = [&] {
      size_t from = pos_;
      while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
      return pos_ > from;
    };
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
      if (auto integer = parse_int(word)) return ConfigValue::of(*integer);
    }
    double out = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    if (error == std::errc::result_out_of_range) out = overflow(word);
    return ConfigValue::of(out);
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

  Result<void> escape(std::string& out) {
    size_t begin = pos_ - 1;
    char c = pos_ < text_.size() ? text_[pos_++] : '\0';
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return {};
      case 'b':
        out += '\b';
        return {};
      case 'f':
        out += '\f';
        return {};
      case 'n':
        out += '\n';
        return {};
      case 'r':
        out += '\r';
        return {};
      case 't':
        out += '\t';
        return {};
      case 'u':
        break;
      default:
        return fail(begin, "unknown escape in a string");
    }
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
    append_utf8(out, code);
    return {};
  }

  Result<std::string> string() {
    size_t begin = pos_++;
    std::string out;
    while (true) {
      size_t stop = pos_;
      while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\' &&
             static_cast<uint8_t>(text_[stop]) >= 0x20) {
        ++stop;
      }
      out.append(text_.substr(pos_, stop - pos_));
      pos_ = stop;
      if (pos_ == text_.size()) return fail(begin, "string is not closed");
      if (static_cast<uint8_t>(text_[pos_]) < 0x20)
        return fail(pos_, "control character in a string");
      if (text_[pos_++] == '"') return out;
      AXON_TRY_VOID(escape(out));
    }
  }

  Result<ConfigValue> array(int depth) {
    ConfigValue out;
    out.kind = ConfigValue::Kind::List;
    ++pos_;
    skip_blanks();
    if (take("]")) return out;
    while (true) {
      AXON_TRY(ConfigValue item, value(depth + 1));
      out.items.push_back(std::move(item));
      skip_blanks();
      if (take("]")) return out;
      if (!take(",")) return fail(pos_, found() + ", expected `,` or `]`");
    }
  }

  Result<ConfigValue> object(int depth) {
    ConfigValue out;
    out.kind = ConfigValue::Kind::Map;
    ++pos_;
    skip_blanks();
    if (take("}")) return out;
    std::unordered_map<std::string, size_t> seen;
    while (true) {
      skip_blanks();
      size_t at = pos_;
      if (pos_ >= text_.size() || text_[pos_] != '"')
        return fail(pos_, found() + ", expected a key");
      AXON_TRY(std::string key, string());
      skip_blanks();
      if (!take(":")) return fail(pos_, found() + ", expected `:`");
      AXON_TRY(ConfigValue item, value(depth + 1));
      auto [place, fresh] = seen.emplace(key, out.members.size());
      if (fresh) {
        out.members.emplace_back(std::move(key), std::move(item));
      } else if (options_.duplicates == DuplicateKeys::Refuse) {
        return fail(at, "key `" + key + "` occurs twice");
      } else {
        out.members[place->second].second = std::move(item);
      }
      skip_blanks();
      if (take("}")) return out;
      if (!take(",")) return fail(pos_, found() + ", expected `,` or `}`");
    }
  }

  std::string_view text_;
  const std::string& file_;
  const JsonOptions& options_;
  size_t pos_ = 0;
};

}  // namespace

Result<ConfigValue> parse_json(std::string_view text, const std::string& file,
                               const JsonOptions& options) {
  return Reader(text, file, options).document();
}

}  // namespace axon::formats
