// Scaled dot-product attention from matrix products, a softmax and a keep mask.
#include <algorithm>

#include "opt/fuse_context.h"

namespace axon::opt {

using graph::Node;
using graph::NodeId;
using graph::Operand;

namespace {

struct Scores {
  Operand q, k;
  double scale = 1.0;
  std::optional<double> softcap;
  Operand bias, keep;
  bool has_bias = false, has_keep = false;
};

// Whether neither side of a product is stretched over the other's rows or heads.
bool pairs_up(const FuseContext& ctx, const Node& product) {
  const std::vector<DimId> a = ctx.shape(product.inputs[0]), b = ctx.shape(product.inputs[1]);
  return a.size() == 4 && b.size() == 4 && a[0] == b[0] && a[1] == b[1];
}

bool divides(const Node& node) { return node.op == Op::Div || node.op == Op::CoreBinaryDiv; }

// Multiplications and divisions by numbers around an operand.
Operand peel_scale(const FuseContext& ctx, Operand operand, double& scale) {
  while (const Node* node = ctx.def(ctx.peel(operand))) {
    if (ctx.is_mul(*node)) {
      size_t side = ctx.number(node->inputs[0]) ? 0 : 1;
      auto factor = ctx.number(node->inputs[side]);
      if (!factor) break;
      scale *= *factor;
      operand = node->inputs[1 - side];
    } else if (divides(*node) && ctx.number(node->inputs[1]).value_or(0) != 0) {
      scale /= *ctx.number(node->inputs[1]);
      operand = node->inputs[0];
    } else {
      break;
    }
  }
  return ctx.peel(operand);
}

// q · kᵀ * scale, or softcap * tanh(that / softcap).
bool match_product(const FuseContext& ctx, const Operand& operand, Scores& out) {
  double outer = 1.0;
  Operand inner = peel_scale(ctx, operand, outer);
  if (const Node* tanh = ctx.def(inner, Op::ActivationsTanh)) {
    double within = 1.0;
    inner = peel_scale(ctx, tanh->inputs[0], within);
    if (outer <= 0) return false;
    out.softcap = outer;
    outer = within * outer;  // s / cap inside: the plain scale is cap times what is left
  }
  const Node* product = ctx.def(inner, Op::Matmul);
  if (!product) return false;
  const Node* transposed = ctx.def(product->inputs[1], Op::Transpose);
  if (!pairs_up(ctx, *product)) return false;
  if (!transposed) return false;
  int a = ctx.axis(transposed->inputs[1], 4), b = ctx.axis(transposed->inputs[2], 4);
  if (std::min(a, b) != 2 || std::max(a, b) != 3) return false;
  out.k = transposed->inputs[0];
  out.q = product->inputs[0];
  out.scale = outer;
  return true;
}

// The one number that a tensor is filled with.
std::optional<double> filled(const FuseContext& ctx, const Operand& operand) {
  if (auto literal = ctx.number(operand)) return literal;
  const Node* node = ctx.def(ctx.peel(operand));
  if (!node) return {};
  if (node->op == Op::Zeros || node->op == Op::ZerosLike) return 0.0;
  if (node->op == Op::Fill) return ctx.number(node->inputs[1]);
  if (node->op == Op::Full) return ctx.number(node->inputs[2]);
  return {};
}

// where(keep, 0, lowest): the additive form of a keep mask.
bool match_additive(const FuseContext& ctx, const Operand& operand, Operand& keep) {
  const Node* where = ctx.def(ctx.peel(operand), Op::Where);
  if (!where) return false;
  auto kept = filled(ctx, where->inputs[1]), dropped = filled(ctx, where->inputs[2]);
  if (kept != 0.0 || !dropped || *dropped > -1e30) return false;
  keep = where->inputs[0];
  return true;
}

// The sum under the softmax: a product of queries and keys plus masks and biases.
bool match_sum(const FuseContext& ctx, const Operand& operand, Scores& out, int depth = 0) {
  Operand inner = ctx.peel(operand);
  Operand keep;
  if (match_product(ctx, inner, out)) return true;
  const Node* node = ctx.def(inner);
  if (!node || !ctx.is_add(*node) || depth > 3) return false;
  for (size_t side = 0; side < 2; ++side) {
    Scores attempt = out;
    const Operand& other = node->inputs[1 - side];
    if (filled(ctx, other) == 0.0) {
      // a mask that keeps everything
    } else if (match_additive(ctx, other, keep)) {
      if (attempt.has_keep) continue;
      attempt.keep = keep;
      attempt.has_keep = true;
    } else {
      if (attempt.has_bias || ctx.shape(other).size() != 4) continue;
      attempt.bias = other;
      attempt.has_bias = true;
    }
    if (!match_sum(ctx, node->inputs[side], attempt, depth + 1)) continue;
    out = attempt;
    return true;
  }
  return false;
}

// The values before each head was repeated for its group of query heads.
Operand peel_repeat(const FuseContext& ctx, const Operand& operand) {
  const Node* repeat = ctx.def(ctx.peel(operand), Op::Repeat_);
  if (!repeat || ctx.axis(repeat->inputs[2], 4) != 1) return ctx.peel(operand);
  return repeat->inputs[0];
}

// The weights behind the clearing of rows without a kept key.
Operand peel_clearing(const FuseContext& ctx, const Operand& weights, bool& cleared,
                      Operand& keep) {
  const Node* where = ctx.def(ctx.peel(weights), Op::Where);
  cleared = false;
  if (!where) return ctx.peel(weights);
  const Node* other = ctx.def(ctx.peel(where->inputs[2]));
  bool zero = ctx.number(where->inputs[2]) == 0.0 ||
              (other && (other->op == Op::ZerosLike || other->op == Op::Zeros));
  if (!zero) return ctx.peel(weights);
  cleared = true;
  keep = where->inputs[0];
  return ctx.peel(where->inputs[1]);
}

}  // namespace

bool fuse_attention(FuseContext& ctx, NodeId root) {
  const Node& node = ctx.module().nodes[root];
  if (node.op != Op::Matmul || !pairs_up(ctx, node)) return false;
  Scores scores;
  Operand clearing;
  bool cleared = false;
  Operand weights = peel_clearing(ctx, node.inputs[0], cleared, clearing);
  const Node* softmax = ctx.def(weights, Op::Softmax);
  if (!softmax || ctx.axis(softmax->inputs[1], 4) != 3) return false;
  if (!match_sum(ctx, softmax->inputs[0], scores)) return false;
  // Masks and biases may be stretched over rows, heads, queries and keys; nothing over theirs.
  const std::vector<DimId> whole = ctx.shape(node.inputs[0]), queries = ctx.shape(scores.q);
  if (!std::equal(queries.begin(), queries.begin() + 3, whole.begin())) return false;
  if (whole[3] != ctx.shape(scores.k)[2]) return false;
  if (cleared && (!scores.has_keep || !ctx.same(clearing, scores.keep))) return false;
  graph::KeepFact fact;
  Operand mask = ctx.null();
  if (scores.has_keep) {
    auto keep = ctx.value(scores.keep);
    if (!keep) return false;
    auto found = graph::keep_fact(ctx.functions(), *keep, ctx.dims(), ctx.lower());
    if (found) {
      fact = *found;
    } else {
      // The row adds a mask that is not boolean, so a keep mask of numbers stays as written.
      if (ctx.module().values[*keep].dtype != DType::Bool) return false;
      mask = scores.keep;
    }
    // The row gives zeros where nothing is kept; the program must say so, or it must never happen.
    if (!cleared && !(found && fact.rows_nonempty)) return false;
  }
  Operand k = peel_repeat(ctx, scores.k), v = peel_repeat(ctx, node.inputs[1]);
  if (ctx.shape(k).size() != 4 || ctx.shape(v).size() != 4 || ctx.shape(k)[1] != ctx.shape(v)[1])
    return false;
  auto optional_dim = [&](DimId d) { return d.valid() ? ctx.dim(d) : ctx.null(); };
  Operand key_keep = fact.key_keep.valid() ? ctx.ref(fact.key_keep) : ctx.null();
  Operand bias = scores.has_bias ? scores.bias : ctx.null();
  ctx.replace(root, Op::FusedAttention, {scores.q, k, v, key_keep, bias, mask, ctx.null()},
              {{"scale", ctx.real(scores.scale)},
               {"causal", ctx.boolean(fact.causal)},
               {"offset", fact.causal ? ctx.dim(fact.offset) : ctx.null()},
               {"length", optional_dim(fact.length)},
               {"window", optional_dim(fact.window)},
               {"softcap", scores.softcap ? ctx.real(*scores.softcap) : ctx.null()}},
              {softmax});
  return true;
}

}  // namespace axon::opt
