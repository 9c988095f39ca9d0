// All integer expressions of a Program with their current values, and which of them vary per call.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/program.h"

namespace axon::runtime {

class IntTable {
 public:
  explicit IntTable(const Program& program);
  // Recomputes every value; allocates only the first time.
  void evaluate(const Bindings& bindings) { evaluate_all(program_->ints, bindings, values_); }
  bool known(IntId id) const {
    return id.valid() && static_cast<size_t>(id.index) < values_.known.size() &&
           values_.known[static_cast<size_t>(id.index)];
  }
  int64_t operator[](IntId id) const { return values_.values[static_cast<size_t>(id.index)]; }
  // Whether an expression has no value because a part of it divides by zero.
  bool divides_by_zero(IntId id) const;
  // Whether a data symbol occurs in the expression.
  bool is_data(IntId id) const { return id.valid() && data_[static_cast<size_t>(id.index)] != 0; }

 private:
  const Program* program_;
  IntValues values_;
  std::vector<uint8_t> data_;
};

}  // namespace axon::runtime
