// Linear layers with what follows them: activation, gate, residual.

#include "opt/fuse_context.h"

namespace axon::opt {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;

namespace {

// Operand slots of linear_act_residual.
constexpr size_t kX = 0, kWeight = 1, kBias = 2, kGate = 3, kResidual = 4;
// Operand slots of the primitive `linear`.
constexpr size_t kPrimX = 1, kPrimBias = 3, kPrimTranspose = 4, kPrimExpert = 5,
                 kPrimWeightPath = 6, kPrimBiasPath = 7;

std::string_view activation_of(Op op) {
  switch (op) {
    case Op::ActivationsRelu:
      return "relu";
    case Op::ActivationsRelu2:
      return "relu2";
    case Op::ActivationsSilu:
      return "silu";
    case Op::ActivationsGelu:
      return "gelu";
    case Op::ActivationsGeluNew:
      return "gelu_new";
    case Op::ActivationsGeluPytorchTanh:
      return "gelu_pytorch_tanh";
    case Op::ActivationsSigmoid:
      return "sigmoid";
    case Op::ActivationsTanh:
      return "tanh";
    default:
      return {};
  }
}

bool is_null(const Operand& operand) { return operand.kind() == OperandKind::Null; }

std::string_view activation_text(const FuseContext& ctx, const Node& row) {
  const auto* text = row.attrs[0].value.get<graph::LitString>();
  return const_cast<FuseContext&>(ctx).dims().names().text(text->value);
}

// The row that makes an operand, when nothing else reads it.
const Node* own_row(const FuseContext& ctx, const Operand& operand) {
  const Node* row = ctx.def(operand, Op::FusedLinear);
  return row && ctx.used_once(operand) ? row : nullptr;
}

// Puts `operand` into a free slot of a copy of `row`, which then stands at `root`. Neither may be
// stretched to the other's shape.
bool absorb(FuseContext& ctx, NodeId root, const Node& row, size_t slot, const Operand& operand) {
  const graph::Module& m = ctx.module();
  const TypeId whole = m.values[m.nodes[root].outputs[0]].type;
  auto v = ctx.value(operand);
  if (!v || m.values[*v].type != whole || m.values[row.outputs[0]].type != whole) return false;
  if (!is_null(row.inputs[slot])) return false;
  std::vector<Operand> inputs = row.inputs;
  inputs[slot] = operand;
  Operand activation = row.attrs[0].value, transpose = row.attrs[1].value;
  ctx.replace(root, Op::FusedLinear, std::move(inputs),
              {{"activation", activation}, {"transpose", transpose}}, {&row});
  return true;
}

}  // namespace

bool fuse_linear_start(FuseContext& ctx, NodeId root) {
  const Node& node = ctx.module().nodes[root];
  if (node.op != Op::Linear || !is_null(node.inputs[kPrimExpert])) return false;
  const auto* bias = node.inputs[kPrimBias].get<graph::LitBool>();
  const auto* transpose = node.inputs[kPrimTranspose].get<graph::LitBool>();
  if ((!bias && !is_null(node.inputs[kPrimBias])) ||
      (!transpose && !is_null(node.inputs[kPrimTranspose])))
    return false;
  Operand x = node.inputs[kPrimX], weight = node.inputs[kPrimWeightPath];
  Operand bias_path = bias && bias->value ? node.inputs[kPrimBiasPath] : ctx.null();
  bool turned = transpose && transpose->value;
  ctx.replace(root, Op::FusedLinear, {x, weight, bias_path, ctx.null(), ctx.null()},
              {{"activation", ctx.text("")}, {"transpose", ctx.boolean(turned)}}, {});
  return true;
}

bool fuse_linear_epilogue(FuseContext& ctx, NodeId root) {
  const Node& node = ctx.module().nodes[root];
  std::string_view activation = activation_of(node.op);
  if (!activation.empty()) {
    const Node* row = own_row(ctx, node.inputs[0]);
    if (!row || !activation_text(ctx, *row).empty() || !is_null(row->inputs[kGate]) ||
        !is_null(row->inputs[kResidual])) {
      return false;
    }
    std::vector<Operand> inputs = row->inputs;
    Operand transpose = row->attrs[1].value;
    ctx.replace(root, Op::FusedLinear, std::move(inputs),
                {{"activation", ctx.text(activation)}, {"transpose", transpose}}, {row});
    return true;
  }
  if (!ctx.is_mul(node) && !ctx.is_add(node)) return false;
  size_t slot = ctx.is_mul(node) ? kGate : kResidual;
  // Of two rows the one with an activation takes the other as its gate; of two plain ones the
  // later.
  for (int want_activation = 1; want_activation >= 0; --want_activation) {
    for (size_t side = 2; side-- > 0;) {
      const Node* row = own_row(ctx, node.inputs[side]);
      if (!row || activation_text(ctx, *row).empty() == (want_activation == 1)) continue;
      if (slot == kGate && !is_null(row->inputs[kResidual])) continue;
      if (ctx.same(node.inputs[0], node.inputs[1])) continue;
      Operand other = node.inputs[1 - side];
      if (absorb(ctx, root, *row, slot, other)) return true;
    }
  }
  return false;
}

}  // namespace axon::opt
