// Values by what they depend on; blocks and loops parted accordingly.
#include "emit/outline/early.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace axon::emit {
namespace {

using graph::Operand;
using graph::ValueId;

using Values = std::vector<ValueId>;
using Items = std::vector<Item>;

// What a value depends on: nothing that is given, inputs that stay alone, others too.
enum class When : uint8_t { Always, Early, Late };

bool holds(const Values& list, ValueId value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void add_new(Values& list, ValueId value) {
  if (!holds(list, value)) list.push_back(value);
}

class Splitter {
 public:
  Splitter(Outline& outline, Joined& joined, const Calls& calls, TypeTable& types)
      : out_(outline), joined_(joined), calls_(calls), types_(types), dims_(types.dims()) {}

  void run() {
    if (!read_inputs()) return;
    do {
      when_ = given_;
      classify(out_.blocks[out_.root].items);
    } while (force_outputs());
    const Block& root = out_.blocks[out_.root];
    if (!is_mixed(root.items)) return;
    out_.encode = part_block(out_.root);
  }

 private:
  // ---- classes of values ---------------------------------------------------------------------

  bool read_inputs() {
    for (const JoinedInput& input : joined_.inputs) {
      bool stays = calls_.roles.stays(static_cast<int>(input.input));
      given_[input.value] = stays ? When::Early : When::Late;
      for (DimId dim : types_.dims_of(joined_.values[input.value].type)) {
        for (SymbolId s : dims_.symbols(dim)) (stays ? early_sizes_ : late_sizes_).push_back(s);
      }
      any_ |= stays;
    }
    for (SymbolId s : {calls_.tokens, calls_.past, calls_.capacity}) late_sizes_.push_back(s);
    std::erase_if(early_sizes_, [&](SymbolId s) {
      return std::find(late_sizes_.begin(), late_sizes_.end(), s) != late_sizes_.end();
    });
    std::erase(late_sizes_, calls_.batch);
    return any_;
  }

  When of(ValueId value) const {
    auto it = when_.find(value);
    return it == when_.end() ? When::Always : it->second;
  }

  When of_operand(const Operand& operand) const {
    if (const auto* ref = operand.get<graph::Ref>()) {
      const graph::Node* list = joined_.producer(ref->value);
      if (!list || list->op != Op::CoreList) return of(ref->value);
      When out = When::Always;
      for (const Operand& item : list->inputs) out = std::max(out, of_operand(item));
      return out;
    }
    const auto* dim = operand.get<graph::DimRef>();
    if (!dim) return When::Always;
    auto mentioned = [&](SymbolId s) { return dims_.mentions(dim->dim, s); };
    if (std::any_of(late_sizes_.begin(), late_sizes_.end(), mentioned)) return When::Late;
    bool early = std::any_of(early_sizes_.begin(), early_sizes_.end(), mentioned);
    return early ? When::Early : When::Always;
  }

  When of_step(const Step& step) const {
    bool causal = step.kind == Step::Kind::Keep &&
                  (step.node.attrs[0].value.as<graph::LitBool>().value ||
                   step.node.attrs[3].value.kind() != graph::OperandKind::Null);
    if (step.kind == Step::Kind::Write || causal) return When::Late;  // they read the positions
    When out = When::Always;
    for (const Operand& input : step.node.inputs) out = std::max(out, of_operand(input));
    for (ValueId value : step.node.outputs) {
      if (forced_.count(value)) out = When::Late;
    }
    return out;
  }

  void classify(const Items& items) {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::Call) classify(out_.blocks[item.block].items);
      if (item.kind == Item::Kind::Loop) classify_loop(item.loop);
      if (item.kind != Item::Kind::Step) continue;
      const Step& step = joined_.steps[item.step];
      When when = of_step(step);
      for (ValueId value : step.node.outputs) when_[value] = when;
    }
  }

  // A loop with something late is late in all that it carries.
  void classify_loop(int32_t index) {
    const LoopBlock& loop = out_.loops[static_cast<size_t>(index)];
    for (const Setting& setting : joined_.settings) {
      if (setting.loop != index) continue;
      When when = When::Always;
      for (const Operand& operand : setting.by_round) when = std::max(when, of_operand(operand));
      when_[setting.value] = when;
    }
    When most = When::Always;
    for (const LoopBlock::Carry& carry : loop.carries) most = std::max(most, of(carry.before));
    for (bool again = true; again;) {
      for (const LoopBlock::Carry& carry : loop.carries) when_[carry.in] = most;
      classify(loop.items);
      When found = std::max(most, most_of(loop.items));
      again = found != most;
      most = found;
    }
    for (const LoopBlock::Carry& carry : loop.carries) when_[carry.out] = most;
  }

  template <class Visit>
  void for_each_when(const Items& items, Visit&& visit) const {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::Call) for_each_when(out_.blocks[item.block].items, visit);
      if (item.kind == Item::Kind::Loop)
        for_each_when(out_.loops[static_cast<size_t>(item.loop)].items, visit);
      if (item.kind == Item::Kind::Step) visit(of_step(joined_.steps[item.step]));
    }
  }

  When most_of(const Items& items) const {
    When most = When::Always;
    for_each_when(items, [&](When when) { most = std::max(most, when); });
    return most;
  }

  bool is_mixed(const Items& items) const {
    bool early = false, late = false;
    for_each_when(items, [&](When when) {
      early |= when == When::Early;
      late |= when == When::Late;
    });
    return early && late;
  }

  // What a parted block gives to its callers comes from its rest, and banks stay whole.
  bool force_outputs() {
    size_t before = forced_.size();
    for (size_t i = 0; i < out_.blocks.size(); ++i) {
      BlockId id = out_.blocks.id_at(i);
      const Block& block = out_.blocks[id];
      if (id == out_.root || !is_mixed(block.items)) continue;
      for (ValueId value : block.bank < 0 ? block.outputs : made_by(block.items)) {
        if (of(value) == When::Early) forced_.insert(value);
      }
    }
    return forced_.size() != before;
  }

  // ---- reads and results of items ------------------------------------------------------------

  Values made_by(const Items& items) const {
    Values out;
    for (const Item& item : items) {
      if (item.kind == Item::Kind::Step) {
        for (ValueId value : joined_.steps[item.step].node.outputs) out.push_back(value);
      } else if (item.kind == Item::Kind::Call) {
        for (ValueId value : out_.blocks[item.block].outputs) out.push_back(value);
      } else {
        const LoopBlock& loop = out_.loops[static_cast<size_t>(item.loop)];
        for (const LoopBlock::Carry& carry : loop.carries) out.push_back(carry.out);
        for (const LoopBlock::Kept& kept : loop.makes) out.push_back(kept.all);
      }
    }
    return out;
  }

  Values read_by(const Item& item) const {
    if (item.kind == Item::Kind::Step) return reads_of(joined_, joined_.steps[item.step].node);
    if (item.kind == Item::Kind::Call) {
      const Block& block = out_.blocks[item.block];
      Values out = block.inputs;
      if (block.is_item) out.push_back(joined_.banks[static_cast<size_t>(block.bank)].chosen);
      return out;
    }
    const LoopBlock& loop = out_.loops[static_cast<size_t>(item.loop)];
    Values out = setting_reads(joined_, item.loop), bound = made_by(loop.items);
    for (const LoopBlock::Carry& carry : loop.carries) {
      add_new(out, carry.before);
      bound.push_back(carry.in);
    }
    for (const LoopBlock::Kept& kept : loop.takes) {
      add_new(out, kept.all);
      bound.push_back(kept.each);
    }
    for (const Setting& setting : joined_.settings) {
      if (setting.loop == item.loop) bound.push_back(setting.value);
    }
    for (const Item& inner : loop.items) {
      for (ValueId value : read_by(inner)) {
        if (!holds(bound, value)) add_new(out, value);
      }
    }
    return out;
  }

  // Values from outside that items read.
  Values outside(const Items& items) const {
    Values made = made_by(items), out;
    for (const Item& item : items) {
      for (ValueId value : read_by(item)) {
        if (!holds(made, value)) add_new(out, value);
      }
    }
    return out;
  }

  // ---- parting -------------------------------------------------------------------------------

  struct Parts {
    Items early, rest;
    Values handed;  // made by the one, read by the other
  };

  When of_item(const Item& item) const { return most_of({item}); }

  Parts part(const Items& items, const Values& results) {
    Parts parts;
    for (Item item : items) {
      When when = of_item(item);
      if (is_mixed({item})) {
        Item first = item;
        if (item.kind == Item::Kind::Call) first.block = passed_on(part_block(item.block));
        if (item.kind == Item::Kind::Loop) first.loop = part_loop(item.loop);
        parts.early.push_back(first);
        parts.rest.push_back(item);
        continue;
      }
      if (when != When::Late) parts.early.push_back(item);
      if (when != When::Early) parts.rest.push_back(item);
    }
    keep_needed(parts.rest, results);
    Values made = made_by(parts.early);
    for (const Item& item : parts.rest) {
      for (ValueId value : read_by(item)) {
        if (of(value) == When::Early && holds(made, value)) add_new(parts.handed, value);
      }
    }
    for (ValueId value : results) {
      if (of(value) == When::Early && holds(made, value)) add_new(parts.handed, value);
    }
    keep_needed(parts.early, parts.handed);
    return parts;
  }

  // Leaves out what nothing needs: it is there for the other part.
  void keep_needed(Items& items, const Values& results) {
    std::unordered_set<ValueId, IdHash> needed(results.begin(), results.end());
    Items kept;
    for (auto it = items.rbegin(); it != items.rend(); ++it) {
      Values made = made_by({*it});
      bool used = of_item(*it) == When::Late || is_mixed({*it});
      for (ValueId value : made) used |= needed.count(value) != 0;
      if (!used) continue;
      for (ValueId value : read_by(*it)) needed.insert(value);
      kept.insert(kept.begin(), *it);
    }
    items = std::move(kept);
  }

  // A twin that does nothing but call another needs no function of its own.
  BlockId passed_on(BlockId twin) {
    const Block& block = out_.blocks[twin];
    if (block.items.size() != 1 || block.items[0].kind != Item::Kind::Call) return twin;
    BlockId inner = block.items[0].block;
    bool same = out_.blocks[inner].outputs == block.outputs;
    if (!same || !out_.blocks[inner].twin_of.valid()) return twin;
    out_.blocks[block.twin_of].twin = {};
    return inner;
  }

  BlockId part_block(BlockId id) {
    Values results = out_.blocks[id].outputs;
    if (id == out_.root) {
      results.clear();
      for (const auto& [name, operand] : joined_.outputs) {
        if (const auto* ref = operand.get<graph::Ref>()) results.push_back(ref->value);
      }
    }
    Parts parts = part(Items(out_.blocks[id].items), results);
    Block twin;
    twin.kind = Block::Kind::Class;
    twin.segment = out_.blocks[id].segment;
    twin.path = out_.blocks[id].path;
    twin.parent = out_.blocks[id].parent;
    twin.only = out_.blocks[id].only;
    twin.twin_of = id;
    twin.items = std::move(parts.early);
    twin.inputs = outside(twin.items);
    twin.outputs = std::move(parts.handed);
    Block& block = out_.blocks[id];
    block.items = std::move(parts.rest);
    Values inputs = outside(block.items);
    for (ValueId value : results) {
      if (holds(block.inputs, value)) add_new(inputs, value);
    }
    if (id == out_.root) hand_inputs(twin, inputs);
    std::stable_sort(inputs.begin(), inputs.end(),
                     [&](ValueId a, ValueId b) { return place(block, a) < place(block, b); });
    block.inputs = std::move(inputs);
    block.twin = out_.blocks.add(std::move(twin));
    return out_.blocks[id].twin;
  }

  // Inputs that stay and that the rest of the program reads too; those that must be given first.
  void hand_inputs(Block& twin, const Values& inputs) {
    for (const JoinedInput& input : joined_.inputs) {
      bool read = holds(inputs, input.value);
      if (!read || of(input.value) != When::Early) continue;
      add_new(twin.inputs, input.value);
      add_new(twin.outputs, input.value);
    }
    Values ordered;
    for (bool optional : {false, true}) {
      for (const JoinedInput& input : joined_.inputs) {
        if (input.optional == optional && holds(twin.inputs, input.value))
          ordered.push_back(input.value);
      }
    }
    twin.inputs = std::move(ordered);
  }

  // Inputs stay in their order; what is handed over comes after them.
  static size_t place(const Block& block, ValueId value) {
    auto it = std::find(block.inputs.begin(), block.inputs.end(), value);
    return static_cast<size_t>(it - block.inputs.begin());
  }

  int32_t part_loop(int32_t index) {
    LoopBlock loop = out_.loops[static_cast<size_t>(index)];
    Values results;
    for (const LoopBlock::Carry& carry : loop.carries) results.push_back(carry.result);
    Parts parts = part(loop.items, results);
    LoopBlock first;
    first.variable = loop.variable;
    first.count = loop.count;
    first.list = loop.list;
    first.items = std::move(parts.early);
    loop.items = std::move(parts.rest);
    for (ValueId each : parts.handed) {
      LoopBlock::Kept kept{each, list_of(each)};
      first.makes.push_back(kept);
      loop.takes.push_back(kept);
    }
    int32_t made = static_cast<int32_t>(out_.loops.size());
    share_settings(index, made, outside(first.items), outside(loop.items));
    out_.loops[static_cast<size_t>(index)] = std::move(loop);
    out_.loops.push_back(std::move(first));
    return made;
  }

  ValueId list_of(ValueId each) {
    graph::Value all = joined_.values[each];
    std::string name = fmt::format("all_{}", dims_.names().text(all.name));
    all.name = dims_.names().intern(name);
    all.type = types_.list(all.type);
    all.producer = {};
    ValueId id = joined_.values.add(std::move(all));
    when_[id] = When::Early;
    return id;
  }

  // A setting belongs to the loop whose rounds read it, or to both.
  void share_settings(int32_t index, int32_t made, const Values& early, const Values& rest) {
    std::vector<Setting> kept;
    for (const Setting& setting : joined_.settings) {
      Setting copy = setting;
      copy.loop = made;
      bool here = setting.loop == index;
      if (here && holds(early, setting.value)) kept.push_back(copy);
      if (!here || holds(rest, setting.value)) kept.push_back(setting);
    }
    joined_.settings = std::move(kept);
  }

  Outline& out_;
  Joined& joined_;
  const Calls& calls_;
  TypeTable& types_;
  DimTable& dims_;
  bool any_ = false;
  std::unordered_map<ValueId, When, IdHash> given_, when_;
  std::unordered_set<ValueId, IdHash> forced_;
  std::vector<SymbolId> early_sizes_, late_sizes_;
};

}  // namespace

void split_early(Outline& outline, Joined& joined, const Calls& calls, TypeTable& types) {
  if (calls.cached) Splitter(outline, joined, calls, types).run();
}

}  // namespace axon::emit
