// Steps find their block: by scope, as deep as the data flow allows.
#include "emit/outline/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "emit/outline/graft.h"
#include "support/text.h"

namespace axon::emit {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

class Outliner {
 public:
  Outliner(const Joined& joined, TypeTable& types, const model::ParamIndex& params)
      : joined_(joined), types_(types), names_(types.dims().names()), params_(params) {
    for (size_t i = 0; i < joined.order.size(); ++i) place_[joined.order[i]] = i;
  }

  Result<Outline> run() {
    out_.root = out_.blocks.add({});
    AXON_TRY_VOID(read_loops());
    for (NodeId id : joined_.order) {
      if (is_transparent(id)) continue;
      AXON_TRY_VOID(register_step(id));
    }
    for (NodeId id : settle(out_.root)) assigned_[id] = out_.root;
    out_.blocks[out_.root].kind = Block::Kind::Class;
    AXON_TRY_VOID(place_loops());
    for (size_t i = 0; i < out_.blocks.size(); ++i) AXON_TRY_VOID(fill(out_.blocks.id_at(i)));
    AXON_TRY_VOID(graft_rounds(out_));
    return std::move(out_);
  }

 private:
  Block& block(BlockId id) { return out_.blocks[id]; }
  const Node& node(NodeId id) const { return joined_.steps[id].node; }

  // Lists are parts of operands, and a carried value enters and leaves a loop by name.
  bool is_transparent(NodeId id) const {
    return node(id).op == Op::CoreList || carry_aliases_.count(id) != 0;
  }

  Result<void> read_loops() {
    for (const opt::FlatLoop& loop : joined_.loops) {
      LoopBlock block;
      block.variable = variable_of(loop);
      block.count = loop.rounds.size();
      if (loop.classes.size() != 1) return unsupported("a loop", "its rounds are of several kinds");
      for (size_t r = 0; r < loop.rounds.size(); ++r) {
        if (loop.rounds[r].round != static_cast<int64_t>(r))
          return unsupported("a loop", "it does not count up from 0");
      }
      size_t index = out_.loops.size();
      for (NodeId id : loop.classes[0].nodes) {
        if (!place_.count(id)) continue;
        loop_of_[id] = static_cast<int32_t>(index);
        if (joined_.steps[id].kind == Step::Kind::Write)
          block.first_store = joined_.steps[id].store;
      }
      for (const auto& [in, result] : loop.classes[0].carries) {
        const Node *enter = joined_.producer(in), *leave = joined_.producer(result);
        NodeId enter_id = joined_.values[in].producer, leave_id = joined_.values[result].producer;
        LoopBlock::Carry carry;
        carry.before = enter->inputs[0].as<graph::Ref>().value;
        carry.in = in;
        carry.result = leave->inputs[0].as<graph::Ref>().value;
        carry.out = result;
        carry_aliases_.insert(enter_id);
        carry_aliases_.insert(leave_id);
        loop_of_[enter_id] = loop_of_[leave_id] = static_cast<int32_t>(index);
        block.carries.push_back(carry);
      }
      out_.loops.push_back(std::move(block));
    }
    return {};
  }

  // The name that the loop's variable has in paths.
  std::string variable_of(const opt::FlatLoop& loop) const {
    for (const opt::LoopClass& c : loop.classes) {
      for (NodeId id : c.nodes) {
        for (const graph::PathPiece& piece : node(id).scope.pieces) {
          if (piece.placeholder && piece.dim.valid() && types_.dims().mentions(piece.dim, loop.var))
            return std::string(names_.text(piece.text));
        }
      }
    }
    return "i";
  }

  // ---- the tree ------------------------------------------------------------------------------

  BlockId child(BlockId parent, std::string_view segment) {
    for (BlockId id : block(parent).children) {
      if (block(id).segment == segment) return id;
    }
    Block made;
    made.segment = segment;
    made.path = block(parent).path.empty() ? std::string(segment)
                                           : fmt::format("{}.{}", block(parent).path, segment);
    made.parent = parent;
    BlockId id = out_.blocks.add(std::move(made));
    block(parent).children.push_back(id);
    bool numbered = segment[0] == '{' || (segment[0] >= '0' && segment[0] <= '9');
    if (numbered) block(parent).kind = Block::Kind::List;
    return id;
  }

  BlockId at_path(std::string_view path) {
    BlockId here = out_.root;
    if (path.empty()) return here;
    for (std::string_view segment : split(path, '.')) here = child(here, segment);
    return here;
  }

  Result<void> register_step(NodeId id) {
    const Step& step = joined_.steps[id];
    bool placed = step.kind != Step::Kind::Choice && step.kind != Step::Kind::Keep;
    std::string scope = placed ? dotted(step.node.scope, names_) : "";
    std::vector<std::string> params = params_of(step.node, names_);
    for (const std::string& path : params) {
      size_t dot = path.rfind('.');
      std::string parent = dot == std::string::npos ? "" : path.substr(0, dot);
      BlockId owner = at_path(parent);
      AXON_TRY_VOID(add_param(owner, path));
      if (scope.empty() && params.size() == 1) scope = parent;
    }
    if (scope.empty() && is_constant(step.node)) scope = scope_of_readers(id);
    if (step.kind == Step::Kind::Write) scope = scope_around(id, scope);
    BlockId home = at_path(scope);
    // What does not depend on the round stands before the loop.
    int32_t loop = loop_of_.count(id) ? loop_of_.at(id) : -1;
    if (step.bank >= 0) mark_bank(home, step.bank);
    for (BlockId up = home; up.valid(); up = block(up).parent) {
      const std::string& segment = block(up).segment;
      if (segment.empty() || segment[0] != '{') continue;
      if (step.bank >= 0 && block(up).is_item) continue;
      if (loop < 0 || segment != "{" + out_.loops[static_cast<size_t>(loop)].variable + "}")
        home = block(up).parent;
    }
    own_[home].push_back(id);
    return {};
  }

  void mark_bank(BlockId home, int32_t bank) {
    const std::string item = "{" + joined_.banks[static_cast<size_t>(bank)].variable + "}";
    for (BlockId up = home; up.valid(); up = block(up).parent) {
      block(up).bank = bank;
      block(up).is_item = block(up).segment == item;
      if (block(up).is_item) return;
    }
  }

  // What a step reads within its own block: the number of an expert is the caller's affair.
  std::vector<ValueId> inner_reads(NodeId id) const {
    std::vector<ValueId> out = reads_of(joined_, node(id));
    int32_t bank = joined_.steps[id].bank;
    if (bank >= 0) std::erase(out, joined_.banks[static_cast<size_t>(bank)].chosen);
    return out;
  }

  // Counting and filling need no values: they stand where their results are read.
  static bool is_constant(const Node& node) {
    return node.op == Op::Arange || node.op == Op::Zeros || node.op == Op::Full;
  }

  // A write stands where all that it reads is made and all that it gives is read, if that is
  // deeper.
  std::string scope_around(NodeId id, const std::string& own) const {
    std::optional<std::string> common;
    auto add = [&](NodeId other) {
      std::string scope = dotted(node(other).scope, names_);
      if (!common) common = scope;
      while (scope != *common && !starts_with(scope, *common + "."))
        common->resize(common->rfind('.') == std::string::npos ? 0 : common->rfind('.'));
    };
    for (ValueId value : reads_of(joined_, node(id))) {
      if (joined_.values[value].producer.valid()) add(joined_.values[value].producer);
    }
    for (NodeId other : joined_.order) {
      if (node(other).op == Op::CoreList || joined_.steps[other].kind == Step::Kind::Choice)
        continue;
      for (ValueId value : reads_of(joined_, node(other))) {
        if (joined_.values[value].producer == id) add(other);
      }
    }
    return common && (own.empty() || starts_with(*common, own + ".")) ? *common : own;
  }

  std::string scope_of_readers(NodeId id) const {
    std::optional<std::string> common;
    for (NodeId other : joined_.order) {
      if (node(other).op == Op::CoreList) continue;
      for (ValueId value : reads_of(joined_, node(other))) {
        if (joined_.values[value].producer != id) continue;
        std::string scope = dotted(node(other).scope, names_);
        if (common && *common != scope) return "";
        common = scope;
      }
    }
    return common && common->find('{') == std::string::npos ? *common : "";
  }

  Result<void> add_param(BlockId owner, const std::string& path) {
    for (const BlockParam& known : block(owner).params) {
      if (known.path == path) return {};
    }
    std::string key = path;
    for (size_t open; (open = key.find('{')) != std::string::npos;)
      key.replace(open, key.find('}') - open + 1, "0");
    auto found = params_.resolve(key);
    if (!found) return unsupported(fmt::format("parameter `{}`", key), "the checkpoint lacks it");
    std::string name = path.substr(path.rfind('.') + 1);
    block(owner).params.push_back({name, path, found->shape});
    return {};
  }

  // Gives steps below `id` their blocks, children first; what fits nowhere there is returned.
  std::vector<NodeId> settle(BlockId id) {
    std::vector<NodeId> here;
    std::vector<BlockId> children = block(id).children;
    for (BlockId c : children) {
      std::vector<NodeId> escaped = settle(c);
      here.insert(here.end(), escaped.begin(), escaped.end());
    }
    auto own = own_.find(id);
    if (own != own_.end()) here.insert(here.end(), own->second.begin(), own->second.end());
    std::sort(here.begin(), here.end(), [&](NodeId a, NodeId b) { return place_[a] < place_[b]; });
    if (id == out_.root || block(id).kind == Block::Kind::List) return here;
    if (here.empty() && called_below(id) < 2) return here;
    if (children.empty() && take_layer(id, here)) return here;
    if (beside_rounds(id)) return here;
    // Reads of parameters from far away, which no child could hold, must not spoil the class.
    std::vector<NodeId> inside = here, outside;
    if (!may_be_class(id, subtree(id, inside))) {
      const std::vector<NodeId>& mine = own_[id];
      auto is_own = [&](NodeId s) { return std::find(mine.begin(), mine.end(), s) != mine.end(); };
      outside = here;
      std::erase_if(inside, [&](NodeId s) { return !is_own(s); });
      std::erase_if(outside, is_own);
      bool hollow = inside.empty() && called_below(id) < 2;
      if (outside.empty() || hollow || !may_be_class(id, subtree(id, inside))) return here;
    }
    block(id).kind = Block::Kind::Class;
    for (NodeId step : inside) assigned_[step] = id;
    return outside;
  }

  // Below a number in a list of rounds: what is read of one round only (graft.h).
  bool beside_rounds(BlockId id) const {
    for (BlockId up = id; out_.blocks[up].parent.valid(); up = out_.blocks[up].parent) {
      const std::string& segment = out_.blocks[up].segment;
      if (segment.empty() || segment[0] < '0' || segment[0] > '9') continue;
      for (BlockId other : out_.blocks[out_.blocks[up].parent].children) {
        if (out_.blocks[other].segment[0] == '{' && !out_.blocks[other].is_item) return true;
      }
    }
    return false;
  }

  // Blocks that a class here would call; the rounds of a loop count as several.
  size_t called_below(BlockId id) const {
    size_t count = 0;
    for (BlockId c : out_.blocks[id].children) {
      size_t inner = is_called(c) ? 1 : called_below(c);
      count += out_.blocks[c].segment[0] == '{' ? 2 * inner : inner;
    }
    return count;
  }

  std::vector<NodeId> subtree(BlockId id, const std::vector<NodeId>& here) const {
    std::vector<NodeId> all = here;
    for (const auto& [step, owner] : assigned_) {
      for (BlockId up = owner; up.valid(); up = out_.blocks[up].parent) {
        if (up == id) all.push_back(step);
      }
    }
    return all;
  }

  // One step that reads the block's parameters and no others makes it a layer; it leaves `here`.
  bool take_layer(BlockId id, std::vector<NodeId>& here) {
    std::vector<NodeId> readers;
    for (NodeId step : here) {
      size_t own = 0, others = 0;
      for (const std::string& path : params_of(node(step), names_)) {
        bool mine = false;
        for (const BlockParam& p : block(id).params) mine |= p.path == path;
        (mine ? own : others)++;
      }
      bool whole = own == block(id).params.size() && others == 0 && own > 0;
      if (whole && inner_reads(step).size() == 1) readers.push_back(step);
    }
    bool class_rather =
        readers.size() == 1 && here.size() > 1 && !beside_rounds(id) && may_be_class(id, here);
    if (readers.empty() || class_rather) return false;
    block(id).kind = Block::Kind::Layer;
    assigned_[readers[0]] = id;
    std::erase(here, readers[0]);
    return true;
  }

  // All in one round of a loop or none, and no way out of the set and back in.
  bool may_be_class(BlockId id, const std::vector<NodeId>& all) const {
    bool in_round = false;
    for (BlockId up = id; up.valid(); up = out_.blocks[up].parent)
      in_round |= !out_.blocks[up].segment.empty() && out_.blocks[up].segment[0] == '{';
    std::unordered_set<NodeId, IdHash> set(all.begin(), all.end());
    std::map<int32_t, size_t> inside;
    for (NodeId step : all) {
      if (loop_of_.count(step)) ++inside[loop_of_.at(step)];
    }
    if (!in_round) {
      for (const auto& [loop, count] : inside) {
        size_t whole = 0;
        for (const auto& [step, of] : loop_of_) whole += of == loop && !is_transparent(step);
        if (whole != count) return false;
      }
    }
    return is_convex(set);
  }

  bool is_convex(std::unordered_set<NodeId, IdHash> set) const {
    std::unordered_set<NodeId, IdHash> after;  // outside of the set, depending on it
    for (NodeId id : joined_.order) {
      bool inside = set.count(id) != 0, depends = false, returns = false;
      if (node(id).op == Op::CoreList) continue;
      for (ValueId value : depends_on(id)) {
        NodeId producer = joined_.values[value].producer;
        if (!producer.valid()) continue;
        if (set.count(producer)) depends = true;
        if (after.count(producer)) returns = true;
      }
      // The aliases of a loop that is within the set are within it too.
      if (carry_aliases_.count(id) && depends && !returns && loop_inside(id, set)) {
        set.insert(id);
        continue;
      }
      if (inside && returns) return false;
      if (!inside && (depends || returns)) after.insert(id);
    }
    return true;
  }

  bool loop_inside(NodeId alias, const std::unordered_set<NodeId, IdHash>& set) const {
    int32_t loop = loop_of_.at(alias);
    for (const auto& [step, of] : loop_of_) {
      if (of == loop && !is_transparent(step) && set.count(step) == 0) return false;
    }
    return true;
  }

  // ---- loops ---------------------------------------------------------------------------------

  bool in_round_of(BlockId id, const std::string& variable) const {
    for (BlockId up = id; up.valid(); up = out_.blocks[up].parent) {
      if (out_.blocks[up].segment == "{" + variable + "}") return true;
    }
    return false;
  }

  size_t depth(BlockId id) const {
    size_t n = 0;
    for (BlockId up = id; up.valid(); up = out_.blocks[up].parent) ++n;
    return n;
  }

  BlockId common(BlockId a, BlockId b) const {
    while (a != b) {
      if (depth(a) >= depth(b))
        a = out_.blocks[a].parent;
      else
        b = out_.blocks[b].parent;
    }
    return a;
  }

  // A loop belongs to the deepest class that has all its steps and is not part of a round.
  Result<void> place_loops() {
    for (size_t i = 0; i < out_.loops.size(); ++i) {
      LoopBlock& loop = out_.loops[i];
      BlockId owner;
      for (NodeId id : joined_.order) {
        if (is_transparent(id) || !loop_of_.count(id) || loop_of_.at(id) != static_cast<int32_t>(i))
          continue;
        BlockId home = assigned_.at(id);
        owner = owner.valid() ? common(owner, home) : home;
        for (BlockId up = home; up.valid(); up = block(up).parent) {
          if (block(up).segment == "{" + loop.variable + "}") loop.list = block(up).parent;
        }
      }
      if (!owner.valid()) return unsupported("a loop", "it does nothing");
      while (in_round_of(owner, loop.variable) || block(owner).kind != Block::Kind::Class)
        owner = block(owner).parent;
      owner_of_loop_.push_back(owner);
    }
    return {};
  }

  // ---- items ---------------------------------------------------------------------------------

  struct Unit {  // what becomes an item
    Item item;
    size_t place = 0;  // of its first step
    std::vector<NodeId> steps;
  };

  BlockId class_above(BlockId id) const {
    BlockId up = out_.blocks[id].parent;
    while (out_.blocks[up].kind != Block::Kind::Class) up = out_.blocks[up].parent;
    return up;
  }

  bool is_called(BlockId id) const {
    Block::Kind kind = out_.blocks[id].kind;
    return id != out_.root && (kind == Block::Kind::Class || kind == Block::Kind::Layer);
  }

  // The child of `top` that a step runs in, or `top` itself.
  BlockId unit_block(BlockId top, NodeId step) const {
    BlockId here = assigned_.at(step);
    BlockId called = top;
    for (BlockId up = here; up != top; up = out_.blocks[up].parent) {
      if (is_called(up)) called = up;
    }
    return called;
  }

  bool within(BlockId id, BlockId top) const {
    for (BlockId up = id; up.valid(); up = out_.blocks[up].parent) {
      if (up == top) return true;
    }
    return false;
  }

  Result<void> fill(BlockId id) {
    if (block(id).kind != Block::Kind::Class && block(id).kind != Block::Kind::Layer) return {};
    std::vector<NodeId> steps;
    for (NodeId step : joined_.order) {
      if (!is_transparent(step) && within(assigned_.at(step), id)) steps.push_back(step);
    }
    AXON_TRY(block(id).items, items_of(id, steps, -1));
    for (NodeId step : steps) block(id).writes |= joined_.steps[step].kind == Step::Kind::Write;
    interface(id, steps);
    return {};
  }

  // `loop`: the items of one round, else of the block's straight line.
  Result<std::vector<Item>> items_of(BlockId top, const std::vector<NodeId>& steps, int32_t loop) {
    std::vector<Unit> units;
    std::map<std::pair<int, int32_t>, size_t> known;
    std::unordered_map<NodeId, size_t, IdHash> unit_of;
    for (NodeId step : steps) {
      Item item;
      item.step = step;
      std::pair<int, int32_t> key{0, step.index};
      int32_t in_loop = loop_of_.count(step) ? loop_of_.at(step) : -1;
      bool owns =
          in_loop >= 0 && in_loop != loop && owner_of_loop_[static_cast<size_t>(in_loop)] == top;
      BlockId called = unit_block(top, step);
      if (owns) {
        item = {Item::Kind::Loop, {}, {}, in_loop};
        key = {1, in_loop};
      } else if (called != top) {
        item = {Item::Kind::Call, {}, called, -1};
        key = {2, called.index};
      }
      auto [it, fresh] = known.emplace(key, units.size());
      if (fresh) units.push_back({item, place_.at(step), {}});
      units[it->second].steps.push_back(step);
      unit_of[step] = it->second;
    }
    AXON_TRY(std::vector<size_t> order, sorted(units, unit_of));
    std::vector<Item> out;
    for (size_t u : order) {
      out.push_back(units[u].item);
      if (units[u].item.kind != Item::Kind::Loop) continue;
      LoopBlock& body = out_.loops[static_cast<size_t>(units[u].item.loop)];
      AXON_TRY(body.items, items_of(top, units[u].steps, units[u].item.loop));
    }
    return out;
  }

  // What a step depends on: the values behind settings too.
  std::vector<ValueId> depends_on(NodeId step) const {
    std::vector<ValueId> out = reads_of(joined_, node(step));
    size_t own = out.size();
    for (size_t i = 0; i < own; ++i) {
      for (const Setting& setting : joined_.settings) {
        if (setting.value != out[i]) continue;
        for (const graph::Operand& operand : setting.by_round) {
          if (const auto* ref = operand.get<graph::Ref>()) out.push_back(ref->value);
        }
      }
    }
    return out;
  }

  // Units whose steps a value comes from, through carried values too.
  void sources(ValueId value, const std::unordered_map<NodeId, size_t, IdHash>& unit_of,
               std::vector<size_t>& out) const {
    NodeId producer = joined_.values[value].producer;
    if (!producer.valid()) return;
    auto it = unit_of.find(producer);
    if (it != unit_of.end()) out.push_back(it->second);
    if (carry_aliases_.count(producer))
      sources(node(producer).inputs[0].as<graph::Ref>().value, unit_of, out);
  }

  Result<std::vector<size_t>> sorted(const std::vector<Unit>& units,
                                     const std::unordered_map<NodeId, size_t, IdHash>& unit_of) {
    std::vector<std::vector<size_t>> after(units.size());
    std::vector<size_t> waits(units.size());
    for (size_t u = 0; u < units.size(); ++u) {
      std::vector<size_t> before;
      for (NodeId step : units[u].steps) {
        for (ValueId value : depends_on(step)) sources(value, unit_of, before);
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      for (size_t b : before) {
        if (b == u) continue;
        after[b].push_back(u);
        ++waits[u];
      }
    }
    using Entry = std::pair<size_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t u = 0; u < units.size(); ++u) {
      if (waits[u] == 0) ready.emplace(units[u].place, u);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      size_t u = ready.top().second;
      ready.pop();
      order.push_back(u);
      for (size_t next : after[u]) {
        if (--waits[next] == 0) ready.emplace(units[next].place, next);
      }
    }
    if (order.size() != units.size()) return unsupported("the program", "its scopes are entangled");
    return order;
  }

  // A carried value is its value before the loop for what stands before, and the loop's afterwards.
  void interface(BlockId id, const std::vector<NodeId>& steps) {
    Block& b = block(id);
    std::unordered_set<NodeId, IdHash> set(steps.begin(), steps.end());
    for (const LoopBlock& loop : out_.loops) {
      if (!owner_inside(loop, id)) continue;
      for (const LoopBlock::Carry& carry : loop.carries) {
        set.insert(joined_.values[carry.in].producer);
        set.insert(joined_.values[carry.out].producer);
      }
    }
    std::unordered_set<ValueId, IdHash> bound;  // by the loops within
    for (const Setting& setting : joined_.settings) {
      if (owner_inside(out_.loops[static_cast<size_t>(setting.loop)], id))
        bound.insert(setting.value);
    }
    auto add = [&](std::vector<ValueId>& list, ValueId value) {
      if (bound.count(value)) return;
      if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    };
    std::vector<NodeId> sorted_steps(set.begin(), set.end());
    std::sort(sorted_steps.begin(), sorted_steps.end(),
              [&](NodeId x, NodeId y) { return place_.at(x) < place_.at(y); });
    for (NodeId step : sorted_steps) {
      for (ValueId value : b.bank >= 0 ? inner_reads(step) : reads_of(joined_, node(step))) {
        NodeId producer = joined_.values[value].producer;
        if (!producer.valid() || set.count(producer) == 0) add(b.inputs, value);
      }
    }
    for (NodeId step : joined_.order) {
      if (set.count(step) || node(step).op == Op::CoreList) continue;
      for (ValueId value : reads_of(joined_, node(step))) {
        NodeId producer = joined_.values[value].producer;
        if (producer.valid() && set.count(producer)) add(b.outputs, value);
      }
    }
    for (size_t i = 0; i < out_.loops.size(); ++i) {
      bool here = owner_inside(out_.loops[i], id);
      for (ValueId value : setting_reads(joined_, static_cast<int32_t>(i))) {
        NodeId producer = joined_.values[value].producer;
        bool made = producer.valid() && set.count(producer) != 0;
        if (here != made) add(here ? b.inputs : b.outputs, value);
      }
    }
    for (const auto& [name, operand] : joined_.outputs) {
      const auto* ref = operand.get<graph::Ref>();
      if (ref && joined_.values[ref->value].producer.valid() &&
          set.count(joined_.values[ref->value].producer))
        add(b.outputs, ref->value);
    }
  }

  bool owner_inside(const LoopBlock& loop, BlockId id) const {
    size_t index = static_cast<size_t>(&loop - out_.loops.data());
    return within(owner_of_loop_[index], id);
  }

  const Joined& joined_;
  TypeTable& types_;
  const Interner& names_;
  const model::ParamIndex& params_;
  Outline out_;
  std::unordered_map<NodeId, size_t, IdHash> place_;
  std::unordered_map<NodeId, int32_t, IdHash> loop_of_;
  std::unordered_set<NodeId, IdHash> carry_aliases_;
  std::unordered_map<BlockId, std::vector<NodeId>, IdHash> own_;
  std::unordered_map<NodeId, BlockId, IdHash> assigned_;
  std::vector<BlockId> owner_of_loop_;
};

}  // namespace

std::vector<std::string> Outline::relative(BlockId from, BlockId to) const {
  std::vector<std::string> out;
  int64_t only = -1;
  BlockId end = blocks[from].twin_of.valid() ? blocks[from].twin_of : from;
  for (BlockId up = to; up != end; up = blocks[up].parent) {
    only = std::max(only, blocks[up].only);
    bool round = only >= 0 && blocks[up].segment[0] == '{';
    out.insert(out.begin(), round ? std::to_string(only) : blocks[up].segment);
    if (round) only = -1;
  }
  return out;
}

Result<Outline> outline(const Joined& joined, TypeTable& types, const model::ParamIndex& params) {
  return Outliner(joined, types, params).run();
}

}  // namespace axon::emit
