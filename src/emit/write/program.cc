// What functions of blocks need, found from the leaves upwards.
#include "emit/write/program.h"

#include <algorithm>
#include <optional>

#include "support/text.h"

namespace axon::emit {
namespace {

using graph::NodeId;
using graph::Operand;
using graph::ValueId;

void walk(const Program& program, const std::vector<Item>& items, std::vector<NodeId>& steps,
          std::vector<BlockId>& blocks) {
  for (const Item& item : items) {
    if (item.kind == Item::Kind::Step) steps.push_back(item.step);
    if (item.kind == Item::Kind::Call) blocks.push_back(item.block);
    if (item.kind == Item::Kind::Loop)
      walk(program, program.outline.loops[static_cast<size_t>(item.loop)].items, steps, blocks);
  }
}

bool has_store_loop(const Program& program, const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (item.kind == Item::Kind::Loop &&
        program.outline.loops[static_cast<size_t>(item.loop)].first_store >= 0)
      return true;
  }
  return false;
}

class Finder {
 public:
  explicit Finder(Program& program) : p_(program), dims_(program.types.dims()) {}

  const Needs& of(BlockId id) {
    auto known = p_.needs.find(id);
    if (known != p_.needs.end()) return known->second;
    Needs n;
    const Block& block = p_.block(id);
    for (NodeId step : own_steps(p_, id)) add_step(n, id, step);
    for (BlockId called : called_blocks(p_, id)) add_call(n, id, called);
    if (block.writes) {
      n.slots = true;
      n.stores = Needs::Stores::One;
      if (p_.is_root(id) || has_store_loop(p_, block.items)) n.stores = Needs::Stores::Many;
      for (BlockId called : called_blocks(p_, id)) {
        if (p_.needs.at(called).stores == Needs::Stores::Many) n.stores = Needs::Stores::Many;
      }
    }
    for (const Told& told : told_sizes(p_, id)) std::erase(n.symbols, told.symbol);
    return p_.needs[id] = std::move(n);
  }

 private:
  template <class T>
  static void add(std::vector<T>& list, const T& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }

  void add_dims(Needs& n, const Operand& operand) {
    if (const auto* dim = operand.get<graph::DimRef>()) {
      for (SymbolId s : dims_.symbols(dim->dim)) add(n.symbols, s);
    }
    const auto* ref = operand.get<graph::Ref>();
    const graph::Node* list = ref ? p_.joined.producer(ref->value) : nullptr;
    if (!list || list->op != Op::CoreList) return;
    for (const Operand& item : list->inputs) add_dims(n, item);
  }

  void add_step(Needs& n, BlockId id, NodeId step_id) {
    const Step& step = p_.joined.steps[step_id];
    if (step_id == p_.head) n.last = true;
    if (step.kind == Step::Kind::Keep) {
      bool formula = step.node.attrs[0].value.as<graph::LitBool>().value ||
                     step.node.attrs[3].value.kind() != graph::OperandKind::Null;
      if (!formula) return;
      n.slots |= p_.calls.cached;
      add(n.symbols, p_.calls.cached ? p_.calls.capacity : p_.calls.tokens);
      return;
    }
    if (step.kind == Step::Kind::Bias) return;
    bool at_past = false;
    for (const Operand& input : step.node.inputs) {
      const auto* dim = input.get<graph::DimRef>();
      at_past |= dim && dims_.mentions(dim->dim, p_.calls.past);
    }
    if (at_past && p_.calls.cached) n.slots = true;
    if (step.node.op == Op::FusedAttention) return;
    if (step.node.op != Op::Slice || !at_past) {
      for (const Operand& input : step.node.inputs) add_dims(n, input);
    }
    std::erase(n.symbols, p_.calls.past);  // told by the slots
    for (const std::string& path : params_of(step.node, dims_.names())) add_param(n, id, path);
  }

  void add_param(Needs& n, BlockId id, const std::string& path) {
    const std::string& here = p_.block(id).path;
    bool below = here.empty() || starts_with(path, here + ".");
    if (!below) add(n.params, path);
  }

  void add_call(Needs& n, BlockId id, BlockId called) {
    const Needs& inner = of(called);
    n.slots |= inner.slots;
    n.last |= inner.last;
    for (SymbolId s : inner.symbols) add(n.symbols, s);
    for (const std::string& path : inner.params) add_param(n, id, path);
  }

  Program& p_;
  DimTable& dims_;
};

// The product that makes the logits of a causal model, but for what happens to each number alone.
NodeId find_head(const Program& p) {
  if (!p.calls.cached || p.calls.roles.logits < 0) return {};
  std::optional<ValueId> value;
  for (const auto& [name, operand] : p.joined.outputs) {
    const auto* ref = operand.get<graph::Ref>();
    if (ref && p.types.dims().names().text(name) == "logits") value = ref->value;
  }
  while (value) {
    NodeId id = p.joined.values[*value].producer;
    if (!id.valid() || p.joined.steps[id].kind != Step::Kind::Node) return {};
    const graph::Node& node = p.joined.steps[id].node;
    if (node.op == Op::Linear) return id;
    std::vector<ValueId> reads = reads_of(p.joined, node);
    bool alone = reads.size() == 1 && node.outputs.size() == 1 &&
                 p.joined.values[reads[0]].type == p.joined.values[*value].type;
    value = alone ? std::optional<ValueId>(reads[0]) : std::nullopt;
  }
  return {};
}

// What a value is in the rounds of its loop; itself, if it is no setting.
std::vector<ValueId> behind(const Program& p, ValueId value) {
  std::vector<ValueId> out;
  for (const Setting& setting : p.joined.settings) {
    if (setting.value != value) continue;
    for (const Operand& operand : setting.by_round) {
      if (const auto* ref = operand.get<graph::Ref>()) out.push_back(ref->value);
    }
  }
  return out.empty() ? std::vector<ValueId>{value} : out;
}

bool is_doubled(const Program& p, ValueId value) {
  const graph::Node* cat = p.joined.producer(value);
  if (!cat || cat->op != Op::Concat || cat->inputs.size() < 2) return false;
  const auto *a = cat->inputs[0].get<graph::Ref>(), *b = cat->inputs[1].get<graph::Ref>();
  return a && b && a->value == b->value;
}

// The sines of all rotations, where each is two equal halves and nothing else reads it.
void find_signed_sines(Program& p) {
  std::set<int32_t> sines;
  bool all = true;
  for (NodeId id : p.joined.order) {
    const graph::Node& node = p.joined.steps[id].node;
    if (node.op != Op::FusedRope || node.attrs[0].value.as<graph::LitBool>().value) continue;
    const auto* sin = node.inputs[1].get<graph::Ref>();
    all &= sin != nullptr;
    for (ValueId value : sin ? behind(p, sin->value) : std::vector<ValueId>{}) {
      all &= is_doubled(p, value);
      sines.insert(value.index);
    }
  }
  for (NodeId id : p.joined.order) {
    const graph::Node& node = p.joined.steps[id].node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto* ref = node.inputs[i].get<graph::Ref>();
      if (!ref || (node.op == Op::FusedRope && i == 1)) continue;
      for (ValueId value : behind(p, ref->value)) all &= sines.count(value.index) == 0;
    }
  }
  if (all) p.signed_sines = std::move(sines);
}

void find_rope_factors(Program& p) {
  std::set<int32_t> others;
  auto add = [&](std::set<int32_t>& set, const Operand& operand) {
    const auto* ref = operand.get<graph::Ref>();
    for (ValueId value : ref ? behind(p, ref->value) : std::vector<ValueId>{})
      set.insert(value.index);
  };
  for (NodeId id : p.joined.order) {
    const graph::Node& node = p.joined.steps[id].node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      bool factor = node.op == Op::FusedRope && (i == 1 || i == 2);
      add(factor ? p.rope_factors : others, node.inputs[i]);
    }
  }
  for (const auto& [name, operand] : p.joined.outputs) add(others, operand);
  std::erase_if(p.rope_factors, [&](int32_t value) { return others.count(value) != 0; });
  // They take the type of the parameters, where there are some.
  bool any = false;
  for (size_t i = 0; i < p.outline.blocks.size(); ++i)
    any = any || !p.outline.blocks[p.outline.blocks.id_at(i)].params.empty();
  if (!any) p.rope_factors.clear();
}

void find_sizes(Program& p) {
  DimTable& dims = p.types.dims();
  std::map<int64_t, std::set<std::string>> names;
  for (const graph::Module& module : p.request.graph->modules) {
    for (const graph::Value& value : module.values) {
      for (DimId dim : p.types.dims_of(p.types.strip_optional(value.type))) {
        auto symbol = dims.as_symbol(dim);
        if (!symbol || !dims.symbol(*symbol).value) continue;
        std::string_view name = dims.names().text(dims.symbol(*symbol).name);
        names[*dims.symbol(*symbol).value].insert(std::string(name.substr(name.rfind('.') + 1)));
      }
    }
  }
  for (const auto& [value, all] : names) {
    if (all.size() == 1) p.sizes[value] = *all.begin();
  }
}

}  // namespace

const Joint* Program::joint_of(BlockId owner, BlockId layer) const {
  for (const Joint& joint : joints) {
    if (joint.owner == owner && std::count(joint.layers.begin(), joint.layers.end(), layer))
      return &joint;
  }
  return nullptr;
}

void find_needs(Program& program) {
  program.head = find_head(program);
  find_sizes(program);
  find_signed_sines(program);
  find_rope_factors(program);
  Finder finder(program);
  for (size_t i = 0; i < program.outline.blocks.size(); ++i) {
    BlockId id = program.outline.blocks.id_at(i);
    Block::Kind kind = program.block(id).kind;
    if (kind == Block::Kind::Class || kind == Block::Kind::Layer) finder.of(id);
  }
}

std::vector<NodeId> own_steps(const Program& program, BlockId id) {
  std::vector<NodeId> steps;
  std::vector<BlockId> blocks;
  walk(program, program.block(id).items, steps, blocks);
  return steps;
}

std::vector<BlockId> called_blocks(const Program& program, BlockId id) {
  std::vector<NodeId> steps;
  std::vector<BlockId> blocks;
  walk(program, program.block(id).items, steps, blocks);
  return blocks;
}

std::vector<ValueId> call_reads(const Program& program, BlockId called) {
  const Block& block = program.block(called);
  std::vector<ValueId> out = block.inputs;
  if (block.is_item) out.push_back(program.joined.banks[static_cast<size_t>(block.bank)].chosen);
  return out;
}

std::vector<Told> told_sizes(const Program& program, BlockId id) {
  std::vector<Told> out;
  const DimTable& dims = program.types.dims();
  std::vector<ValueId> values = program.block(id).inputs;
  if (program.is_root(id)) {
    values.clear();
    for (const JoinedInput& input : program.joined.inputs) {
      if (program.reaches_root(input)) values.push_back(input.value);
    }
    if (program.outline.encode.valid()) {
      const std::vector<ValueId>& handed = program.block(program.outline.encode).outputs;
      values.insert(values.end(), handed.begin(), handed.end());
    }
  }
  for (ValueId value : values) {
    const graph::Value& facts = program.joined.values[value];
    if (facts.optional) continue;
    bool optional = false;
    for (const JoinedInput& input : program.joined.inputs)
      optional |= input.value == value && input.optional;
    if (optional) continue;
    std::vector<DimId> shape = program.types.dims_of(facts.type);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      auto symbol = dims.as_symbol(shape[axis]);
      bool known = !symbol;
      for (const Told& told : out) known |= symbol && told.symbol == *symbol;
      if (!known) out.push_back({*symbol, value, axis});
    }
  }
  return out;
}

}  // namespace axon::emit
