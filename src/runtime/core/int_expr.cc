// Evaluation of integer expressions, checked for overflow.
#include "runtime/core/int_expr.h"

#include <algorithm>

#include "runtime/core/int_apply.h"
#include "support/arithmetic.h"

namespace axon::runtime {

bool apply(IntExpr::Kind kind, int64_t a, int64_t b, int64_t& out) {
  using Kind = IntExpr::Kind;
  auto number = [&](Arith op) { return whole_arithmetic(op, a, b, out) == ArithFault::None; };
  switch (kind) {
    case Kind::Add:
      return number(Arith::Add);
    case Kind::Sub:
      return number(Arith::Sub);
    case Kind::Mul:
      return number(Arith::Mul);
    case Kind::FloorDiv:
      return number(Arith::Div);
    case Kind::CeilDiv:
      if (!number(Arith::Div)) return false;
      if (a % b != 0) ++out;
      return true;
    case Kind::Mod:
      return number(Arith::Mod);
    case Kind::Min:
      out = std::min(a, b);
      return true;
    case Kind::Max:
      out = std::max(a, b);
      return true;
    case Kind::Const:
    case Kind::Sym:
      break;
  }
  return false;
}

void Bindings::set(SymId symbol, int64_t value) {
  size_t index = static_cast<size_t>(symbol.index);
  if (values.size() <= index) {
    values.resize(index + 1);
    known.resize(index + 1);
  }
  values[index] = value;
  known[index] = true;
}

bool IntValues::get(IntId expr, int64_t& out) const {
  size_t index = static_cast<size_t>(expr.index);
  if (index >= values.size() || !known[index]) return false;
  out = values[index];
  return true;
}

void evaluate_all(const Store<IntId, IntExpr>& ints, const Bindings& bindings, IntValues& out) {
  out.values.resize(ints.size());
  out.known.resize(ints.size());
  for (size_t i = 0; i < ints.size(); ++i) {
    const IntExpr& e = ints[ints.id_at(i)];
    bool known = false;
    int64_t value = 0;
    if (e.kind == IntExpr::Kind::Const) {
      known = true;
      value = e.value;
    } else if (e.kind == IntExpr::Kind::Sym) {
      size_t s = static_cast<size_t>(e.sym.index);
      known = s < bindings.values.size() && bindings.known[s];
      if (known) value = bindings.values[s];
    } else {
      int64_t a = 0, b = 0;
      known = out.get(e.a, a) && out.get(e.b, b) && apply(e.kind, a, b, value);
    }
    out.values[i] = known ? value : 0;
    out.known[i] = known;
  }
}

}  // namespace axon::runtime
