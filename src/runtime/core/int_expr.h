// Integer expressions over the symbols of a Program: shapes, offsets, lengths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/ids.h"
#include "support/store.h"

namespace axon::runtime {

AXON_ID(SymId);  // a symbol of the program
AXON_ID(IntId);  // an integer expression

enum class SymKind : uint8_t {
  Shape,  // buffer sizes depend on it: B, S, C
  Data,   // lengths, positions, counts: operands only, with a proven upper bound
};
struct Symbol {
  std::string name;
  SymKind kind = SymKind::Shape;
  IntId upper;  // Data: bound over shape symbols
};

// Operands come before their users in the store. FloorDiv, CeilDiv and Mod round towards the
// divisor's sign as in the language.
struct IntExpr {
  enum class Kind : uint8_t {
    Const,
    Sym,
    Add,
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Min,
    Max
  } kind = Kind::Const;
  int64_t value = 0;  // Const
  SymId sym;          // Sym
  IntId a, b;
  friend bool operator==(const IntExpr&, const IntExpr&) = default;
};

// Values of symbols during a call.
struct Bindings {
  std::vector<int64_t> values;  // by SymId
  std::vector<bool> known;
  void set(SymId symbol, int64_t value);
};

// Values of all expressions of a program for one set of bindings. Reused from call to call, so that
// a step allocates nothing.
struct IntValues {
  std::vector<int64_t> values;  // by IntId
  std::vector<bool> known;      // false: an unbound symbol, overflow or a division by zero
  bool get(IntId expr, int64_t& out) const;
};
void evaluate_all(const Store<IntId, IntExpr>& ints, const Bindings& bindings, IntValues& out);

}  // namespace axon::runtime
