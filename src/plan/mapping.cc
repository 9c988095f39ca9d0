// The mapping table, in the order of ops.def.
#include "plan/mapping.h"

#include <array>

namespace axon::plan {

struct Mapping {
  struct Table {
    std::array<MappingRow, kOpCount> rows;
    std::array<int, kOpCount> times{};
  };
  static constexpr Table make() {
    Table table;
#define MAP(op, function)                                                \
  table.rows[static_cast<size_t>(Op::op)].handler = &Lowering::function; \
  ++table.times[static_cast<size_t>(Op::op)];
#define UNMAPPED(op, why)                               \
  table.rows[static_cast<size_t>(Op::op)].reason = why; \
  ++table.times[static_cast<size_t>(Op::op)];
#include "plan/mapping.def"
    return table;
  }
  static constexpr bool complete(const Table& table) {
    for (int n : table.times) {
      if (n != 1) return false;
    }
    return true;
  }
};

const MappingRow& mapping(Op op) {
  static constexpr Mapping::Table kTable = Mapping::make();
  static_assert(Mapping::complete(kTable),
                "mapping.def has one row for every operation of ops.def");
  return kTable.rows[static_cast<size_t>(op)];
}

}  // namespace axon::plan
