// Signatures of primitives, read from the text in ops.def.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace axon {

// A default as written: `null`, `true`, `-1`, `1e-5`, `"sum"`, `@weight`.
struct OpParam {
  std::string_view name;
  std::string_view type;  // text of the type, without the `?` of an optional
  bool optional = false;  // has a default, or a type `?T`
  bool has_default = false;
  std::string_view default_text;
  bool nullable = false;  // type written `?T` (null is allowed)
};

struct OpSignature {
  std::vector<OpParam> params;
  std::string_view result;  // text of the result type
  // Number of leading parameters of type Path: the path slots (language.md 7.6).
  size_t path_slots = 0;
};

// The signature of a primitive; parsed once per process, read-only afterwards.
const OpSignature& op_signature(Op primitive);

}  // namespace axon
