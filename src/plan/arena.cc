// Slots: a buffer takes a free slot that is large enough or can grow to be.
#include "plan/arena.h"

#include <algorithm>

namespace axon::plan {
namespace {

constexpr int64_t kAlign = 64;

struct Slot {
  DimId bytes;
  size_t free_from = 0;  // first instruction at which it may be written again
  std::vector<runtime::ValId> users;
};

}  // namespace

void place_buffers(std::vector<Buffer> buffers, DimTable& dims, Symbols& symbols,
                   runtime::Program& program, runtime::Phase& phase) {
  auto at_least_one = [](SymbolId) -> std::optional<int64_t> { return 1; };
  std::unordered_map<int64_t, bool> memo;
  auto at_most = [&](DimId a, DimId b) {
    if (a == b) return true;
    int64_t key = static_cast<int64_t>(a.index) << 32 | static_cast<uint32_t>(b.index);
    auto [it, fresh] = memo.emplace(key, false);
    if (fresh) it->second = dims.proves_le(a, b, at_least_one);
    return it->second;
  };
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const Buffer& a, const Buffer& b) { return a.first < b.first; });
  std::vector<Slot> slots;
  for (const Buffer& buffer : buffers) {
    // An equal slot, else the smallest that holds it, else one that it bounds and that then grows.
    Slot* best = nullptr;
    int best_rank = 4;
    for (Slot& slot : slots) {
      if (slot.free_from > buffer.first) continue;
      int rank = slot.bytes == buffer.bytes          ? 0
                 : at_most(buffer.bytes, slot.bytes) ? 1
                 : at_most(slot.bytes, buffer.bytes) ? 2
                                                     : 3;
      if (rank == 3) continue;
      bool better = rank < best_rank;
      if (rank == best_rank && rank == 1) better = at_most(slot.bytes, best->bytes);
      if (rank == best_rank && rank == 2) better = at_most(best->bytes, slot.bytes);
      if (!better) continue;
      best = &slot;
      best_rank = rank;
    }
    if (!best) {
      slots.push_back({buffer.bytes, 0, {}});
      best = &slots.back();
    }
    if (best_rank == 2) best->bytes = buffer.bytes;
    best->free_from = buffer.last + 1;
    best->users.push_back(buffer.value);
  }
  using Kind = runtime::IntExpr::Kind;
  runtime::IntId offset = program.constant(0), align = program.constant(kAlign);
  for (const Slot& slot : slots) {
    for (runtime::ValId user : slot.users) phase.values[user].place = runtime::PlaceArena{offset};
    runtime::IntId blocks = program.make(Kind::CeilDiv, symbols.expr(slot.bytes), align);
    offset = program.make(Kind::Add, offset, program.make(Kind::Mul, blocks, align));
  }
  phase.arena_bytes = offset;
}

}  // namespace axon::plan
