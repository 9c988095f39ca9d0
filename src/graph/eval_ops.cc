// Operands with checked access, defaults, and the table of primitives.
#include "graph/eval_ops.h"

#include <array>

#include "ops/signature.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using Kind = EvalValue::Kind;

struct Row {
  Op op;
  OpFunction function;
};

constexpr Row kRows[] = {
    {Op::ParamsParam, eval_params_param},
    {Op::ParamsHasRoot, eval_has_root},
    {Op::ConfigInt, eval_config},
    {Op::ConfigDim, eval_config},
    {Op::ConfigFloat, eval_config},
    {Op::ConfigBool, eval_config},
    {Op::ConfigStr, eval_config},
    {Op::ConfigList, eval_config},
    {Op::ConfigValue, eval_config},
    {Op::ConfigHas, eval_config_has},
    {Op::ConfigHasValue, eval_config_has},
    {Op::Linear, eval_linear},
    {Op::ExpertLinear, eval_expert_linear},
    {Op::Embedding, eval_embedding},
    {Op::Layernorm, eval_layernorm},
    {Op::Rmsnorm, eval_rmsnorm},
    {Op::L2norm, eval_rmsnorm},
    {Op::Shape, eval_shape},
    {Op::TensorSize, eval_tensor_size},
    {Op::Reshape, eval_reshape},
    {Op::Permute, eval_permute},
    {Op::Transpose, eval_transpose},
    {Op::Unsqueeze, eval_unsqueeze},
    {Op::Expand, eval_expand},
    {Op::Concat, eval_concat},
    {Op::Slice, eval_slice},
    {Op::Split, eval_split},
    {Op::Chunk, eval_chunk},
    {Op::Repeat_, eval_repeat},
    {Op::Arange, eval_arange},
    {Op::Zeros, eval_filled},
    {Op::Empty, eval_filled},
    {Op::Full, eval_filled},
    {Op::ZerosLike, eval_filled},
    {Op::EmptyLike, eval_filled},
    {Op::Fill, eval_filled},
    {Op::TensorLike, eval_tensor_like},
    {Op::Cast, eval_cast},
    {Op::CastLike, eval_cast},
    {Op::DtypeValue, eval_dtype_value},
    {Op::Add, eval_arithmetic},
    {Op::Mul, eval_arithmetic},
    {Op::Div, eval_arithmetic},
    {Op::Pow, eval_arithmetic},
    {Op::Exp, eval_unary},
    {Op::Log, eval_unary},
    {Op::Sin, eval_unary},
    {Op::Cos, eval_unary},
    {Op::Acos, eval_unary},
    {Op::Sqrt, eval_unary},
    {Op::Floor, eval_rounding},
    {Op::Round, eval_rounding},
    {Op::Clamp, eval_clamp},
    {Op::Eq, eval_compare},
    {Op::Le, eval_compare},
    {Op::And, eval_compare},
    {Op::Where, eval_where},
    {Op::WhereIndices, eval_where_indices},
    {Op::ActivationsGelu, eval_activation},
    {Op::ActivationsTanh, eval_activation},
    {Op::ActivationsSigmoid, eval_activation},
    {Op::ActivationsGeluNew, eval_activation},
    {Op::ActivationsGeluPytorchTanh, eval_activation},
    {Op::ActivationsSilu, eval_activation},
    {Op::ActivationsRelu, eval_activation},
    {Op::ActivationsRelu2, eval_activation},
    {Op::ActivationsGegelu, eval_gegelu},
    {Op::ActivationsXielu, eval_xielu},
    {Op::ActivationsSwiglu, eval_activation},
    {Op::Sum, eval_sum},
    {Op::Cumsum, eval_cumsum},
    {Op::Softmax, eval_softmax},
    {Op::Topk, eval_topk},
    {Op::Argsort, eval_argsort},
    {Op::Matmul, eval_matmul},
    {Op::Gather, eval_gather},
    {Op::Scatter, eval_scatter},
    {Op::ScatterReduce, eval_scatter_reduce},
    {Op::IndexAdd, eval_index_add},
    {Op::AssignSlice, eval_assign_slice},
    {Op::AssignUnitSlice, eval_assign_slice},
    {Op::Conv1d, eval_conv1d},
    {Op::RandomNormal, eval_random},
    {Op::RandomUniform, eval_random},
    {Op::ListInit, eval_list},
    {Op::ListAppend, eval_list},
    {Op::ListIndex, eval_list},
    {Op::ListLength, eval_list},
    {Op::Require, eval_require},
};

constexpr std::array<OpFunction, kOpCount> make_table() {
  std::array<OpFunction, kOpCount> table{};
  for (const Row& row : kRows) table[static_cast<size_t>(row.op)] = row.function;
  return table;
}
constexpr std::array<OpFunction, kOpCount> kTable = make_table();

// Looks at the rows, not at the functions: their addresses are no constants under sanitizers.
constexpr bool has_row(Op op) {
  for (const Row& row : kRows) {
    if (row.op == op) return true;
  }
  return false;
}
#define AXON_PRIM(ident, name, effect, signature, rule, dtype) \
  static_assert(has_row(Op::ident), "a primitive lacks an evaluator");
#include "ops/ops.def"

// A default as the op table writes it.
EvalValue default_value(std::string_view text) {
  if (text == "null") return EvalValue::null();
  if (text == "true" || text == "false") return EvalValue::of(text == "true");
  if (starts_with(text, "@")) return EvalValue::path(std::string(text.substr(1)), false);
  if (starts_with(text, "\"")) return EvalValue::of(std::string(text.substr(1, text.size() - 2)));
  if (auto integer = parse_int(text)) return EvalValue::of(*integer);
  auto real = parse_double(text);
  AXON_CHECK(real.has_value(), "default of a primitive that is no literal");
  return EvalValue::of(*real);
}

}  // namespace

std::string OpCall::name(size_t i) const {
  return "`" + std::string(op_signature(op).params[i].name) + "` of `" + std::string(spelling(op)) +
         "`";
}

Error OpCall::wrong(size_t i, std::string_view needed) const {
  if (args[i].is_null()) return eval_error(Diag::RunNull, {name(i)});
  return eval_error(Diag::RunValue,
                    {name(i) + " is " + show(args[i]) + ", needs " + std::string(needed)});
}

Error OpCall::below_zero(size_t i, const std::string& is) const {
  return eval_error(Diag::RunShape, {name(i), is, "the least size", "0"});
}

Result<const EvalTensor*> OpCall::tensor(size_t i) const {
  if (!args[i].is_tensor()) return wrong(i, "a tensor");
  return args[i].tensor.get();
}

Result<int64_t> OpCall::integer(size_t i) const {
  if (args[i].kind != Kind::Int) return wrong(i, "an integer");
  return args[i].integer;
}

Result<double> OpCall::number(size_t i) const {
  if (!args[i].is_number()) return wrong(i, "a number");
  return args[i].as_double();
}

Result<bool> OpCall::boolean(size_t i) const {
  if (args[i].kind != Kind::Bool) return wrong(i, "true or false");
  return args[i].boolean;
}

Result<std::string> OpCall::text(size_t i) const {
  if (args[i].kind != Kind::String) return wrong(i, "a string");
  return args[i].text;
}

Result<std::string> OpCall::key(size_t i) const {
  if (args[i].kind != Kind::Path && args[i].kind != Kind::String) return wrong(i, "a path");
  return args[i].text;
}

Result<std::vector<int64_t>> OpCall::integers(size_t i) const {
  if (args[i].kind != Kind::List && args[i].kind != Kind::Tuple)
    return wrong(i, "a list of integers");
  std::vector<int64_t> out;
  for (const EvalValue& item : args[i].items) {
    if (item.kind != Kind::Int) return wrong(i, "a list of integers");
    out.push_back(item.integer);
  }
  return out;
}

Result<std::vector<int64_t>> OpCall::sizes(size_t i) const {
  AXON_TRY(std::vector<int64_t> out, integers(i));
  for (int64_t extent : out) {
    if (extent < 0) return below_zero(i, show_shape(out));
  }
  return out;
}

Result<DType> OpCall::dtype(size_t i, DType fallback) const {
  if (args[i].is_null()) return fallback;
  AXON_TRY(std::string word, text(i));
  if (word.empty() || word == "none" || word == "default") return fallback;
  auto found = parse_dtype(word);
  if (!found) return eval_error(Diag::RunDtype, {word});
  return *found;
}

Result<size_t> OpCall::axis(size_t i, size_t rank) const {
  AXON_TRY(int64_t axis, integer(i));
  int64_t count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return eval_error(Diag::RunIndex, {axis, count});
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

Result<EvalValue> eval_primitive(const OpCall& call) {
  return kTable[static_cast<size_t>(call.op)](call);
}

Result<std::vector<EvalValue>> complete_operands(Op op,
                                                 std::vector<std::optional<EvalValue>> given) {
  const OpSignature& signature = op_signature(op);
  AXON_CHECK(given.size() <= signature.params.size(), "too many operands for a primitive");
  given.resize(signature.params.size());
  std::vector<EvalValue> out;
  for (size_t i = 0; i < given.size(); ++i) {
    const OpParam& param = signature.params[i];
    bool absent = !given[i] || given[i]->is_null();
    if (absent && param.has_default)
      out.push_back(default_value(param.default_text));
    else
      out.push_back(given[i] ? std::move(*given[i]) : EvalValue::null());
  }
  return out;
}

Result<EvalValue> eval_list(const OpCall& call) {
  switch (call.op) {
    case Op::ListInit:
      return EvalValue::list({});
    case Op::ListAppend: {
      if (!call[0].is_null() && call[0].kind != Kind::List) return call.wrong(0, "a list");
      std::vector<EvalValue> items = call[0].items;
      items.push_back(call[1]);
      return EvalValue::list(std::move(items));
    }
    case Op::ListIndex: {
      if (call[0].is_null()) return EvalValue::null();
      if (call[0].kind != Kind::List && call[0].kind != Kind::Tuple) return call.wrong(0, "a list");
      AXON_TRY(int64_t index, call.integer(1));
      int64_t count = static_cast<int64_t>(call[0].items.size());
      if (index < -count || index >= count) return eval_error(Diag::RunIndex, {index, count});
      return call[0].items[static_cast<size_t>(index < 0 ? index + count : index)];
    }
    case Op::ListLength:
      if (!call[0].is_null() && call[0].kind != Kind::List) return call.wrong(0, "a list");
      return EvalValue::of(static_cast<int64_t>(call[0].items.size()));
    default:
      AXON_UNREACHABLE("not a list primitive");
  }
}

Result<EvalValue> eval_require(const OpCall& call) {
  if (call[0].is_null()) return eval_error(Diag::RunNull, {"`require`"});
  return call[0];
}

}  // namespace axon::graph
