// RMS norm with a gain: n * w, or n * w + n.
#include "opt/fuse_context.h"

namespace axon::opt {

using graph::Node;
using graph::NodeId;
using graph::Operand;

namespace {

struct ScaledNorm {
  const Node* norm = nullptr;
  const Node* gain = nullptr;
  Operand normed;
};

// n * w with n from the primitive and w a stored vector.
std::optional<ScaledNorm> match_scaled(const FuseContext& ctx, const Node& node) {
  if (!ctx.is_mul(node)) return {};
  for (size_t side = 0; side < 2; ++side) {
    Operand normed = ctx.peel(node.inputs[side]);
    const Node* norm = ctx.def(normed, Op::Rmsnorm);
    const Node* gain = ctx.def(ctx.peel(node.inputs[1 - side]), Op::ParamsParam);
    if (!norm || !gain) continue;
    const std::vector<DimId> width = ctx.shape(node.inputs[1 - side]), whole = ctx.shape(normed);
    // Neither may be stretched to the other's width.
    if (width.size() == 1 && !whole.empty() && width[0] == whole.back())
      return ScaledNorm{norm, gain, normed};
  }
  return {};
}

}  // namespace

bool fuse_rms_norm(FuseContext& ctx, NodeId root) {
  const Node& node = ctx.module().nodes[root];
  auto scaled = match_scaled(ctx, node);
  bool unit_offset = false;
  if (!scaled && ctx.is_add(node)) {
    for (size_t side = 0; side < 2 && !scaled; ++side) {
      const Node* product = ctx.def(ctx.peel(node.inputs[side]));
      if (!product) continue;
      if (product->op == Op::FusedRmsNorm) {  // n * w was fused on its own first
        const Node* norm = ctx.def(ctx.peel(node.inputs[1 - side]), Op::Rmsnorm);
        if (!norm || !ctx.same(norm->inputs[0], product->inputs[0])) continue;
        std::vector<Operand> inputs = product->inputs;
        Operand eps = product->attrs[0].value;
        ctx.replace(root, Op::FusedRmsNorm, std::move(inputs),
                    {{"eps", eps}, {"unit_offset", ctx.boolean(true)}}, {product, norm});
        return true;
      }
      scaled = match_scaled(ctx, *product);
      if (scaled && !ctx.same(ctx.peel(node.inputs[1 - side]), scaled->normed)) scaled.reset();
      unit_offset = scaled.has_value();
    }
  }
  if (!scaled || !ctx.number(scaled->norm->inputs[1])) return false;
  Operand x = scaled->norm->inputs[0], weight = scaled->gain->inputs[0];
  double eps = *ctx.number(scaled->norm->inputs[1]);
  ctx.replace(root, Op::FusedRmsNorm, {x, weight},
              {{"eps", ctx.real(eps)}, {"unit_offset", ctx.boolean(unit_offset)}},
              {scaled->norm, scaled->gain});
  return true;
}

}  // namespace axon::opt
