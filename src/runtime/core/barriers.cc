// One walk over the code, with what was read and written since the last barrier.
#include "runtime/core/barriers.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace axon::runtime {
namespace {

using Thing = std::pair<PlaceKind, int32_t>;  // a slot of the arena by its offset, or a state

class Walk {
 public:
  explicit Walk(const Phase& phase) : phase_(phase) {}

  bool needs_barrier(const Instr& instr) {
    reads_now_.clear();
    writes_now_.clear();
    for (ValId id : instr.inputs) add(id, reads_now_);
    for (ValId id : instr.outputs) add(id, writes_now_);
    if (instr.operation == Operation::StoreWrite) add(instr.inputs[0], writes_now_);
    const bool waits =
        any(reads_now_, written_) || any(writes_now_, written_) || any(writes_now_, read_);
    if (waits) {
      read_.clear();
      written_.clear();
    }
    read_.insert(read_.end(), reads_now_.begin(), reads_now_.end());
    written_.insert(written_.end(), writes_now_.begin(), writes_now_.end());
    return waits;
  }

 private:
  // A barrier clears what came before it, so these lists hold a few instructions' operands.
  static bool any(const std::vector<Thing>& things, const std::vector<Thing>& in) {
    return std::any_of(things.begin(), things.end(), [&](const Thing& thing) {
      return std::find(in.begin(), in.end(), thing) != in.end();
    });
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
  std::vector<Thing> read_, written_, reads_now_, writes_now_;
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
