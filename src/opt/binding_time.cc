// Binding times of values as a fixpoint, and the two modules that follow from them.
#include "opt/binding_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/builder.h"
#include "opt/binding_text.h"
#include "opt/simplify.h"

namespace axon::opt {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::ValueId;

// No inputs; early inputs; others too.
enum class Time : uint8_t { Free, Early, Late };

// Results that only repeat what they are made of are made again rather than kept.
bool repeats_its_operand(Op op) {
  return op == Op::CoreList || op == Op::Expand || op == Op::Unsqueeze || op == Op::Repeat_;
}

class Splitter {
 public:
  Splitter(Specialised& flat, TypeTable& types, const std::vector<bool>& early)
      : flat_(flat), module_(flat.module()), types_(types), dims_(types.dims()), early_(early) {}
  EarlyPart run();

 private:
  struct Place {
    int loop = -1, cls = -1;
    bool is_out = false;  // how a carried tensor leaves its rounds
  };

  // times
  void find_sizes();
  void find_places();
  void find_times();
  bool step();
  Time time_of(const Node& node) const;
  bool known_early(DimId dim) const;
  bool known_early(const Operand& operand) const;
  Time& time(ValueId v) { return times_[static_cast<size_t>(v.index)]; }
  Time time(ValueId v) const { return times_[static_cast<size_t>(v.index)]; }
  bool raise(ValueId v, Time to) {
    if (time(v) >= to) return false;
    time(v) = to;
    return true;
  }
  bool is_late(NodeId id) const { return time(module_.nodes[id].outputs[0]) == Time::Late; }
  template <class Visit>
  void each_operand(const Node& node, Visit&& visit) const {
    auto one = [&](const Operand& operand) { graph::for_each_value(module_, operand, visit); };
    for (const Operand& input : node.inputs) one(input);
    for (const graph::Attr& attr : node.attrs) one(attr.value);
  }

  // what is handed on
  void find_handed();
  void need(ValueId v);
  void need_rounds(ValueId v);
  bool enters_round();
  void hand(ValueId v);

  // modules
  void keep_nodes(Specialised& part, bool late) const;
  void keep_carries(Specialised& part, bool late) const;
  void keep_inputs(Specialised& part, bool late) const;
  void keep_facts(Specialised& part, bool late) const;
  Specialised early_part();
  void make_late();

  Specialised& flat_;
  graph::Module& module_;
  TypeTable& types_;
  DimTable& dims_;
  const std::vector<bool>& early_;
  std::vector<Time> times_;
  std::unordered_set<SymbolId, IdHash> sizes_;  // of early inputs
  std::unordered_map<ValueId, Place, IdHash> places_;
  std::unordered_set<ValueId, IdHash> carried_in_;
  std::unordered_set<NodeId, IdHash> again_;  // early nodes that the late part makes again
  std::unordered_set<ValueId, IdHash> seen_;
  std::vector<ValueId> handed_;
};

// ---- times ---------------------------------------------------------------------------------

void Splitter::find_sizes() {
  for (const FlatInput& input : flat_.inputs) {
    if (!early_[input.input]) continue;
    for (DimId dim : types_.dims_of(module_.values[input.value].type)) {
      for (SymbolId symbol : dims_.symbols(dim)) sizes_.insert(symbol);
    }
  }
  for (const FlatLoop& loop : flat_.loops) sizes_.insert(loop.var);
}

void Splitter::find_places() {
  for (size_t l = 0; l < flat_.loops.size(); ++l) {
    for (size_t c = 0; c < flat_.loops[l].classes.size(); ++c) {
      const LoopClass& cls = flat_.loops[l].classes[c];
      for (NodeId id : cls.nodes) {
        for (ValueId v : module_.nodes[id].outputs)
          places_[v] = {static_cast<int>(l), static_cast<int>(c), false};
      }
      for (auto [in, out] : cls.carries) {
        carried_in_.insert(in);
        places_[out].is_out = true;
      }
    }
  }
}

bool Splitter::known_early(DimId dim) const {
  if (!dim.valid()) return true;
  std::vector<SymbolId> symbols = dims_.symbols(dim);
  return std::all_of(symbols.begin(), symbols.end(), [&](SymbolId s) {
    return sizes_.count(s) != 0 || dims_.symbol(s).value.has_value();
  });
}

bool Splitter::known_early(const Operand& operand) const {
  if (const auto* dim = operand.get<graph::DimRef>()) return known_early(dim->dim);
  const auto* path = operand.get<graph::Path>();
  return !path || std::all_of(path->pieces.begin(), path->pieces.end(),
                              [&](const graph::PathPiece& p) { return known_early(p.dim); });
}

Time Splitter::time_of(const Node& node) const {
  if (op_info(node.op).effect == Effect::Effectful) return Time::Late;
  for (const Operand& input : node.inputs) {
    if (!known_early(input)) return Time::Late;
  }
  for (const graph::Attr& attr : node.attrs) {
    if (!known_early(attr.value)) return Time::Late;
  }
  Time out = Time::Free;
  for (ValueId v : node.outputs) {
    if (types_.kind(module_.values[v].type) == TypeKind::Tensor) {
      for (DimId dim : types_.dims_of(module_.values[v].type)) {
        if (!known_early(dim)) return Time::Late;
      }
    }
    out = std::max(out, time(v));
  }
  each_operand(node, [&](ValueId v) { out = std::max(out, time(v)); });
  return out;
}

// One round of the fixpoint: false when nothing changed.
bool Splitter::step() {
  bool changed = false;
  for (NodeId id : module_.order) {
    Time now = time_of(module_.nodes[id]);
    for (ValueId v : module_.nodes[id].outputs) changed |= raise(v, now);
  }
  for (const FlatLoop& loop : flat_.loops) {
    for (const LoopRound& round : loop.rounds) {
      for (auto [from, to] : round.replaced) changed |= raise(from, time(to));
      for (auto [from, to] : round.produced) changed |= raise(to, time(from));
    }
    // A carried tensor has one place for all rounds.
    for (size_t p = 0; !loop.classes.empty() && p < loop.classes[0].carries.size(); ++p) {
      Time carry = Time::Free;
      for (const LoopClass& cls : loop.classes)
        carry = std::max({carry, time(cls.carries[p].first), time(cls.carries[p].second)});
      for (const LoopClass& cls : loop.classes) {
        changed |= raise(cls.carries[p].first, carry);
        changed |= raise(cls.carries[p].second, carry);
      }
    }
  }
  return changed;
}

void Splitter::find_times() {
  while (step()) {
  }
}

// ---- what is handed on ---------------------------------------------------------------------

void Splitter::hand(ValueId v) {
  if (seen_.insert(v).second) handed_.push_back(v);
}

// The late part reads an early value.
void Splitter::need(ValueId v) {
  if (time(v) != Time::Early || seen_.count(v)) return;
  NodeId producer = module_.values[v].producer;
  if (producer.valid() && repeats_its_operand(module_.nodes[producer].op)) {
    if (again_.insert(producer).second)
      each_operand(module_.nodes[producer], [&](ValueId operand) { need(operand); });
    return;
  }
  hand(v);
  need_rounds(v);
}

// In the other rounds of its class it is another tensor.
void Splitter::need_rounds(ValueId v) {
  auto place = places_.find(v);
  bool inside = place != places_.end() && place->second.loop >= 0 && !place->second.is_out;
  for (size_t l = 0; l < flat_.loops.size(); ++l) {
    for (LoopRound& round : flat_.loops[l].rounds) {
      for (size_t i = 0; i < round.replaced.size(); ++i) {
        if (round.replaced[i].first == v) need(round.replaced[i].second);
      }
      bool here = inside && place->second.loop == static_cast<int>(l) &&
                  place->second.cls == round.cls && !round.written;
      if (!here) continue;
      auto known = std::find_if(round.produced.begin(), round.produced.end(),
                                [&](const auto& pair) { return pair.first == v; });
      if (known == round.produced.end()) {
        graph::Value made = module_.values[v];
        made.name =
            dims_.names().intern(fmt::format("{}@{}", dims_.names().text(made.name), round.round));
        made.producer = {};
        ValueId id = module_.values.add(made);
        times_.push_back(Time::Early);
        round.produced.emplace_back(v, id);
        known = round.produced.end() - 1;
      }
      hand(known->second);
    }
  }
}

void Splitter::find_handed() {
  handed_.clear();
  seen_.clear();
  again_.clear();
  std::vector<NodeId> order = module_.order;
  for (NodeId id : order) {
    if (!is_late(id)) continue;
    each_operand(module_.nodes[id], [&](ValueId v) { need(v); });
  }
  for (const Operand& output : module_.outputs) {
    graph::for_each_value(module_, output, [&](ValueId v) {
      auto place = places_.find(v);
      if (place == places_.end() || !place->second.is_out) need(v);
    });
  }
}

// A carried tensor's memory is another round's before a round ends: such a tensor is no result.
bool Splitter::enters_round() {
  bool changed = false;
  for (ValueId v : handed_) {
    if (carried_in_.count(v)) changed |= raise(v, Time::Late);
  }
  return changed;
}

// ---- modules -------------------------------------------------------------------------------

void Splitter::keep_nodes(Specialised& part, bool late) const {
  auto kept = [&](NodeId id) {
    Time t = time(module_.nodes[id].outputs[0]);
    if (t == Time::Free) return true;
    return late ? t == Time::Late || again_.count(id) != 0 : t == Time::Early;
  };
  auto drop = [&](std::vector<NodeId>& nodes) {
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](NodeId id) { return !kept(id); }),
                nodes.end());
  };
  drop(part.module().order);
  for (FlatLoop& loop : part.loops) {
    for (LoopClass& cls : loop.classes) drop(cls.nodes);
  }
}

void Splitter::keep_carries(Specialised& part, bool late) const {
  Time other = late ? Time::Early : Time::Late;
  for (FlatLoop& loop : part.loops) {
    for (LoopClass& cls : loop.classes) {
      auto& carries = cls.carries;
      carries.erase(std::remove_if(carries.begin(), carries.end(),
                                   [&](const auto& c) { return time(c.first) == other; }),
                    carries.end());
    }
  }
}

void Splitter::keep_inputs(Specialised& part, bool late) const {
  auto& inputs = part.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const FlatInput& i) { return early_[i.input] == late; }),
               inputs.end());
}

void Splitter::keep_facts(Specialised& part, bool late) const {
  auto& facts = part.facts;
  facts.erase(std::remove_if(facts.begin(), facts.end(),
                             [&](const DimFact& f) {
                               return (known_early(f.left) && known_early(f.right)) == late;
                             }),
              facts.end());
}

Specialised Splitter::early_part() {
  Specialised part = flat_;
  keep_nodes(part, false);
  keep_carries(part, false);
  keep_inputs(part, false);
  keep_facts(part, false);
  part.outputs.clear();
  part.output_names.clear();
  graph::Module& module = part.module();
  module.outputs.clear();
  for (ValueId v : handed_) module.outputs.push_back(graph::ref(module, v));
  for (const FlatLoop& loop : part.loops) {
    for (const LoopClass& cls : loop.classes) {
      for (auto [in, out] : cls.carries) module.outputs.push_back(graph::ref(module, out));
    }
  }
  remove_dead(module);
  return part;
}

void Splitter::make_late() {
  for (FlatLoop& loop : flat_.loops) {
    for (LoopRound& round : loop.rounds) {
      for (auto pair : round.produced) {
        if (!seen_.count(pair.first)) continue;
        if (std::find(round.replaced.begin(), round.replaced.end(), pair) == round.replaced.end())
          round.replaced.push_back(pair);
      }
      auto& produced = round.produced;
      produced.erase(std::remove_if(produced.begin(), produced.end(),
                                    [&](const auto& p) { return time(p.first) == Time::Early; }),
                     produced.end());
    }
  }
  keep_nodes(flat_, true);
  keep_carries(flat_, true);
  keep_inputs(flat_, true);
  keep_facts(flat_, true);
  for (ValueId v : handed_) module_.values[v].producer = {};
  auto& outputs = module_.outputs;
  outputs.erase(std::remove_if(outputs.begin(), outputs.end(),
                               [&](const Operand& output) {
                                 const auto* ref = output.get<graph::Ref>();
                                 auto place = ref ? places_.find(ref->value) : places_.end();
                                 return place != places_.end() && place->second.is_out &&
                                        time(ref->value) == Time::Early && !seen_.count(ref->value);
                               }),
                outputs.end());
  remove_dead(module_);
}

EarlyPart Splitter::run() {
  times_.assign(module_.values.size(), Time::Free);
  for (const FlatInput& input : flat_.inputs)
    time(input.value) = early_[input.input] ? Time::Early : Time::Late;
  find_sizes();
  find_places();
  do {
    find_times();
    find_handed();
  } while (enters_round());
  EarlyPart out;
  out.flat = early_part();
  out.handed = handed_;
  out.text = binding_text(out.flat, types_, handed_);
  make_late();
  return out;
}

}  // namespace

EarlyPart split_early(Specialised& flat, TypeTable& types, const std::vector<bool>& early) {
  return Splitter(flat, types, early).run();
}

}  // namespace axon::opt
