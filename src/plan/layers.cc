// Layers that read parameters, norms and products.
#include <fmt/format.h>

#include <algorithm>

#include "plan/lower.h"

namespace axon::plan {

using runtime::Operation;
using Use = runtime::Weight::Use;

runtime::ValId Lowering::weight_value(runtime::WeightId id, std::string_view key) {
  auto [it, fresh] = weight_values_.emplace(id, runtime::ValId{});
  if (!fresh) return it->second;
  const runtime::Weight& facts = context_.program.weights[id];
  runtime::Value made;
  DType stored = storage_info(facts.storage).dtype;
  made.dtype = is_float(stored) ? DType::F32 : stored;
  for (int64_t n : facts.shape) made.shape.push_back(context_.program.constant(n));
  made.place = runtime::PlaceWeight{id};
  made.name = std::string(key);
  it->second = phase_.values.add(std::move(made));
  return it->second;
}

// The weight of a path; other rounds of the loop read the same place of their own paths.
runtime::ValId Lowering::weight(const graph::Operand& path, Use use, bool transposed,
                                std::string_view suffix, int64_t item) {
  std::string key = key_of(path) + std::string(suffix);
  runtime::ValId value = weight_value(context_.weights.get(key, use, transposed, item), key);
  const graph::Path* written = path.get<graph::Path>();
  bool varies = std::any_of(written->pieces.begin(), written->pieces.end(),
                            [](const auto& p) { return p.placeholder; });
  if (varies && current_ >= 0) {
    written_[static_cast<size_t>(current_)].weights.push_back(
        {value, written, std::string(suffix), use, transposed, item});
  }
  return value;
}

bool Lowering::params_param(const Node& node) {
  runtime::ValId id = weight(node.inputs[0], Use::Elementwise);
  set(node, 0, views_.dense(id, dims_of(node.outputs[0]), dtype_of(node.outputs[0])));
  return true;
}

// path, x, dim, bias, transpose, expert, weight_path, bias_path
bool Lowering::linear(const Node& node) {
  runtime::ValId x = in(node.inputs[1], Operation::Linear);
  int64_t item = constant_integer(node.inputs[5]).value_or(-1);
  runtime::ValId w = weight(node.inputs[6], Use::Matrix, flag(node.inputs[4]), {}, item);
  std::vector<runtime::ValId> operands = {x, w};
  if (flag(node.inputs[3])) {
    bool banked = item >= 0 && context_.weights.rank(key_of(node.inputs[7])) > 1;
    operands.push_back(
        weight(node.inputs[7], Use::Elementwise, false, {}, banked ? item : int64_t{-1}));
  }
  View to = result(node);
  emit(Operation::Linear, std::move(operands), {to.base});
  return true;
}

// path, x, expert_idx, dim, bias, transpose, weight_path, bias_path
bool Lowering::expert_linear(const Node& node) {
  std::vector<runtime::ValId> operands = {
      in(node.inputs[1], Operation::ExpertLinear), in(node.inputs[2], Operation::ExpertLinear),
      weight(node.inputs[6], Use::Matrix, flag(node.inputs[5]))};
  if (flag(node.inputs[4])) operands.push_back(weight(node.inputs[7], Use::Elementwise));
  View to = result(node);
  emit(Operation::ExpertLinear, std::move(operands), {to.base});
  return true;
}

bool Lowering::embedding(const Node& node) {
  runtime::ValId ids = in(node.inputs[1], Operation::Embedding);
  runtime::ValId table = weight(node.inputs[0], Use::Rows, false, ".weight");
  View to = result(node);
  emit(Operation::Embedding, {ids, table}, {to.base});
  return true;
}

// path, x, eps, dim, weight_path, bias, bias_path
bool Lowering::layernorm(const Node& node) {
  runtime::ValId x = in(node.inputs[1], Operation::LayerNorm);
  std::vector<runtime::ValId> operands = {x, weight(node.inputs[4], Use::Elementwise)};
  if (flag(node.inputs[5])) operands.push_back(weight(node.inputs[6], Use::Elementwise));
  View to = result(node);
  runtime::ParamValue eps = 1e-5;
  scalar_param(node.inputs[2], eps);
  param(emit(Operation::LayerNorm, std::move(operands), {to.base}), "eps", std::move(eps));
  return true;
}

bool Lowering::rmsnorm(const Node& node) {
  runtime::ValId x = in(node.inputs[0], Operation::RmsNorm);
  View to = result(node);
  runtime::ParamValue eps = 1e-6;
  scalar_param(node.inputs[1], eps);
  param(emit(Operation::RmsNorm, {x}, {to.base}), "eps", std::move(eps));
  return true;
}

bool Lowering::matmul(const Node& node) {
  DType dtype = dtype_of(node.outputs[0]);
  std::vector<DimId> batch = result_dims(node);
  batch.resize(batch.size() - 2);
  std::vector<runtime::ValId> operands;
  for (size_t i = 0; i < 2; ++i) {
    View x = converted(view_of(node.inputs[i]), dtype);
    std::vector<DimId> dims = batch;
    dims.insert(dims.end(), x.dims.end() - 2, x.dims.end());
    operands.push_back(value_of(views_.expanded(x, dims)));
  }
  View to = result(node);
  emit(Operation::Matmul, std::move(operands), {to.base});
  return true;
}

// x, weight, bias, stride, padding_left, padding_right, dilation, groups
bool Lowering::conv1d(const Node& node) {
  std::vector<runtime::ValId> operands = {in(node.inputs[0], Operation::Conv1d),
                                          in(node.inputs[1], Operation::Conv1d)};
  if (is_tensor(node.inputs[2])) operands.push_back(in(node.inputs[2], Operation::Conv1d));
  View to = result(node);
  runtime::Instr& instr = emit(Operation::Conv1d, std::move(operands), {to.base});
  static constexpr const char* kNames[] = {"stride", "padding_left", "padding_right", "dilation",
                                           "groups"};
  for (size_t i = 0; i < 5; ++i) {
    runtime::ParamValue value = int64_t{0};
    if (!scalar_param(node.inputs[3 + i], value))
      return fail(fmt::format("{} is no integer", kNames[i]));
    param(instr, kNames[i], std::move(value));
  }
  return true;
}

}  // namespace axon::plan
