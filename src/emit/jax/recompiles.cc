// Finds operands that are sizes.
#include "emit/jax/recompiles.h"

#include <algorithm>
#include <set>

#include "ops/signature.h"

namespace axon::emit::jax {
namespace {

// Whether an operand is a value to compute with; else it is an extent, a place or a count.
bool is_value(const graph::Node& node, size_t index) {
  switch (op_info(node.op).op_class) {
    case OpClass::Core:
      return node.op >= Op::CoreBinaryAdd && node.op <= Op::CoreBinaryOr;
    case OpClass::Primitive: {
      const std::vector<OpParam>& params = op_signature(node.op).params;
      return index < params.size() && params[index].type == "Any";
    }
    case OpClass::Fused:
      break;
  }
  return false;
}

}  // namespace

void warn_recompiles(const Joined& joined, TypeTable& types, DiagSink& sink) {
  DimTable& dims = types.dims();
  std::set<SymbolId> axes, told;
  for (const graph::Value& value : joined.values) {
    TypeId type = types.strip_optional(value.type);
    if (!type.valid() || !types.is_tensor(type)) continue;
    for (DimId dim : types.dims_of(type)) {
      for (SymbolId symbol : dims.symbols(dim)) axes.insert(symbol);
    }
  }
  for (graph::NodeId id : joined.order) {
    const graph::Node& node = joined.steps[id].node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto* size = node.inputs[i].get<graph::DimRef>();
      if (!size || !is_value(node, i)) continue;
      for (SymbolId symbol : dims.symbols(size->dim)) {
        if (!axes.count(symbol) || !told.insert(symbol).second) continue;
        sink.report(Diag::WRecompile, node.span, {dims.names().text(dims.symbol(symbol).name)});
      }
    }
  }
}

}  // namespace axon::emit::jax
