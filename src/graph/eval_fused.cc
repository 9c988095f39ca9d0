// Fused rows of ops.def, each by its expansion into primitives.
#include <cmath>
#include <utility>

#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"

namespace axon::graph {
namespace {

using Values = std::vector<EvalValue>;

EvalValue integer(int64_t v) { return EvalValue::of(v); }
EvalValue sizes(const Shape& shape) {
  Values items;
  for (int64_t extent : shape) items.push_back(integer(extent));
  return EvalValue::list(std::move(items));
}

class Fused {
 public:
  Fused(const FusedCall& call, const EvalOptions& options) : call_(call), options_(options) {}

  Result<EvalValue> run() {
    if (!in(0).is_tensor()) return bad("its first operand is " + show(in(0)));
    switch (call_.op) {
      case Op::FusedLinear:
        return linear();
      case Op::FusedRmsNorm:
        return rms_norm();
      case Op::FusedLayerNorm:
        return layer_norm();
      case Op::FusedRope:
        return rope();
      case Op::FusedAttention:
        return attention();
      default:
        AXON_UNREACHABLE("not a fused row");
    }
  }

 private:
  const EvalValue& in(size_t i) const { return call_.inputs[i]; }
  Result<EvalValue> op(Op op, Values args) { return evaluate_op(op, std::move(args), options_); }
  Error bad(const std::string& why) const {
    return eval_error(Diag::RunValue, {"`" + std::string(spelling(call_.op)) + "`: " + why});
  }
  const EvalValue& attr(std::string_view name) const {
    for (const auto& [key, value] : call_.attrs) {
      if (key == name) return value;
    }
    return null_;
  }

  Result<EvalValue> linear();
  Result<EvalValue> rms_norm();
  Result<EvalValue> layer_norm();
  Result<EvalValue> rope();
  Result<EvalValue> attention();
  Result<EvalValue> rotate(EvalValue x, bool interleaved);
  Result<EvalValue> keep_mask(int64_t batch, int64_t queries, int64_t keys);

  const EvalValue null_;
  const FusedCall& call_;
  const EvalOptions& options_;
};

// activation(linear(x)) * gate + residual
Result<EvalValue> Fused::linear() {
  EvalValue base = EvalValue::path(""), none;
  EvalValue with_bias = EvalValue::of(!in(2).is_null());
  EvalValue bias_path = in(2).is_null() ? EvalValue::path("bias") : in(2);
  AXON_TRY(EvalValue y, op(Op::Linear, {base, in(0), none, with_bias, attr("transpose"), none,
                                        in(1), bias_path}));
  const std::string& activation = attr("activation").text;
  if (!activation.empty()) {
    auto found =
        find_op("activations_" + (activation == "gelu_tanh" ? "gelu_pytorch_tanh" : activation));
    if (!found) return bad("activation `" + activation + "` is not known");
    AXON_TRY(y, op(*found, {y}));
  }
  if (!in(3).is_null()) {
    AXON_TRY(y, op(Op::Mul, {y, in(3)}));
  }
  return op(Op::Add, {y, in(4)});
}

Result<EvalValue> Fused::rms_norm() {
  AXON_TRY(EvalValue n, op(Op::Rmsnorm, {in(0), attr("eps"), {}, EvalValue::of(true)}));
  AXON_TRY(EvalValue w, op(Op::ParamsParam, {in(1)}));
  AXON_TRY(EvalValue y, op(Op::Mul, {n, w}));
  return attr("unit_offset").boolean ? op(Op::Add, {y, n}) : Result<EvalValue>(y);
}

Result<EvalValue> Fused::layer_norm() {
  EvalValue bias_path = in(2).is_null() ? EvalValue::path("bias") : in(2);
  return op(Op::Layernorm, {EvalValue::path(""),
                            in(0),
                            attr("eps"),
                            {},
                            in(1),
                            EvalValue::of(!in(2).is_null()),
                            bias_path});
}

// (-second, first) of the halves of the last axis, or of neighbouring pairs.
Result<EvalValue> Fused::rotate(EvalValue x, bool interleaved) {
  Shape shape = x.tensor->shape;
  if (shape.empty()) return bad("a scalar turns");
  if (interleaved) {
    Shape pairs = shape;
    pairs.back() /= 2;
    pairs.push_back(2);
    AXON_TRY(x, op(Op::Reshape, {x, sizes(pairs)}));
  }
  AXON_TRY(EvalValue halves, op(Op::Chunk, {x, integer(-1), integer(2)}));
  if (halves.items.size() != 2) return bad("an odd width turns");
  AXON_TRY(EvalValue negated, op(Op::Mul, {halves.items[1], integer(-1)}));
  AXON_TRY(EvalValue out, op(Op::Concat, {negated, halves.items[0], integer(-1)}));
  return interleaved ? op(Op::Reshape, {out, sizes(shape)}) : Result<EvalValue>(out);
}

Result<EvalValue> Fused::rope() {
  if (in(0).tensor->shape.empty()) return bad("a scalar turns");
  int64_t width = in(0).tensor->shape.back();
  int64_t turning = attr("rotary_dim").is_null() ? width : attr("rotary_dim").integer;
  AXON_TRY(EvalValue x, op(Op::Slice, {in(0), integer(-1), integer(0), integer(turning)}));
  AXON_TRY(EvalValue rotated, rotate(x, attr("interleaved").boolean));
  AXON_TRY(EvalValue plain, op(Op::Mul, {x, in(2)}));
  AXON_TRY(EvalValue turned, op(Op::Mul, {rotated, in(1)}));
  AXON_TRY(EvalValue out, op(Op::Add, {plain, turned}));
  if (turning == width) return out;
  AXON_TRY(EvalValue rest, op(Op::Slice, {in(0), integer(-1), integer(turning), integer(width)}));
  return op(Op::Concat, {out, rest, integer(-1)});
}

// [B,1,S,C] from the row's formulas and the key mask.
Result<EvalValue> Fused::keep_mask(int64_t batch, int64_t queries, int64_t keys) {
  int64_t offset = attr("offset").integer;
  bool causal = attr("causal").boolean, windowed = !attr("window").is_null();
  int64_t length = attr("length").is_null() ? keys : attr("length").integer;
  const EvalTensor* key_keep = in(3).is_tensor() ? in(3).tensor.get() : nullptr;
  if (key_keep && (key_keep->shape.size() != 2 || key_keep->shape[1] < keys)) {
    return bad("key_keep is " + show(in(3)));
  }
  EvalTensor out = EvalTensor::make(DType::Bool, {batch, 1, queries, keys});
  for (int64_t n = 0; n < out.count(); ++n) {
    int64_t j = n % keys, i = n / keys % queries, b = n / keys / queries;
    bool keep = j < length;
    if (causal) keep = keep && j <= i + offset;
    if (windowed) keep = keep && j > i + offset - attr("window").integer;
    if (key_keep) {
      int64_t row = key_keep->shape[0] == 1 ? 0 : b;
      keep = keep && key_keep->get(row * key_keep->shape[1] + j) != 0;
    }
    out.set_int(n, keep);
  }
  EvalValue mask = EvalValue::of(std::move(out));
  return in(5).is_null() ? Result<EvalValue>(mask) : op(Op::And, {mask, in(5)});
}

Result<EvalValue> Fused::attention() {
  for (size_t i = 0; i < 3; ++i) {
    if (!in(i).is_tensor() || in(i).tensor->shape.size() != 4)
      return bad("an operand is " + show(in(i)));
  }
  Shape q = in(0).tensor->shape;
  int64_t heads = q[1], groups = in(1).tensor->shape[1], keys = in(1).tensor->shape[2];
  if (groups == 0 || heads % groups != 0) return bad("query heads do not divide among key heads");
  AXON_TRY(EvalValue k, op(Op::Repeat_, {in(1), integer(heads / groups), integer(1)}));
  AXON_TRY(EvalValue v, op(Op::Repeat_, {in(2), integer(heads / groups), integer(1)}));
  AXON_TRY(k, op(Op::Transpose, {k, integer(2), integer(3)}));
  AXON_TRY(EvalValue scores, op(Op::Matmul, {in(0), k}));
  AXON_TRY(scores, op(Op::Mul, {scores, attr("scale")}));
  if (!attr("softcap").is_null()) {
    AXON_TRY(scores, op(Op::Div, {scores, attr("softcap")}));
    AXON_TRY(scores, op(Op::ActivationsTanh, {scores}));
    AXON_TRY(scores, op(Op::Mul, {scores, attr("softcap")}));
  }
  AXON_TRY(scores, op(Op::Add, {scores, in(4)}));
  AXON_TRY(EvalValue keep, keep_mask(q[0], q[2], keys));
  AXON_TRY(scores, op(Op::Where, {keep, scores, EvalValue::of(-INFINITY)}));
  if (!in(6).is_null()) {
    // A sink takes part in the sum of each row and has no value.
    AXON_TRY(EvalValue sink, op(Op::Reshape, {in(6), sizes({1, heads, 1, 1})}));
    AXON_TRY(sink, op(Op::Expand, {sink, sizes({q[0], heads, q[2], 1})}));
    AXON_TRY(scores, op(Op::Concat, {scores, sink, integer(-1)}));
  }
  AXON_TRY(EvalValue weights, op(Op::Softmax, {scores}));
  if (!in(6).is_null()) {
    AXON_TRY(weights, op(Op::Slice, {weights, integer(-1), integer(0), integer(keys)}));
  }
  AXON_TRY(weights, op(Op::Where, {keep, weights, EvalValue::of(0.0)}));
  return op(Op::Matmul, {weights, v});
}

}  // namespace

Result<EvalValue> eval_fused(const FusedCall& call, const EvalOptions& options) {
  return Fused(call, options).run();
}

}  // namespace axon::graph
