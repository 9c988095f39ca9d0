// What a tokenizer is, as plain data: read from tokenizer.json or from GGUF metadata.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axon::text {

// Many short texts in one buffer: vocabularies have 10^5 of them.
class StringList {
 public:
  void reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    bytes_.reserve(bytes);
  }
  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    size_t begin = i ? ends_[i - 1] : 0;
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

// A pattern of the regular expression language that tokenizer files use, or a literal text.
struct PatternSpec {
  std::string text;
  bool regex = false;
};

enum class NormalizerKind : uint8_t {
  Nfc,
  Nfd,
  Nfkc,
  Nfkd,
  Lowercase,
  StripAccents,
  Bert,
  Strip,
  Replace,
  Prepend,
  ByteLevel
};
struct NormalizerStep {
  NormalizerKind kind = NormalizerKind::Nfc;
  bool clean_text = false, chinese_chars = false, strip_accents = false, lowercase = false;  // Bert
  bool left = false, right = false;  // Strip
  PatternSpec pattern;               // Replace
  std::string content;               // Replace, Prepend
};

// What happens to the parts that a pattern matches.
enum class SplitBehavior : uint8_t {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

enum class PreTokenizerKind : uint8_t {
  Split,
  ByteLevel,
  Whitespace,
  WhitespaceSplit,
  Bert,
  Digits,
  Punctuation
};
struct PreTokenizerStep {
  PreTokenizerKind kind = PreTokenizerKind::Split;
  PatternSpec pattern;                               // Split
  SplitBehavior behavior = SplitBehavior::Isolated;  // Split, Punctuation
  bool invert = false;                               // Split: the pattern matches what is kept
  bool individual = false;                           // Digits: each by itself
  bool add_prefix_space = false, use_regex = true;   // ByteLevel
};

enum class ModelKind : uint8_t { Bpe, WordPiece };
struct ModelSpec {
  ModelKind kind = ModelKind::Bpe;
  StringList tokens;
  std::vector<int32_t> ids;  // of `tokens`
  StringList merges;         // Bpe: left and right in turn, best first
  std::optional<std::string> unknown;
  std::string continuing_prefix, end_suffix;
  bool fuse_unknown = false, byte_fallback = false, ignore_merges = false;  // Bpe
  int64_t max_word_chars = 100;                                             // WordPiece
};

struct AddedToken {
  std::string content;
  bool single_word = false, left_strip = false, right_strip = false, normalized = true,
       special = false;
};

enum class DecoderKind : uint8_t { ByteLevel, WordPiece, Replace, Fuse, Strip, ByteFallback };
struct DecoderStep {
  DecoderKind kind = DecoderKind::ByteLevel;
  std::string text;            // WordPiece: prefix; Replace: new text; Strip: one character
  PatternSpec pattern;         // Replace
  bool cleanup = false;        // WordPiece
  size_t start = 0, stop = 0;  // Strip: how many at most
};

struct TokenizerSpec {
  std::vector<NormalizerStep> normalizers;  // in order; sequences are flattened
  std::vector<PreTokenizerStep> pre_tokenizers;
  ModelSpec model;
  std::vector<AddedToken> added;                // in the file's order
  std::vector<int32_t> prefix_ids, suffix_ids;  // around a single text
  std::vector<DecoderStep> decoders;            // empty: tokens are joined with blanks
};

}  // namespace axon::text
