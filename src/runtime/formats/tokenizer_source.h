// Finds the tokenizer of a checkpoint and gives it as plain data.
#pragma once

#include "runtime/formats/checkpoint.h"
#include "runtime/text/tokenizer_spec.h"

namespace axon::formats {

// From GGUF metadata, or from tokenizer.json beside the weights. Errors: TOK-MISSING when there is
// none, TOK-FORMAT (with a byte offset when it is not JSON), TOK-UNSUPPORTED, FILE-READ.
Result<text::TokenizerSpec> load_tokenizer(const Checkpoint& checkpoint);

}  // namespace axon::formats
