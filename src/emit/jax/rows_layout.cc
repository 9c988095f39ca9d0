// Reshaping, slicing and joining as JAX expressions.
#include "emit/jax/rows_layout.h"

#include "emit/py/print.h"
#include "emit/py/template.h"

namespace axon::emit::jax {

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

Expr axis_word(Expr axis) { return py::keyword("axis", std::move(axis)); }

// A permutation of two axes swaps them.
Expr permute(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::vector<Expr> axes = context.items(node.inputs[1]);
  std::vector<Expr> moved;
  for (size_t i = 0; i < axes.size(); ++i) {
    Expr same = py::integer(static_cast<int64_t>(i));
    if (axes[i] != same) moved.push_back(std::move(same));
  }
  if (moved.size() == 2) return method(std::move(x), "swapaxes", std::move(moved));
  return method(std::move(x), "transpose", std::move(axes));
}

Expr slice(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::vector<DimId> shape = context.shape(node.inputs[0]);
  int64_t rank = static_cast<int64_t>(shape.size());
  int64_t axis = integer(node.inputs[1], context).value_or(0);
  if (axis < 0) axis += rank;
  DimId from = dim_of(node.inputs[2], context), to = dim_of(node.inputs[3], context);
  std::vector<Expr> places(static_cast<size_t>(axis), range({}, {}));
  if (axis + 1 == rank && axis > 1) places = {py::atom("...")};
  if (auto slots = context.places(from, to)) {
    places.push_back(std::move(*slots));
    return py::index(std::move(x), std::move(places));
  }
  Expr lower, upper;
  if (context.dims().as_integer(from) != 0) lower = context.dim(from);
  if (to != shape[static_cast<size_t>(axis)]) upper = context.dim(to);
  places.push_back(range(std::move(lower), std::move(upper)));
  return py::index(std::move(x), std::move(places));
}

// Sizes become the places between the parts.
std::optional<Expr> split(const Node& node, RowContext& context) {
  std::vector<Expr> sizes = context.items(node.inputs[2]), places;
  int64_t sum = 0;
  for (const Expr& size : sizes) {
    bool number = size.kind == Expr::Kind::Atom && !size.text.empty() &&
                  size.text.find_first_not_of("0123456789") == std::string::npos;
    if (!number) return std::nullopt;
    sum += std::stoll(size.text);
    places.push_back(py::integer(sum));
  }
  places.pop_back();
  Expr x = context.value(node.inputs[0]);
  return expand("jnp.split({0}, {1}, {2})",
                {x, py::list(std::move(places)), axis_word(context.value(node.inputs[1]))});
}

Expr arange(const Node& node, RowContext& context) {
  std::vector<Expr> args;
  if (integer(node.inputs[1], context) != 0) args.push_back(context.value(node.inputs[1]));
  args.push_back(context.value(node.inputs[2]));
  return py::call(py::dotted("jnp.arange"), std::move(args));
}

Expr concat(const Node& node, RowContext& context) {
  std::vector<Expr> parts;
  for (size_t i = 0; i < 2; ++i) parts.push_back(context.value(node.inputs[i]));
  return expand("jnp.concatenate({0}, {1})",
                {py::tuple(std::move(parts)), axis_word(context.value(node.inputs[2]))});
}

// Leading axes may be new; those that stay, -1, are said by their own sizes.
Expr expanded(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::vector<Expr> sizes = context.items(node.inputs[1]);
  const std::vector<DimId> own = context.shape(node.inputs[0]);
  for (size_t i = 0; i < own.size(); ++i) {
    Expr& size = sizes[sizes.size() - own.size() + i];
    if (py::flat(size) == "-1") size = context.dim(own[i]);
  }
  return expand("jnp.broadcast_to({0}, {1})", {x, py::tuple(std::move(sizes))});
}

}  // namespace

std::optional<Expr> layout_row(const Node& node, RowContext& context) {
  switch (node.op) {
    case Op::Reshape: {
      Expr x = context.value(node.inputs[0]);
      return method(std::move(x), "reshape", context.items(node.inputs[1]));
    }
    case Op::Expand:
      return expanded(node, context);
    case Op::Permute:
      return permute(node, context);
    case Op::Transpose: {
      Expr x = context.value(node.inputs[0]), a = context.value(node.inputs[1]);
      return method(std::move(x), "swapaxes", {std::move(a), context.value(node.inputs[2])});
    }
    case Op::Unsqueeze: {
      Expr x = context.value(node.inputs[0]);
      return expand("jnp.expand_dims({0}, {1})", {x, context.value(node.inputs[1])});
    }
    case Op::Repeat_: {
      Expr x = context.value(node.inputs[0]), count = context.value(node.inputs[1]);
      return expand("jnp.repeat({0}, {1}, {2})",
                    {x, count, axis_word(context.value(node.inputs[2]))});
    }
    case Op::Chunk: {
      Expr x = context.value(node.inputs[0]), axis = axis_word(context.value(node.inputs[1]));
      return expand("jnp.split({0}, {1}, {2})", {x, context.value(node.inputs[2]), axis});
    }
    case Op::Slice:
      return slice(node, context);
    case Op::Split:
      return split(node, context);
    case Op::Arange:
      return arange(node, context);
    case Op::Concat:
      return concat(node, context);
    default:
      return std::nullopt;
  }
}

}  // namespace axon::emit::jax
