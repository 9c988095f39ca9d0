// Arithmetic, comparison and logic on scalars and tensors.
#include "graph/eval_ops.h"
#include "graph/eval_tensors.h"
#include "support/arithmetic.h"

namespace axon::graph {
namespace {

using Kind = EvalValue::Kind;

Error null_error(std::string_view what) { return eval_error(Diag::RunNull, {what}); }
Error operand_error(std::string_view what, const EvalValue& a, const EvalValue& b) {
  return eval_error(Diag::RunValue, {std::string(what) + " got " + show(a) + " and " + show(b)});
}

// ---- scalars -------------------------------------------------------------------------------

Error fault_error(ArithFault fault, std::string_view name) {
  if (fault == ArithFault::DivideByZero) return eval_error(Diag::RunDivZero);
  if (fault == ArithFault::Overflow) return eval_error(Diag::RunOverflow, {name});
  return eval_error(Diag::RunValue, {"an integer is raised to a negative power"});
}

// ---- tensors -------------------------------------------------------------------------------

// Integer tensors wrap around at their width (language.md 9.3).
Result<int64_t> wrapping(Arith op, int64_t a, int64_t b) {
  uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case Arith::Add:
      return static_cast<int64_t>(x + y);
    case Arith::Sub:
      return static_cast<int64_t>(x - y);
    case Arith::Mul:
      return static_cast<int64_t>(x * y);
    case Arith::Mod:
      if (b == 0) return eval_error(Diag::RunDivZero);
      return floor_mod(a, b);
    case Arith::Pow: {
      if (b < 0) return eval_error(Diag::RunValue, {"an integer is raised to a negative power"});
      uint64_t out = 1;
      for (; y != 0; y >>= 1, x *= x) {
        if (y & 1) out *= x;
      }
      return static_cast<int64_t>(out);
    }
    case Arith::Div:
      break;
  }
  AXON_UNREACHABLE("integer division of tensors");
}

struct Pair {
  EvalTensor a, b;
  Shape shape;
  std::vector<int64_t> at_a, at_b;
};

Result<Pair> align(const EvalValue& a, const EvalValue& b, DType beside) {
  Pair out;
  out.a = a.is_tensor() ? *a.tensor : lift(a, beside);
  out.b = b.is_tensor() ? *b.tensor : lift(b, beside);
  AXON_TRY(out.shape, broadcast(out.a.shape, out.b.shape));
  out.at_a = broadcast_offsets(out.a.shape, out.shape);
  out.at_b = broadcast_offsets(out.b.shape, out.shape);
  return out;
}

Result<EvalValue> tensor_arith(Arith op, const EvalValue& a, const EvalValue& b) {
  DType dtype = result_dtype(a, b);
  AXON_TRY(Pair pair, align(a, b, dtype));
  if (op == Arith::Div && !is_float(dtype)) dtype = DType::F32;
  if (dtype == DType::Bool && op != Arith::Add && op != Arith::Mul) {
    return operand_error("arithmetic on boolean tensors", a, b);
  }
  EvalTensor out = EvalTensor::make(dtype, pair.shape);
  for (size_t i = 0; i < pair.at_a.size(); ++i) {
    int64_t at = static_cast<int64_t>(i), x = pair.at_a[i], y = pair.at_b[i];
    if (is_float(dtype)) {
      // Integers enter as float, as kernels convert them.
      double p = pair.a.real() ? pair.a.get(x) : round_to(DType::F32, pair.a.get(x));
      double q = pair.b.real() ? pair.b.get(y) : round_to(DType::F32, pair.b.get(y));
      out.set(at, real_arithmetic(op, p, q));
    } else {
      AXON_TRY(int64_t value, wrapping(op, pair.a.get_int(x), pair.b.get_int(y)));
      out.set_int(at, value);
    }
  }
  return EvalValue::of(std::move(out));
}

Result<EvalValue> arith(Arith op, std::string_view name, const EvalValue& a, const EvalValue& b) {
  if (a.is_null() || b.is_null()) {
    if (op == Arith::Add) return a.is_null() ? b : a;
    if (op == Arith::Sub && b.is_null() && !a.is_null()) return a;
    return null_error("`" + std::string(name) + "`");
  }
  if (op == Arith::Add && a.kind == Kind::String && b.kind == Kind::String) {
    return EvalValue::of(a.text + b.text);
  }
  bool tensors = a.is_tensor() || b.is_tensor();
  bool fit = tensors ? (a.is_tensor() || a.is_scalar()) && (b.is_tensor() || b.is_scalar())
                     : a.is_number() && b.is_number();
  if (!fit) return operand_error("`" + std::string(name) + "`", a, b);
  if (tensors) return tensor_arith(op, a, b);
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    int64_t out = 0;
    const ArithFault fault = whole_arithmetic(op, a.integer, b.integer, out);
    if (fault != ArithFault::None) return fault_error(fault, name);
    return EvalValue::of(out);
  }
  return EvalValue::of(real_arithmetic(op, a.as_double(), b.as_double()));
}

// ---- comparison and logic ------------------------------------------------------------------

Result<EvalValue> tensor_compare(Order op, const EvalValue& a, const EvalValue& b) {
  DType dtype = result_dtype(a, b);
  AXON_TRY(Pair pair, align(a, b, dtype));
  EvalTensor out = EvalTensor::make(DType::Bool, pair.shape);
  for (size_t i = 0; i < pair.at_a.size(); ++i) {
    int64_t x = pair.at_a[i], y = pair.at_b[i];
    bool value = is_float(dtype) ? holds(op, pair.a.get(x), pair.b.get(y))
                                 : holds(op, pair.a.get_int(x), pair.b.get_int(y));
    out.set_int(static_cast<int64_t>(i), value);
  }
  return EvalValue::of(std::move(out));
}

Result<bool> same(const EvalValue& a, const EvalValue& b) {
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  if (a.is_number() && b.is_number()) {
    if (a.kind == Kind::Int && b.kind == Kind::Int) return a.integer == b.integer;
    return a.as_double() == b.as_double();
  }
  if (a.kind != b.kind || a.is_tensor()) return operand_error("`==`", a, b);
  switch (a.kind) {
    case Kind::Bool:
      return a.boolean == b.boolean;
    case Kind::String:
    case Kind::Path:
      return a.text == b.text;
    default:
      break;
  }
  if (a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    AXON_TRY(bool equal, same(a.items[i], b.items[i]));
    if (!equal) return false;
  }
  return true;
}

Result<EvalValue> compare(Order op, std::string_view name, const EvalValue& a, const EvalValue& b) {
  bool equality = op == Order::Eq || op == Order::Ne;
  if (a.is_null() || b.is_null()) {
    if (!equality) return null_error("`" + std::string(name) + "`");
    return EvalValue::of((a.is_null() && b.is_null()) == (op == Order::Eq));
  }
  if (a.is_tensor() || b.is_tensor()) {
    bool fit = (a.is_tensor() || a.is_scalar()) && (b.is_tensor() || b.is_scalar());
    if (!fit) return operand_error("`" + std::string(name) + "`", a, b);
    return tensor_compare(op, a, b);
  }
  if (equality) {
    AXON_TRY(bool equal, same(a, b));
    return EvalValue::of(equal == (op == Order::Eq));
  }
  if (!a.is_number() || !b.is_number()) return operand_error("`" + std::string(name) + "`", a, b);
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    return EvalValue::of(holds(op, a.integer, b.integer));
  }
  return EvalValue::of(holds(op, a.as_double(), b.as_double()));
}

// A null truth value counts as false, as in conditions.
Result<EvalValue> logic(bool conjunction, const EvalValue& a, const EvalValue& b) {
  if (a.is_tensor() || b.is_tensor()) {
    if (a.is_null() || b.is_null()) return null_error(conjunction ? "`and`" : "`or`");
    bool fit = (a.is_tensor() || a.is_scalar()) && (b.is_tensor() || b.is_scalar());
    if (!fit) return operand_error(conjunction ? "`and`" : "`or`", a, b);
    AXON_TRY(Pair pair, align(a, b, DType::F32));
    EvalTensor out = EvalTensor::make(DType::Bool, pair.shape);
    for (size_t i = 0; i < pair.at_a.size(); ++i) {
      bool x = pair.a.get(pair.at_a[i]) != 0, y = pair.b.get(pair.at_b[i]) != 0;
      out.set_int(static_cast<int64_t>(i), conjunction ? x && y : x || y);
    }
    return EvalValue::of(std::move(out));
  }
  auto truth = [](const EvalValue& v) { return v.is_null() || v.kind == Kind::Bool; };
  if (!truth(a) || !truth(b)) return operand_error(conjunction ? "`and`" : "`or`", a, b);
  return EvalValue::of(conjunction ? a.boolean && b.boolean : a.boolean || b.boolean);
}

}  // namespace

Result<EvalValue> eval_binary(Op op, const EvalValue& a, const EvalValue& b) {
  switch (op) {
    case Op::CoreBinaryAdd:
      return arith(Arith::Add, "+", a, b);
    case Op::CoreBinarySub:
      return arith(Arith::Sub, "-", a, b);
    case Op::CoreBinaryMul:
      return arith(Arith::Mul, "*", a, b);
    case Op::CoreBinaryDiv:
      return arith(Arith::Div, "/", a, b);
    case Op::CoreBinaryMod:
      return arith(Arith::Mod, "%", a, b);
    case Op::CoreBinaryEq:
      return compare(Order::Eq, "==", a, b);
    case Op::CoreBinaryNe:
      return compare(Order::Ne, "!=", a, b);
    case Op::CoreBinaryLt:
      return compare(Order::Lt, "<", a, b);
    case Op::CoreBinaryLe:
      return compare(Order::Le, "<=", a, b);
    case Op::CoreBinaryGt:
      return compare(Order::Gt, ">", a, b);
    case Op::CoreBinaryGe:
      return compare(Order::Ge, ">=", a, b);
    case Op::CoreBinaryAnd:
      return logic(true, a, b);
    case Op::CoreBinaryOr:
      return logic(false, a, b);
    default:
      AXON_UNREACHABLE("not a binary operation");
  }
}

Result<EvalValue> eval_arithmetic(const OpCall& call) {
  switch (call.op) {
    case Op::Add:
      return arith(Arith::Add, "add", call[0], call[1]);
    case Op::Mul:
      return arith(Arith::Mul, "mul", call[0], call[1]);
    case Op::Div:
      return arith(Arith::Div, "div", call[0], call[1]);
    case Op::Pow:
      return arith(Arith::Pow, "pow", call[0], call[1]);
    default:
      AXON_UNREACHABLE("not an arithmetic primitive");
  }
}

Result<EvalValue> eval_compare(const OpCall& call) {
  switch (call.op) {
    case Op::Eq:
      return compare(Order::Eq, "eq", call[0], call[1]);
    case Op::Le:
      return compare(Order::Le, "le", call[0], call[1]);
    case Op::And:
      return logic(true, call[0], call[1]);
    default:
      AXON_UNREACHABLE("not a comparison primitive");
  }
}

}  // namespace axon::graph
