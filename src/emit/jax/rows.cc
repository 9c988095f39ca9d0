// Primitives as JAX expressions.
#include "emit/jax/rows.h"

#include <cmath>

#include "emit/jax/rows_layout.h"
#include "emit/py/template.h"

namespace axon::emit::jax {

using graph::Node;
using graph::Operand;
using graph::OperandKind;
using py::expand;
using py::Expr;

namespace {

bool is_null(const Operand& operand) { return operand.kind() == OperandKind::Null; }
bool is_true(const Operand& operand) {
  const auto* flag = operand.get<graph::LitBool>();
  return flag && flag->value;
}

std::string text_of(const Operand& operand, RowContext& context) {
  const auto* text = operand.get<graph::LitString>();
  return text ? std::string(context.names().text(text->value)) : "";
}

// An element type; integers are as wide as the framework is set to.
Expr element_type(const std::string& name) {
  if (name == "bool") return py::atom("bool");
  if (name == "int64") return py::atom("int");
  return py::dotted("jnp." + name);
}

// A plain template over the operands, by their place.
struct Plain {
  Op op;
  std::string_view text;
};
constexpr Plain kPlain[] = {
    {Op::CoreBinaryAdd, "{0} + {1}"},
    {Op::CoreBinarySub, "{0} - {1}"},
    {Op::CoreBinaryMul, "{0} * {1}"},
    {Op::CoreBinaryDiv, "{0} / {1}"},
    {Op::CoreBinaryMod, "{0} % {1}"},
    {Op::CoreBinaryEq, "{0} == {1}"},
    {Op::CoreBinaryNe, "{0} != {1}"},
    {Op::CoreBinaryLt, "{0} < {1}"},
    {Op::CoreBinaryLe, "{0} <= {1}"},
    {Op::CoreBinaryGt, "{0} > {1}"},
    {Op::CoreBinaryGe, "{0} >= {1}"},
    {Op::Add, "{0} + {1}"},
    {Op::Mul, "{0} * {1}"},
    {Op::Div, "{0} / {1}"},
    {Op::Pow, "{0} ** {1}"},
    {Op::Exp, "jnp.exp({0})"},
    {Op::Log, "jnp.log({0})"},
    {Op::Sin, "jnp.sin({0})"},
    {Op::Cos, "jnp.cos({0})"},
    {Op::Acos, "jnp.acos({0})"},
    {Op::Sqrt, "jnp.sqrt({0})"},
    {Op::Floor, "jnp.floor({0})"},
    {Op::Round, "jnp.round({0})"},
    {Op::Eq, "{0} == {1}"},
    {Op::Le, "{0} <= {1}"},
    {Op::And, "{0} & {1}"},
    {Op::Matmul, "{0} @ {1}"},
    {Op::ActivationsTanh, "jnp.tanh({0})"},
    {Op::ActivationsSigmoid, "jax.nn.sigmoid({0})"},
    {Op::ActivationsGeluNew, "jax.nn.gelu({0})"},
    {Op::ActivationsGeluPytorchTanh, "jax.nn.gelu({0})"},
    {Op::ActivationsSilu, "jax.nn.silu({0})"},
    {Op::ActivationsRelu, "jax.nn.relu({0})"},
    {Op::ActivationsRelu2, "jnp.square(jax.nn.relu({0}))"},
    {Op::ZerosLike, "jnp.zeros_like({0})"},
    {Op::Cumsum, "{0}.cumsum({1})"},
    {Op::Gather, "jnp.take_along_axis({0}, {1}, axis={2})"},
    {Op::Scatter, "jnp.put_along_axis({0}, {1}, {2}, axis={3}, inplace=False)"},
    {Op::CastLike, "{0}.astype({1}.dtype)"},
    {Op::Where, "jnp.where({0}, {1}, {2})"},
};

// Whether the tree has this layer's weight as [in, out].
bool in_order(const Node& node, const std::string& path, const Weights& weights) {
  return is_true(node.inputs[4]) || weights.turned.count(path) != 0;
}

Expr linear(const Node& node, const Weights& weights, RowContext& context) {
  Expr x = context.value(node.inputs[1]);
  std::vector<std::string> params = params_of(node, context.names());
  Expr weight = context.param(params[0]);
  if (!in_order(node, params[0], weights)) weight = py::attribute(std::move(weight), "T");
  if (params.size() == 1) return expand("{0} @ {1}", {x, weight});
  return expand("{0} @ {1} + {2}", {x, weight, context.param(params[1])});
}

Expr layernorm(const Node& node, RowContext& context) {
  context.helper("jax/layer_norm");
  std::vector<std::string> params = params_of(node, context.names());
  Expr x = context.value(node.inputs[1]);
  std::vector<Expr> args = {x, context.param(params[0])};
  if (params.size() > 1) args.push_back(context.param(params[1]));
  args.push_back(py::keyword("eps", context.value(node.inputs[2])));
  return py::call(py::atom("layer_norm"), std::move(args));
}

Expr rms_norm(const Node& node, RowContext& context) {
  context.helper("jax/rms_norm");
  Expr x = context.value(node.inputs[0]);
  Expr weight = node.inputs[1].kind() == OperandKind::Path
                    ? context.param(params_of(node, context.names())[0])
                    : context.value(node.inputs[1]);
  if (is_true(node.attrs[1].value)) weight = expand("{0} + 1.0", {weight});
  return expand("rms_norm({0}, {1}, eps={2})", {x, weight, context.value(node.attrs[0].value)});
}

// A scale that differs from the usual one.
bool is_own_scale(const Node& node, RowContext& context) {
  const auto* number = node.attrs[0].value.get<graph::LitFloat>();
  double scale = number ? number->value : 0;
  auto width = context.dims().as_integer(context.shape(node.inputs[0])[3]);
  double usual = width ? 1.0 / std::sqrt(static_cast<double>(*width)) : 0;
  return std::abs(scale - usual) > 1e-12 * usual;
}

std::optional<Expr> attention(const Node& node, RowContext& context) {
  if (!is_null(node.inputs[6])) return std::nullopt;
  context.helper("jax/attend");
  std::vector<Expr> args;
  for (size_t i = 0; i < 3; ++i) args.push_back(context.value(node.inputs[i]));
  if (!is_null(node.inputs[5])) args.push_back(context.value(node.inputs[5]));
  if (!is_null(node.inputs[4])) args.push_back(py::keyword("bias", context.value(node.inputs[4])));
  if (is_own_scale(node, context))
    args.push_back(py::keyword("scale", context.value(node.attrs[0].value)));
  if (!is_null(node.attrs[5].value))
    args.push_back(py::keyword("cap", context.value(node.attrs[5].value)));
  return py::call(py::atom("attend"), std::move(args));
}

Expr rope(const Node& node, RowContext& context) {
  std::string name = is_true(node.attrs[0].value) ? "rope_pairs" : "rope";
  if (context.shape(node.inputs[0])[3] != context.shape(node.inputs[1])[3]) name += "_part";
  context.helper("jax/" + name);
  std::vector<Expr> args;
  for (size_t i = 0; i < 3; ++i) args.push_back(context.value(node.inputs[i]));
  return py::call(py::atom(name), std::move(args));
}

// Lists become arrays; a scalar takes the shape of the other.
Expr tensor_like(const Node& node, RowContext& context) {
  bool is_list = node.inputs[0].kind() == OperandKind::Ref;
  Expr value = is_list ? py::list(context.items(node.inputs[0])) : context.value(node.inputs[0]);
  Expr like = context.value(node.inputs[1]);
  std::string dtype = text_of(node.inputs[2], context);
  Expr type = dtype.empty() ? py::attribute(like, "dtype") : element_type(dtype);
  if (is_list) return expand("jnp.array({0}, {1})", {value, type});
  return expand("jnp.full({0}.shape, {1}, {2})", {like, value, type});
}

Expr dtype_value(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  return py::attribute(expand("jnp.finfo({0}.dtype)", {x}), text_of(node.inputs[1], context));
}

// The framework knows the last axis only.
std::optional<Expr> topk(const Node& node, RowContext& context) {
  const auto* axis = node.inputs[2].get<graph::LitInt>();
  int64_t rank = static_cast<int64_t>(context.shape(node.inputs[0]).size());
  if (!axis || (axis->value != -1 && axis->value != rank - 1)) return std::nullopt;
  const bool largest = is_true(node.inputs[3]);
  if (!largest) context.helper("jax/bottom_k");
  Expr x = context.value(node.inputs[0]), count = context.value(node.inputs[1]);
  return expand(largest ? "lax.top_k({0}, {1})" : "bottom_k({0}, {1})", {x, count});
}

Expr softmax(const Node& node, RowContext& context) {
  std::string dtype = text_of(node.inputs[2], context);
  Expr x = context.value(node.inputs[0]), axis = context.value(node.inputs[1]);
  if (!dtype.empty()) x = expand("{0}.astype({1})", {x, element_type(dtype)});
  return expand("jax.nn.softmax({0}, axis={1})", {x, axis});
}

Expr sum(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]), axis = context.value(node.inputs[1]);
  if (is_true(node.inputs[2])) return expand("{0}.sum({1}, keepdims=True)", {x, axis});
  return expand("{0}.sum({1})", {x, axis});
}

// Limits have the elements' type: a fraction would make fractions of whole numbers.
Expr clamp(const Node& node, RowContext& context) {
  DType dtype = context.dtype(node.inputs[0]);
  bool whole = dtype != DType::Unknown && !is_float(dtype);
  std::vector<Expr> args = {context.value(node.inputs[0])};
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (is_null(node.inputs[i])) continue;
    const auto* number = node.inputs[i].get<graph::LitFloat>();
    Expr limit = whole && number ? py::integer(static_cast<int64_t>(number->value))
                                 : context.value(node.inputs[i]);
    args.push_back(py::keyword(i == 1 ? "min" : "max", std::move(limit)));
  }
  return py::call(py::dotted("jnp.clip"), std::move(args));
}

Expr filled(const Node& node, RowContext& context) {
  bool full = node.op == Op::Full;
  std::string dtype = text_of(node.inputs.back(), context);
  Expr type =
      dtype.empty() ? py::attribute(context.value(node.inputs[0]), "dtype") : element_type(dtype);
  std::vector<Expr> args = {py::tuple(context.items(node.inputs[1]))};
  if (full) args.push_back(context.value(node.inputs[2]));
  args.push_back(std::move(type));
  return py::call(py::dotted(full ? "jnp.full" : "jnp.zeros"), std::move(args));
}

const BlockParam* weight_of(const std::vector<BlockParam>& params) {
  const BlockParam* weight = nullptr;
  for (const BlockParam& p : params) {
    if (p.name != "weight" && p.name != "bias") return nullptr;
    if (p.name == "weight") weight = &p;
  }
  return weight;
}

}  // namespace

std::optional<Expr> row(const Node& node, const Weights& weights, RowContext& context) {
  for (const Plain& plain : kPlain) {
    if (plain.op != node.op) continue;
    std::vector<Expr> args;
    for (const Operand& input : node.inputs) args.push_back(context.value(input));
    return py::as_by_hand(expand(plain.text, args));
  }
  switch (node.op) {
    case Op::Linear:
      return linear(node, weights, context);
    case Op::Embedding: {
      Expr ids = context.value(node.inputs[1]);
      return expand("{0}[{1}]", {context.param(params_of(node, context.names())[0]), ids});
    }
    case Op::Layernorm:
      return layernorm(node, context);
    case Op::ParamsParam:
      return context.param(params_of(node, context.names())[0]);
    case Op::FusedRmsNorm:
      return rms_norm(node, context);
    case Op::Rmsnorm: {
      context.helper("jax/rms_norm");
      Expr x = context.value(node.inputs[0]);
      return expand("rms_norm({0}, eps={1})", {x, context.value(node.inputs[1])});
    }
    case Op::ActivationsGelu:
      context.helper("jax/gelu");
      return expand("gelu({0})", {context.value(node.inputs[0])});
    case Op::TensorLike:
      return tensor_like(node, context);
    case Op::DtypeValue:
      return dtype_value(node, context);
    case Op::Topk:
      return topk(node, context);
    case Op::FusedAttention:
      return attention(node, context);
    case Op::FusedRope:
      return rope(node, context);
    case Op::Softmax:
      return softmax(node, context);
    case Op::Cast: {
      Expr x = context.value(node.inputs[0]);
      return expand("{0}.astype({1})", {x, element_type(text_of(node.inputs[1], context))});
    }
    case Op::Sum:
      return sum(node, context);
    case Op::Clamp:
      return clamp(node, context);
    case Op::Full:
    case Op::Zeros:
      return filled(node, context);
    default:
      return layout_row(node, context);
  }
}

bool has_layer(const Node& node, const std::vector<BlockParam>& params, const Weights& weights,
               const Interner& names) {
  const BlockParam* weight = weight_of(params);
  if (!weight || params_of(node, names)[0] != weight->path) return false;
  if (node.op == Op::Linear) return in_order(node, weight->path, weights);
  return node.op == Op::Embedding || node.op == Op::Layernorm || node.op == Op::FusedRmsNorm;
}

Expr layer(const Node& node, const Expr& tree, RowContext& context) {
  auto call = [&](const char* name, size_t x, const Operand* eps) {
    context.helper(std::string("jax/") + name);
    std::vector<Expr> args = {context.value(node.inputs[x]),
                              Expr{Expr::Kind::Starred, "**", {tree}}};
    if (eps) args.push_back(py::keyword("eps", context.value(*eps)));
    return py::call(py::atom(name), std::move(args));
  };
  if (node.op == Op::Linear) return call("linear", 1, nullptr);
  if (node.op == Op::Embedding) return call("embed", 1, nullptr);
  if (node.op == Op::Layernorm) return call("layer_norm", 1, &node.inputs[2]);
  const char* name = is_true(node.attrs[1].value) ? "offset_rms_norm" : "rms_norm";
  return call(name, 0, &node.attrs[0].value);
}

Expr stored(const BlockParam& param, const Weights& weights) {
  bool turned = weights.turned.count(param.path) != 0;
  std::vector<Expr> sizes;
  for (int64_t n : param.shape) sizes.push_back(py::integer(n));
  if (turned) std::swap(sizes.front(), sizes.back());
  Expr shape = py::tuple(std::move(sizes));
  return expand(turned ? "Stored({0}, turned=True)" : "Stored({0})", {shape});
}

Expr layer_shapes(const Node& node, const std::vector<BlockParam>& params, const Weights& weights) {
  const BlockParam* weight = weight_of(params);
  bool bias = params.size() == 2;
  bool turned = weights.turned.count(weight->path) != 0;
  std::vector<Expr> args;
  for (int64_t n : weight->shape) args.push_back(py::integer(n));
  if (turned) std::swap(args.front(), args.back());
  const char* name = node.op == Op::Linear ? "dense" : node.op == Op::Embedding ? "table" : "scale";
  if (node.op == Op::Linear && !bias) args.push_back(py::keyword("bias", py::atom("False")));
  if (node.op == Op::Linear && !turned) args.push_back(py::keyword("turned", py::atom("False")));
  if (node.op != Op::Linear && node.op != Op::Embedding && bias)
    args.push_back(py::keyword("bias", py::atom("True")));
  return py::call(py::atom(name), std::move(args));
}

}  // namespace axon::emit::jax
