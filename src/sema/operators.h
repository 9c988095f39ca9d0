// The operation that a written binary operator means, and the operator that writes an operation.
#pragma once

#include "ops/op.h"
#include "syntax/nodes.h"

namespace axon::sema {

// Both tables list the operators in one order.
static_assert(static_cast<int>(Op::CoreBinaryOr) - static_cast<int>(Op::CoreBinaryAdd) ==
              static_cast<int>(syntax::BinaryOp::Or));
static_assert(static_cast<int>(Op::CoreBinaryLt) - static_cast<int>(Op::CoreBinaryAdd) ==
              static_cast<int>(syntax::BinaryOp::Lt));

constexpr bool is_core_binary(Op op) { return op >= Op::CoreBinaryAdd && op <= Op::CoreBinaryOr; }

constexpr Op core_op(syntax::BinaryOp op) {
  return static_cast<Op>(static_cast<int>(Op::CoreBinaryAdd) + static_cast<int>(op));
}

// For operations of is_core_binary only.
constexpr syntax::BinaryOp binary_op(Op op) {
  return static_cast<syntax::BinaryOp>(static_cast<int>(op) - static_cast<int>(Op::CoreBinaryAdd));
}

}  // namespace axon::sema
