// Symbolic dimensions in canonical form (language.md 6.6): equal id means provably equal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/function_ref.h"
#include "support/interner.h"

namespace axon {

AXON_ID(DimId);

// What a name in types stands for; names of different kinds are different, however they are spelt.
// Kinds of dims differ in how unification treats them.
enum class SymbolKind : uint8_t {
  Variable,  // a dimension variable of a definition, bound by its arguments (or fresh for a call)
  Rigid,     // a global constant (canonical name); may carry a value
  Param,     // a Dim/Int parameter named in a type (dependent dim)
  Unknown,   // printed `_d<n>`; equal only to itself
  Data,      // after specialisation: a length, position or count; never a buffer size
  Run,       // `..S`, any number of axes: no dim
  Type,      // a type variable: no dim
};
AXON_ID(SymbolId);
struct Symbol {
  NameId name;
  SymbolKind kind = SymbolKind::Variable;
  std::optional<int64_t>
      value;               // Rigid with a known value: unification uses it, messages use the name
  bool generated = false;  // made by fresh()
};

// A dim is a polynomial with rational coefficients over atoms; an atom is a symbol, or a quotient,
// remainder, minimum or maximum that does not simplify. DimTable interns the canonical form, so
// `P+S` and `S+P` have one id, `2*(S+1)-2` is `2*S`, and `H*(D/H)` is `D` where it is known to be
// exact. A dim that would be very large is an unknown size instead.
class DimTable {
 public:
  explicit DimTable(Interner& names);
  DimTable(const DimTable&) = delete;
  DimTable& operator=(const DimTable&) = delete;
  ~DimTable();

  SymbolId symbol(NameId name, SymbolKind kind);           // interned by (name, kind)
  SymbolId fresh(std::string_view base, SymbolKind kind);  // a new symbol, name made unique
  const Symbol& symbol(SymbolId id) const;
  void set_value(SymbolId rigid, int64_t value);

  DimId integer(int64_t value);
  DimId of(SymbolId symbol);
  DimId add(DimId a, DimId b);
  DimId sub(DimId a, DimId b);
  DimId mul(DimId a, DimId b);
  DimId div(
      DimId a,
      DimId b);  // exact division in shapes: simplifies; else an atom `a/b` (floor at evaluation)
  DimId mod(DimId a, DimId b);
  DimId min(DimId a, DimId b);
  DimId max(DimId a, DimId b);
  // The same for integers as they run: a quotient is rounded before anything is done with it, so
  // that `2*(n/2)` is not `n`. Results are as their trees say.
  DimId value_add(DimId a, DimId b);
  DimId value_sub(DimId a, DimId b);
  DimId value_mul(DimId a, DimId b);
  DimId value_div(DimId a, DimId b);
  bool rounds(DimId dim) const;  // a quotient occurs
  DimId exact(DimId dim);        // what it is where all its divisions are exact

  std::optional<int64_t> as_integer(DimId dim) const;
  std::optional<SymbolId> as_symbol(DimId dim) const;
  // All symbols that occur, each once, in order of first occurrence.
  std::vector<SymbolId> symbols(DimId dim) const;
  bool mentions(DimId dim, SymbolId symbol) const;
  // When the dim is affine in `symbol` with coefficient ±1: solves dim = target for it.
  std::optional<DimId> solve(DimId dim, SymbolId symbol, DimId target);
  // The same for any coefficient that does not mention `symbol`; the division is taken to be exact.
  std::optional<DimId> solve_exact(DimId dim, SymbolId symbol, DimId target);
  // Whether no integers make it 0, as in `2*S-3`.
  bool never_zero(DimId dim) const;
  // Replaces symbols; symbols for which `map` gives an invalid id stay.
  DimId substitute(DimId dim, function_ref<DimId(SymbolId)> map);
  // Value under an assignment; nothing when a symbol has none or a division by zero occurs.
  std::optional<int64_t> evaluate(DimId dim,
                                  function_ref<std::optional<int64_t>(SymbolId)> value) const;
  // Provable order for all values with every symbol ≥ `lower(symbol)` (0 where it gives nothing): a
  // ≤ b.
  bool proves_le(DimId a, DimId b, function_ref<std::optional<int64_t>(SymbolId)> lower);

  // Canonical text, `2*S+1`; blanks around operators as in language.md 11.1 are the renderer's
  // matter.
  std::string show(DimId dim) const;
  // Structure, for consumers that must translate (plan, emit, render): a tree in canonical order.
  struct Tree {
    enum class Kind : uint8_t { Integer, Symbol, Add, Sub, Mul, Div, Mod, Min, Max } kind;
    int64_t value = 0;
    SymbolId symbol;
    std::vector<Tree> operands;
    friend bool operator==(const Tree&, const Tree&) = default;
  };
  Tree tree(DimId dim) const;
  Interner& names() { return names_; }
  const Interner& names() const { return names_; }

  struct Impl;

 private:
  Interner& names_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace axon
