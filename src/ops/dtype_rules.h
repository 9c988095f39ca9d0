// Element types of results (language.md 6.11, primitives.md): from operands and constants.
#pragma once

#include <vector>

#include "ops/known.h"
#include "ops/op.h"
#include "types/dtype.h"
#include "types/type.h"

namespace axon::ops {

struct DTypeArg {
  TypeKind kind = TypeKind::Any;  // Tensor, or the kind of a scalar; Null for a missing operand
  DType dtype = DType::Unknown;   // tensors
  Known known;                    // dtype names
};

// The element type of output number `output` (all outputs of most operations share it). `parameter`
// is the element type of the parameter that the operation reads, for those whose result has it.
// Unknown when nothing determines it, or when the result is no tensor.
DType dtype_rule(Op op, const std::vector<DTypeArg>& args, const Interner& names,
                 DType parameter = DType::Unknown, int output = 0);

// Element type of mixed arithmetic: tensors promote; a scalar adopts the tensor's element type
// unless it is of a higher kind.
DType promote_arguments(const std::vector<DTypeArg>& args);

}  // namespace axon::ops
