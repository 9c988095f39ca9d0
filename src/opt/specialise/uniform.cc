// Tensors whose elements are all one known number: what masks of ones and zeros become, so that
// they vanish from conjunctions and selections.
#include <cmath>

#include "opt/specialise/infer.h"
#include "opt/specialise/specialiser.h"

namespace axon::opt {

// The number that fills a value, or that a scalar is.
std::optional<double> Specialiser::uniform(TreeId id) {
  const Tree& tree = forest_[id];
  switch (tree.kind) {
    case Tree::Kind::Bool:
      return tree.boolean ? 1 : 0;
    case Tree::Kind::Float:
      return tree.number;
    case Tree::Kind::Int: {
      std::optional<int64_t> value = dims_.as_integer(tree.dim);
      return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
    }
    case Tree::Kind::Tensor: {
      auto it = uniform_.find(tree.value);
      return it == uniform_.end() ? std::nullopt : std::optional<double>(it->second);
    }
    default:
      return std::nullopt;
  }
}

// Makes a tensor that is filled with one number.
TreeId Specialiser::filled(const Emitter::Result& result, double value, TreeId ref) {
  std::vector<graph::Operand> operands(4);
  Args sizes;
  for (DimId dim : result.dims) sizes.push_back(forest_.integer(dim));
  TreeId number = result.dtype == DType::Bool ? forest_.boolean(value != 0)
                  : is_float(result.dtype)
                      ? forest_.number(value)
                      : forest_.integer(dims_.integer(static_cast<int64_t>(value)));
  to_operand(ref, operands[0]);
  to_operand(forest_.list(std::move(sizes)), operands[1]);
  to_operand(number, operands[2]);
  to_operand(forest_.string(names_.intern(axon::spelling(result.dtype))), operands[3]);
  graph::ValueId id = emitter_.node(Op::Full, std::move(operands), {}, {result}, origin())[0];
  uniform_[id] = value;
  return forest_.tensor(result.dims, result.dtype, id);
}

namespace {

std::optional<double> combine(Op op, double a, double b) {
  switch (op) {
    case Op::CoreBinaryEq:
      return a == b;
    case Op::CoreBinaryNe:
      return a != b;
    case Op::CoreBinaryLt:
      return a < b;
    case Op::CoreBinaryLe:
      return a <= b;
    case Op::CoreBinaryGt:
      return a > b;
    case Op::CoreBinaryGe:
      return a >= b;
    case Op::CoreBinaryAnd:
      return a != 0 && b != 0;
    case Op::CoreBinaryOr:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

bool moves_elements(Op op) {
  switch (op) {
    case Op::Reshape:
    case Op::Permute:
    case Op::Transpose:
    case Op::Unsqueeze:
    case Op::Expand:
    case Op::Slice:
    case Op::Repeat_:
      return true;
    default:
      return false;
  }
}

}  // namespace

TreeId Specialiser::as_shape(TreeId tree, const Emitter::Result& want) {
  if (!is_tensor(tree) || forest_[tree].dtype != want.dtype) return {};
  if (forest_[tree].dims == want.dims) return tree;
  Args sizes;
  for (DimId dim : want.dims) sizes.push_back(forest_.integer(dim));
  return tensor_op(Op::Expand, {tree, forest_.list(std::move(sizes))});
}

// A result that is uniform, or equal to one argument because another is uniform.
TreeId Specialiser::fold_uniform(Op op, const Args& args,
                                 const std::vector<Emitter::Result>& results) {
  if (results.size() != 1) return {};
  const Emitter::Result& result = results[0];
  TreeId ref = args[0];
  if (moves_elements(op) || op == Op::Cast || op == Op::CastLike) {
    std::optional<double> value = uniform(args[0]);
    if (!value || !is_tensor(args[0])) return {};
    if (result.dtype == DType::Bool)
      value = *value != 0;
    else if (!is_float(result.dtype))
      value = std::trunc(*value);
    return filled(result, *value, ref);
  }
  if (op == Op::Where) {
    std::optional<double> value = uniform(args[0]);
    return value ? as_shape(args[*value != 0 ? 1 : 2], result) : TreeId{};
  }
  if (args.size() != 2 || op_info(op).op_class != OpClass::Core) return {};
  std::optional<double> a = uniform(args[0]), b = uniform(args[1]);
  if (!is_tensor(ref)) ref = args[1];
  if (a && b) {
    std::optional<double> value = combine(op, *a, *b);
    return value ? filled(result, *value, ref) : TreeId{};
  }
  if (op == Op::CoreBinaryAnd || op == Op::CoreBinaryOr) {
    bool neutral = op == Op::CoreBinaryAnd;
    for (size_t i = 0; i < 2; ++i) {
      std::optional<double> side = i == 0 ? a : b;
      if (!side) continue;
      if ((*side != 0) == neutral) return as_shape(args[1 - i], result);
      return filled(result, neutral ? 0 : 1, ref);
    }
  }
  return {};
}

// Remembers what creation operations fill their result with.
void Specialiser::note_uniform(Op op, const Args& args, TreeId result) {
  std::optional<double> value;
  if (op == Op::Zeros || op == Op::ZerosLike) value = 0;
  if (op == Op::Full) value = uniform(args[2]);
  if (op == Op::Fill) value = uniform(args[1]);
  if (op == Op::TensorLike && !is_tensor(args[0])) value = uniform(args[0]);
  if (value) uniform_[forest_[result].value] = *value;
  if (op != Op::Full && op != Op::Fill) return;
  const Tree& number = forest_[args[op == Op::Full ? 2 : 1]];
  if (number.kind == Tree::Kind::Int) places_[forest_[result].value] = number.dim;
}

}  // namespace axon::opt
