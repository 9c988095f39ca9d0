// Text to token ids and back, as the checkpoint's own tokenizer does it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/tokenizer_spec.h"
#include "support/result.h"

namespace axon::text {

// Whether encode() puts the tokens of the post-processor around a text.
enum class SpecialTokens : uint8_t { Add, Omit };
// Whether decode() shows special tokens.
enum class ShowSpecial : uint8_t { No, Yes };

// Safe to use from several threads; encodings take turns.
class Tokenizer {
 public:
  // Errors: TOK-FORMAT, TOK-UNSUPPORTED.
  static Result<Tokenizer> create(TokenizerSpec spec);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Bytes that are not UTF-8 count as U+FFFD. Errors: TOK-FORMAT when a pattern of the file gives
  // up.
  Result<std::vector<int32_t>> encode(std::string_view text,
                                      SpecialTokens special = SpecialTokens::Add) const;
  // Ids without a token give nothing. The text is well-formed UTF-8.
  std::string decode(std::span<const int32_t> ids, ShowSpecial show = ShowSpecial::No) const;

  // One above the highest id.
  int32_t end_id() const;
  // The id of a token by its text: added tokens first.
  std::optional<int32_t> id_of(std::string_view token) const;
  // The text of a token as the vocabulary spells it, or nothing.
  std::optional<std::string> token_of(int32_t id) const;
  bool is_special(int32_t id) const;
  // Whether texts are concatenations of tokens' bytes; then adds those of one token (none for
  // unknown ids).
  bool decodes_by_bytes() const;
  void append_bytes(int32_t id, std::string& out) const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace axon::text
