// Changes to program texts, by bytes and by tokens.
#pragma once

#include <string>

#include "fuzz/texts.h"

namespace axon::fuzz {

// A few random edits; pieces may come from the other texts.
std::string mutate_bytes(const std::string& text, const Texts& corpus, Random& random);
std::string mutate_tokens(const std::string& text, const Texts& corpus, Random& random);

}  // namespace axon::fuzz
