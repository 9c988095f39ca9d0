// Arithmetic, comparison and logic on scalars and tensors.
#include "support/arithmetic.h"

#include <algorithm>

#include "runtime/general/apply.h"
#include "support/check.h"

namespace axon::runtime {
namespace {

using Kind = Datum::Kind;

bool is_comparison(BinaryCode code) { return code >= BinaryCode::Eq && code <= BinaryCode::Ge; }
bool is_logical(BinaryCode code) { return code == BinaryCode::And || code == BinaryCode::Or; }

BinaryCode code_of(Op op) {
  switch (op) {
    case Op::Add:
    case Op::CoreBinaryAdd:
      return BinaryCode::Add;
    case Op::CoreBinarySub:
      return BinaryCode::Sub;
    case Op::Mul:
    case Op::CoreBinaryMul:
      return BinaryCode::Mul;
    case Op::Div:
    case Op::CoreBinaryDiv:
      return BinaryCode::Div;
    case Op::CoreBinaryMod:
      return BinaryCode::Mod;
    case Op::Pow:
      return BinaryCode::Pow;
    case Op::Eq:
    case Op::CoreBinaryEq:
      return BinaryCode::Eq;
    case Op::CoreBinaryNe:
      return BinaryCode::Ne;
    case Op::CoreBinaryLt:
      return BinaryCode::Lt;
    case Op::Le:
    case Op::CoreBinaryLe:
      return BinaryCode::Le;
    case Op::CoreBinaryGt:
      return BinaryCode::Gt;
    case Op::CoreBinaryGe:
      return BinaryCode::Ge;
    case Op::And:
    case Op::CoreBinaryAnd:
      return BinaryCode::And;
    case Op::CoreBinaryOr:
      return BinaryCode::Or;
    default:
      AXON_UNREACHABLE("not an infix operation");
  }
}

// `+` of `core.binary.+`.
std::string text_of(Op op) {
  std::string_view name = spelling(op);
  return "`" + std::string(name.substr(name.find('.') == name.npos ? 0 : 12)) + "`";
}

Error operand_error(Op op, const Datum& a, const Datum& b) {
  return run_error(Diag::RunValue, {text_of(op) + " got " + show(a) + " and " + show(b)});
}

// ---- scalars -------------------------------------------------------------------------------

Error overflow(Op op) {
  std::string text = text_of(op);
  return run_error(Diag::RunOverflow, {text.substr(1, text.size() - 2)});
}

// Of codes that are neither comparisons nor logical.
Arith arith_of(BinaryCode code) {
  switch (code) {
    case BinaryCode::Add:
      return Arith::Add;
    case BinaryCode::Sub:
      return Arith::Sub;
    case BinaryCode::Mul:
      return Arith::Mul;
    case BinaryCode::Div:
      return Arith::Div;
    case BinaryCode::Mod:
      return Arith::Mod;
    case BinaryCode::Pow:
      return Arith::Pow;
    default:
      AXON_UNREACHABLE("arithmetic");
  }
}

// Of comparisons.
Order order_of(BinaryCode code) {
  switch (code) {
    case BinaryCode::Eq:
      return Order::Eq;
    case BinaryCode::Ne:
      return Order::Ne;
    case BinaryCode::Lt:
      return Order::Lt;
    case BinaryCode::Le:
      return Order::Le;
    case BinaryCode::Gt:
      return Order::Gt;
    case BinaryCode::Ge:
      return Order::Ge;
    default:
      AXON_UNREACHABLE("a comparison");
  }
}

Result<int64_t> integers(Op op, BinaryCode code, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (whole_arithmetic(arith_of(code), a, b, out)) {
    case ArithFault::None:
      return out;
    case ArithFault::Overflow:
      return overflow(op);
    case ArithFault::DivideByZero:
      return run_error(Diag::RunDivZero);
    case ArithFault::NegativePower:
      break;
  }
  return run_error(Diag::RunValue, {"an integer is raised to a negative power"});
}

Result<bool> same(Op op, const Datum& a, const Datum& b) {
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  if (a.is_number() && b.is_number()) {
    if (a.kind == Kind::Int && b.kind == Kind::Int) return a.integer == b.integer;
    return a.as_double() == b.as_double();
  }
  if (a.kind != b.kind || a.is_tensor()) return operand_error(op, a, b);
  if (a.kind == Kind::Bool) return a.truth == b.truth;
  if (!a.is_sequence()) return a.text == b.text;
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    AXON_TRY(const bool equal, same(op, a[i], b[i]));
    if (!equal) return false;
  }
  return true;
}

Result<Datum> scalar_comparison(Op op, BinaryCode code, const Datum& a, const Datum& b) {
  if (code == BinaryCode::Eq || code == BinaryCode::Ne) {
    AXON_TRY(const bool equal, same(op, a, b));
    return Datum::of(equal == (code == BinaryCode::Eq));
  }
  if (!a.is_number() || !b.is_number()) return operand_error(op, a, b);
  if (a.kind == Kind::Int && b.kind == Kind::Int)
    return Datum::of(holds(order_of(code), a.integer, b.integer));
  return Datum::of(holds(order_of(code), a.as_double(), b.as_double()));
}

Result<Datum> scalars(Op op, BinaryCode code, const Datum& a, const Datum& b) {
  if (is_comparison(code)) return scalar_comparison(op, code, a, b);
  if (is_logical(code)) {  // null counts as false, as in conditions
    auto truth = [](const Datum& v) { return v.is_null() || v.kind == Kind::Bool; };
    if (!truth(a) || !truth(b)) return operand_error(op, a, b);
    return Datum::of(code == BinaryCode::And ? a.truth && b.truth : a.truth || b.truth);
  }
  if (code == BinaryCode::Add && a.kind == Kind::String && b.kind == Kind::String)
    return Datum::of(a.text + b.text);
  if (!a.is_number() || !b.is_number()) return operand_error(op, a, b);
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    AXON_TRY(const int64_t value, integers(op, code, a.integer, b.integer));
    return Datum::of(value);
  }
  return Datum::of(real_arithmetic(arith_of(code), a.as_double(), b.as_double()));
}

// ---- tensors -------------------------------------------------------------------------------

// Integers have no remainder by zero and no negative powers.
Result<void> check_integers(BinaryCode code, const Datum& b) {
  const bool mod = code == BinaryCode::Mod;
  if (!mod && code != BinaryCode::Pow) return {};
  auto bad = [&](int64_t v) { return mod ? v == 0 : v < 0; };
  bool found = false;
  if (b.is_tensor()) {
    for (int64_t i = 0; i < b.tensor->count() && !found; ++i) found = bad(b.tensor->get_int(i));
  } else {
    found = bad(b.kind == Kind::Bool ? b.truth : b.integer);
  }
  if (!found) return {};
  return mod ? run_error(Diag::RunDivZero)
             : run_error(Diag::RunValue, {"an integer is raised to a negative power"});
}

Result<Datum> tensors(Op op, BinaryCode code, const Datum& a, const Datum& b, Eager& eager) {
  const bool fit = (a.is_tensor() || a.is_scalar()) && (b.is_tensor() || b.is_scalar());
  if (!fit) return operand_error(op, a, b);
  const bool truth = is_comparison(code) || is_logical(code);
  const DType common = result_dtype(a, b);
  DType dtype = common;
  if (code == BinaryCode::Div && !is_float(dtype)) dtype = DType::F32;
  if (!truth && dtype == DType::Bool && code != BinaryCode::Add && code != BinaryCode::Mul)
    return run_error(Diag::RunValue,
                     {"arithmetic on boolean tensors got " + show(a) + " and " + show(b)});
  if (!truth && !is_float(dtype)) AXON_TRY_VOID(check_integers(code, b));
  const Param code_param{"code", static_cast<int64_t>(code)};
  if (a.is_tensor() && b.is_tensor()) {
    AXON_TRY(const Shape shape, broadcast(a.tensor->shape(), b.tensor->shape()));
    AXON_TRY(TensorPtr out, eager.make(truth ? DType::Bool : dtype, shape));
    AXON_TRY_VOID(eager.run(Operation::Binary,
                            {Eager::expanded(a.tensor, shape), Eager::expanded(b.tensor, shape)},
                            {out}, {code_param}));
    return Datum::of(std::move(out));
  }
  const bool left = a.is_tensor();
  TensorPtr x = (left ? a : b).tensor;
  const Datum& scalar = left ? b : a;
  if (is_comparison(code)) {
    AXON_TRY(x, eager.converted(x, common));
  }
  AXON_TRY(TensorPtr out, eager.make(truth ? DType::Bool : dtype, x->shape()));
  const Param value{"value", scalar.kind == Kind::Float  ? ParamValue(scalar.number)
                             : scalar.kind == Kind::Bool ? ParamValue(scalar.truth)
                                                         : ParamValue(scalar.integer)};
  AXON_TRY_VOID(eager.run(Operation::BinaryScalar, {x}, {out},
                          {code_param, value, Param{"reversed", !left}}));
  return Datum::of(std::move(out));
}

}  // namespace

DType result_dtype(const Datum& a, const Datum& b) {
  if (a.is_tensor() && b.is_tensor()) return promote(a.tensor->dtype(), b.tensor->dtype());
  if (!a.is_tensor() && !b.is_tensor()) {
    if (a.kind == Kind::Float || b.kind == Kind::Float) return DType::F32;
    return a.kind == Kind::Int || b.kind == Kind::Int ? DType::I64 : DType::Bool;
  }
  const DType dtype = (a.is_tensor() ? a : b).tensor->dtype();
  const Kind scalar = a.is_tensor() ? b.kind : a.kind;
  if (scalar == Kind::Float && !is_float(dtype)) return DType::F32;
  if (scalar == Kind::Int && dtype == DType::Bool) return DType::I64;
  return dtype;
}

Result<Datum> apply_binary(Op op, const Datum& a, const Datum& b, Eager& eager) {
  const BinaryCode code = code_of(op);
  if (a.is_null() || b.is_null()) {
    const bool equality = code == BinaryCode::Eq || code == BinaryCode::Ne;
    if (equality) return Datum::of((a.is_null() && b.is_null()) == (code == BinaryCode::Eq));
    if (code == BinaryCode::Add) return a.is_null() ? b : a;
    if (code == BinaryCode::Sub && b.is_null() && !a.is_null()) return a;
    const bool truths = is_logical(code) && !a.is_tensor() && !b.is_tensor();
    if (!truths) return run_error(Diag::RunNull, {text_of(op)});
  }
  if (a.is_tensor() || b.is_tensor()) return tensors(op, code, a, b, eager);
  return scalars(op, code, a, b);
}

Result<Datum> apply_infix(const OpCall& call) {
  return apply_binary(call.op, call[0], call[1], call.eager);
}

}  // namespace axon::runtime
