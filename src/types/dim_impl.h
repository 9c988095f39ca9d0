// Private parts of DimTable, shared by its source files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

// A Floor is a quotient that is rounded for certain: nothing cancels it.
enum class AtomKind : uint8_t { Symbol, Div, Floor, Mod, Min, Max };

struct DimAtom {
  AtomKind kind = AtomKind::Symbol;
  SymbolId symbol;
  std::vector<DimId> operands;  // Div, Floor, Mod: two; Min, Max: two or more, sorted
  friend auto operator<=>(const DimAtom&, const DimAtom&) = default;
};

// How much there is to look at, and whether a quotient occurs.
struct DimFacts {
  int64_t size = 0;  // terms and atoms with their operands, as often as they are written
  bool rounds = false;
};

enum class DimOp : uint8_t { Add, Sub, Mul, Div, Mod, Min, Max, Floor };

struct DimTable::Impl {
  Store<SymbolId, Symbol> symbols;
  std::map<std::pair<NameId, SymbolKind>, SymbolId> symbol_ids;
  std::set<NameId> used_names;
  std::map<std::string, int64_t, std::less<>> fresh_counts;

  std::vector<DimAtom> atoms;
  std::map<DimAtom, int32_t> atom_ids;
  std::vector<DimFacts> atom_facts;

  Store<DimId, Polynomial> dims;
  Store<DimId, DimFacts> dim_facts;
  std::unordered_multimap<size_t, DimId> dim_ids;
  std::map<std::tuple<DimOp, DimId, DimId>, DimId> memo;  // results that are too large to write
  // Results by operation and operands, dims of symbols and of small integers: most questions are
  // asked again and again.
  std::unordered_map<uint64_t, DimId> results[4], value_results[4];
  std::vector<DimId> of_symbol, small;
  std::unordered_map<DimId, DimId, IdHash> frozen, exact, plain;
  template <class Make>
  DimId remembered(DimOp op, DimId a, DimId b, Make make, bool value = false) {
    auto& known = (value ? value_results : results)[static_cast<size_t>(op)];
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
  // Nothing is larger, so that questions about dims take little time.
  static constexpr int64_t kMaxSize = 512;
  DimFacts facts_of(const DimAtom& atom) const;
  DimFacts facts_of(const Polynomial& p) const;
  DimId unknown(DimTable& table, DimOp op, DimId a, DimId b);  // the same for the same question
  DimId bounded(DimTable& table, DimOp op, DimId a, DimId b, PolynomialResult result);
  DimId bounded(DimTable& table, DimOp op, DimId a, DimId b, AtomKind kind,
                std::vector<DimId> operands);
  std::optional<std::pair<DimId, DimId>> reduced(const Polynomial& num, const Polynomial& den);
  // The operations themselves, without looking at earlier results.
  DimId add(DimTable& table, DimId a, DimId b);
  DimId sub(DimTable& table, DimId a, DimId b);
  DimId mul(DimTable& table, DimId a, DimId b);
  DimId div(DimTable& table, DimId a, DimId b);
  DimId extremum(DimTable& table, AtomKind kind, DimId a, DimId b);
  // Values, dim_value.cc: the tree with every quotient rounded, or every one exact; the shortest
  // form that has the same tree.
  DimId floor(DimTable& table, DimId a, DimId b);
  DimId rebuild(DimTable& table, const DimTable::Tree& tree, bool rounded);
  DimId freeze(DimTable& table, DimId dim);
  DimId plainest(DimTable& table, DimId dim);
  DimId value(DimTable& table, DimOp op, DimId a, DimId b);
  // Adds the symbols that are not there yet; a dim has few.
  void collect(DimId dim, std::vector<SymbolId>& out) const;
};

}  // namespace axon
