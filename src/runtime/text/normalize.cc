// Applies the normalizers of a tokenizer to a text.
#include "runtime/text/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/text/unicode.h"
#include "support/text.h"

namespace axon::text {
namespace {

enum class Form : uint8_t { Nfc, Nfd, Nfkc, Nfkd };

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

void append_form(std::string& out, std::string_view text, Form form) {
  if (is_ascii(text)) {
    out += text;
    return;
  }
  int options = UTF8PROC_STABLE |
                (form == Form::Nfc || form == Form::Nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
  if (form == Form::Nfkc || form == Form::Nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* mapped = nullptr;
  utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                       static_cast<utf8proc_option_t>(options));
  AXON_CHECK(size >= 0, "normalization of well-formed text");
  out.append(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
  std::free(mapped);
}

// Code points that the tokenizers' tables do not know count as starters that combine with nothing,
// so the text may be cut around them; the system's library may know them.
std::string to_form(std::string_view text, Form form) {
  std::string out;
  out.reserve(text.size());
  size_t begin = 0;
  for_each_code_point(text, [&](uint32_t code, size_t at, size_t end) {
    if (code < 0x80 || !contains(CharSet::NotNormalised, code)) return;
    append_form(out, text.substr(begin, at - begin), form);
    out += text.substr(at, end - at);
    begin = end;
  });
  append_form(out, text.substr(begin), form);
  return out;
}

std::string without(std::string_view text, CharSet set) {
  std::string out;
  out.reserve(text.size());
  for_each_code_point(text, [&](uint32_t code, size_t at, size_t end) {
    if (!contains(set, code)) out += text.substr(at, end - at);
  });
  return out;
}

std::string lowercase(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_code_point(text, [&](uint32_t code, size_t, size_t) { append_lowercase(out, code); });
  return out;
}

// The ranges that BERT's own tokenizer takes for Chinese; one of them starts later than its block.
bool is_chinese(uint32_t c) {
  constexpr CodeRange kRanges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                   {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const CodeRange& range) { return c >= range.first && c <= range.last; });
}

std::string bert(const NormalizerStep& step, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_code_point(text, [&](uint32_t code, size_t at, size_t end) {
    if (step.clean_text) {
      if (contains(CharSet::Cleaned, code)) return;
      if (contains(CharSet::Whitespace, code)) {
        out += ' ';
        return;
      }
    }
    bool apart = step.chinese_chars && is_chinese(code);
    if (apart) out += ' ';
    out += text.substr(at, end - at);
    if (apart) out += ' ';
  });
  if (step.strip_accents) out = without(to_form(out, Form::Nfd), CharSet::NonspacingMark);
  return step.lowercase ? lowercase(out) : out;
}

std::string strip(const NormalizerStep& step, std::string_view text) {
  size_t first = text.npos, last = 0;
  for_each_code_point(text, [&](uint32_t code, size_t at, size_t end) {
    if (contains(CharSet::Whitespace, code)) return;
    first = std::min(first, at);
    last = end;
  });
  if (first == text.npos) return step.left || step.right ? "" : std::string(text);
  size_t begin = step.left ? first : 0, end = step.right ? last : text.size();
  return std::string(text.substr(begin, end - begin));
}

Result<std::string> replace(const Pattern& pattern, const std::string& content,
                            std::string_view text) {
  AXON_TRY(std::vector<Match> matches, pattern.find_all(text));
  std::string out;
  size_t begin = 0;
  for (const Match& match : matches) {
    out += text.substr(begin, match.begin - begin);
    out += content;
    begin = match.end;
  }
  out += text.substr(begin);
  return out;
}

}  // namespace

Result<Normalizer> Normalizer::create(std::vector<NormalizerStep> steps) {
  Normalizer out;
  for (NormalizerStep& spec : steps) {
    Step step;
    if (spec.kind == NormalizerKind::Replace) {
      AXON_TRY(step.pattern, Pattern::compile(spec.pattern));
    }
    step.spec = std::move(spec);
    out.steps_.push_back(std::move(step));
  }
  return out;
}

Result<std::string> Normalizer::apply(std::string_view text) const {
  std::string now(text);
  for (const Step& step : steps_) {
    switch (step.spec.kind) {
      case NormalizerKind::Nfc:
        now = to_form(now, Form::Nfc);
        break;
      case NormalizerKind::Nfd:
        now = to_form(now, Form::Nfd);
        break;
      case NormalizerKind::Nfkc:
        now = to_form(now, Form::Nfkc);
        break;
      case NormalizerKind::Nfkd:
        now = to_form(now, Form::Nfkd);
        break;
      case NormalizerKind::Lowercase:
        now = lowercase(now);
        break;
      case NormalizerKind::StripAccents:
        now = without(now, CharSet::CombiningMark);
        break;
      case NormalizerKind::Bert:
        now = bert(step.spec, now);
        break;
      case NormalizerKind::Strip:
        now = strip(step.spec, now);
        break;
      case NormalizerKind::Replace: {
        AXON_TRY(now, replace(*step.pattern, step.spec.content, now));
        break;
      }
      case NormalizerKind::Prepend:
        if (!now.empty()) now.insert(0, step.spec.content);
        break;
      case NormalizerKind::ByteLevel: {
        std::string mapped;
        for (char byte : now) append_byte_char(mapped, static_cast<uint8_t>(byte));
        now = std::move(mapped);
        break;
      }
    }
  }
  return now;
}

}  // namespace axon::text
