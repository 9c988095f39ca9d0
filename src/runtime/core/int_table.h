// All integer expressions of a Program evaluated at once, without allocating.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/program.h"

namespace axon::runtime {

// Values of symbols during a call, by SymId. Unknown symbols make what needs them unknown.
struct SymbolValues {
  std::vector<int64_t> values;
  std::vector<uint8_t> known;

  explicit SymbolValues(size_t count = 0) : values(count, 0), known(count, 0) {}
  void set(SymId symbol, int64_t value) {
    values[static_cast<size_t>(symbol.index)] = value;
    known[static_cast<size_t>(symbol.index)] = 1;
  }
  bool has(SymId symbol) const { return known[static_cast<size_t>(symbol.index)] != 0; }
  int64_t get(SymId symbol) const { return values[static_cast<size_t>(symbol.index)]; }
  friend bool operator==(const SymbolValues&, const SymbolValues&) = default;
};

class IntTable {
 public:
  explicit IntTable(const Program& program);
  // Recomputes every value. Overflow and division by zero make a value unknown.
  void evaluate(const SymbolValues& symbols);
  bool known(IntId id) const { return id.valid() && known_[static_cast<size_t>(id.index)] != 0; }
  int64_t operator[](IntId id) const { return values_[static_cast<size_t>(id.index)]; }
  // Whether a data symbol occurs in the expression.
  bool is_data(IntId id) const { return id.valid() && data_[static_cast<size_t>(id.index)] != 0; }

 private:
  const Program* program_;
  std::vector<int64_t> values_;
  std::vector<uint8_t> known_, data_;
};

}  // namespace axon::runtime
