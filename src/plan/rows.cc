// Backwards from the head through operations that treat rows alike.
#include "plan/rows.h"

#include <algorithm>

#include "graph/builder.h"

namespace axon::plan {
namespace {

enum class RowWise { No, FirstOnly, Elementwise };

RowWise row_wise(Op op) {
  switch (op) {
    case Op::Linear:
    case Op::Layernorm:
      return RowWise::FirstOnly;
    case Op::Rmsnorm:
    case Op::L2norm:
    case Op::FusedLinear:
    case Op::FusedRmsNorm:
    case Op::FusedLayerNorm:
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub:
    case Op::CoreBinaryMul:
    case Op::CoreBinaryDiv:
    case Op::Pow:
    case Op::Exp:
    case Op::Log:
    case Op::Sqrt:
    case Op::Cast:
    case Op::Clamp:
    case Op::ActivationsGelu:
    case Op::ActivationsTanh:
    case Op::ActivationsSigmoid:
    case Op::ActivationsGeluNew:
    case Op::ActivationsGeluPytorchTanh:
    case Op::ActivationsSilu:
    case Op::ActivationsRelu:
    case Op::ActivationsRelu2:
    case Op::ActivationsSwiglu:
      return RowWise::Elementwise;
    default:
      return RowWise::No;
  }
}

}  // namespace

bool RowRegion::empty() const {
  return std::none_of(selected.begin(), selected.end(), [](bool b) { return b; });
}

RowRegion find_rows(const graph::Module& module, const TypeTable& types, const Uses& uses,
                    graph::ValueId head) {
  RowRegion region;
  region.selected.resize(module.nodes.size());
  std::vector<DimId> rows = types.dims_of(module.values[head].type);
  if (rows.size() < 3) return region;
  rows.resize(2);
  auto has_rows = [&](graph::ValueId v) {
    std::vector<DimId> dims = types.dims_of(module.values[v].type);
    return dims.size() >= 3 && dims[0] == rows[0] && dims[1] == rows[1];
  };
  size_t rank = types.dims_of(module.values[head].type).size();
  for (size_t i = module.order.size(); i-- > 0;) {
    graph::NodeId id = module.order[i];
    const graph::Node& node = module.nodes[id];
    if (node.outputs.size() != 1 || row_wise(node.op) == RowWise::No) continue;
    graph::ValueId out = node.outputs[0];
    if (!has_rows(out) || types.dims_of(module.values[out].type).size() != rank) continue;
    if (out != head && uses.is_output(out)) continue;
    const std::vector<graph::NodeId>& users = uses.of(out);
    bool inside = (out == head || !users.empty()) &&
                  std::all_of(users.begin(), users.end(),
                              [&](graph::NodeId u) { return region.contains(u); });
    if (!inside) continue;
    bool fits = true;
    for (const graph::Operand& input : node.inputs) {
      const graph::Ref* ref = input.get<graph::Ref>();
      if (!ref || !types.is_tensor(module.values[ref->value].type)) continue;
      // Beside the rows only what broadcasts over both row axes.
      size_t own = types.dims_of(module.values[ref->value].type).size();
      fits &= has_rows(ref->value) ? own == rank : own + 2 <= rank;
    }
    if (fits) region.selected[static_cast<size_t>(id.index)] = true;
  }
  return region;
}

}  // namespace axon::plan
