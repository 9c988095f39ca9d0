// How the evaluator calls one primitive: its operands with checked access, and the op table.
#pragma once

#include <string>
#include <vector>

#include "graph/evaluate.h"
#include "ops/op.h"

namespace axon::graph {

// The operands of one application, complete and in the order of the signature.
struct OpCall {
  Op op;
  const std::vector<EvalValue>& args;
  const EvalOptions& options;

  const EvalValue& operator[](size_t i) const { return args[i]; }
  std::string name(size_t i) const;  // "`x` of `matmul`"
  Error wrong(size_t i, std::string_view needed) const;
  Error below_zero(size_t i, const std::string& is) const;
  Result<const EvalTensor*> tensor(size_t i) const;  // RUN-NULL, RUN-VALUE
  Result<int64_t> integer(size_t i) const;
  Result<double> number(size_t i) const;  // Int widens
  Result<bool> boolean(size_t i) const;
  Result<std::string> text(size_t i) const;
  Result<std::string> key(size_t i) const;  // of a path or a string
  Result<std::vector<int64_t>> integers(size_t i) const;
  Result<std::vector<int64_t>> sizes(size_t i) const;  // none negative
  // A dtype name; null, empty, `none` and `default` give `fallback`.
  Result<DType> dtype(size_t i, DType fallback) const;
  // An axis in [0, rank), negatives counted from the end.
  Result<size_t> axis(size_t i, size_t rank) const;
};

using OpFunction = Result<EvalValue> (*)(const OpCall&);

// Operators of core.binary.* on any operands, with the rules for null.
Result<EvalValue> eval_binary(Op op, const EvalValue& left, const EvalValue& right);
// A primitive with all its operands.
Result<EvalValue> eval_primitive(const OpCall& call);
// Its operands completed with the signature's defaults; null takes the default, too.
Result<std::vector<EvalValue>> complete_operands(Op op,
                                                 std::vector<std::optional<EvalValue>> given);

// A fused row: operands in the order of its row in ops.def, attributes by name.
struct FusedCall {
  Op op;
  std::vector<EvalValue> inputs;
  std::vector<std::pair<std::string, EvalValue>> attrs;
};
Result<EvalValue> eval_fused(const FusedCall& call, const EvalOptions& options);

// ---- families (one file each) --------------------------------------------------------------

#define AXON_EVAL(name) Result<EvalValue> name(const OpCall& call)
AXON_EVAL(eval_params_param);
AXON_EVAL(eval_has_root);
AXON_EVAL(eval_config);
AXON_EVAL(eval_config_has);
AXON_EVAL(eval_linear);
AXON_EVAL(eval_expert_linear);
AXON_EVAL(eval_embedding);
AXON_EVAL(eval_layernorm);
AXON_EVAL(eval_rmsnorm);
AXON_EVAL(eval_shape);
AXON_EVAL(eval_tensor_size);
AXON_EVAL(eval_reshape);
AXON_EVAL(eval_permute);
AXON_EVAL(eval_transpose);
AXON_EVAL(eval_unsqueeze);
AXON_EVAL(eval_expand);
AXON_EVAL(eval_concat);
AXON_EVAL(eval_slice);
AXON_EVAL(eval_split);
AXON_EVAL(eval_chunk);
AXON_EVAL(eval_repeat);
AXON_EVAL(eval_arange);
AXON_EVAL(eval_filled);
AXON_EVAL(eval_tensor_like);
AXON_EVAL(eval_cast);
AXON_EVAL(eval_dtype_value);
AXON_EVAL(eval_arithmetic);
AXON_EVAL(eval_unary);
AXON_EVAL(eval_rounding);
AXON_EVAL(eval_clamp);
AXON_EVAL(eval_compare);
AXON_EVAL(eval_where);
AXON_EVAL(eval_where_indices);
AXON_EVAL(eval_activation);
AXON_EVAL(eval_gegelu);
AXON_EVAL(eval_xielu);
AXON_EVAL(eval_sum);
AXON_EVAL(eval_cumsum);
AXON_EVAL(eval_softmax);
AXON_EVAL(eval_topk);
AXON_EVAL(eval_argsort);
AXON_EVAL(eval_matmul);
AXON_EVAL(eval_gather);
AXON_EVAL(eval_scatter);
AXON_EVAL(eval_scatter_reduce);
AXON_EVAL(eval_index_add);
AXON_EVAL(eval_assign_slice);
AXON_EVAL(eval_conv1d);
AXON_EVAL(eval_random);
AXON_EVAL(eval_list);
AXON_EVAL(eval_require);
#undef AXON_EVAL

}  // namespace axon::graph
