// Rotary application: x * cos + rotate(x) * sin.
#include <algorithm>

#include "opt/fuse_context.h"

namespace axon::opt {

using graph::Node;
using graph::NodeId;
using graph::Operand;

namespace {

struct Rotated {
  Operand source;
  bool interleaved = false;
};

// Both halves of one chunk into two on the last axis, as (first, second).
std::optional<std::pair<Operand, Operand>> halves_of(const FuseContext& ctx, const Operand& second,
                                                     const Operand& first, Operand& source) {
  const Node* chunk = ctx.def(first, Op::Chunk);
  if (!chunk || ctx.def(second) != chunk || chunk->outputs.size() != 2) return {};
  auto a = ctx.value(first), b = ctx.value(second);
  if (chunk->outputs[0] != *a || chunk->outputs[1] != *b) return {};
  size_t rank = ctx.shape(chunk->inputs[0]).size();
  if (ctx.axis(chunk->inputs[1], rank) != static_cast<int>(rank) - 1) return {};
  source = chunk->inputs[0];
  return std::pair(first, second);
}

// concat(second * -1, first) on the last axis, of the two halves of `source`.
bool match_rotation(const FuseContext& ctx, const Operand& operand, Operand& source) {
  const Node* concat = ctx.def(ctx.peel(operand), Op::Concat);
  if (!concat || concat->inputs.size() < 3) return false;
  size_t rank = ctx.shape(concat->inputs[0]).size();
  if (rank == 0 || ctx.axis(concat->inputs[2], rank) != static_cast<int>(rank) - 1) return false;
  const Node* negated = ctx.def(concat->inputs[0]);
  if (!negated || !ctx.is_mul(*negated)) return false;
  for (size_t side = 0; side < 2; ++side) {
    if (ctx.number(negated->inputs[side]) != -1.0) continue;
    return halves_of(ctx, negated->inputs[1 - side], concat->inputs[1], source).has_value();
  }
  return false;
}

std::optional<Rotated> rotated(const FuseContext& ctx, const Operand& operand) {
  Operand source;
  if (match_rotation(ctx, operand, source)) return Rotated{source, false};
  // Neighbouring pairs: the same on a view of the last axis as pairs.
  const Node* back = ctx.def(ctx.peel(operand), Op::Reshape);
  if (!back || !match_rotation(ctx, back->inputs[0], source)) return {};
  const Node* pairs = ctx.def(source, Op::Reshape);
  if (!pairs) return {};
  std::vector<DimId> inner = ctx.shape(source), outer = ctx.shape(pairs->inputs[0]);
  bool as_pairs = inner.size() == outer.size() + 1 && ctx.shape(operand) == outer &&
                  std::equal(outer.begin(), outer.end() - 1, inner.begin());
  auto last =
      as_pairs ? ctx.integer(const_cast<FuseContext&>(ctx).dim(inner.back())) : std::nullopt;
  return last == 2 ? std::optional(Rotated{pairs->inputs[0], true}) : std::nullopt;
}

}  // namespace

bool fuse_rope(FuseContext& ctx, NodeId root) {
  const Node& node = ctx.module().nodes[root];
  if (!ctx.is_add(node)) return false;
  for (size_t side = 0; side < 2; ++side) {
    const Node* plain = ctx.def(node.inputs[side]);
    const Node* turned = ctx.def(node.inputs[1 - side]);
    if (!plain || !turned || !ctx.is_mul(*plain) || !ctx.is_mul(*turned)) continue;
    for (size_t t = 0; t < 2; ++t) {
      auto rotation = rotated(ctx, turned->inputs[t]);
      if (!rotation) continue;
      for (size_t p = 0; p < 2; ++p) {
        if (!ctx.same(ctx.peel(plain->inputs[p]), ctx.peel(rotation->source))) continue;
        Operand x = rotation->source, cos = plain->inputs[1 - p], sin = turned->inputs[1 - t];
        std::vector<DimId> wide = ctx.shape(x), factor = ctx.shape(sin);
        if (wide.size() != 4 || factor.size() != 4 || ctx.shape(cos) != factor) return false;
        if (factor[3] != wide[3] || ctx.integer(ctx.dim(factor[1])) != 1) return false;
        // The angles may be stretched over rows, x over nothing.
        const bool shared = factor[0] == wide[0] || ctx.integer(ctx.dim(factor[0])) == 1;
        if (!shared || factor[2] != wide[2]) return false;
        ctx.replace(
            root, Op::FusedRope, {x, sin, cos},
            {{"interleaved", ctx.boolean(rotation->interleaved)}, {"rotary_dim", ctx.dim(wide[3])}},
            {plain, turned});
        return true;
      }
    }
  }
  return false;
}

// concat(rope(x[..., :r]), x[..., r:]): the first r components of x turn.
bool fuse_rope_prefix(FuseContext& ctx, NodeId root) {
  const Node& node = ctx.module().nodes[root];
  if (node.op != Op::Concat || node.inputs.size() < 3) return false;
  std::vector<DimId> whole = ctx.shape(ctx.ref(node.outputs[0]));
  int last = static_cast<int>(whole.size()) - 1;
  const Node* rope = ctx.def(node.inputs[0], Op::FusedRope);
  const Node* rest = ctx.def(node.inputs[1], Op::Slice);
  if (whole.size() != 4 || !rope || !rest || ctx.axis(node.inputs[2], 4) != last) return false;
  const Node* head = ctx.def(rope->inputs[0], Op::Slice);
  if (!head || !ctx.same(head->inputs[0], rest->inputs[0])) return false;
  if (ctx.axis(head->inputs[1], 4) != last || ctx.axis(rest->inputs[1], 4) != last) return false;
  auto dim_of = [&](const Operand& operand) {
    const auto* d = operand.get<graph::DimRef>();
    const auto* i = operand.get<graph::LitInt>();
    return d ? d->dim : i ? ctx.dims().integer(i->value) : DimId{};
  };
  DimId cut = dim_of(head->inputs[3]);
  if (ctx.integer(head->inputs[2]) != 0 || !cut.valid() || dim_of(rest->inputs[2]) != cut ||
      dim_of(rest->inputs[3]) != whole[3]) {
    return false;
  }
  Operand x = head->inputs[0], sin = rope->inputs[1], cos = rope->inputs[2],
          interleaved = rope->attrs[0].value;
  ctx.replace(root, Op::FusedRope, {x, sin, cos},
              {{"interleaved", interleaved}, {"rotary_dim", ctx.dim(cut)}}, {rope, head, rest});
  return true;
}

}  // namespace axon::opt
