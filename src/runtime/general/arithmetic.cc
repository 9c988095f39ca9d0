// Arithmetic, comparison and logic on scalars and tensors.
#include <algorithm>
#include <cmath>

#include "runtime/general/apply.h"

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

Result<int64_t> power(Op op, int64_t base, int64_t exponent) {
  const bool odd = exponent % 2 != 0;
  if (base == 1 || base == -1) return odd ? base : 1;
  if (exponent < 0) return run_error(Diag::RunValue, {"an integer is raised to a negative power"});
  if (base == 0) return exponent == 0 ? 1 : 0;
  int64_t out = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(out, base, &out)) return overflow(op);
  }
  return out;
}

Result<int64_t> integer_arithmetic(Op op, BinaryCode code, int64_t a, int64_t b) {
  int64_t out = 0;
  bool wrong = false;
  switch (code) {
    case BinaryCode::Add:
      wrong = __builtin_add_overflow(a, b, &out);
      break;
    case BinaryCode::Sub:
      wrong = __builtin_sub_overflow(a, b, &out);
      break;
    case BinaryCode::Mul:
      wrong = __builtin_mul_overflow(a, b, &out);
      break;
    case BinaryCode::Pow:
      return power(op, a, b);
    default: {
      if (b == 0) return run_error(Diag::RunDivZero);
      const bool division = code == BinaryCode::Div;
      if (b == -1) {
        wrong = division && __builtin_sub_overflow(int64_t{0}, a, &out);
        break;
      }
      const int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
      out = division ? quotient : a - quotient * b;
      break;
    }
  }
  if (wrong) return overflow(op);
  return out;
}

double real_arithmetic(BinaryCode code, double a, double b) {
  switch (code) {
    case BinaryCode::Add:
      return a + b;
    case BinaryCode::Sub:
      return a - b;
    case BinaryCode::Mul:
      return a * b;
    case BinaryCode::Div:
      return a / b;
    case BinaryCode::Pow:
      return std::pow(a, b);
    default: {
      const double r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
  }
}

template <class T>
bool holds(BinaryCode code, T a, T b) {
  switch (code) {
    case BinaryCode::Eq:
      return a == b;
    case BinaryCode::Ne:
      return a != b;
    case BinaryCode::Lt:
      return a < b;
    case BinaryCode::Le:
      return a <= b;
    case BinaryCode::Gt:
      return a > b;
    default:
      return a >= b;
  }
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
    return Datum::of(holds(code, a.integer, b.integer));
  return Datum::of(holds(code, a.as_double(), b.as_double()));
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
    AXON_TRY(const int64_t value, integer_arithmetic(op, code, a.integer, b.integer));
    return Datum::of(value);
  }
  return Datum::of(real_arithmetic(code, a.as_double(), b.as_double()));
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
