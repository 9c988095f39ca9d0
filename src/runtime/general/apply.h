// How a general program calls one operation of the language: operands with checked access, and the
// table of primitives.
#pragma once

#include <string>
#include <vector>

#include "ops/op.h"
#include "runtime/general/eager.h"

namespace axon::runtime {

// The operands of one application, complete and in the order of the signature. An operand that
// nothing else refers to may be used up.
struct OpCall {
  Op op;
  std::vector<Datum>& args;
  Eager& eager;

  Datum& operator[](size_t i) const { return args[i]; }
  std::string name(size_t i) const;  // "`x` of `matmul`"
  Error wrong(size_t i, std::string_view needed) const;
  Error below_zero(size_t i, const std::string& is) const;
  Result<TensorPtr> tensor(size_t i) const;  // RUN-NULL, RUN-VALUE
  Result<int64_t> integer(size_t i) const;
  Result<double> number(size_t i) const;  // Int widens
  Result<bool> boolean(size_t i) const;
  Result<bool> flag(size_t i, bool if_null) const;
  Result<std::string> text(size_t i) const;
  Result<std::string> key(size_t i) const;  // of a path or a string
  Result<Shape> integers(size_t i) const;
  Result<Shape> sizes(size_t i) const;  // none negative
  // A dtype name; null, empty, `none` and `default` give `fallback`.
  Result<DType> dtype(size_t i, DType fallback) const;
  // An axis in [0, rank), negatives counted from the end.
  Result<size_t> axis(size_t i, size_t rank) const;
};

// A primitive or an infix operation; missing operands (Unset, or null) take their defaults.
Result<Datum> apply(Op op, std::vector<Datum> operands, Eager& eager);
// Null counts as false; a tensor of one element is its truth.
Result<bool> condition(const Datum& value);

// Of two operands, one of them a tensor (language.md 6.11).
DType result_dtype(const Datum& a, const Datum& b);
// Itself, or the number as a tensor without axes.
Result<TensorPtr> as_tensor(const OpCall& call, size_t i, DType dtype);
Result<void> check_indices(const TensorPtr& index, int64_t extent);  // RUN-INDEX

// Scalars and tensors (arithmetic.cc).
Result<Datum> apply_binary(Op op, const Datum& a, const Datum& b, Eager& eager);

// ---- families ------------------------------------------------------------------------------

#define AXON_APPLY(name) Result<Datum> name(const OpCall& call)
AXON_APPLY(apply_infix);
AXON_APPLY(apply_param);
AXON_APPLY(apply_has_root);
AXON_APPLY(apply_linear);
AXON_APPLY(apply_expert_linear);
AXON_APPLY(apply_embedding);
AXON_APPLY(apply_layernorm);
AXON_APPLY(apply_rmsnorm);
AXON_APPLY(apply_conv1d);
AXON_APPLY(apply_random);
AXON_APPLY(apply_shape);
AXON_APPLY(apply_tensor_size);
AXON_APPLY(apply_reshape);
AXON_APPLY(apply_permute);
AXON_APPLY(apply_transpose);
AXON_APPLY(apply_unsqueeze);
AXON_APPLY(apply_expand);
AXON_APPLY(apply_concat);
AXON_APPLY(apply_slice);
AXON_APPLY(apply_split);
AXON_APPLY(apply_chunk);
AXON_APPLY(apply_repeat);
AXON_APPLY(apply_arange);
AXON_APPLY(apply_filled);
AXON_APPLY(apply_tensor_like);
AXON_APPLY(apply_cast);
AXON_APPLY(apply_dtype_value);
AXON_APPLY(apply_unary);
AXON_APPLY(apply_rounding);
AXON_APPLY(apply_clamp);
AXON_APPLY(apply_where);
AXON_APPLY(apply_where_indices);
AXON_APPLY(apply_activation);
AXON_APPLY(apply_gegelu);
AXON_APPLY(apply_xielu);
AXON_APPLY(apply_sum);
AXON_APPLY(apply_along_axis);
AXON_APPLY(apply_topk);
AXON_APPLY(apply_matmul);
AXON_APPLY(apply_gather);
AXON_APPLY(apply_scatter);
AXON_APPLY(apply_scatter_reduce);
AXON_APPLY(apply_index_add);
AXON_APPLY(apply_assign_slice);
AXON_APPLY(apply_list);
AXON_APPLY(apply_require);
AXON_APPLY(apply_config);
#undef AXON_APPLY

}  // namespace axon::runtime
