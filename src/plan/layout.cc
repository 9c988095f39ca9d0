// Layout operations: views wherever strides can say it.
#include "plan/lower.h"

namespace axon::plan {

bool Lowering::list_node(const Node&) { return true; }  // read by the operations that take lists

bool Lowering::reshape(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::vector<DimId> dims = result_dims(node);
  std::optional<View> view = views_.reshaped(x, dims);
  if (!view) view = views_.dense(dense(x).base, dims, x.dtype);
  set(node, 0, *view);
  return true;
}

bool Lowering::permute(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::vector<size_t> order;
  for (const graph::Operand& item : list(node.inputs[1])) {
    std::optional<size_t> at = axis(item, x.dims.size());
    if (!at) return fail("the order of axes is not constant");
    order.push_back(*at);
  }
  if (order.size() != x.dims.size()) return fail("the order of axes is not constant");
  set(node, 0, views_.permuted(x, order));
  return true;
}

bool Lowering::transpose(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> a = axis(node.inputs[1], x.dims.size()),
                        b = axis(node.inputs[2], x.dims.size());
  if (!a || !b) return fail("an axis is not constant");
  std::vector<size_t> order(x.dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::swap(order[*a], order[*b]);
  set(node, 0, views_.permuted(x, order));
  return true;
}

bool Lowering::unsqueeze(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> at = axis(node.inputs[1], x.dims.size() + 1);
  if (!at) return fail("an axis is not constant");
  set(node, 0, views_.unsqueezed(x, *at));
  return true;
}

bool Lowering::expand(const Node& node) {
  set(node, 0, views_.expanded(view_of(node.inputs[0]), result_dims(node)));
  return true;
}

bool Lowering::slice(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> at = axis(node.inputs[1], x.dims.size());
  std::optional<DimId> from = integer(node.inputs[2]);
  if (!at || !from) return fail("an axis or a bound is no integer");
  set(node, 0, views_.sliced(x, *at, *from, result_dims(node)[*at]));
  return true;
}

// split and chunk
bool Lowering::pieces(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<size_t> at = axis(node.inputs[1], x.dims.size());
  if (!at) return fail("an axis is not constant");
  DimId from = dims_.integer(0);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    DimId length = result_dims(node, i)[*at];
    set(node, i, views_.sliced(x, *at, from, length));
    from = dims_.value_add(from, length);
  }
  return true;
}

// Each slice several times in a row: an axis of stride 0 beside it.
bool Lowering::repeat(const Node& node) {
  View x = view_of(node.inputs[0]);
  std::optional<DimId> times = integer(node.inputs[1]);
  std::optional<size_t> at = axis(node.inputs[2], x.dims.size());
  if (!at || !times) return fail("an axis or the number of repetitions is no integer");
  View copies = views_.unsqueezed(x, *at + 1);
  copies.dims[*at + 1] = *times;
  std::vector<DimId> dims = result_dims(node);
  std::optional<View> view = views_.reshaped(copies, dims);
  if (!view) view = views_.dense(dense(copies).base, dims, x.dtype);
  set(node, 0, *view);
  return true;
}

bool Lowering::concat(const Node& node) {
  std::vector<graph::Operand> parts;
  for (const graph::Operand& input : node.inputs) {
    if (is_tensor(input)) parts.push_back(input);
    for (const graph::Operand& item : list(input)) parts.push_back(item);
  }
  View to = result(node);
  std::optional<size_t> at = axis(node.inputs.back(), to.dims.size());
  if (!at) return fail("an axis is not constant");
  DimId from = dims_.integer(0);
  for (const graph::Operand& part : parts) {
    View x = view_of(part);
    copy(converted(x, to.dtype), views_.sliced(to, *at, from, x.dims[*at]));
    from = dims_.value_add(from, x.dims[*at]);
  }
  return true;
}

}  // namespace axon::plan
