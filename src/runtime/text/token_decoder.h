// Turns token texts back into text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/pattern.h"

namespace axon::text {

class TokenDecoder {
 public:
  // Errors: those of Pattern::compile.
  static Result<TokenDecoder> create(std::vector<DecoderStep> steps);
  // Whether a text is the concatenation of what each token's bytes are, whatever its neighbours.
  bool by_bytes() const;
  // Adds the bytes of one token; only with by_bytes().
  void append_bytes(std::string_view token, std::string& out) const;
  std::string decode(std::vector<std::string> tokens) const;

 private:
  struct Step {
    DecoderStep spec;
    std::optional<Pattern> pattern;
  };
  std::vector<Step> steps_;
};

}  // namespace axon::text
