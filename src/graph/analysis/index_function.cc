// Integer tensors as affine functions of their indices.
#include "graph/analysis/index_function.h"

#include <algorithm>

namespace axon::graph {

IndexFunctions::IndexFunctions(const Module& module, TypeTable& types,
                               function_ref<std::optional<int64_t>(SymbolId)> lower)
    : module_(module), types_(types), dims_(types.dims()), lower_(lower) {}

std::vector<DimId> IndexFunctions::extents(ValueId value) const {
  return types_.dims_of(module_.values[value].type);
}

std::optional<int64_t> IndexFunctions::literal_int(const Operand& operand) const {
  if (const auto* lit = operand.get<LitInt>()) return lit->value;
  if (const auto* dim = operand.get<DimRef>()) return dims_.as_integer(dim->dim);
  return {};
}

// A list operand as integers: a core.list value or nested list of literals.
std::optional<std::vector<int64_t>> IndexFunctions::literal_ints(const Operand& operand) const {
  const std::vector<Operand>* items = nullptr;
  if (const auto* ref = operand.get<Ref>()) {
    const Value& value = module_.values[ref->value];
    if (!value.producer.valid()) return {};
    const Node& node = module_.nodes[value.producer];
    if (node.op == Op::CoreList || node.op == Op::CoreTuple) items = &node.inputs;
  } else if (const auto* nested = operand.get<Nested>()) {
    const NestedExpr& expr = module_.nested[nested->expr];
    if (expr.op == Op::CoreList || expr.op == Op::CoreTuple) items = &expr.inputs;
  }
  if (!items) return {};
  std::vector<int64_t> out;
  for (const Operand& item : *items) {
    auto value = literal_int(item);
    if (!value) return {};
    out.push_back(*value);
  }
  return out;
}

const std::optional<Affine>& IndexFunctions::integer(ValueId value) {
  auto found = integers_.find(value);
  if (found != integers_.end()) return found->second;
  const Value& v = module_.values[value];
  std::optional<Affine> result;
  bool has_rank = types_.is_tensor(v.type) && !extents(value).empty();
  if (has_rank && v.producer.valid() && !is_float(v.dtype)) {
    result = integer_of(module_.nodes[v.producer], value);
  }
  return integers_.emplace(value, std::move(result)).first->second;
}

Affine IndexFunctions::broadcast(const Affine& affine, const std::vector<DimId>& from,
                                 const std::vector<DimId>& to) {
  Affine out{std::vector<int64_t>(to.size(), 0), affine.constant};
  size_t lead = to.size() - from.size();
  for (size_t a = 0; a < from.size(); ++a) {
    bool unit = dims_.as_integer(from[a]) == 1;
    if (!unit) out.coefficient[lead + a] = affine.coefficient[a];
  }
  return out;
}

std::optional<Affine> IndexFunctions::integer_operand(const Operand& operand, size_t rank,
                                                      const std::vector<DimId>& to) {
  if (const auto* lit = operand.get<LitInt>()) {
    return Affine{std::vector<int64_t>(rank, 0), dims_.integer(lit->value)};
  }
  if (const auto* dim = operand.get<DimRef>())
    return Affine{std::vector<int64_t>(rank, 0), dim->dim};
  const auto* ref = operand.get<Ref>();
  if (!ref) return {};
  const std::optional<Affine>& inner = integer(ref->value);
  std::vector<DimId> from = extents(ref->value);
  if (!inner || from.size() > rank) return {};
  return broadcast(*inner, from, to);
}

std::optional<Affine> IndexFunctions::product(const Node& node, size_t rank,
                                              const std::vector<DimId>& to) {
  for (int side = 0; side < 2; ++side) {
    auto factor = literal_int(node.inputs[static_cast<size_t>(side)]);
    auto other = integer_operand(node.inputs[static_cast<size_t>(1 - side)], rank, to);
    if (!factor || !other) continue;
    for (int64_t& c : other->coefficient) c *= *factor;
    other->constant = dims_.value_mul(other->constant, dims_.integer(*factor));
    return other;
  }
  return {};
}

std::optional<Affine> IndexFunctions::integer_of(const Node& node, ValueId value) {
  std::vector<DimId> to = extents(value);
  size_t rank = to.size();
  switch (node.op) {
    case Op::Arange: {
      const Operand& start = node.inputs[1];
      Affine out{{1}, dims_.integer(0)};
      if (const auto* dim = start.get<DimRef>()) out.constant = dim->dim;
      if (auto literal = literal_int(start)) out.constant = dims_.integer(*literal);
      bool known = start.kind() == OperandKind::Dim || literal_int(start) ||
                   start.kind() == OperandKind::Null;
      return known && rank == 1 ? std::optional(out) : std::nullopt;
    }
    case Op::Full:
    case Op::Fill: {
      const Operand& filled = node.inputs[node.op == Op::Full ? 2 : 1];
      if (filled.kind() == OperandKind::Ref) return {};
      return integer_operand(filled, rank, to);
    }
    case Op::Zeros:
    case Op::ZerosLike:
      return Affine{std::vector<int64_t>(rank, 0), dims_.integer(0)};
    case Op::Add:
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub: {
      auto a = integer_operand(node.inputs[0], rank, to);
      auto b = integer_operand(node.inputs[1], rank, to);
      if (!a || !b) return {};
      bool minus = node.op == Op::CoreBinarySub;
      for (size_t i = 0; i < rank; ++i)
        a->coefficient[i] += minus ? -b->coefficient[i] : b->coefficient[i];
      a->constant = minus ? dims_.value_sub(a->constant, b->constant)
                          : dims_.value_add(a->constant, b->constant);
      return a;
    }
    case Op::Mul:
    case Op::CoreBinaryMul:
      return product(node, rank, to);
    case Op::Cast:
    case Op::CastLike:
      if (node.inputs[0].kind() != OperandKind::Ref) return {};
      if (module_.values[value].dtype == DType::Bool) return {};
      return integer_operand(node.inputs[0], rank, to);
    default:
      break;
  }
  auto map = axis_map(node, value);
  if (!map) return {};
  const std::optional<Affine>& source = integer(map->source);
  if (!source) return {};
  return moved(*source, *map);
}

Affine IndexFunctions::moved(const Affine& affine, const AxisMap& map) {
  Affine out{std::vector<int64_t>(map.rank, 0), affine.constant};
  for (size_t a = 0; a < affine.coefficient.size(); ++a) {
    if (map.axis[a] >= 0)
      out.coefficient[static_cast<size_t>(map.axis[a])] += affine.coefficient[a];
    if (map.shift[a].valid() && affine.coefficient[a] != 0) {
      DimId moved_by = dims_.value_mul(dims_.integer(affine.coefficient[a]), map.shift[a]);
      out.constant = dims_.value_add(out.constant, moved_by);
    }
  }
  return out;
}

// Layout primitives as maps of axes; nothing for those that mix indices.
std::optional<IndexFunctions::AxisMap> IndexFunctions::axis_map(const Node& node, ValueId value) {
  if (node.inputs.empty()) return {};
  const auto* ref = node.inputs[0].get<Ref>();
  if (!ref) return {};
  std::vector<DimId> from = extents(ref->value), to = extents(value);
  if (from.empty() || to.empty()) return {};
  AxisMap map{ref->value, std::vector<int>(from.size(), -1), std::vector<DimId>(from.size()),
              to.size()};
  auto normal = [](int64_t axis, size_t rank) {
    return static_cast<int>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  };
  switch (node.op) {
    case Op::Reshape:
    case Op::Unsqueeze: {
      size_t next = 0;  // every axis that is not 1 must find its equal, in order
      for (size_t a = 0; a < from.size(); ++a) {
        if (dims_.as_integer(from[a]) == 1) continue;
        while (next < to.size() && dims_.as_integer(to[next]) == 1) ++next;
        if (next == to.size() || to[next] != from[a]) return {};
        map.axis[a] = static_cast<int>(next++);
      }
      while (next < to.size() && dims_.as_integer(to[next]) == 1) ++next;
      return next == to.size() ? std::optional(map) : std::nullopt;
    }
    case Op::Expand: {
      size_t lead = to.size() - from.size();
      for (size_t a = 0; a < from.size(); ++a) {
        if (from[a] == to[lead + a])
          map.axis[a] = static_cast<int>(lead + a);
        else if (dims_.as_integer(from[a]) != 1)
          return {};
      }
      return map;
    }
    case Op::Permute: {
      auto order = literal_ints(node.inputs[1]);
      if (!order || order->size() != from.size()) return {};
      for (size_t i = 0; i < order->size(); ++i) {
        map.axis[static_cast<size_t>(normal((*order)[i], from.size()))] = static_cast<int>(i);
      }
      return map;
    }
    case Op::Transpose: {
      auto a = literal_int(node.inputs[1]), b = literal_int(node.inputs[2]);
      if (!a || !b) return {};
      for (size_t i = 0; i < from.size(); ++i) map.axis[i] = static_cast<int>(i);
      std::swap(map.axis[static_cast<size_t>(normal(*a, from.size()))],
                map.axis[static_cast<size_t>(normal(*b, from.size()))]);
      return map;
    }
    case Op::Slice: {
      auto axis = literal_int(node.inputs[1]);
      if (!axis) return {};
      for (size_t i = 0; i < from.size(); ++i) map.axis[i] = static_cast<int>(i);
      const Operand& start = node.inputs[2];
      DimId shift;
      if (const auto* dim = start.get<DimRef>()) shift = dim->dim;
      if (const auto* lit = start.get<LitInt>()) shift = dims_.integer(lit->value);
      if (!shift.valid()) return {};
      map.shift[static_cast<size_t>(normal(*axis, from.size()))] = shift;
      return map;
    }
    default:
      return {};
  }
}

}  // namespace axon::graph
