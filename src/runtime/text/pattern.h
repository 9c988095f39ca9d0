// Patterns of tokenizer files, compiled for PCRE2 with our own Unicode tables.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/tokenizer_spec.h"
#include "support/result.h"

namespace axon::text {

struct Match {
  size_t begin, end;  // bytes
};

// Immutable; one thread at a time may search.
class Pattern {
 public:
  // Errors: TOK-FORMAT for a malformed pattern, TOK-UNSUPPORTED for a construct whose meaning
  // differs.
  static Result<Pattern> compile(const PatternSpec& spec);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // All matches from left to right, none overlapping; an empty match never touches the one before.
  // `text` is well-formed UTF-8. Errors: TOK-FORMAT when the search gives up.
  Result<std::vector<Match>> find_all(std::string_view text) const;

 private:
  struct Impl;
  explicit Pattern(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The same pattern in PCRE2's language, classes spelled as ranges.
Result<std::string> translate_pattern(std::string_view pattern);

}  // namespace axon::text
