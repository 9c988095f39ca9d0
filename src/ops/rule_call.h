// One application of a typing rule, with the helpers that rules share. Private to the ops layer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/type_rules.h"

namespace axon::ops {

using Axes = std::vector<Axis>;

class RuleCall {
 public:
  RuleCall(Op op_in, std::vector<RuleArg> args_in, Unifier& unifier)
      : op(op_in),
        args(std::move(args_in)),
        u(unifier),
        types(unifier.types()),
        dims(unifier.dims()) {}

  Op op;
  std::vector<RuleArg> args;  // optionals stripped where a value is needed
  Unifier& u;
  TypeTable& types;
  DimTable& dims;
  std::optional<RuleError> error;
  std::vector<int> optional_arguments;  // optionals that the rule itself took for values

  TypeKind kind(size_t i) const {
    return i < args.size() ? types.kind(args[i].type) : TypeKind::Null;
  }
  bool is_tensor(size_t i) const { return kind(i) == TypeKind::Tensor; }
  bool is_null(size_t i) const {
    return i >= args.size() || args[i].known.is_null() || kind(i) == TypeKind::Null;
  }
  // Takes an argument as a value, noting where it may be null.
  void need_value(size_t i) {
    if (kind(i) == TypeKind::Optional) optional_arguments.push_back(static_cast<int>(i));
    args[i].type = types.strip_optional(args[i].type);
  }
  // Any, a type variable, or an error: nothing can be said.
  bool is_open(size_t i) const;
  // An error stands for what failed, and for values of branches that nothing takes.
  bool is_error(size_t i) const { return kind(i) == TypeKind::Error; }
  // Axes of a tensor argument; empty for unknown rank.
  Axes axes(size_t i) const;
  // The dim that an argument stands for; nothing for null or an unknown value.
  std::optional<DimId> dim(size_t i) const;
  std::optional<int64_t> integer(size_t i) const;
  std::optional<bool> boolean(size_t i) const;
  DimId dim_or_unknown(size_t i) {
    auto d = dim(i);
    return d ? *d : u.unknown();
  }
  // Position in `axes` of axis number `index` (negative counts from the end) of a shape with
  // `axes.size() + extra` places. Nothing when it is not known; sets `error` when out of range.
  std::optional<size_t> position(const Axes& axes, std::optional<int64_t> index, int64_t extra = 0);
  // Dims of a shape argument; nothing when the list is not known.
  std::optional<std::vector<DimId>> shape(size_t i);
  std::optional<DimId> product(const Axes& axes);
  // Records that two dims must be equal, or fails when they cannot be.
  void require_equal(DimId left, DimId right, int argument);

  TypeId tensor(Axes axes) { return axes.empty() ? types.tensor() : types.tensor(std::move(axes)); }
  // A shape of the same rank with nothing known of its dims (runs give an unknown rank).
  TypeId forget(const Axes& axes);
  RuleResult fail(std::string text);
  RuleResult fail(Mismatch mismatch, int argument);
  RuleResult result(TypeId type, Known known = {}) {
    return {type, std::move(known), std::move(error), std::move(optional_arguments)};
  }
};

using Rule = RuleResult (*)(RuleCall&);

// layout
RuleResult rule_Reshape(RuleCall& c);
RuleResult rule_Permute(RuleCall& c);
RuleResult rule_Transpose(RuleCall& c);
RuleResult rule_Unsqueeze(RuleCall& c);
RuleResult rule_Expand(RuleCall& c);
RuleResult rule_Concat(RuleCall& c);
RuleResult rule_Slice(RuleCall& c);
RuleResult rule_Split(RuleCall& c);
RuleResult rule_Chunk(RuleCall& c);
RuleResult rule_Repeat(RuleCall& c);
// elementwise
RuleResult rule_Arithmetic(RuleCall& c);
RuleResult rule_FloatOrTensor(RuleCall& c);
RuleResult rule_IntOrTensor(RuleCall& c);
RuleResult rule_Compare(RuleCall& c);
RuleResult rule_Where(RuleCall& c);
RuleResult rule_WhereIndices(RuleCall& c);
RuleResult rule_binary(RuleCall& c);
// indexing
RuleResult rule_Gather(RuleCall& c);
RuleResult rule_Scatter(RuleCall& c);
RuleResult rule_IndexAdd(RuleCall& c);
RuleResult rule_Conv1d(RuleCall& c);
// the rest
RuleResult rule_Param(RuleCall& c);
RuleResult rule_HasRoot(RuleCall& c);
RuleResult rule_Declared(RuleCall& c);
RuleResult rule_ConfigDim(RuleCall& c);
RuleResult rule_LastAxisDim(RuleCall& c);
RuleResult rule_EmbeddingDim(RuleCall& c);
RuleResult rule_LikeFirst(RuleCall& c);
RuleResult rule_Arange(RuleCall& c);
RuleResult rule_Shaped(RuleCall& c);
RuleResult rule_TensorLike(RuleCall& c);
RuleResult rule_Sum(RuleCall& c);
RuleResult rule_Topk(RuleCall& c);
RuleResult rule_Matmul(RuleCall& c);
RuleResult rule_ListAppend(RuleCall& c);
RuleResult rule_ListIndex(RuleCall& c);
RuleResult rule_Require(RuleCall& c);

}  // namespace axon::ops
