// Boolean tensors as formulas over affine functions of their indices.
#include <algorithm>

#include "graph/analysis/index_function.h"

namespace axon::graph {

FormulaId IndexFunctions::make(Formula formula) { return formulas_.add(std::move(formula)); }

FormulaId IndexFunctions::constant(bool value) {
  Formula formula;
  formula.kind = value ? Formula::Kind::True : Formula::Kind::False;
  return make(std::move(formula));
}

FormulaId IndexFunctions::negate(FormulaId id) {
  const Formula& f = formulas_[id];
  switch (f.kind) {
    case Formula::Kind::True:
      return constant(false);
    case Formula::Kind::False:
      return constant(true);
    case Formula::Kind::Not:
      return f.operands[0];
    case Formula::Kind::LeZero: {  // not (a ≤ 0) is 1 - a ≤ 0
      Formula out;
      out.kind = Formula::Kind::LeZero;
      out.affine = f.affine;
      for (int64_t& c : out.affine.coefficient) c = -c;
      out.affine.constant = dims_.value_sub(dims_.integer(1), f.affine.constant);
      return make(std::move(out));
    }
    case Formula::Kind::EqZero:
    case Formula::Kind::Read:
    case Formula::Kind::And:
    case Formula::Kind::Or: {
      Formula out;
      out.kind = Formula::Kind::Not;
      out.operands = {id};
      return make(std::move(out));
    }
  }
  return id;
}

FormulaId IndexFunctions::join(Formula::Kind kind, FormulaId a, FormulaId b) {
  auto neutral = kind == Formula::Kind::And ? Formula::Kind::True : Formula::Kind::False;
  auto absorbing = kind == Formula::Kind::And ? Formula::Kind::False : Formula::Kind::True;
  if (formulas_[a].kind == neutral || formulas_[b].kind == absorbing) return b;
  if (formulas_[b].kind == neutral || formulas_[a].kind == absorbing) return a;
  Formula out;
  out.kind = kind;
  for (FormulaId side : {a, b}) {
    if (formulas_[side].kind == kind) {
      std::vector<FormulaId> inner = formulas_[side].operands;
      out.operands.insert(out.operands.end(), inner.begin(), inner.end());
    } else {
      out.operands.push_back(side);
    }
  }
  return make(std::move(out));
}

// a - b + shift ≤ 0.
FormulaId IndexFunctions::less_equal(const Affine& a, const Affine& b, int64_t shift) {
  Formula out;
  out.kind = Formula::Kind::LeZero;
  out.affine = a;
  for (size_t i = 0; i < a.coefficient.size(); ++i) out.affine.coefficient[i] -= b.coefficient[i];
  out.affine.constant =
      dims_.value_add(dims_.value_sub(a.constant, b.constant), dims_.integer(shift));
  return make(std::move(out));
}

FormulaId IndexFunctions::boolean(ValueId value) {
  auto found = booleans_.find(value);
  if (found != booleans_.end()) return found->second;
  const Value& v = module_.values[value];
  FormulaId result;
  if (types_.is_tensor(v.type) && v.dtype == DType::Bool && !extents(value).empty()) {
    if (v.producer.valid()) result = boolean_of(module_.nodes[v.producer], value);
    if (!result.valid()) result = read_of(value);
  }
  booleans_[value] = result;
  return result;
}

FormulaId IndexFunctions::read_of(ValueId value) {
  Formula out;
  out.kind = Formula::Kind::Read;
  out.tensor = value;
  std::vector<DimId> shape = extents(value);
  for (size_t a = 0; a < shape.size(); ++a) {
    Affine index{std::vector<int64_t>(shape.size(), 0), dims_.integer(0)};
    if (dims_.as_integer(shape[a]) != 1) index.coefficient[a] = 1;
    out.coordinates.push_back(std::move(index));
  }
  return make(std::move(out));
}

IndexFunctions::AxisMap IndexFunctions::broadcast_map(const std::vector<DimId>& from,
                                                      const std::vector<DimId>& to) const {
  AxisMap map{{}, std::vector<int>(from.size(), -1), std::vector<DimId>(from.size()), to.size()};
  size_t lead = to.size() - from.size();
  for (size_t a = 0; a < from.size(); ++a) {
    if (dims_.as_integer(from[a]) != 1) map.axis[a] = static_cast<int>(lead + a);
  }
  return map;
}

FormulaId IndexFunctions::moved(FormulaId id, const AxisMap& map) {
  Formula f = formulas_[id];  // a copy: making others may move the store
  switch (f.kind) {
    case Formula::Kind::True:
    case Formula::Kind::False:
      return id;
    case Formula::Kind::LeZero:
    case Formula::Kind::EqZero:
      f.affine = moved(f.affine, map);
      break;
    case Formula::Kind::Read:
      for (Affine& c : f.coordinates) c = moved(c, map);
      break;
    case Formula::Kind::Not:
    case Formula::Kind::And:
    case Formula::Kind::Or:
      for (FormulaId& operand : f.operands) operand = moved(operand, map);
      break;
  }
  return make(std::move(f));
}

FormulaId IndexFunctions::boolean_operand(const Operand& operand, const std::vector<DimId>& to) {
  if (const auto* lit = operand.get<LitBool>()) return constant(lit->value);
  const auto* ref = operand.get<Ref>();
  if (!ref) return {};
  FormulaId inner = boolean(ref->value);
  std::vector<DimId> from = extents(ref->value);
  if (!inner.valid() || from.size() > to.size()) return {};
  return moved(inner, broadcast_map(from, to));
}

FormulaId IndexFunctions::comparison(const Node& node, const std::vector<DimId>& to) {
  auto a = integer_operand(node.inputs[0], to.size(), to);
  auto b = integer_operand(node.inputs[1], to.size(), to);
  if (!a || !b) return {};
  switch (node.op) {
    case Op::Le:
    case Op::CoreBinaryLe:
      return less_equal(*a, *b, 0);
    case Op::CoreBinaryLt:
      return less_equal(*a, *b, 1);
    case Op::CoreBinaryGe:
      return less_equal(*b, *a, 0);
    case Op::CoreBinaryGt:
      return less_equal(*b, *a, 1);
    default:
      break;
  }
  FormulaId equal = less_equal(*a, *b, 0);
  Formula f = formulas_[equal];
  f.kind = Formula::Kind::EqZero;
  equal = make(std::move(f));
  return node.op == Op::CoreBinaryNe ? negate(equal) : equal;
}

// where(c, a, b) on booleans is (c and a) or (not c and b).
FormulaId IndexFunctions::select(const Node& node, const std::vector<DimId>& to) {
  FormulaId c = boolean_operand(node.inputs[0], to);
  FormulaId a = boolean_operand(node.inputs[1], to);
  FormulaId b = boolean_operand(node.inputs[2], to);
  if (!c.valid() || !a.valid() || !b.valid()) return {};
  return join(Formula::Kind::Or, join(Formula::Kind::And, c, a),
              join(Formula::Kind::And, negate(c), b));
}

FormulaId IndexFunctions::boolean_of(const Node& node, ValueId value) {
  std::vector<DimId> to = extents(value);
  switch (node.op) {
    case Op::Le:
    case Op::Eq:
    case Op::CoreBinaryLe:
    case Op::CoreBinaryLt:
    case Op::CoreBinaryGe:
    case Op::CoreBinaryGt:
    case Op::CoreBinaryEq:
    case Op::CoreBinaryNe:
      return comparison(node, to);
    case Op::And:
    case Op::CoreBinaryAnd:
    case Op::CoreBinaryOr: {
      FormulaId a = boolean_operand(node.inputs[0], to), b = boolean_operand(node.inputs[1], to);
      if (!a.valid() || !b.valid()) return {};
      return join(node.op == Op::CoreBinaryOr ? Formula::Kind::Or : Formula::Kind::And, a, b);
    }
    case Op::Where:
      return select(node, to);
    case Op::Full:
      return boolean_operand(node.inputs[2], to);
    case Op::Fill:
      return boolean_operand(node.inputs[1], to);
    case Op::Zeros:
    case Op::ZerosLike:
      return constant(false);
    case Op::Cast:
    case Op::CastLike: {
      const auto* ref = node.inputs[0].get<Ref>();
      if (!ref) return {};
      if (module_.values[ref->value].dtype == DType::Bool)
        return boolean_operand(node.inputs[0], to);
      const std::optional<Affine>& number = integer(ref->value);
      bool is_constant =
          number && std::all_of(number->coefficient.begin(), number->coefficient.end(),
                                [](int64_t c) { return c == 0; });
      auto constant_value = is_constant ? dims_.as_integer(number->constant) : std::nullopt;
      return constant_value ? constant(*constant_value != 0) : FormulaId{};
    }
    default:
      break;
  }
  auto map = axis_map(node, value);
  if (!map) return {};
  FormulaId source = boolean(map->source);
  return source.valid() ? moved(source, *map) : FormulaId{};
}

// The least or greatest value of an affine function over the index ranges.
DimId IndexFunctions::bound(const Affine& affine, const std::vector<DimId>& shape,
                            bool upper) const {
  DimId out = affine.constant;
  for (size_t a = 0; a < shape.size(); ++a) {
    int64_t c = affine.coefficient[a];
    if (c == 0 || (c > 0) != upper) continue;
    DimId last = dims_.value_sub(shape[a], dims_.integer(1));
    out = dims_.value_add(out, dims_.value_mul(dims_.integer(c), last));
  }
  return out;
}

std::optional<bool> IndexFunctions::decide(FormulaId id, const std::vector<DimId>& shape) const {
  const Formula& f = formulas_[id];
  DimId zero = dims_.integer(0), one = dims_.integer(1);
  switch (f.kind) {
    case Formula::Kind::True:
      return true;
    case Formula::Kind::False:
      return false;
    case Formula::Kind::LeZero:
      if (dims_.proves_le(bound(f.affine, shape, true), zero, lower_)) return true;
      if (dims_.proves_le(one, bound(f.affine, shape, false), lower_)) return false;
      return {};
    case Formula::Kind::EqZero:
      if (dims_.proves_le(one, bound(f.affine, shape, false), lower_)) return false;
      return {};
    case Formula::Kind::Read:
      return {};
    case Formula::Kind::Not: {
      auto inner = decide(f.operands[0], shape);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case Formula::Kind::And:
    case Formula::Kind::Or: {
      bool absorbing = f.kind == Formula::Kind::Or, all = true;
      for (FormulaId operand : f.operands) {
        auto decided = decide(operand, shape);
        if (decided && *decided == absorbing) return absorbing;
        all = all && decided.has_value();
      }
      return all ? std::optional(!absorbing) : std::nullopt;
    }
  }
  return {};
}

}  // namespace axon::graph
