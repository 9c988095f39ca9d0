// Private parts of DimTable, shared by its source files.
#pragma once

#include <cstdint>
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
  std::map<std::tuple<DimOp, DimId, DimId>, DimId> memo;  // sums and products that overflow
  // Results by operation and operands, dims of symbols and of small integers: most questions are
  // asked again and again.
  std::unordered_map<uint64_t, DimId> results[4];
  std::vector<DimId> of_symbol, small;
  template <class Make>
  DimId remembered(DimOp op, DimId a, DimId b, Make make) {
    auto& known = results[static_cast<size_t>(op)];
    uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(a.index)) << 32 |
                   static_cast<uint32_t>(b.index);
    auto it = known.find(key);
    if (it != known.end()) return it->second;
    DimId result = make();
    known.emplace(key, result);
    return result;
  }

  const Polynomial& poly(DimId id) const { return dims[id]; }
  const DimAtom& atom(int32_t index) const { return atoms[static_cast<size_t>(index)]; }
  int32_t intern_atom(DimAtom atom);
  DimId intern(Polynomial poly);
  // Interns after replacing x*(y/x) by y wherever a quotient atom's cofactor allows it.
  DimId make(Polynomial poly);
  DimId make_atom(AtomKind kind, std::vector<DimId> operands);
  // The operations themselves, without looking at earlier results.
  DimId add(DimTable& table, DimId a, DimId b);
  DimId sub(DimTable& table, DimId a, DimId b);
  DimId mul(DimTable& table, DimId a, DimId b);
  DimId div(DimTable& table, DimId a, DimId b);
  DimId extremum(AtomKind kind, DimId a, DimId b);
  // Adds the symbols that are not there yet; a dim has few.
  void collect(DimId dim, std::vector<SymbolId>& out) const;
};

}  // namespace axon
