// Reads JSON documents of checkpoints into ConfigValue, with the byte offset of every mistake.
#pragma once

#include <string>
#include <string_view>

#include "model/config_value.h"
#include "support/result.h"

namespace axon::formats {

// What to do with a key that an object has twice.
enum class DuplicateKeys : uint8_t { LastWins, Refuse };

struct JsonOptions {
  DuplicateKeys duplicates = DuplicateKeys::LastWins;
  int64_t base_offset = 0;  // of `text` in its file, added to offsets in errors
};

// Accepts what Python's json module accepts: strict JSON plus NaN, Infinity and -Infinity; integers
// beyond 64 bits become floats. `file` names the document in errors. Errors: FILE-JSON.
Result<model::ConfigValue> parse_json(std::string_view text, const std::string& file,
                                      const JsonOptions& options = {});

}  // namespace axon::formats
