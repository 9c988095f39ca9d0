// Fused rows: one operation each.
#include <fmt/format.h>

#include "plan/lower.h"

namespace axon::plan {

using runtime::Activation;
using runtime::Operation;
using Use = runtime::Weight::Use;

namespace {

struct ActivationName {
  std::string_view name;
  Activation code;
};
constexpr ActivationName kActivations[] = {
    {"", Activation::None},           {"relu", Activation::Relu},
    {"relu2", Activation::Relu2},     {"silu", Activation::Silu},
    {"gelu", Activation::Gelu},       {"gelu_new", Activation::GeluTanh},
    {"sigmoid", Activation::Sigmoid}, {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"tanh", Activation::Tanh},       {"gelu_tanh", Activation::GeluTanh}};

}  // namespace

// A parameter by its path, or a tensor of the module.
runtime::ValId Lowering::weight_or_value(const graph::Operand& operand, Use use_as,
                                         bool transposed) {
  if (operand.kind() == graph::OperandKind::Path) return weight(operand, use_as, transposed);
  if (!is_tensor(operand)) return {};
  return use(view_of(operand), runtime::Layout::Any);
}

// x, weight, ?bias, ?gate, ?residual
bool Lowering::fused_linear(const Node& node) {
  runtime::ValId x = in(node.inputs[0], Operation::Linear);
  const graph::Operand* transpose = attr(node, "transpose");
  std::vector<runtime::ValId> operands = {
      x, weight_or_value(node.inputs[1], Use::Matrix, transpose && flag(*transpose)),
      weight_or_value(node.inputs[2], Use::Elementwise, false)};
  for (size_t i = 3; i < 5; ++i) {
    operands.push_back(is_tensor(node.inputs[i]) ? in(node.inputs[i], Operation::Linear)
                                                 : runtime::ValId{});
  }
  while (!operands.back().valid()) operands.pop_back();
  View to = result(node);
  runtime::Instr& instr = emit(Operation::Linear, std::move(operands), {to.base});
  const graph::Operand* activation = attr(node, "activation");
  const graph::LitString* text = activation ? activation->get<graph::LitString>() : nullptr;
  std::string_view name = text ? context_.names.text(text->value) : std::string_view();
  for (const ActivationName& row : kActivations) {
    if (row.name != name) continue;
    if (row.code != Activation::None) param(instr, "activation", static_cast<int64_t>(row.code));
    return true;
  }
  return fail(fmt::format("activation `{}` is not known", name));
}

// x, weight and x, weight, ?bias
bool Lowering::fused_norm(const Node& node) {
  Operation operation = node.op == Op::FusedRmsNorm ? Operation::RmsNorm : Operation::LayerNorm;
  std::vector<runtime::ValId> operands = {in(node.inputs[0], operation)};
  for (size_t i = 1; i < node.inputs.size(); ++i)
    operands.push_back(weight_or_value(node.inputs[i], Use::Elementwise, false));
  while (!operands.back().valid()) operands.pop_back();
  View to = result(node);
  runtime::Instr& instr = emit(operation, std::move(operands), {to.base});
  runtime::ParamValue eps = 1e-5;
  if (const graph::Operand* given = attr(node, "eps")) scalar_param(*given, eps);
  param(instr, "eps", std::move(eps));
  const graph::Operand* offset = attr(node, "unit_offset");
  if (offset && flag(*offset)) param(instr, "unit_offset", true);
  return true;
}

// x, sin, cos
bool Lowering::fused_rope(const Node& node) {
  std::vector<runtime::ValId> operands;
  for (const graph::Operand& input : node.inputs) operands.push_back(in(input, Operation::Rope));
  View to = result(node);
  runtime::Instr& instr = emit(Operation::Rope, std::move(operands), {to.base});
  const graph::Operand* interleaved = attr(node, "interleaved");
  if (interleaved && flag(*interleaved)) param(instr, "interleaved", true);
  runtime::ParamValue width = int64_t{0};
  const graph::Operand* given = attr(node, "rotary_dim");
  if (given && scalar_param(*given, width)) param(instr, "rotary_dim", std::move(width));
  return true;
}

// q, k, v, ?key_keep, ?bias, ?mask, ?sinks. The result lies as [B,S,HQ,E], so that merging heads is
// a view.
bool Lowering::fused_attention(const Node& node) {
  std::vector<runtime::ValId> operands;
  for (const graph::Operand& input : node.inputs) {
    operands.push_back(is_tensor(input) ? in(input, Operation::Attention) : runtime::ValId{});
  }
  while (!operands.back().valid()) operands.pop_back();
  std::vector<DimId> dims = result_dims(node);
  View rows = buffer({dims[0], dims[2], dims[1], dims[3]}, dtype_of(node.outputs[0]),
                     context_.names.text(module_.values[node.outputs[0]].name));
  View to = views_.permuted(rows, {0, 2, 1, 3});
  set(node, 0, to);
  runtime::ValId out = value_of(to);
  runtime::Instr& instr = emit(Operation::Attention, std::move(operands), {out});
  for (const graph::Attr& a : node.attrs) {
    std::string_view name = context_.names.text(a.name);
    if (auto* b = a.value.get<graph::LitBool>()) {
      if (b->value) param(instr, name, true);
      continue;
    }
    runtime::ParamValue value = int64_t{0};
    if (scalar_param(a.value, value)) param(instr, name, std::move(value));
  }
  return true;
}

}  // namespace axon::plan
