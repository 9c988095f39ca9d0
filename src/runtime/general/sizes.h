// The dim symbols of one activation of a routine: bound from shapes on entry, read as numbers
// later.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/program.h"
#include "runtime/general/datum.h"

namespace axon::runtime {

class Sizes {
 public:
  explicit Sizes(const Program& program) : program_(&program) {}

  void set(SymId symbol, int64_t value) {  // the first value stays
    if (!get(symbol)) values_.emplace_back(symbol, value);
  }
  std::optional<int64_t> get(SymId symbol) const;
  // Nothing when a symbol has no value, or on overflow or division by zero.
  std::optional<int64_t> value(IntId expr) const;
  // Symbols of `expr` without a value; an invalid id when there is none.
  SymId unbound(IntId expr) const;
  // Binds free symbols from the shapes in `value`; an axis with one free symbol is solved, unless
  // only `plain` axes are asked for. True when something was bound.
  Result<bool> bind(const Pattern& pattern, const Datum& value, bool plain = false);
  bool mentions(const Pattern& pattern, SymId symbol) const;
  // Ranks, and every axis whose size has a value.
  Result<void> check(const Pattern& pattern, const Datum& value, const std::string& what) const;
  // Runs of axes: each is what it was where its name came first, in values that have been checked.
  Result<void> check_runs(const Pattern& pattern, const Datum& value, const std::string& what);

 private:
  Result<bool> bind_axis(const Pattern& pattern, IntId expr, int64_t size);
  bool mentions(IntId expr, SymId symbol) const;
  bool count_free(IntId expr, SymId& free, int& occurrences) const;
  std::vector<std::pair<IntId, int>> axes(const Pattern& pattern, int rank) const;

  const Program* program_;
  std::vector<std::pair<SymId, int64_t>> values_;
  struct Run {
    std::string name;
    Shape sizes;
    std::string what;  // has it first
  };
  std::vector<Run> runs_;
};

}  // namespace axon::runtime
