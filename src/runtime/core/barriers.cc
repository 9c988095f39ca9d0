// One walk over the code, with what was read and written since the last barrier.
#include "runtime/core/barriers.h"

#include <algorithm>
#include <set>
#include <utility>

namespace axon::runtime {
namespace {

using Thing = std::pair<PlaceKind, int32_t>;  // a slot of the arena by its offset, or a state

class Walk {
 public:
  explicit Walk(const Phase& phase) : phase_(phase) {}

  bool needs_barrier(const Instr& instr) {
    std::vector<Thing> reads, writes;
    for (ValId id : instr.inputs) add(id, reads);
    for (ValId id : instr.outputs) add(id, writes);
    if (instr.operation == Operation::StoreWrite) add(instr.inputs[0], writes);
    const bool waits = any(reads, written_) || any(writes, written_) || any(writes, read_);
    if (waits) {
      read_.clear();
      written_.clear();
    }
    read_.insert(reads.begin(), reads.end());
    written_.insert(writes.begin(), writes.end());
    return waits;
  }

 private:
  static bool any(const std::vector<Thing>& things, const std::set<Thing>& in) {
    return std::any_of(things.begin(), things.end(),
                       [&](const Thing& thing) { return in.count(thing) > 0; });
  }

  // Only what a phase can write matters: weights, constants and inputs never change.
  void add(ValId id, std::vector<Thing>& out) const {
    if (!id.valid()) return;
    const Value* value = &phase_.values[id];
    if (const auto* view = std::get_if<PlaceView>(&value->place)) value = &phase_.values[view->of];
    if (const auto* arena = std::get_if<PlaceArena>(&value->place))
      out.emplace_back(PlaceKind::Arena, arena->offset.index);
    if (const auto* state = std::get_if<PlaceState>(&value->place))
      out.emplace_back(PlaceKind::State, state->state.index);
  }

  const Phase& phase_;
  std::set<Thing> read_, written_;
};

}  // namespace

void place_barriers(Phase& phase) {
  Walk walk(phase);
  bool first = true;
  for (Instr& instr : phase.code) {
    instr.barrier = walk.needs_barrier(instr) && !first;
    first = false;
  }
}

int64_t count_barriers(const Phase& phase) {
  return std::count_if(phase.code.begin(), phase.code.end(),
                       [](const Instr& instr) { return instr.barrier; });
}

}  // namespace axon::runtime
