// Applies the normalizers of a tokenizer to a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/pattern.h"

namespace axon::text {

class Normalizer {
 public:
  // Errors: those of Pattern::compile.
  static Result<Normalizer> create(std::vector<NormalizerStep> steps);
  bool empty() const { return steps_.empty(); }
  // `text` is well-formed UTF-8. Errors: TOK-FORMAT when a pattern gives up.
  Result<std::string> apply(std::string_view text) const;

 private:
  struct Step {
    NormalizerStep spec;
    std::optional<Pattern> pattern;
  };
  std::vector<Step> steps_;
};

}  // namespace axon::text
