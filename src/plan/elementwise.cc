// Elementwise operations, conversions and creation.
#include <fmt/format.h>

#include "plan/lower.h"

namespace axon::plan {
namespace {

using runtime::BinaryCode;
using runtime::UnaryCode;

UnaryCode unary_code(Op op) {
  switch (op) {
    case Op::Exp:
      return UnaryCode::Exp;
    case Op::Log:
      return UnaryCode::Log;
    case Op::Sin:
      return UnaryCode::Sin;
    case Op::Cos:
      return UnaryCode::Cos;
    case Op::Acos:
      return UnaryCode::Acos;
    case Op::Sqrt:
      return UnaryCode::Sqrt;
    case Op::Floor:
      return UnaryCode::Floor;
    case Op::Round:
      return UnaryCode::Round;
    case Op::ActivationsGelu:
      return UnaryCode::Gelu;
    case Op::ActivationsGeluNew:
    case Op::ActivationsGeluPytorchTanh:
      return UnaryCode::GeluTanh;
    case Op::ActivationsTanh:
      return UnaryCode::Tanh;
    case Op::ActivationsSigmoid:
      return UnaryCode::Sigmoid;
    case Op::ActivationsRelu:
      return UnaryCode::Relu;
    case Op::ActivationsRelu2:
      return UnaryCode::Relu2;
    default:
      return UnaryCode::Silu;
  }
}

BinaryCode binary_code(Op op) {
  switch (op) {
    case Op::CoreBinaryAdd:
      return BinaryCode::Add;
    case Op::CoreBinarySub:
      return BinaryCode::Sub;
    case Op::CoreBinaryMul:
      return BinaryCode::Mul;
    case Op::CoreBinaryDiv:
      return BinaryCode::Div;
    case Op::CoreBinaryMod:
      return BinaryCode::Mod;
    case Op::Pow:
      return BinaryCode::Pow;
    case Op::CoreBinaryEq:
      return BinaryCode::Eq;
    case Op::CoreBinaryNe:
      return BinaryCode::Ne;
    case Op::CoreBinaryLt:
      return BinaryCode::Lt;
    case Op::CoreBinaryLe:
      return BinaryCode::Le;
    case Op::CoreBinaryGt:
      return BinaryCode::Gt;
    case Op::CoreBinaryGe:
      return BinaryCode::Ge;
    case Op::CoreBinaryAnd:
      return BinaryCode::And;
    default:
      return BinaryCode::Or;
  }
}

bool is_logical(BinaryCode code) { return code == BinaryCode::And || code == BinaryCode::Or; }
bool is_comparison(BinaryCode code) { return code >= BinaryCode::Eq && code <= BinaryCode::Ge; }

}  // namespace

bool Lowering::unary(const Node& node) {
  DType dtype = dtype_of(node.outputs[0]);
  View x = view_of(node.inputs[0]);
  bool rounds = node.op == Op::Floor || node.op == Op::Round;
  if (rounds && is_integer(x.dtype)) {
    set(node, 0, x);
    return true;
  }
  runtime::ValId from = value_of(converted(x, dtype));
  View to = result(node);
  runtime::Instr& instr = emit(runtime::Operation::Unary, {from}, {to.base});
  param(instr, "code", static_cast<int64_t>(unary_code(node.op)));
  return true;
}

bool Lowering::swiglu(const Node& node) {
  View x = view_of(node.inputs[0]);
  runtime::ValId from = value_of(x);
  View gate = buffer(result_dims(node), x.dtype);
  param(emit(runtime::Operation::Unary, {from}, {gate.base}), "code",
        static_cast<int64_t>(UnaryCode::Silu));
  View to = result(node);
  param(emit(runtime::Operation::Binary, {gate.base, from}, {to.base}), "code",
        static_cast<int64_t>(BinaryCode::Mul));
  return true;
}

// The type in which both operands are compared or combined.
bool Lowering::binary(const Node& node) {
  BinaryCode code = binary_code(node.op);
  bool left = is_tensor(node.inputs[0]), right = is_tensor(node.inputs[1]);
  DType common = dtype_of(node.outputs[0]);
  if (is_comparison(code)) {
    common = DType::Bool;
    bool float_scalar = false;
    for (const graph::Operand& input : node.inputs) {
      if (is_tensor(input)) common = promote(common, view_of(input).dtype);
      float_scalar |= input.kind() == graph::OperandKind::Float;
    }
    if (float_scalar && !is_float(common)) common = DType::F32;
    if (common == DType::Bool && !(left && right)) common = DType::I64;
  } else if (is_logical(code)) {
    common = DType::Bool;
  }
  if (left && right) {
    runtime::ValId a = value_of(converted(view_of(node.inputs[0]), common));
    runtime::ValId b = value_of(converted(view_of(node.inputs[1]), common));
    View to = result(node);
    param(emit(runtime::Operation::Binary, {a, b}, {to.base}), "code", static_cast<int64_t>(code));
    return true;
  }
  runtime::ParamValue value = int64_t{0};
  if (!scalar_param(node.inputs[left ? 1 : 0], value))
    return fail("an operand is neither a tensor nor a number");
  runtime::ValId x = value_of(converted(view_of(node.inputs[left ? 0 : 1]), common));
  View to = result(node);
  runtime::Instr& instr = emit(runtime::Operation::BinaryScalar, {x}, {to.base});
  param(instr, "code", static_cast<int64_t>(code));
  param(instr, "value", std::move(value));
  if (!left) param(instr, "reversed", true);
  return true;
}

bool Lowering::where(const Node& node) {
  DType dtype = dtype_of(node.outputs[0]);
  std::vector<runtime::ValId> operands;
  operands.push_back(value_of(converted(view_of(node.inputs[0]), DType::Bool)));
  for (size_t i = 1; i < 3; ++i) {
    const graph::Operand& input = node.inputs[i];
    operands.push_back(
        value_of(is_tensor(input) ? converted(view_of(input), dtype) : scalar_view(input, dtype)));
  }
  View to = result(node);
  emit(runtime::Operation::Where, std::move(operands), {to.base});
  return true;
}

// Bounds that are tensors broadcast with `x`.
bool Lowering::clamp_by_tensors(const Node& node) {
  View x = view_of(node.inputs[0]);
  for (size_t i = 1; i < 3; ++i) {
    const graph::Operand& input = node.inputs[i];
    if (input.kind() == graph::OperandKind::Null) continue;
    View bound =
        is_tensor(input) ? converted(view_of(input), x.dtype) : scalar_view(input, x.dtype);
    runtime::ValId a = value_of(x), b = value_of(bound);
    View to = buffer(result_dims(node), x.dtype);
    BinaryCode code = i == 1 ? BinaryCode::Max : BinaryCode::Min;
    param(emit(runtime::Operation::Binary, {a, b}, {to.base}), "code", static_cast<int64_t>(code));
    x = to;
  }
  set(node, 0, x);
  return true;
}

bool Lowering::clamp(const Node& node) {
  if (is_tensor(node.inputs[1]) || is_tensor(node.inputs[2])) return clamp_by_tensors(node);
  runtime::ValId x = value_of(view_of(node.inputs[0]));
  View to = result(node);
  runtime::Instr& instr = emit(runtime::Operation::Clamp, {x}, {to.base});
  for (size_t i = 1; i < 3 && i < node.inputs.size(); ++i) {
    if (node.inputs[i].kind() == graph::OperandKind::Null) continue;
    runtime::ParamValue bound = int64_t{0};
    if (!scalar_param(node.inputs[i], bound)) return fail("a bound is a tensor");
    param(instr, i == 1 ? "min" : "max", std::move(bound));
  }
  return true;
}

bool Lowering::cast(const Node& node) {
  View x = view_of(node.inputs[0]);
  if (x.dtype == dtype_of(node.outputs[0])) {
    set(node, 0, x);
    return true;
  }
  runtime::ValId from = value_of(x);
  View to = result(node);
  emit(runtime::Operation::Cast, {from}, {to.base});
  return true;
}

// A tensor filled with one number is a view of that number with strides 0.
bool Lowering::fill(const Node& node) {
  const graph::Operand* value = nullptr;
  if (node.op == Op::Full) value = &node.inputs[2];
  if (node.op == Op::Fill) value = &node.inputs[1];
  DType dtype = dtype_of(node.outputs[0]);
  View number = value ? scalar_view(*value, dtype) : constant(0, dtype);
  set(node, 0, views_.expanded(number, result_dims(node)));
  return true;
}

bool Lowering::tensor_like(const Node& node) {
  DType dtype = dtype_of(node.outputs[0]);
  if (is_tensor(node.inputs[0])) return cast(node);
  const graph::Operand& value = node.inputs[0];
  if (value.kind() != graph::OperandKind::Ref) {
    set(node, 0, views_.expanded(scalar_view(value, dtype), result_dims(node)));
    return true;
  }
  View to = result(node);
  DimId one = dims_.integer(1);
  int64_t at = 0;
  for (const graph::Operand& item : list(value)) {
    copy(views_.expanded(scalar_view(item, dtype), {one}),
         views_.sliced(to, 0, dims_.integer(at++), one));
  }
  return true;
}

bool Lowering::random(const Node& node) {
  View to = result(node);
  runtime::Instr& instr = emit(runtime::Operation::Random, {}, {to.base});
  runtime::ParamValue seed = int64_t{0};
  if (!scalar_param(node.inputs[2], seed)) return fail("the seed is no integer");
  param(instr, "seed", std::move(seed));
  param(instr, "normal", node.op == Op::RandomNormal);
  return true;
}

bool Lowering::gegelu(const Node& node) {
  runtime::ValId x = value_of(view_of(node.inputs[0]));
  View to = result(node);
  runtime::Instr& instr = emit(runtime::Operation::Gegelu, {x}, {to.base});
  if (node.inputs[1].kind() == graph::OperandKind::Null) return true;
  runtime::ParamValue limit = 0.0;
  if (!scalar_param(node.inputs[1], limit)) return fail("the limit is no number");
  param(instr, "limit", std::move(limit));
  return true;
}

bool Lowering::xielu(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::vector<runtime::ValId> operands = {value_of(x)};
  for (size_t i = 1; i < 5; ++i) {
    const graph::Operand& input = node.inputs[i];
    View one = is_tensor(input) ? converted(view_of(input), x.dtype) : scalar_view(input, x.dtype);
    for (DimId dim : one.dims) {
      if (dims_.as_integer(dim) != 1) return fail("a constant has more than one element");
    }
    operands.push_back(value_of(one));
  }
  View to = result(node);
  emit(runtime::Operation::Xielu, std::move(operands), {to.base});
  return true;
}

bool Lowering::arange(const Node& node) {
  View to = result(node);
  runtime::Instr& instr = emit(runtime::Operation::Arange, {}, {to.base});
  runtime::ParamValue start = int64_t{0};
  scalar_param(node.inputs[1], start);
  param(instr, "start", std::move(start));
  return true;
}

}  // namespace axon::plan
