// Primitives as PyTorch expressions.
#include "emit/torch/rows.h"

#include <cmath>

#include "emit/py/template.h"
#include "emit/torch/rows_layout.h"

namespace axon::emit::torch {

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
    {Op::Exp, "{0}.exp()"},
    {Op::Log, "{0}.log()"},
    {Op::Sin, "{0}.sin()"},
    {Op::Cos, "{0}.cos()"},
    {Op::Acos, "{0}.acos()"},
    {Op::Sqrt, "{0}.sqrt()"},
    {Op::Floor, "{0}.floor()"},
    {Op::Round, "{0}.round()"},
    {Op::Eq, "{0} == {1}"},
    {Op::Le, "{0} <= {1}"},
    {Op::And, "{0} & {1}"},
    {Op::Matmul, "{0} @ {1}"},
    {Op::ActivationsGelu, "F.gelu({0})"},
    {Op::ActivationsTanh, "{0}.tanh()"},
    {Op::ActivationsSigmoid, "{0}.sigmoid()"},
    {Op::ActivationsGeluNew, "F.gelu({0}, approximate=\"tanh\")"},
    {Op::ActivationsGeluPytorchTanh, "F.gelu({0}, approximate=\"tanh\")"},
    {Op::ActivationsSilu, "F.silu({0})"},
    {Op::ActivationsRelu, "F.relu({0})"},
    {Op::ActivationsRelu2, "F.relu({0}).square()"},
    {Op::ZerosLike, "torch.zeros_like({0})"},
    {Op::Cumsum, "{0}.cumsum({1})"},
    {Op::Gather, "{0}.gather({2}, {1})"},
    {Op::Scatter, "{0}.scatter({3}, {1}, {2})"},
    {Op::IndexAdd, "{0}.index_add({3}, {1}, {2})"},
    {Op::CastLike, "{0}.to({1}.dtype)"},
    {Op::Where, "torch.where({0}, {1}, {2})"},
};

Expr linear(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[1]);
  std::vector<std::string> params = params_of(node, context.names());
  Expr weight = context.param(params[0]);
  if (is_true(node.inputs[4])) weight = py::attribute(std::move(weight), "T");
  if (params.size() == 1) return expand("F.linear({0}, {1})", {x, weight});
  return expand("F.linear({0}, {1}, {2})", {x, weight, context.param(params[1])});
}

Expr layernorm(const Node& node, RowContext& context) {
  std::vector<std::string> params = params_of(node, context.names());
  Expr x = context.value(node.inputs[1]);
  Expr weight = context.param(params[0]);
  Expr bias = params.size() > 1 ? context.param(params[1]) : py::atom("None");
  return expand("F.layer_norm({0}, {1}.shape, {1}, {2}, {3})",
                {x, weight, bias, context.value(node.inputs[2])});
}

Expr rms_norm(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  Expr weight = node.inputs[1].kind() == OperandKind::Path
                    ? context.param(params_of(node, context.names())[0])
                    : context.value(node.inputs[1]);
  Expr shape = py::tuple({context.dim(context.shape(node.inputs[0]).back())});
  if (is_true(node.attrs[1].value)) weight = expand("{0} + 1.0", {weight});
  return expand("F.rms_norm({0}, {1}, {2}, {3})",
                {x, shape, weight, context.value(node.attrs[0].value)});
}

// A scale that differs from the usual one.
bool is_own_scale(const Node& node, RowContext& context) {
  const auto* number = node.attrs[0].value.get<graph::LitFloat>();
  double scale = number ? number->value : 0;
  auto width = context.dims().as_integer(context.shape(node.inputs[0])[3]);
  double usual = width ? 1.0 / std::sqrt(static_cast<double>(*width)) : 0;
  return std::abs(scale - usual) > 1e-12 * usual;
}

// Scores with limits: a product that the framework does not fuse. A bias takes no part in them.
std::optional<Expr> capped_attention(const Node& node, RowContext& context) {
  if (!is_null(node.inputs[4]) || is_null(node.inputs[5])) return std::nullopt;
  context.helper("torch/capped_attention");
  std::vector<Expr> args;
  for (size_t i : {0, 1, 2, 5}) args.push_back(context.value(node.inputs[i]));
  args.push_back(py::keyword("scale", context.value(node.attrs[0].value)));
  args.push_back(py::keyword("cap", context.value(node.attrs[5].value)));
  return py::call(py::atom("capped_attention"), std::move(args));
}

// Whether a mask is the same for all heads.
bool is_for_all_heads(const Operand& mask, RowContext& context) {
  std::vector<DimId> shape = context.shape(mask);
  return shape.size() == 4 && context.dims().as_integer(shape[1]) == 1;
}

// Several heads of queries on one of keys.
Expr grouped_attention(const Node& node, RowContext& context) {
  context.helper("torch/grouped_attention");
  std::vector<Expr> args;
  for (size_t i : {0, 1, 2, 5}) args.push_back(context.value(node.inputs[i]));
  const auto* mask = node.inputs[5].get<graph::Ref>();
  bool whole = !mask || context.may_be_none(mask->value);
  if (whole && !is_true(node.attrs[1].value))
    args.push_back(py::keyword("causal", py::atom("False")));
  if (is_own_scale(node, context))
    args.push_back(py::keyword("scale", context.value(node.attrs[0].value)));
  return py::call(py::atom("grouped_attention"), std::move(args));
}

std::optional<Expr> attention(const Node& node, RowContext& context) {
  if (!is_null(node.inputs[6])) return std::nullopt;
  if (!is_null(node.attrs[5].value)) return capped_attention(node, context);
  bool shares = context.shape(node.inputs[0])[1] != context.shape(node.inputs[1])[1];
  bool plain = is_null(node.inputs[4]) &&
               (is_null(node.inputs[5]) || is_for_all_heads(node.inputs[5], context));
  if (shares && plain) return grouped_attention(node, context);
  std::vector<Expr> args;
  for (size_t i = 0; i < 3; ++i) args.push_back(context.value(node.inputs[i]));
  if (!is_null(node.inputs[4]) && !is_null(node.inputs[5])) return std::nullopt;
  if (!is_null(node.inputs[4]))
    args.push_back(py::keyword("attn_mask", context.value(node.inputs[4])));
  if (!is_null(node.inputs[5])) {
    Expr keep = context.value(node.inputs[5]);
    args.push_back(py::keyword("attn_mask", keep));
    const auto* mask = node.inputs[5].get<graph::Ref>();
    if (is_true(node.attrs[1].value) && mask && context.may_be_none(mask->value))
      args.push_back(py::keyword("is_causal", expand("{0} is None", {keep})));
  }
  if (is_own_scale(node, context))
    args.push_back(py::keyword("scale", context.value(node.attrs[0].value)));
  if (shares) args.push_back(py::keyword("enable_gqa", py::atom("True")));
  return py::call(py::dotted("F.scaled_dot_product_attention"), std::move(args));
}

Expr rope(const Node& node, RowContext& context) {
  bool pairs = is_true(node.attrs[0].value);
  std::string name = pairs ? "rope_pairs" : "rope";
  if (context.shape(node.inputs[0])[3] != context.shape(node.inputs[1])[3]) name += "_part";
  context.helper("torch/" + name + (!pairs && context.all_signed() ? "_signed" : ""));
  std::vector<Expr> args;
  for (size_t i = 0; i < 3; ++i) args.push_back(context.value(node.inputs[i]));
  return py::call(py::atom(name), std::move(args));
}

Expr softmax(const Node& node, RowContext& context) {
  std::string dtype = text_of(node.inputs[2], context);
  Expr x = context.value(node.inputs[0]), axis = context.value(node.inputs[1]);
  if (dtype.empty()) return expand("{0}.softmax({1})", {x, axis});
  return expand("{0}.softmax({1}, dtype={2})", {x, axis, py::dotted("torch." + dtype)});
}

Expr cast(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  std::string to = text_of(node.inputs[1], context);
  if (to == "float32") return expand("{0}.float()", {x});
  if (to == "int64") return expand("{0}.long()", {x});
  if (to == "bool") return expand("{0}.bool()", {x});
  return expand("{0}.to({1})", {x, py::dotted("torch." + to)});
}

// Lists become tensors; a scalar takes the shape of the other.
Expr tensor_like(const Node& node, RowContext& context) {
  bool is_list = node.inputs[0].kind() == OperandKind::Ref;
  Expr value = is_list ? py::list(context.items(node.inputs[0])) : context.value(node.inputs[0]);
  std::vector<Expr> args = {std::move(value)};
  Expr ref = context.value(node.inputs[1]);
  if (!is_list) args.insert(args.begin(), ref);
  std::string dtype = text_of(node.inputs[2], context);
  if (!dtype.empty()) args.push_back(py::keyword("dtype", py::dotted("torch." + dtype)));
  if (!is_list) return py::call(py::dotted("torch.full_like"), std::move(args));
  return py::call(py::attribute(std::move(ref), "new_tensor"), std::move(args));
}

Expr dtype_value(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]);
  return py::attribute(expand("torch.finfo({0}.dtype)", {x}), text_of(node.inputs[1], context));
}

Expr sum(const Node& node, RowContext& context) {
  Expr x = context.value(node.inputs[0]), axis = context.value(node.inputs[1]);
  if (is_true(node.inputs[2])) return expand("{0}.sum({1}, keepdim=True)", {x, axis});
  return expand("{0}.sum({1})", {x, axis});
}

// Limits of whole numbers are whole, or the result would not be.
Expr clamp(const Node& node, RowContext& context) {
  DType dtype = context.dtype(node.inputs[0]);
  Expr x = context.value(node.inputs[0]);
  std::vector<Expr> args;
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (is_null(node.inputs[i])) continue;
    const auto* number = node.inputs[i].get<graph::LitFloat>();
    bool whole = number && dtype != DType::Unknown && !is_float(dtype);
    Expr limit =
        whole ? py::integer(static_cast<int64_t>(number->value)) : context.value(node.inputs[i]);
    args.push_back(py::keyword(i == 1 ? "min" : "max", std::move(limit)));
  }
  return py::call(py::attribute(std::move(x), "clamp"), std::move(args));
}

Expr filled(const Node& node, RowContext& context) {
  Expr ref = context.value(node.inputs[0]);
  bool full = node.op == Op::Full;
  std::string dtype = text_of(node.inputs.back(), context);
  std::vector<Expr> args = {py::tuple(context.items(node.inputs[1])),
                            full ? context.value(node.inputs[2]) : py::integer(0)};
  if (!dtype.empty()) args.push_back(py::keyword("dtype", py::dotted("torch." + dtype)));
  return py::call(py::attribute(std::move(ref), "new_full"), std::move(args));
}

}  // namespace

std::optional<Expr> row(const Node& node, RowContext& context) {
  for (const Plain& plain : kPlain) {
    if (plain.op != node.op) continue;
    std::vector<Expr> args;
    for (const Operand& input : node.inputs) args.push_back(context.value(input));
    return py::as_by_hand(expand(plain.text, args));
  }
  switch (node.op) {
    case Op::Linear:
      return linear(node, context);
    case Op::Embedding: {
      Expr ids = context.value(node.inputs[1]);
      return expand("F.embedding({0}, {1})",
                    {ids, context.param(params_of(node, context.names())[0])});
    }
    case Op::Layernorm:
      return layernorm(node, context);
    case Op::ParamsParam:
      return context.param(params_of(node, context.names())[0]);
    case Op::FusedRmsNorm:
      return rms_norm(node, context);
    case Op::Rmsnorm: {
      Expr x = context.value(node.inputs[0]);
      Expr shape = py::tuple({context.dim(context.shape(node.inputs[0]).back())});
      return expand("F.rms_norm({0}, {1}, eps={2})", {x, shape, context.value(node.inputs[1])});
    }
    case Op::TensorLike:
      return tensor_like(node, context);
    case Op::DtypeValue:
      return dtype_value(node, context);
    case Op::FusedAttention:
      return attention(node, context);
    case Op::FusedRope:
      return rope(node, context);
    case Op::Topk: {
      const char* text =
          is_true(node.inputs[3]) ? "{0}.topk({1}, {2})" : "{0}.topk({1}, {2}, largest=False)";
      Expr x = context.value(node.inputs[0]);
      return expand(text, {x, context.value(node.inputs[1]), context.value(node.inputs[2])});
    }
    case Op::Softmax:
      return softmax(node, context);
    case Op::Cast:
      return cast(node, context);
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

std::optional<Expr> layer(const Node& node, const std::vector<BlockParam>& params,
                          RowContext& context) {
  bool named = !params.empty() && params.size() <= 2;
  const BlockParam* weight = nullptr;
  for (const BlockParam& p : params) {
    named &= p.name == "weight" || p.name == "bias";
    if (p.name == "weight") weight = &p;
  }
  if (!named || !weight || params_of(node, context.names())[0] != weight->path) return std::nullopt;
  std::vector<Expr> sizes;
  for (int64_t n : weight->shape) sizes.push_back(py::integer(n));
  bool bias = params.size() == 2;
  Expr no_bias = py::keyword("bias", py::atom("False"));
  switch (node.op) {
    case Op::Linear: {
      bool turned = is_true(node.inputs[4]);
      std::vector<Expr> args = {sizes[turned ? 0 : 1], sizes[turned ? 1 : 0]};
      if (!bias) args.push_back(no_bias);
      if (!turned) return py::call(py::dotted("nn.Linear"), std::move(args));
      context.helper("torch/transposed_linear");
      return py::call(py::atom("TransposedLinear"), std::move(args));
    }
    case Op::Embedding:
      return py::call(py::dotted("nn.Embedding"), std::move(sizes));
    case Op::Layernorm: {
      std::vector<Expr> args = {sizes[0], py::keyword("eps", context.value(node.inputs[2]))};
      if (!bias) args.push_back(no_bias);
      return py::call(py::dotted("nn.LayerNorm"), std::move(args));
    }
    case Op::FusedRmsNorm:
      if (bias) return std::nullopt;
      if (is_true(node.attrs[1].value)) context.helper("torch/offset_rms_norm");
      return py::call(py::dotted(is_true(node.attrs[1].value) ? "OffsetRMSNorm" : "nn.RMSNorm"),
                      {sizes[0], py::keyword("eps", context.value(node.attrs[0].value))});
    default:
      return std::nullopt;
  }
}

}  // namespace axon::emit::torch
