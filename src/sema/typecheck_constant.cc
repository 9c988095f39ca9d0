// Arithmetic of constants that has no result: told where it stands, not where it runs (language.md
// 9.3).
#include "sema/typecheck_checker.h"
#include "support/arithmetic.h"

namespace axon::sema::types {

using namespace syntax;

namespace {

std::optional<Arith> arith_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return Arith::Add;
    case BinaryOp::Sub:
      return Arith::Sub;
    case BinaryOp::Mul:
      return Arith::Mul;
    case BinaryOp::Div:
      return Arith::Div;
    case BinaryOp::Mod:
      return Arith::Mod;
    default:
      return {};
  }
}

// A number written out; nothing for anything else.
std::optional<double> literal(const Ast& ast, ExprId id) {
  while (ast[id].kind() == ExprKind::Paren) id = ast[id].as<Paren>().inner;
  if (const auto* whole = ast[id].get<Int>()) return static_cast<double>(whole->value);
  if (const auto* real = ast[id].get<Float>()) return real->value;
  return {};
}

}  // namespace

// Whether what stands here is computed whenever the definition is. Sizes and numbers that come from
// a checkpoint's configuration may rule a definition out: there, what is reached says it.
bool Checker::is_certain(const Frame& f) const {
  return f.reports && f.muted == 0 && f.maybe == 0 && !answers_.config;
}

// The number that `dim` is. Constants by name may be what keeps a definition from being called;
// they count where no call is needed: in constants and in the main definition.
std::optional<int64_t> Checker::constant(Frame& f, DimId dim) {
  DimId resolved = f.u.resolve(dim);
  NameId home = f.def.helper.kind == HelperKind::None ? f.def.name : f.def.helper.parent;
  auto found = program_.by_name.find(home);
  bool runs = home == program_.main ||
              (found != program_.by_name.end() && program_.definitions[found->second].is_global);
  return runs ? f.u.value(resolved) : d_.as_integer(resolved);
}

bool Checker::report_no_result(Frame& f, const Binary& b, const Value& left, const Value& right,
                               Span span) {
  std::optional<Arith> op = arith_of(b.op);
  if (!op || !is_certain(f)) return false;
  auto is = [&](const Value& value, TypeKind a, TypeKind other) {
    TypeKind k = t_.kind(f.u.resolve(value.type));
    return k == a || k == other;
  };
  auto whole = [&](const Value& v) { return is(v, TypeKind::Int, TypeKind::Dim); };
  auto number = [&](const Value& v) { return whole(v) || is(v, TypeKind::Float, TypeKind::Float); };
  auto value = [&](const Value& v) {
    return whole(v) && v.known.is_dim() ? constant(f, v.known.dim) : std::nullopt;
  };
  const bool divides = *op == Arith::Div || *op == Arith::Mod;
  std::optional<int64_t> x = value(left), y = value(right);
  if (!whole(left) || !whole(right)) {
    // Reals: an error between constants only.
    bool zero = y == 0 || literal(s_.ast, b.right) == 0.0;
    bool closed = f.def.is_global || x || literal(s_.ast, b.left);
    if (!divides || !zero || !closed || !number(left) || !number(right)) return false;
    report(f, Diag::RunDivZero, span, {});
    return true;
  }
  if (divides && y == 0) {
    report(f, Diag::RunDivZero, span, {});
    return true;
  }
  int64_t ignored = 0;
  if (!x || !y || whole_arithmetic(*op, *x, *y, ignored) != ArithFault::Overflow) return false;
  report(f, Diag::RunOverflow, span, {spelling(b.op)});
  return true;
}

// A constant whose name stands as a size: an integer, as far as its type says.
void Checker::check_constant(Frame& f, size_t index, Span span) {
  const TypeId type = generic_results_[index].type;
  if (!f.generic || !type.valid() || told_constants_.count(index)) return;
  const Diagnostic* told = nullptr;
  const std::string what =
      "dimension `" + std::string(s_.names.text(program_.definitions[index].name)) + "`";
  switch (t_.kind(t_.strip_optional(type))) {
    case TypeKind::Null:
      told = report(f, Diag::TypeNull, span, {what, std::string("Int")});
      break;
    case TypeKind::Float:
      told = report(f, Diag::TypeNumeric, span, {what, show(f, type), std::string("Int")});
      break;
    case TypeKind::Bool:
    case TypeKind::String:
    case TypeKind::Path:
    case TypeKind::List:
    case TypeKind::Tuple:
    case TypeKind::Tensor:
      told = report(f, Diag::TypeMismatch, span, {what, show(f, type), std::string("Int")});
      break;
    default:
      break;
  }
  if (told) told_constants_.insert(index);
}

// An axis as written in a type.
void Checker::check_size(Frame& f, DimId size, Span span) {
  if (!f.generic || !is_certain(f)) return;
  const std::optional<int64_t> number = constant(f, size);
  if (number && *number < 0)
    report(f, Diag::TypeDim, span, {std::string("an axis"), *number, std::string("0 or more")});
}

// Of a size as written in a type.
void Checker::check_divisor(Frame& f, DimId divisor, Span span) {
  if (f.generic && is_certain(f) && constant(f, divisor) == 0)
    report(f, Diag::RunDivZero, span, {});
}

}  // namespace axon::sema::types
