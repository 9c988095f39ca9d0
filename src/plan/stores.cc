// Slice assignment: in place in a state where ownership was proven, else on a copy.
#include "plan/lower.h"

namespace axon::plan {

using runtime::Operation;

// Whether anything may read behind what the first write fills: attention that is bounded by `end`
// does not.
bool Lowering::needs_zeros(graph::ValueId store, DimId end) const {
  for (graph::NodeId user : uses_.of(store)) {
    const Node& node = module_.nodes[user];
    const graph::Operand* length = node.op == Op::FusedAttention ? attr(node, "length") : nullptr;
    if (!length || integer(*length) != end) return true;
  }
  return false;
}

// x, src, dim, start, end; or x, src, dim, index
bool Lowering::assign_slice(const Node& node) {
  graph::ValueId out = node.outputs[0];
  std::vector<DimId> dims = dims_of(out);
  std::optional<size_t> at = axis(node.inputs[2], dims.size());
  std::optional<DimId> start = integer(node.inputs[3]), end;
  if (node.op == Op::AssignSlice)
    end = integer(node.inputs[4]);
  else if (start)
    end = dims_.value_add(*start, dims_.integer(1));
  if (!at || !start || !end) return fail("an axis or a bound is no integer");
  View src = converted(view_of(node.inputs[1]), dtype_of(out));
  std::vector<DimId> piece = dims;
  piece[*at] = dims_.value_sub(*end, *start);
  src = views_.expanded(src, piece);
  graph::ValueId base = node.inputs[0].as<graph::Ref>().value;
  graph::NodeId origin = module_.values[base].producer;
  bool zeros = origin.valid() && module_.nodes[origin].op == Op::Zeros;
  auto resident = resident_.find(out);
  View store = resident != resident_.end()
                   ? state_view(resident->second)
                   : buffer(dims, dtype_of(out), context_.names.text(module_.values[out].name));
  runtime::ValId from = use(src, runtime::operation_info(Operation::StoreWrite)->in);
  if (resident == resident_.end()) {
    copy(view_of(node.inputs[0]), store);
  } else if (zeros && (*start != dims_.integer(0) || needs_zeros(out, *end))) {
    runtime::Instr& instr = emit(Operation::Fill, {}, {store.base});
    param(instr, "value", int64_t{0});
  }
  forget_copies(store.base);
  runtime::Instr& instr = emit(Operation::StoreWrite, {store.base, from}, {});
  param(instr, "axis", static_cast<int64_t>(*at));
  param(instr, "start", context_.symbols.expr(*start));
  set(node, 0, store);
  return true;
}

}  // namespace axon::plan
