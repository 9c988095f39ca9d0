// What the writers of one emitted file share.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "emit/outline/outline.h"
#include "emit/py/names.h"
#include "emit/py/prelude.h"
#include "emit/write/request.h"

namespace axon::emit {

// What the function of a block needs beside its tensors.
struct Needs {
  bool slots = false;  // the positions that this call writes
  bool last = false;   // how many positions reach the head
  enum class Stores : uint8_t { None, One, Many } stores = Stores::None;
  std::vector<SymbolId> symbols;    // sizes that no tensor of its own tells
  std::vector<std::string> params;  // parameters that lie elsewhere, by path
};

// Linear layers that a block calls on one value, in order: one product, if the target wants that.
struct Joint {
  BlockId owner;
  std::vector<BlockId> layers;
};

struct Program {
  const EmitRequest& request;
  const Calls& calls;
  const Joined& joined;
  const Outline& outline;
  TypeTable& types;
  py::Prelude prelude;
  py::NamePlan names;                                        // of the file
  std::unordered_map<BlockId, std::string, IdHash> classes;  // of blocks that are classes
  std::unordered_map<BlockId, Needs, IdHash> needs;
  graph::NodeId head;  // the step that makes the logits; invalid: none
  // Sines `cat((s, s))` that only rotations by halves read: written with the sign of the first
  // half. Either all rotations have such sines, or none.
  std::set<int32_t> signed_sines;
  std::set<int32_t> rope_factors;  // sines and cosines that nothing but rotations reads
  std::vector<Joint> joints;
  std::map<int64_t, std::string> sizes;  // names of the program's constants, where they are clear

  const Block& block(BlockId id) const { return outline.blocks[id]; }
  bool is_root(BlockId id) const { return id == outline.root; }
  // The group of a layer that `owner` calls; null: it is called alone.
  const Joint* joint_of(BlockId owner, BlockId layer) const;
  // Whether the root's function has these: without those that its twin alone reads.
  bool reaches_root(const JoinedInput& input) const {
    return !outline.encode.valid() || !calls.roles.stays(static_cast<int>(input.input));
  }
};

// Fills `needs` for every block, `head` and `sizes`.
void find_needs(Program& program);
// Sizes that tensors of a block tell: (symbol, value, axis).
struct Told {
  SymbolId symbol;
  graph::ValueId value;
  size_t axis = 0;
};
std::vector<Told> told_sizes(const Program& program, BlockId id);
// The steps of a block's own items, those of its loops included.
std::vector<graph::NodeId> own_steps(const Program& program, BlockId id);
std::vector<BlockId> called_blocks(const Program& program, BlockId id);
// The values that a call of a block reads: its inputs, for a bank also which module each row takes.
std::vector<graph::ValueId> call_reads(const Program& program, BlockId called);

}  // namespace axon::emit
