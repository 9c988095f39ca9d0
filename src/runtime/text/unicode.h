// Unicode facts that tokenizers use, with the table versions of the tokenizers that we must equal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axon::text {

enum class Category : uint8_t {
  Lu,
  Ll,
  Lt,
  Lm,
  Lo,
  Mn,
  Mc,
  Me,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Ps,
  Pe,
  Pi,
  Pf,
  Po,
  Sm,
  Sc,
  Sk,
  So,
  Zs,
  Zl,
  Zp,
  Cc,
  Cf,
  Cs,
  Co,
  Cn
};

struct CodeRange {
  uint32_t first, last;  // both inside
};

// Sets of code points. Some differ between two users because these carry other Unicode versions.
enum class CharSet : uint8_t {
  Numeric,         // digits pre-tokenizer
  Whitespace,      // blanks everywhere, `\s` of patterns
  Punctuation,     // punctuation and BERT pre-tokenizers
  Word,            // `\w` around added tokens and in the whitespace pre-tokenizer
  PatternWord,     // `\w` of patterns
  Cleaned,         // what BERT's cleaning deletes
  NonspacingMark,  // what BERT's accent stripping deletes
  CombiningMark,   // what the accent stripping normalizer deletes
  NotNormalised    // newer than the normalization tables: stays as it is
};

bool contains(CharSet set, uint32_t code_point);
std::vector<CodeRange> ranges_of(CharSet set);
// Ranges of a property name of patterns: a category (`Lu`), a group of them (`L`), or `Any`;
// sorted. Empty when the name is not known.
std::vector<CodeRange> ranges_of_property(std::string_view name);
std::vector<CodeRange> complement(const std::vector<CodeRange>& ranges);

void append_lowercase(std::string& out, uint32_t code_point);

// Calls f(code_point, begin, end) for each code point of well-formed UTF-8.
template <class F>
void for_each_code_point(std::string_view text, F&& f) {
  for (size_t pos = 0; pos < text.size();) {
    size_t begin = pos;
    auto byte = static_cast<uint8_t>(text[pos]);
    uint32_t code = byte;
    size_t more = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    if (more) code = byte & (0x3Fu >> more);
    ++pos;
    for (; more && pos < text.size(); --more, ++pos)
      code = code << 6 | (static_cast<uint8_t>(text[pos]) & 0x3F);
    f(code, begin, pos);
  }
}

// Text with each malformed part (longest prefix of a sequence) replaced by U+FFFD.
std::string well_formed(std::string_view bytes);
// Length of the longest prefix that is whole: it does not end inside of a sequence that could go
// on.
size_t whole_prefix(std::string_view bytes);

// The printable stand-ins of bytes in byte-level vocabularies.
void append_byte_char(std::string& out, uint8_t byte);
// The byte of a stand-in, or -1.
int byte_of_char(uint32_t code_point);

}  // namespace axon::text
