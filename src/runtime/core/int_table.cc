// Evaluation in store order: operands come before their users.
#include "runtime/core/int_table.h"

#include <algorithm>

namespace axon::runtime {
namespace {

using Kind = IntExpr::Kind;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// False on overflow and division by zero.
bool apply(Kind kind, int64_t a, int64_t b, int64_t& out) {
  switch (kind) {
    case Kind::Add: return !__builtin_add_overflow(a, b, &out);
    case Kind::Sub: return !__builtin_sub_overflow(a, b, &out);
    case Kind::Mul: return !__builtin_mul_overflow(a, b, &out);
    case Kind::Min: out = std::min(a, b); return true;
    case Kind::Max: out = std::max(a, b); return true;
    case Kind::FloorDiv:
    case Kind::CeilDiv:
    case Kind::Mod: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      const int64_t quotient = floor_div(a, b);
      if (kind == Kind::Mod) {
        out = a - quotient * b;
      } else {
        out = kind == Kind::CeilDiv && quotient * b != a ? quotient + 1 : quotient;
      }
      return true;
    }
    case Kind::Const:
    case Kind::Sym: return false;
  }
  return false;
}

}  // namespace

IntTable::IntTable(const Program& program)
    : program_(&program),
      values_(program.ints.size(), 0),
      known_(program.ints.size(), 0),
      data_(program.ints.size(), 0) {
  for (size_t i = 0; i < program.ints.size(); ++i) {
    const IntExpr& e = program.ints[program.ints.id_at(i)];
    if (e.kind == Kind::Sym) {
      data_[i] = program.symbols[e.sym].kind == SymKind::Data;
    } else if (e.kind != Kind::Const) {
      data_[i] = is_data(e.a) || is_data(e.b);
    }
  }
}

void IntTable::evaluate(const SymbolValues& symbols) {
  size_t i = 0;
  for (const IntExpr& e : program_->ints) {
    int64_t& value = values_[i];
    uint8_t& is_known = known_[i++];
    if (e.kind == Kind::Const) {
      value = e.value;
      is_known = 1;
    } else if (e.kind == Kind::Sym) {
      value = symbols.get(e.sym);
      is_known = symbols.has(e.sym);
    } else {
      is_known = known(e.a) && known(e.b) && apply(e.kind, (*this)[e.a], (*this)[e.b], value);
    }
  }
}

}  // namespace axon::runtime
