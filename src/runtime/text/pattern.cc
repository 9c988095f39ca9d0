// Patterns of tokenizer files, compiled for PCRE2 with our own Unicode tables.
#include "runtime/text/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "runtime/text/unicode.h"

namespace axon::text {
namespace {

Error pattern_error(const char* code, std::string_view pattern, size_t at,
                    const std::string& what) {
  return Error{code,
               "pattern `" + std::string(pattern) + "`: " + what + " at byte " + std::to_string(at),
               {},
               -1,
               {}};
}

void append_hex(std::string& out, uint32_t code) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  out += "\\x{";
  for (int shift = 20; shift >= 0; shift -= 4) out += kDigits[code >> shift & 15];
  out += '}';
}

// As they stand between brackets.
void append_ranges(std::string& out, const std::vector<CodeRange>& ranges) {
  for (auto [first, last] : ranges) {
    // Surrogates cannot occur in the text, and PCRE2 refuses them as limits.
    if (first >= 0xD800 && first < 0xE000) first = 0xE000;
    if (last >= 0xD800 && last < 0xE000) last = 0xD7FF;
    if (first > last) continue;
    append_hex(out, first);
    if (last > first) {
      out += '-';
      append_hex(out, last);
    }
  }
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> run() {
    while (pos_ < pattern_.size()) {
      char c = pattern_[pos_];
      if (c == '\\') {
        AXON_TRY_VOID(escape(false));
      } else if (c == '[') {
        AXON_TRY_VOID(bracket());
      } else if (pattern_.substr(pos_, 2) == "(?") {
        AXON_TRY_VOID(group());
      } else if (c == '}' && pattern_.substr(pos_ + 1, 1) == "+") {
        // Possessive for PCRE2, a repetition of the repetition for the other language.
        return fail("TOK-UNSUPPORTED", "`}+`");
      } else {
        out_ += c;
        ++pos_;
      }
    }
    return std::move(out_);
  }

 private:
  Error fail(const char* code, const std::string& what) const {
    return pattern_error(code, pattern_, pos_, what);
  }

  void put_class(const std::vector<CodeRange>& ranges, bool negated, bool inside) {
    if (inside) return append_ranges(out_, negated ? complement(ranges) : ranges);
    out_ += negated ? "[^" : "[";
    append_ranges(out_, ranges);
    out_ += ']';
  }

  Result<void> escape(bool inside) {
    char c = pos_ + 1 < pattern_.size() ? pattern_[pos_ + 1] : '\0';
    switch (c) {
      case '\0':
        return fail("TOK-FORMAT", "a backslash ends the pattern");
      case 'p':
      case 'P':
        return property(inside);
      case 's':
        put_class(ranges_of(CharSet::Whitespace), false, inside);
        break;
      case 'S':
        put_class(ranges_of(CharSet::Whitespace), true, inside);
        break;
      case 'd':
        put_class(ranges_of_property("Nd"), false, inside);
        break;
      case 'D':
        put_class(ranges_of_property("Nd"), true, inside);
        break;
      case 'w':
        put_class(ranges_of(CharSet::PatternWord), false, inside);
        break;
      case 'W':
        put_class(ranges_of(CharSet::PatternWord), true, inside);
        break;
      case 'h':
        put_class({{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, false, inside);
        break;
      case 'b':
      case 'B':
      case 'X':
      case 'R':
      case 'N':
      case 'H':
      case 'G':
      case 'K':
      case 'k':
      case 'g':
        return fail("TOK-UNSUPPORTED", std::string("`\\") + c + "`");
      default:
        out_ += '\\';
        out_ += c;
    }
    pos_ += 2;
    return {};
  }

  Result<void> property(bool inside) {
    bool negated = pattern_[pos_ + 1] == 'P';
    size_t close = pattern_.find('}', pos_);
    if (pattern_.substr(pos_ + 2, 1) != "{" || close == pattern_.npos) {
      return fail("TOK-FORMAT", "a property without braces");
    }
    std::string_view name = pattern_.substr(pos_ + 3, close - pos_ - 3);
    if (!name.empty() && name[0] == '^') {
      negated = !negated;
      name.remove_prefix(1);
    }
    std::vector<CodeRange> ranges = ranges_of_property(name);
    if (ranges.empty()) return fail("TOK-UNSUPPORTED", "property `" + std::string(name) + "`");
    put_class(ranges, negated, inside);
    pos_ = close + 1;
    return {};
  }

  Result<void> bracket() {
    out_ += pattern_[pos_++];
    if (pattern_.substr(pos_, 1) == "^") out_ += pattern_[pos_++];
    bool first = true;
    while (pos_ < pattern_.size()) {
      char c = pattern_[pos_];
      if (c == ']' && !first) {
        out_ += c;
        ++pos_;
        return {};
      }
      first = false;
      if (c == '[' || pattern_.substr(pos_, 2) == "&&")
        return fail("TOK-UNSUPPORTED", "a set inside a set");
      if (c == '\\') {
        AXON_TRY_VOID(escape(true));
      } else {
        out_ += c;
        ++pos_;
      }
    }
    return fail("TOK-FORMAT", "a set is not closed");
  }

  // Groups, lookarounds and the flag `i` mean the same in both languages.
  Result<void> group() {
    size_t at = pos_ + 2;
    std::string_view rest = pattern_.substr(at);
    for (std::string_view plain : {":", "=", "!", "<=", "<!", ">", "i)", "i:", "-i)", "-i:"}) {
      if (rest.substr(0, plain.size()) != plain) continue;
      out_ += "(?";
      out_ += plain;
      pos_ = at + plain.size();
      return {};
    }
    return fail("TOK-UNSUPPORTED", "this kind of group");
  }

  std::string_view pattern_;
  size_t pos_ = 0;
  std::string out_;
};

std::string escape_literal(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (static_cast<uint8_t>(c) < 0x80 && !(c >= '0' && c <= '9') &&
        !((c | 32) >= 'a' && (c | 32) <= 'z'))
      out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Result<std::string> translate_pattern(std::string_view pattern) {
  return Translator(pattern).run();
}

struct Pattern::Impl {
  std::string source;
  pcre2_code* code = nullptr;
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* stack = nullptr;
  bool jit = false;
  ~Impl() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    pcre2_code_free(code);
  }
};

Pattern::Pattern(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<Pattern> Pattern::compile(const PatternSpec& spec) {
  std::string translated = escape_literal(spec.text);
  if (spec.regex) {
    AXON_TRY(translated, translate_pattern(spec.text));
  }
  auto impl = std::make_unique<Impl>();
  impl->source = spec.text;
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_compile_context* options = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(options, PCRE2_NEWLINE_LF);
  impl->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NO_AUTO_CAPTURE, &error, &at, options);
  pcre2_compile_context_free(options);
  if (!impl->code) {
    PCRE2_UCHAR why[128];
    pcre2_get_error_message(error, why, sizeof why);
    return Error{"TOK-FORMAT",
                 "pattern `" + spec.text + "`: " + reinterpret_cast<const char*>(why),
                 {},
                 -1,
                 {}};
  }
  impl->jit = pcre2_jit_compile(impl->code, PCRE2_JIT_COMPLETE) == 0;
  impl->data = pcre2_match_data_create(1, nullptr);
  impl->context = pcre2_match_context_create(nullptr);
  impl->stack = pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr);
  pcre2_jit_stack_assign(impl->context, nullptr, impl->stack);
  pcre2_set_match_limit(impl->context, 1u << 31);
  pcre2_set_heap_limit(impl->context, 1u << 20);
  return Pattern(std::move(impl));
}

Result<std::vector<Match>> Pattern::find_all(std::string_view text) const {
  std::vector<Match> out;
  const Impl& p = *impl_;
  auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(p.data);
  size_t from = 0;
  while (from <= text.size()) {
    int found = p.jit ? pcre2_jit_match(p.code, subject, text.size(), from, 0, p.data, p.context)
                      : pcre2_match(p.code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, p.data,
                                    p.context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
      found = pcre2_match(p.code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                          p.data, p.context);
    }
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      return Error{"TOK-FORMAT",
                   "pattern `" + p.source + "` gives up on a text of " +
                       std::to_string(text.size()) + " bytes",
                   {},
                   -1,
                   {}};
    }
    Match match{bounds[0], bounds[1]};
    if (match.begin == match.end && !out.empty() && out.back().end == match.end) {
      // Search on behind the next code point.
      do ++from;
      while (from < text.size() && (static_cast<uint8_t>(text[from]) & 0xC0) == 0x80);
      continue;
    }
    out.push_back(match);
    from = match.end;
  }
  return out;
}

}  // namespace axon::text
