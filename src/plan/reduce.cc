// Reductions, sorting, gather and scatter.
#include "plan/lower.h"

namespace axon::plan {

using runtime::Operation;

// The axis stays in the result of the operation; the program's value may leave it out.
bool Lowering::sum(const Node& node) {
  DType dtype = dtype_of(node.outputs[0]);
  View x = converted(view_of(node.inputs[0]), dtype);
  std::optional<size_t> at = axis(node.inputs[1], x.dims.size());
  if (!at) return fail("an axis is not constant");
  runtime::ValId from = value_of(x);
  std::vector<DimId> kept = x.dims;
  kept[*at] = dims_.integer(1);
  View to = buffer(kept, dtype);
  runtime::Instr& instr = emit(Operation::Reduce, {from}, {to.base});
  param(instr, "code", static_cast<int64_t>(runtime::ReduceCode::Sum));
  param(instr, "axis", static_cast<int64_t>(*at));
  set(node, 0, views_.dense(to.base, result_dims(node), dtype));
  return true;
}

// softmax, cumsum, argsort
bool Lowering::along_axis(const Node& node) {
  View x = view_of(node.inputs[0]);
  if (node.op != Op::Argsort) x = converted(x, dtype_of(node.outputs[0]));
  std::optional<size_t> at = axis(node.inputs[1], x.dims.size());
  if (!at) return fail("an axis is not constant");
  Operation operation = node.op == Op::Softmax  ? Operation::Softmax
                        : node.op == Op::Cumsum ? Operation::Cumsum
                                                : Operation::Argsort;
  runtime::ValId from = value_of(x);
  View to = result(node);
  runtime::Instr& instr = emit(operation, {from}, {to.base});
  param(instr, "axis", static_cast<int64_t>(*at));
  if (node.op == Op::Argsort) {
    param(instr, "descending", flag(node.inputs[2]));
    param(instr, "stable", flag(node.inputs[3]));
  }
  return true;
}

// x, k, dim, largest, sorted
bool Lowering::topk(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> at = axis(node.inputs[2], x.dims.size());
  runtime::ParamValue k = int64_t{0};
  if (!at || !scalar_param(node.inputs[1], k))
    return fail("an axis or the number of items is no integer");
  runtime::ValId from = value_of(x);
  View values = result(node, 0), indices = result(node, 1);
  runtime::Instr& instr = emit(Operation::Topk, {from}, {values.base, indices.base});
  param(instr, "k", std::move(k));
  param(instr, "axis", static_cast<int64_t>(*at));
  param(instr, "largest", flag(node.inputs[3]));
  param(instr, "sorted", flag(node.inputs[4]));
  return true;
}

bool Lowering::gather(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> at = axis(node.inputs[2], x.dims.size());
  if (!at) return fail("an axis is not constant");
  runtime::ValId from = value_of(x), index = value_of(view_of(node.inputs[1]));
  View to = result(node);
  param(emit(Operation::Gather, {from, index}, {to.base}), "axis", static_cast<int64_t>(*at));
  return true;
}

// scatter, scatter_reduce, index_add: x, index, src, dim, …
bool Lowering::scatter(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> at = axis(node.inputs[3], x.dims.size());
  if (!at) return fail("an axis is not constant");
  std::vector<runtime::ValId> operands = {value_of(x), value_of(view_of(node.inputs[1]))};
  runtime::ParamValue number = int64_t{0};
  bool tensor = is_tensor(node.inputs[2]);
  if (tensor)
    operands.push_back(value_of(converted(view_of(node.inputs[2]), x.dtype)));
  else if (!scalar_param(node.inputs[2], number))
    return fail("the source is neither a tensor nor a number");
  Operation operation = node.op == Op::Scatter    ? Operation::Scatter
                        : node.op == Op::IndexAdd ? Operation::IndexAdd
                                                  : Operation::ScatterReduce;
  View to = result(node);
  runtime::Instr& instr = emit(operation, std::move(operands), {to.base});
  param(instr, "axis", static_cast<int64_t>(*at));
  if (!tensor) param(instr, "value", std::move(number));
  if (node.op != Op::ScatterReduce) return true;
  const graph::LitString* kind = node.inputs[4].get<graph::LitString>();
  std::string_view name = kind ? context_.names.text(kind->value) : "sum";
  param(instr, "code", std::string(name));
  param(instr, "include_self",
        node.inputs[5].kind() == graph::OperandKind::Null || flag(node.inputs[5]));
  return true;
}

}  // namespace axon::plan
