// A joined module as a tree of blocks that follow the parameter paths: what module classes,
// parameter trees and loops of emitted code are made from (design.md 5).
//
// Contract for back ends. `blocks[root]` is the program; a block's `path` has `{i}` for the
// variable of a kept loop. Kinds:
//   Class      has `items`, which compute `outputs` from `inputs`; a class or a function
//   Layer      the same with one step that reads only the block's own parameters
//   Container  holds parameters and children, computes nothing: ancestors reach through it
//   List       a Container whose children are numbered, or the rounds of a loop
// Items are in order of execution. A call item runs a block that is below this one, with only
// Containers and Lists in between; the path from here to it is `relative(…)`. Within the items of a
// loop the element of the list is reached through the loop variable. Values keep their ids: the
// callee's inputs and outputs are values of the caller too. The block of a bank's steps is called
// as a whole list is, with `chosen` beside its one input; blocks within do not see `chosen`.
// A twin (early.h) is a second function of its block, on the same parameters.
#pragma once

#include <string>
#include <vector>

#include "emit/outline/joined.h"

namespace axon::emit {

AXON_ID(BlockId);

struct BlockParam {
  std::string name;  // last segment: `weight`
  std::string path;  // whole pattern: `model.layers.{i}.mlp.up_proj.weight`
  std::vector<int64_t> shape;
};

struct Item {
  enum class Kind : uint8_t { Step, Call, Loop } kind = Kind::Step;
  graph::NodeId step;
  BlockId block;
  int32_t loop = -1;  // index into Outline::loops
};

struct Block {
  enum class Kind : uint8_t { Container, List, Layer, Class } kind = Kind::Container;
  std::string segment, path;
  BlockId parent;
  std::vector<BlockId> children;
  std::vector<BlockParam> params;
  std::vector<Item> items;
  std::vector<graph::ValueId> inputs, outputs;
  bool writes = false;   // a step of kind Write is within
  int32_t bank = -1;     // the block is one of the modules of this bank, or within it
  bool is_item = false;  // it is one of the bank's modules itself
  int64_t only = -1;     // of the rounds of the list around it, the one that has this block
  BlockId twin;          // computes what the inputs that stay decide alone
  BlockId twin_of;       // the block is a twin: of this one
};

// A kept loop: `for i in range(count)`, with the items of one round.
struct LoopBlock {
  std::string variable;  // of paths: `i`
  size_t count = 0;
  BlockId list;  // whose elements the rounds use; invalid: none
  int32_t first_store = -1;
  std::vector<Item> items;
  struct Carry {
    graph::ValueId before, in, result, out;  // in: within the round; out: after the loop
  };
  std::vector<Carry> carries;
  // A value of each round and the list of all: in a twin's loop the list is made, in the loop of
  // the rest it is read.
  struct Kept {
    graph::ValueId each, all;
  };
  std::vector<Kept> makes, takes;
};

struct Outline {
  Store<BlockId, Block> blocks;
  BlockId root;
  BlockId encode;  // the root's twin; invalid: none
  std::vector<LoopBlock> loops;
  // From a block down to another: segments, the list's element as `{i}`.
  std::vector<std::string> relative(BlockId from, BlockId to) const;
};

// The values that a step reads; lists are read through.
std::vector<graph::ValueId> reads_of(const Joined& joined, const graph::Node& node);
// Path operands of a step that name parameters: (operand, dotted pattern).
std::vector<std::string> params_of(const graph::Node& node, const Interner& names);
std::string dotted(const graph::Path& path, const Interner& names);

// Errors: BACK-UNSUPPORTED.
Result<Outline> outline(const Joined& joined, TypeTable& types, const model::ParamIndex& params);

}  // namespace axon::emit
