// Typing rules of operations (language.md 6.7, 6.9, 12.9; primitives.md): from argument types and
// what is known of the arguments to the result. Free of syntax, so that the type checker and shape
// inference on graphs share them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/known.h"
#include "ops/op.h"
#include "types/unify.h"

namespace axon::ops {

struct RuleArg {
  TypeId type;
  Known known;
};

// Why a rule rejected its arguments.
struct RuleError {
  enum class Kind : uint8_t { Mismatch, Broadcast, Null, Other } kind = Kind::Other;
  int argument = -1;  // which argument, when one is to blame
  Mismatch mismatch;  // Mismatch; Broadcast and Null use its types
  std::string text;   // Other: the reason; Null: the type needed
};

struct RuleResult {
  TypeId type;
  Known known;
  std::optional<RuleError> error;
  std::vector<int> optional_arguments;  // optionals given where a value is needed
};

// The result of a primitive or of a core.binary.* operation. Missing trailing arguments count as
// null. Dims that nothing determines come out as fresh unknowns; what must hold is recorded in the
// unifier.
RuleResult type_rule(Op op, const std::vector<RuleArg>& args, Unifier& unifier);

// Result shape of an elementwise operation on two tensors; empty when the axes cannot broadcast.
std::optional<TypeId> broadcast(TypeId left, TypeId right, Unifier& unifier);

}  // namespace axon::ops
