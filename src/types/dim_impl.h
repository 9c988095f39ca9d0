// Private parts of DimTable, shared by its source files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/store.h"
#include "types/dim.h"
#include "types/polynomial.h"

namespace axon {

enum class AtomKind : uint8_t { Symbol, Div, Mod, Min, Max };

struct DimAtom {
  AtomKind kind = AtomKind::Symbol;
  SymbolId symbol;
  std::vector<DimId> operands;  // Div, Mod: two; Min, Max: two or more, sorted
  friend auto operator<=>(const DimAtom&, const DimAtom&) = default;
};

enum class DimOp : uint8_t { Add, Sub, Mul, Div, Mod, Min, Max };

struct DimTable::Impl {
  Store<SymbolId, Symbol> symbols;
  std::map<std::pair<NameId, SymbolKind>, SymbolId> symbol_ids;
  std::set<NameId> used_names;
  std::map<std::string, int64_t, std::less<>> fresh_counts;

  std::vector<DimAtom> atoms;
  std::map<DimAtom, int32_t> atom_ids;

  Store<DimId, Polynomial> dims;
  std::unordered_multimap<size_t, DimId> dim_ids;
  std::map<std::tuple<DimOp, DimId, DimId>, DimId> memo;

  const Polynomial& poly(DimId id) const { return dims[id]; }
  const DimAtom& atom(int32_t index) const { return atoms[static_cast<size_t>(index)]; }
  int32_t intern_atom(DimAtom atom);
  DimId intern(Polynomial poly);
  // Interns after replacing x*(y/x) by y wherever a quotient atom's cofactor allows it.
  DimId make(Polynomial poly);
  DimId make_atom(AtomKind kind, std::vector<DimId> operands);
  DimId extremum(AtomKind kind, DimId a, DimId b);
  void collect(DimId dim, std::vector<SymbolId>& out, std::set<SymbolId>& seen) const;
};

}  // namespace axon
