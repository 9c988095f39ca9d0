// Typing rules of elementwise operations and of the infix operators.
#include <algorithm>

#include "ops/rule_call.h"
#include "support/check.h"
#include "types/rational.h"

namespace axon::ops {
namespace {

bool number(TypeKind k) { return k == TypeKind::Int || k == TypeKind::Dim || k == TypeKind::Float; }

// One axis of language.md 6.7; invalid when two known sizes clash.
DimId broadcast_dim(DimId l, DimId r, Unifier& u) {
  l = u.resolve(l);
  r = u.resolve(r);
  if (l == r) return l;
  auto left = u.value(l);
  auto right = u.value(r);
  if (left == 1) return r;
  if (right == 1) return l;
  if (left && right) return *left == *right ? l : DimId{};
  // An unknown size may be 1 or not; beside a name nothing can be said, a number stays.
  if (u.mentions_unknown(l) || u.mentions_unknown(r)) return left ? l : right ? r : u.unknown();
  bool right_decides = right && !left;  // n against a variable: n, and the variable is n or 1
  DimId result = right_decides ? r : l;
  u.record(DimConstraint::Kind::Broadcast, result, right_decides ? l : r);
  return result;
}

RuleResult clash(RuleCall& c, size_t i, size_t j) {
  c.error = RuleError{RuleError::Kind::Broadcast, static_cast<int>(j), {}, {}};
  c.error->mismatch.left = c.u.resolve(c.args[i].type);
  c.error->mismatch.right = c.u.resolve(c.args[j].type);
  return c.result(c.types.error());
}

RuleResult wrong(RuleCall& c, size_t i, TypeId needed) {
  if (c.is_null(i)) {
    c.error = RuleError{RuleError::Kind::Null, static_cast<int>(i), {}, {}};
    c.error->mismatch.right = needed;
    return c.result(c.types.error());
  }
  Mismatch mismatch;
  mismatch.left = c.args[i].type;
  mismatch.right = needed;
  return c.fail(mismatch, static_cast<int>(i));
}

enum class Arith : uint8_t { Add, Sub, Mul, Div, Mod, Pow };

// The value of an integer operation on symbolic integers.
Known fold(RuleCall& c, Arith op) {
  auto a = c.dim(0);
  auto b = c.dim(1);
  if (!a || !b) return {};
  DimId out;
  switch (op) {
    case Arith::Add:
      out = c.dims.value_add(*a, *b);
      break;
    case Arith::Sub:
      out = c.dims.value_sub(*a, *b);
      break;
    case Arith::Mul:
      out = c.dims.value_mul(*a, *b);
      break;
    case Arith::Div:
      out = c.dims.value_div(*a, *b);
      break;
    case Arith::Mod:
      out = c.dims.mod(*a, *b);
      break;
    case Arith::Pow:
      return {};
  }
  return Known::of(out);
}

RuleResult scalar_arithmetic(RuleCall& c, Arith op) {
  TypeKind a = c.kind(0);
  TypeKind b = c.kind(1);
  if (a == TypeKind::Float || b == TypeKind::Float) return c.result(c.types.float_());
  bool dim = a == TypeKind::Dim || b == TypeKind::Dim;
  return c.result(dim ? c.types.dim() : c.types.int_(), fold(c, op));
}

// Arithmetic of two operands that are not null.
RuleResult arithmetic(RuleCall& c, Arith op) {
  for (size_t i = 0; i < 2; ++i) {
    c.need_value(i);
    bool fits = c.is_tensor(i) || number(c.kind(i)) || c.is_open(i);
    if (!fits) return wrong(c, i, c.is_tensor(1 - i) ? c.types.tensor() : c.types.int_());
  }
  if (c.is_error(0) || c.is_error(1)) return c.result(c.types.error());
  if (c.is_tensor(0) && c.is_tensor(1)) {
    auto type = broadcast(c.args[0].type, c.args[1].type, c.u);
    if (!type) return clash(c, 0, 1);
    return c.result(*type);
  }
  if (c.is_tensor(0)) return c.result(c.args[0].type);
  if (c.is_tensor(1)) return c.result(c.args[1].type);
  if (c.is_open(0) || c.is_open(1)) return c.result(c.types.any());
  return scalar_arithmetic(c, op);
}

Arith arithmetic_of(Op op) {
  switch (op) {
    case Op::CoreBinaryAdd:
    case Op::Add:
      return Arith::Add;
    case Op::CoreBinarySub:
      return Arith::Sub;
    case Op::CoreBinaryMul:
    case Op::Mul:
      return Arith::Mul;
    case Op::CoreBinaryDiv:
    case Op::Div:
      return Arith::Div;
    case Op::CoreBinaryMod:
      return Arith::Mod;
    default:
      return Arith::Pow;
  }
}

// Elementwise truth values: Bool of scalars, the broadcast shape with a tensor.
RuleResult truth(RuleCall& c, Known known = {}) {
  if (c.is_error(0) || c.is_error(1)) return c.result(c.types.error());
  if (c.is_tensor(0) && c.is_tensor(1)) {
    auto type = broadcast(c.args[0].type, c.args[1].type, c.u);
    if (!type) return clash(c, 0, 1);
    return c.result(*type);
  }
  if (c.is_tensor(0)) return c.result(c.args[0].type);
  if (c.is_tensor(1)) return c.result(c.args[1].type);
  if (c.is_open(0) || c.is_open(1)) return c.result(c.types.any());
  return c.result(c.types.bool_(), std::move(known));
}

bool known_value(const RuleCall& c, size_t i) {
  Known::Kind k = c.args[i].known.kind;
  return c.kind(i) != TypeKind::Optional && k != Known::Kind::Nothing && k != Known::Kind::Null;
}

// Equality of two operands where it can be decided.
std::optional<bool> equal(const RuleCall& c) {
  bool null0 = c.args[0].known.is_null();
  bool null1 = c.args[1].known.is_null();
  if (null0 && null1) return true;
  if ((null0 && known_value(c, 1)) || (null1 && known_value(c, 0))) return false;
  if (!known_value(c, 0) || !known_value(c, 1)) return {};
  const Known& a = c.args[0].known;
  const Known& b = c.args[1].known;
  if (a.kind == Known::Kind::Bool && b.kind == a.kind) return a.boolean == b.boolean;
  if (a.kind == Known::Kind::String && b.kind == a.kind) return a.text == b.text;
  auto x = c.integer(0);
  auto y = c.integer(1);
  if (x && y) return *x == *y;
  return {};
}

RuleResult equality(RuleCall& c, bool negated) {
  Known known;
  if (auto same = equal(c)) known = Known::of(*same != negated);
  bool null = c.args[0].known.is_null() || c.args[1].known.is_null() ||
              c.kind(0) == TypeKind::Null || c.kind(1) == TypeKind::Null;
  if (null) return c.result(c.types.bool_(), known);  // a test for null is never elementwise
  for (RuleArg& arg : c.args) arg.type = c.types.strip_optional(arg.type);
  bool tensor = c.is_tensor(0) || c.is_tensor(1);
  bool open = c.is_open(0) || c.is_open(1);
  bool numbers = (number(c.kind(0)) || c.is_tensor(0)) && (number(c.kind(1)) || c.is_tensor(1));
  bool truths = (c.kind(0) == TypeKind::Bool || c.is_tensor(0)) &&
                (c.kind(1) == TypeKind::Bool || c.is_tensor(1));
  if (!open && !numbers && !truths && (tensor || c.kind(0) != c.kind(1))) {
    return wrong(c, 1, c.args[0].type);
  }
  return truth(c, known);
}

RuleResult ordering(RuleCall& c, Op op) {
  for (size_t i = 0; i < 2; ++i) {
    c.need_value(i);
    if (!c.is_tensor(i) && !number(c.kind(i)) && !c.is_open(i))
      return wrong(c, i, c.types.float_());
  }
  Known known;
  auto x = c.integer(0);
  auto y = c.integer(1);
  if (x && y && number(c.kind(0)) && number(c.kind(1))) {
    bool holds = op == Op::CoreBinaryLt   ? *x < *y
                 : op == Op::CoreBinaryGt ? *x > *y
                 : op == Op::CoreBinaryGe ? *x >= *y
                                          : *x <= *y;
    known = Known::of(holds);
  }
  return truth(c, known);
}

RuleResult logic(RuleCall& c, Op op) {
  for (size_t i = 0; i < 2; ++i) {
    c.args[i].type = c.types.strip_optional(c.args[i].type);  // null counts as false
    if (!c.is_tensor(i) && c.kind(i) != TypeKind::Bool && !c.is_open(i))
      return wrong(c, i, c.types.bool_());
  }
  bool conjunction = op == Op::CoreBinaryAnd || op == Op::And;
  auto a = c.boolean(0);
  auto b = c.boolean(1);
  Known known;
  if (a && b) known = Known::of(conjunction ? *a && *b : *a || *b);
  if ((a && *a != conjunction) || (b && *b != conjunction)) known = Known::of(!conjunction);
  return truth(c, known);
}

}  // namespace

std::optional<TypeId> broadcast(TypeId left, TypeId right, Unifier& u) {
  TypeTable& types = u.types();
  const TypeData a = types.get(u.resolve(left));
  const TypeData b = types.get(u.resolve(right));
  if (!a.known_rank || !b.known_rank) return types.tensor();
  auto is_run = [](const Axis& axis) { return axis.is_run(); };
  bool run = std::any_of(a.axes.begin(), a.axes.end(), is_run) ||
             std::any_of(b.axes.begin(), b.axes.end(), is_run);
  if (run) return types.tensor(a.axes);
  size_t rank = std::max(a.axes.size(), b.axes.size());
  std::vector<DimId> out(rank);
  for (size_t i = 0; i < rank; ++i) {  // i counts from the right
    bool has_a = i < a.axes.size();
    bool has_b = i < b.axes.size();
    DimId& dim = out[rank - 1 - i];
    if (has_a && has_b) {
      dim = broadcast_dim(a.axes[a.axes.size() - 1 - i].dim, b.axes[b.axes.size() - 1 - i].dim, u);
      if (!dim.valid()) return {};
    } else {
      dim = has_a ? a.axes[a.axes.size() - 1 - i].dim : b.axes[b.axes.size() - 1 - i].dim;
    }
  }
  return types.tensor_of(out);
}

RuleResult rule_Arithmetic(RuleCall& c) { return arithmetic(c, arithmetic_of(c.op)); }

RuleResult rule_FloatOrTensor(RuleCall& c) {
  c.need_value(0);
  if (c.is_tensor(0) || c.is_open(0)) return c.result(c.args[0].type);
  if (!number(c.kind(0))) return wrong(c, 0, c.types.float_());
  return c.result(c.types.float_());
}

RuleResult rule_IntOrTensor(RuleCall& c) {
  c.need_value(0);
  if (c.is_tensor(0) || c.is_open(0)) return c.result(c.args[0].type);
  if (!number(c.kind(0))) return wrong(c, 0, c.types.float_());
  return c.result(c.types.int_(), c.args[0].known);
}

RuleResult rule_Compare(RuleCall& c) {
  if (c.op == Op::Eq) return equality(c, false);
  if (c.op == Op::Le) return ordering(c, Op::CoreBinaryLe);
  return logic(c, Op::And);
}

RuleResult rule_Where(RuleCall& c) {
  if (c.is_null(0)) return wrong(c, 0, c.types.tensor());
  TypeId cond = c.types.strip_optional(c.args[0].type);
  if (c.types.kind(cond) == TypeKind::Bool) {
    TypeId joined;
    c.u.start_join();
    if (auto bad = c.u.join(c.args[1].type, c.args[2].type, joined)) return c.fail(*bad, 2);
    return c.result(joined);
  }
  if (c.is_error(0)) return c.result(c.types.error());
  if (!c.types.is_tensor(cond)) {
    if (!c.is_open(0)) return wrong(c, 0, c.types.tensor());
    bool tensors = c.is_tensor(1) || c.is_tensor(2);
    return c.result(tensors ? c.types.tensor() : c.types.any());
  }
  // The values come first: of two sizes that may broadcast, theirs is the result's.
  TypeId type;
  for (size_t i : {size_t{1}, size_t{2}, size_t{0}}) {
    c.args[i].type = c.types.strip_optional(c.args[i].type);
    if (c.is_error(i)) return c.result(c.types.error());
    if (c.is_open(i)) return c.result(c.types.tensor());
    if (!c.is_tensor(i)) {
      if (number(c.kind(i)) || c.kind(i) == TypeKind::Bool) continue;
      return wrong(c, i, c.types.tensor());
    }
    if (!type.valid()) {
      type = c.args[i].type;
      continue;
    }
    auto next = broadcast(type, c.args[i].type, c.u);
    if (!next) return clash(c, i == 0 ? 1 : 0, i);
    type = *next;
  }
  return c.result(type);
}

RuleResult rule_WhereIndices(RuleCall& c) {
  Axes axes = c.axes(0);
  bool known = !axes.empty() &&
               std::none_of(axes.begin(), axes.end(), [](const Axis& a) { return a.is_run(); });
  TypeId vector = c.types.tensor_of({c.u.unknown()});
  if (!known || axes.size() < 2) return c.result(known ? c.types.list(vector) : c.types.any());
  return c.result(c.types.tuple(std::vector<TypeId>(axes.size(), vector)));
}

// Infix operators: as the elementwise primitives, plus strings and the rules for null.
RuleResult rule_binary(RuleCall& c) {
  if (c.args.size() != 2) return c.fail("needs two operands");
  switch (c.op) {
    case Op::CoreBinaryEq:
      return equality(c, false);
    case Op::CoreBinaryNe:
      return equality(c, true);
    case Op::CoreBinaryLt:
    case Op::CoreBinaryLe:
    case Op::CoreBinaryGt:
    case Op::CoreBinaryGe:
      return ordering(c, c.op);
    case Op::CoreBinaryAnd:
    case Op::CoreBinaryOr:
      return logic(c, c.op);
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub: {
      bool plus = c.op == Op::CoreBinaryAdd;
      // A null operand of `+`, or on the right of `-`, is neutral.
      if (c.is_null(1)) return c.result(c.args[0].type, c.args[0].known);
      if (plus && c.is_null(0)) return c.result(c.args[1].type, c.args[1].known);
      bool strings = c.kind(0) == TypeKind::String && c.kind(1) == TypeKind::String;
      if (plus && strings) return c.result(c.types.string());
      bool maybe = c.kind(0) == TypeKind::Optional || c.kind(1) == TypeKind::Optional;
      for (size_t i = plus ? 0 : 1; i < 2; ++i)
        c.args[i].type = c.types.strip_optional(c.args[i].type);
      RuleResult out = arithmetic(c, arithmetic_of(c.op));
      if (maybe) out.known = {};
      return out;
    }
    case Op::CoreBinaryMul:
    case Op::CoreBinaryDiv:
    case Op::CoreBinaryMod:
      return arithmetic(c, arithmetic_of(c.op));
    default:
      return c.fail("is not an operator");
  }
}

}  // namespace axon::ops
