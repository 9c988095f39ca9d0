// Reads a tokenizer.json file.
#pragma once

#include <string>
#include <string_view>

#include "runtime/text/tokenizer_spec.h"
#include "support/result.h"

namespace axon::text {

// `file` names the text in errors. Errors: TOK-FORMAT, TOK-UNSUPPORTED.
Result<TokenizerSpec> parse_tokenizer_json(std::string_view text, const std::string& file);

}  // namespace axon::text
