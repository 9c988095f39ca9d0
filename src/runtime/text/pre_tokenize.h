// Cuts a normalized text into the words that the model sees one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/pattern.h"
#include "support/function_ref.h"

namespace axon::text {

class PreTokenizer {
 public:
  // Errors: those of Pattern::compile.
  static Result<PreTokenizer> create(std::vector<PreTokenizerStep> steps);
  // Calls `word` for each word in order; words are never empty. `text` is well-formed UTF-8.
  // Errors: TOK-FORMAT when a pattern gives up.
  Result<void> run(std::string_view text, function_ref<void(std::string_view)> word) const;

 private:
  struct Step {
    PreTokenizerStep spec;
    std::optional<Pattern> pattern;
  };
  Result<void> run_step(size_t step, std::string_view text,
                        function_ref<void(std::string_view)> word) const;
  Result<void> run_parts(size_t step, std::string_view text, const std::vector<Match>& parts,
                         function_ref<void(std::string_view)> word) const;
  Result<void> run_byte_level(size_t step, std::string_view text,
                              function_ref<void(std::string_view)> word) const;
  std::vector<Step> steps_;
};

}  // namespace axon::text
