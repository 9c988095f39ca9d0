// The values of a frame's dim symbols: bound from shapes on entry, read as numbers later.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "graph/eval_value.h"
#include "types/type.h"

namespace axon::graph {

class DimBinding {
 public:
  explicit DimBinding(const TypeTable& types) : types_(types), dims_(types.dims()) {}

  void set(SymbolId symbol, int64_t value) { values_.emplace(symbol, value); }
  std::optional<int64_t> get(SymbolId symbol) const;
  std::optional<int64_t> value(DimId dim) const;
  enum class Only : uint8_t { All, Plain, Declared };
  // Binds the free symbols of `type` from the shapes in `value`; the first binding of a symbol
  // wins. Compounds with one free symbol are solved, unless only plain axes are asked for. Declared
  // ones are those that somebody has written. True when something was bound.
  Result<bool> bind(TypeId type, const EvalValue& value, Only only = Only::All);
  // Ranks, and every axis whose dim has a value. `what` names the value in the error.
  Result<void> check(TypeId type, const EvalValue& value, const std::string& what) const;
  // Runs of axes: each is what it was where its name came first, in values whose types have been
  // checked.
  Result<void> check_runs(TypeId type, const EvalValue& value, const std::string& what);

 private:
  Result<bool> bind_axis(DimId dim, int64_t size, Only only);
  // The axes of a tensor type beside their extents, runs left out; nothing when ranks differ.
  std::vector<std::pair<DimId, size_t>> axes(const TypeData& type, size_t rank) const;

  const TypeTable& types_;
  const DimTable& dims_;
  std::unordered_map<SymbolId, int64_t, IdHash> values_;
  struct Run {
    std::vector<int64_t> sizes;
    std::string what;  // has it first
  };
  std::unordered_map<SymbolId, Run, IdHash> runs_;
};

}  // namespace axon::graph
