// Unicode facts that tokenizers use, with the table versions of the tokenizers that we must equal.
#include "runtime/text/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "support/check.h"
#include "support/text.h"

namespace axon::text {
namespace {

struct CategoryStart {
  uint32_t first;
  Category category;
};
// Code points first, first + step, … last have the lowercase form at distance `difference`.
struct CaseRow {
  uint32_t first, last, step;
  int32_t difference;
};

#include "runtime/text/unicode_data.inc"

constexpr std::string_view kCategoryNames =
    "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn";
constexpr uint32_t kLast = 0x10FFFF;

std::span<const CodeRange> table(CharSet set) {
  switch (set) {
    case CharSet::Numeric:
      return kNumeric;
    case CharSet::Whitespace:
      return kWhitespace;
    case CharSet::Punctuation:
      return kPunctuation;
    case CharSet::Word:
      return kWord;
    case CharSet::PatternWord:
      return kPatternWord;
    case CharSet::Cleaned:
      return kCleaned;
    case CharSet::NonspacingMark:
      return kNonspacingMark;
    case CharSet::CombiningMark:
      return kCombiningMark;
    case CharSet::NotNormalised:
      return kNotNormalised;
  }
  AXON_UNREACHABLE("character set");
}

// Bytes whose stand-in is not themselves, in order; the stand-ins are U+0100 and on.
constexpr bool is_printable(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteChars {
  std::array<uint16_t, 256> to{};
  std::array<int16_t, 0x144> from{};
  constexpr ByteChars() {
    for (auto& byte : from) byte = -1;
    uint16_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      to[static_cast<size_t>(byte)] = is_printable(byte) ? static_cast<uint16_t>(byte) : next++;
      from[to[static_cast<size_t>(byte)]] = static_cast<int16_t>(byte);
    }
  }
};
constexpr ByteChars kByteChars;

// What a position in bytes holds: a whole sequence, a malformed part, or one that the end cuts.
enum class Part : uint8_t { Whole, Malformed, Cut };

Part next_part(std::string_view bytes, size_t& pos) {
  auto first = static_cast<uint8_t>(bytes[pos++]);
  if (first < 0x80) return Part::Whole;
  if (first < 0xC2 || first > 0xF4) return Part::Malformed;
  int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
  uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (; more > 0; --more, ++pos) {
    if (pos == bytes.size()) return Part::Cut;
    auto byte = static_cast<uint8_t>(bytes[pos]);
    if (byte < low || byte > high) return Part::Malformed;
    low = 0x80;
    high = 0xBF;
  }
  return Part::Whole;
}

}  // namespace

bool contains(CharSet set, uint32_t code) {
  std::span<const CodeRange> ranges = table(set);
  auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                [](uint32_t c, const CodeRange& range) { return c < range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

std::vector<CodeRange> ranges_of(CharSet set) {
  std::span<const CodeRange> ranges = table(set);
  return {ranges.begin(), ranges.end()};
}

std::vector<CodeRange> ranges_of_property(std::string_view name) {
  if (name == "Any") return {{0, kLast}};
  bool group = name.size() == 1;
  bool known = false;
  std::array<bool, kCategoryNames.size() / 2> wanted{};
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::string_view category = kCategoryNames.substr(2 * i, 2);
    wanted[i] = category == name || (group && category[0] == name[0]);
    known |= wanted[i];
  }
  std::vector<CodeRange> out;
  if (!known) return out;
  for (size_t i = 0; i < std::size(kCategories); ++i) {
    if (!wanted[static_cast<size_t>(kCategories[i].category)]) continue;
    uint32_t first = kCategories[i].first;
    uint32_t last = i + 1 < std::size(kCategories) ? kCategories[i + 1].first - 1 : kLast;
    if (!out.empty() && out.back().last + 1 == first) {
      out.back().last = last;
    } else {
      out.push_back({first, last});
    }
  }
  return out;
}

std::vector<CodeRange> complement(const std::vector<CodeRange>& ranges) {
  std::vector<CodeRange> out;
  uint32_t next = 0;
  for (const CodeRange& range : ranges) {
    if (range.first > next) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLast) out.push_back({next, kLast});
  return out;
}

void append_lowercase(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code);
    return;
  }
  if (code == 0x130) {  // the only code point whose lowercase form has two
    out += "i\xCC\x87";
    return;
  }
  auto after = std::upper_bound(std::begin(kLowercase), std::end(kLowercase), code,
                                [](uint32_t c, const CaseRow& row) { return c < row.first; });
  if (after != std::begin(kLowercase)) {
    const CaseRow& row = *std::prev(after);
    if (code <= row.last && (code - row.first) % row.step == 0)
      code += static_cast<uint32_t>(row.difference);
  }
  append_utf8(out, code);
}

std::string well_formed(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t pos = 0; pos < bytes.size();) {
    size_t begin = pos;
    if (next_part(bytes, pos) == Part::Whole) {
      out += bytes.substr(begin, pos - begin);
    } else {
      out += "\xEF\xBF\xBD";
    }
  }
  return out;
}

size_t whole_prefix(std::string_view bytes) {
  // Only the last three bytes can begin a sequence that the end cuts.
  for (size_t back = std::min<size_t>(3, bytes.size()); back > 0; --back) {
    size_t pos = bytes.size() - back;
    if ((static_cast<uint8_t>(bytes[pos]) & 0xC0) == 0x80) continue;
    size_t begin = pos;
    if (next_part(bytes, pos) == Part::Cut) return begin;
  }
  return bytes.size();
}

void append_byte_char(std::string& out, uint8_t byte) { append_utf8(out, kByteChars.to[byte]); }

int byte_of_char(uint32_t code) {
  return code < kByteChars.from.size() ? kByteChars.from[code] : -1;
}

}  // namespace axon::text
