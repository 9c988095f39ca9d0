// Which planner function handles each operation of a flat module: one row per operation.
#pragma once

#include <string_view>

#include "plan/lower.h"

namespace axon::plan {

struct MappingRow {
  bool (Lowering::*handler)(const graph::Node&) = nullptr;
  std::string_view reason;  // why there is no handler
};
const MappingRow& mapping(Op op);

}  // namespace axon::plan
