// Moves what stands under `block.0` to where `block.{i}` has it.
#include "emit/outline/graft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace axon::emit {
namespace {

class Grafter {
 public:
  explicit Grafter(Outline& outline) : o_(outline) {}

  Result<void> run() {
    for (size_t i = 0; i < o_.blocks.size(); ++i) {
      BlockId list = o_.blocks.id_at(i);
      if (block(list).kind == Block::Kind::List) AXON_TRY_VOID(join(list));
    }
    return {};
  }

 private:
  Block& block(BlockId id) { return o_.blocks[id]; }

  Result<void> join(BlockId list) {
    BlockId rounds;
    for (BlockId child : block(list).children) {
      if (block(child).segment[0] == '{' && !block(child).is_item) rounds = child;
    }
    if (!rounds.valid()) return {};
    std::vector<BlockId> kept;
    for (BlockId child : block(list).children) {
      const std::string& segment = block(child).segment;
      if (!std::isdigit(static_cast<unsigned char>(segment[0]))) {
        kept.push_back(child);
        continue;
      }
      AXON_TRY_VOID(move(child, rounds, std::stoll(segment)));
    }
    block(list).children = std::move(kept);
    return {};
  }

  // What is below `from` goes below `to`.
  Result<void> move(BlockId from, BlockId to, int64_t round) {
    if (block(from).kind == Block::Kind::Class)
      return unsupported(fmt::format("the parameters below `{}`", block(from).path),
                         "one round of their list computes otherwise than the others");
    std::vector<BlockId> children = block(from).children;
    for (BlockId child : children) {
      BlockId same = child_of(to, block(child).segment);
      bool leaf = block(child).kind == Block::Kind::Layer || !block(child).params.empty();
      if (!leaf && same.valid()) {
        AXON_TRY_VOID(move(child, same, round));
        continue;
      }
      block(child).parent = to;
      block(child).only = round;
      if (!same.valid()) block(to).children.push_back(child);
    }
    return {};
  }

  BlockId child_of(BlockId parent, const std::string& segment) {
    for (BlockId id : block(parent).children) {
      if (block(id).segment == segment) return id;
    }
    return {};
  }

  Outline& o_;
};

}  // namespace

Result<void> graft_rounds(Outline& outline) { return Grafter(outline).run(); }

}  // namespace axon::emit
