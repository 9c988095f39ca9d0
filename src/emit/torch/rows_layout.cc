// Reshaping, slicing and joining as PyTorch expressions.
#include "emit/torch/rows_layout.h"

#include "emit/py/template.h"

namespace axon::emit::torch {

using graph::Node;
using graph::Operand;
using py::expand;
using py::Expr;

namespace {

std::optional<int64_t> integer(const Operand& operand, RowContext& context) {
  if (const auto* literal = operand.get<graph::LitInt>()) return literal->value;
  if (const auto* dim = operand.get<graph::DimRef>()) return context.dims().as_integer(dim->dim);
  return std::nullopt;
}

DimId dim_of(const Operand& operand, RowContext& context) {
  if (const auto* dim = operand.get<graph::DimRef>()) return dim->dim;
  return context.dims().integer(integer(operand, context).value_or(0));
}

Expr method(Expr of, std::string_view name, std::vector<Expr> args) {
  return py::call(py::attribute(std::move(of), name), std::move(args));
}

Expr range(Expr lower, Expr upper) {
  return Expr{Expr::Kind::Slice, "", {std::move(lower), std::move(upper)}};
}

// A permutation that swaps two axes is a transposition.
Expr permute(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::vector<Expr> axes = context.items(node.inputs[1]);
  std::vector<Expr> moved;
  for (size_t i = 0; i < axes.size(); ++i) {
    Expr same = py::integer(static_cast<int64_t>(i));
    if (axes[i] != same) moved.push_back(std::move(same));
  }
  if (moved.size() == 2) return method(std::move(x), "transpose", std::move(moved));
  return method(std::move(x), "permute", std::move(axes));
}

Expr slice(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::vector<DimId> shape = context.shape(node.inputs[0]);
  int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = integer(node.inputs[1], context).value_or(0);
  if (axis < 0) axis += rank;
  DimId from = dim_of(node.inputs[2], context), to = dim_of(node.inputs[3], context);
  if (auto places = context.places(from, to))
    return method(std::move(x), "index_select", {py::integer(axis), std::move(*places)});
  Expr lower, upper;
  if (context.dims().as_integer(from) != 0) lower = context.dim(from);
  if (to != shape[static_cast<size_t>(axis)]) upper = context.dim(to);
  std::vector<Expr> places(static_cast<size_t>(axis), range({}, {}));
  if (axis + 1 == rank && axis > 1) places = {py::atom("...")};
  places.push_back(range(std::move(lower), std::move(upper)));
  return py::index(std::move(x), std::move(places));
}

Expr arange(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::vector<Expr> args;
  if (integer(node.inputs[1], context) != 0) args.push_back(context.value(node.inputs[1]));
  args.push_back(context.value(node.inputs[2]));
  args.push_back(py::keyword("device", py::attribute(std::move(x), "device")));
  return py::call(py::dotted("torch.arange"), std::move(args));
}

Expr concat(const Node& node, RowContext& context) {
  std::vector<Expr> parts;
  for (size_t i = 0; i < 2; ++i) parts.push_back(context.value(node.inputs[i]));
  if (context.is_signed(node.outputs[0])) parts[0] = py::unary("-", std::move(parts[0]));
  return expand("torch.cat({0}, {1})",
                {py::tuple(std::move(parts)), context.value(node.inputs[2])});
}

}  // namespace

std::optional<Expr> layout_row(const Node& node, RowContext& context) {
  auto rest = [&](std::string_view name, std::initializer_list<size_t> operands) {
    Expr x = context.value(node.inputs[0]);
    std::vector<Expr> args;
    for (size_t i : operands) args.push_back(context.value(node.inputs[i]));
    return method(std::move(x), name, std::move(args));
  };
  auto shaped = [&](std::string_view name) {
    Expr x = context.value(node.inputs[0]);
    return method(std::move(x), name, context.items(node.inputs[1]));
  };
  switch (node.op) {
    case Op::Reshape:
      return shaped("reshape");
    case Op::Expand:
      return shaped("expand");
    case Op::Permute:
      return permute(node, context);
    case Op::Transpose:
      return rest("transpose", {1, 2});
    case Op::Unsqueeze:
      return rest("unsqueeze", {1});
    case Op::Repeat_:
      return rest("repeat_interleave", {1, 2});
    case Op::Chunk:
      return rest("chunk", {2, 1});
    case Op::Slice:
      return slice(node, context);
    case Op::Split: {
      Expr x = context.value(node.inputs[0]);
      Expr axis = context.value(node.inputs[1]);
      return method(std::move(x), "split", {py::list(context.items(node.inputs[2])), axis});
    }
    case Op::Arange:
      return arange(node, context);
    case Op::Concat:
      return concat(node, context);
    default:
      return std::nullopt;
  }
}

}  // namespace axon::emit::torch
