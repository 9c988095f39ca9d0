// Masks of attention as steps of their own.
#include "emit/outline/keeps.h"

#include <algorithm>

namespace axon::emit {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;

// Slots of the fused row `attention`.
constexpr size_t kKeyKeep = 3, kBias = 4, kMask = 5;
constexpr size_t kCausal = 1, kOffset = 2, kLength = 3, kWindow = 4, kSoftcap = 5;

bool is_null(const Operand& operand) { return operand.kind() == OperandKind::Null; }

Operand ref_to(ValueId value) {
  Operand out;
  out.data = graph::Ref{value};
  return out;
}

class Keeps {
 public:
  Keeps(Joined& joined, const Calls& calls, TypeTable& types)
      : j_(joined), calls_(calls), types_(types), dims_(types.dims()) {}

  void run() {
    std::vector<NodeId> order = j_.order;
    for (NodeId id : order) {
      if (j_.steps[id].node.op == Op::FusedAttention) mask(id);
    }
  }

 private:
  Node& row(NodeId id) { return j_.steps[id].node; }

  void mask(NodeId id) {
    bool causal = row(id).attrs[kCausal].value.as<graph::LitBool>().value;
    bool formula = causal || !is_null(row(id).attrs[kWindow].value);
    bool given = !is_null(row(id).inputs[kMask]);
    if (!given && (formula || !is_null(row(id).inputs[kKeyKeep]))) {
      Operand keep = ref_to(keep_of(id));
      row(id).inputs[kMask] = std::move(keep);
      row(id).inputs[kKeyKeep] = Operand{};
      for (size_t i : {kOffset, kLength, kWindow}) row(id).attrs[i].value = Operand{};
    }
    if (is_null(row(id).inputs[kBias]) || is_null(row(id).inputs[kMask])) return;
    Operand bias = ref_to(bias_of(id));
    row(id).inputs[kBias] = std::move(bias);
    row(id).inputs[kMask] = Operand{};
    row(id).attrs[kCausal].value.data = graph::LitBool{false};
  }

  // Equal masks are one step, before the first loop.
  ValueId keep_of(NodeId attention) {
    bool always =
        !is_null(row(attention).inputs[kBias]) || !is_null(row(attention).attrs[kSoftcap].value);
    for (NodeId id : j_.order) {
      Step& step = j_.steps[id];
      if (step.kind != Step::Kind::Keep || !same_mask(step.node, row(attention))) continue;
      ValueId made = step.node.outputs[0];
      step.always |= always;
      if (always && is_formula(step.node)) j_.values[made].optional = false;
      return made;
    }
    const Node& of = row(attention);
    Step step;
    step.kind = Step::Kind::Keep;
    step.always = always;
    step.node.inputs = {of.inputs[kKeyKeep]};
    for (size_t i = kCausal; i <= kWindow; ++i) step.node.attrs.push_back(of.attrs[i]);
    step.node.span = of.span;
    graph::Value value;
    value.name = dims_.names().intern("keep");
    value.dtype = DType::Bool;
    DimId keys = types_.dims_of(j_.values[of.inputs[1].as<graph::Ref>().value].type)[2];
    DimId queries = types_.dims_of(j_.values[of.inputs[0].as<graph::Ref>().value].type)[2];
    value.type = types_.tensor_of({dims_.of(calls_.batch), dims_.integer(1), queries, keys});
    value.optional = is_formula(step.node) ? !always : may_be_missing(of.inputs[kKeyKeep]);
    return insert(std::move(step), std::move(value));
  }

  // Not a padding mask alone, which is missing where none is given.
  static bool is_formula(const Node& keep) {
    return keep.attrs[0].value.as<graph::LitBool>().value || !is_null(keep.attrs[3].value);
  }

  bool may_be_missing(const Operand& padding) const {
    ValueId value = padding.as<graph::Ref>().value;
    bool out = j_.values[value].optional;
    for (const JoinedInput& input : j_.inputs) out |= input.value == value && input.optional;
    return out;
  }

  static bool same_mask(const Node& keep, const Node& row) {
    bool same = same_operand(keep.inputs[0], row.inputs[kKeyKeep]);
    for (size_t i = 0; i < 4; ++i)
      same &= same_operand(keep.attrs[i].value, row.attrs[i + 1].value);
    return same;
  }

  ValueId bias_of(NodeId attention) {
    const Operand bias = row(attention).inputs[kBias], keep = row(attention).inputs[kMask];
    for (NodeId id : j_.order) {
      const Step& step = j_.steps[id];
      if (step.kind == Step::Kind::Bias && same_operand(step.node.inputs[0], bias) &&
          same_operand(step.node.inputs[1], keep))
        return step.node.outputs[0];
    }
    Step step;
    step.kind = Step::Kind::Bias;
    step.node.inputs = {bias, keep};
    if (const Node* maker = j_.producer(bias.as<graph::Ref>().value))
      step.node.scope = maker->scope;
    step.node.span = row(attention).span;
    graph::Value value = j_.values[bias.as<graph::Ref>().value];
    value.name = dims_.names().intern("bias");
    value.optional = false;
    std::vector<DimId> shape = types_.dims_of(j_.values[keep.as<graph::Ref>().value].type);
    shape[1] = types_.dims_of(value.type)[1];
    value.type = types_.tensor_of(shape);
    return insert(std::move(step), std::move(value));
  }

  // Behind what it reads and what else belongs to no scope there.
  ValueId insert(Step step, graph::Value value) {
    size_t place = 0;
    for (const Operand& input : step.node.inputs) {
      const auto* ref = input.get<graph::Ref>();
      if (!ref) continue;
      auto it = std::find(j_.order.begin(), j_.order.end(), j_.values[ref->value].producer);
      if (it == j_.order.end()) continue;
      place = std::max(place, static_cast<size_t>(it - j_.order.begin()) + 1);
    }
    while (place < j_.order.size() && j_.steps[j_.order[place]].node.scope.pieces.empty() &&
           op_info(j_.steps[j_.order[place]].node.op).op_class != OpClass::Fused)
      ++place;
    NodeId id = j_.steps.add(std::move(step));
    value.producer = id;
    value.output_index = 0;
    ValueId made = j_.values.add(std::move(value));
    j_.steps[id].node.outputs = {made};
    j_.order.insert(j_.order.begin() + static_cast<long>(place), id);
    return made;
  }

  static bool same_operand(const Operand& a, const Operand& b) {
    if (a.kind() != b.kind()) return false;
    if (const auto* ref = a.get<graph::Ref>()) return ref->value == b.as<graph::Ref>().value;
    if (const auto* dim = a.get<graph::DimRef>()) return dim->dim == b.as<graph::DimRef>().dim;
    if (const auto* flag = a.get<graph::LitBool>())
      return flag->value == b.as<graph::LitBool>().value;
    return a.kind() == OperandKind::Null;
  }

  Joined& j_;
  const Calls& calls_;
  TypeTable& types_;
  DimTable& dims_;
};

}  // namespace

void make_keeps(Joined& joined, const Calls& calls, TypeTable& types) {
  Keeps(joined, calls, types).run();
}

}  // namespace axon::emit
