// Two calls side by side, from their results backwards: equal operations become one step; where
// operations differ, a choice takes the value of either.
#include "emit/outline/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace axon::emit {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;

bool same_path(const graph::Path& a, const graph::Path& b) {
  if (a.pieces.size() != b.pieces.size()) return false;
  for (size_t i = 0; i < a.pieces.size(); ++i) {
    const graph::PathPiece &x = a.pieces[i], &y = b.pieces[i];
    if (x.text != y.text || x.placeholder != y.placeholder || x.joined != y.joined) return false;
  }
  return true;
}

class Merger {
 public:
  Merger(Joined& joined, const opt::Specialised& call, ValueId input, TypeTable& types)
      : joined_(joined), call_(call), module_(call.module()), input_(input), types_(types) {
    for (size_t i = 0; i < joined.order.size(); ++i) place_[joined.order[i]] = i;
    for (const opt::FlatInput& in : call.inputs) {
      for (const JoinedInput& known : joined.inputs) {
        if (known.name == in.name) same_[in.value] = known.value;
      }
      for (const auto& [name, value] : cache_inputs(joined)) {
        if (name == in.name) same_[in.value] = value;
      }
    }
  }

  Result<void> run(const std::vector<Operand>& results) {
    if (call_.loops.size() != joined_.loops.size()) return differ("loops");
    for (size_t i = 0; i < call_.loops.size(); ++i) {
      if (call_.loops[i].classes.size() != joined_.loops[i].classes.size()) return differ("loops");
      vars_[call_.loops[i].var] = joined_.loops[i].var;
    }
    for (size_t i = 0; i < results.size(); ++i)
      operand(joined_.outputs[i].second, results[i], {NodeId{}, i});
    for (const Site& site : sites_) AXON_TRY_VOID(choose(site));
    return {};
  }

 private:
  // An operand of a joined step (or a result, without a step) that is another one in this call.
  struct Site {
    NodeId step;
    size_t slot = 0;
    Operand other;
  };
  struct Slot {
    NodeId step;
    size_t slot = 0;
  };

  static std::vector<std::pair<NameId, ValueId>> cache_inputs(const Joined& joined) {
    std::vector<std::pair<NameId, ValueId>> out;
    for (size_t i = 0; i < joined.values.size(); ++i) {
      ValueId id = joined.values.id_at(i);
      if (!joined.values[id].producer.valid()) out.emplace_back(joined.values[id].name, id);
    }
    return out;
  }

  Error differ(std::string_view what) const {
    return unsupported(
        fmt::format("calls without `{}`", types_.dims().names().text(joined_.values[input_].name)),
        fmt::format("their {} are others than those of calls with it", what));
  }

  DimId translated(DimId dim) {
    return types_.dims().substitute(dim, [&](SymbolId s) {
      auto it = vars_.find(s);
      return it == vars_.end() ? DimId{} : types_.dims().of(it->second);
    });
  }

  bool same_literal(const Operand& a, const Operand& b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case OperandKind::Null:
        return true;
      case OperandKind::Bool:
        return a.as<graph::LitBool>().value == b.as<graph::LitBool>().value;
      case OperandKind::Int:
        return a.as<graph::LitInt>().value == b.as<graph::LitInt>().value;
      case OperandKind::Float:
        return a.as<graph::LitFloat>().value == b.as<graph::LitFloat>().value;
      case OperandKind::String:
        return a.as<graph::LitString>().value == b.as<graph::LitString>().value;
      case OperandKind::Dim:
        return a.as<graph::DimRef>().dim == translated(b.as<graph::DimRef>().dim);
      case OperandKind::Path:
        return same_path(a.as<graph::Path>(), b.as<graph::Path>());
      default:
        return false;
    }
  }

  static bool may_choose(const Operand& a) {
    return a.kind() == OperandKind::Ref || a.kind() == OperandKind::Null;
  }

  bool alike(const Node& a, const Node& b) {
    bool same = a.op == b.op && a.inputs.size() == b.inputs.size() &&
                a.attrs.size() == b.attrs.size() && a.outputs.size() == b.outputs.size();
    for (size_t i = 0; same && i < a.inputs.size(); ++i) {
      same = (may_choose(a.inputs[i]) && may_choose(b.inputs[i])) ||
             same_literal(a.inputs[i], b.inputs[i]);
    }
    for (size_t i = 0; same && i < a.attrs.size(); ++i)
      same = a.attrs[i].name == b.attrs[i].name && same_literal(a.attrs[i].value, b.attrs[i].value);
    return same;
  }

  // The value of the call that the joined value also stands for, if their operations are alike.
  bool unify(ValueId mine, ValueId theirs) {
    auto known = same_.find(theirs);
    if (known != same_.end() && known->second == mine) return true;
    NodeId id = joined_.values[mine].producer, other = module_.values[theirs].producer;
    if (const auto* given = given_of(id)) return unify(given->value, theirs);
    if (known != same_.end() || !id.valid() || !other.valid()) return false;
    if (taken_.count(id)) return equal(mine, theirs);
    const Node &a = joined_.steps[id].node, &b = module_.nodes[other];
    if (joined_.steps[id].kind != Step::Kind::Node || !alike(a, b) ||
        joined_.values[mine].output_index != module_.values[theirs].output_index)
      return false;
    taken_.insert(id);
    keep_common_scope(joined_.steps[id].node.scope, b.scope);
    for (size_t i = 0; i < a.outputs.size(); ++i) same_[b.outputs[i]] = a.outputs[i];
    for (size_t i = 0; i < b.inputs.size(); ++i) operand(a.inputs[i], b.inputs[i], {id, i});
    return true;
  }

  // In this call the inputs of other choices are given.
  const graph::Ref* given_of(NodeId id) const {
    if (!id.valid()) return nullptr;
    const Step& step = joined_.steps[id];
    return step.kind == Step::Kind::Choice ? step.node.inputs[1].get<graph::Ref>() : nullptr;
  }

  // A step that stands for operations of several scopes is at home in what they share.
  static void keep_common_scope(graph::Path& mine, const graph::Path& theirs) {
    size_t n = 0;
    while (n < mine.pieces.size() && n < theirs.pieces.size() &&
           mine.pieces[n].text == theirs.pieces[n].text &&
           mine.pieces[n].placeholder == theirs.pieces[n].placeholder)
      ++n;
    mine.pieces.resize(n);
  }

  // Whether the values are the same without any choice: an operation of the joined module may stand
  // for several of this call.
  bool equal(ValueId mine, ValueId theirs) {
    auto known = same_.find(theirs);
    if (known != same_.end() && known->second == mine) return true;
    NodeId id = joined_.values[mine].producer, other = module_.values[theirs].producer;
    if (const auto* given = given_of(id)) return equal(given->value, theirs);
    if (known != same_.end() || !id.valid() || !other.valid()) return false;
    if (joined_.steps[id].kind != Step::Kind::Node) return false;
    const Node &a = joined_.steps[id].node, &b = module_.nodes[other];
    if (!alike(a, b) || joined_.values[mine].output_index != module_.values[theirs].output_index)
      return false;
    for (const Site& site : sites_) {
      if (site.step == id) return false;
    }
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      const auto *x = a.inputs[i].get<graph::Ref>(), *y = b.inputs[i].get<graph::Ref>();
      if (!x != !y || (x && !equal(x->value, y->value))) return false;
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) same_.emplace(b.outputs[i], a.outputs[i]);
    return true;
  }

  void operand(const Operand& mine, const Operand& theirs, Slot slot) {
    const auto *a = mine.get<graph::Ref>(), *b = theirs.get<graph::Ref>();
    if (a && b && unify(a->value, b->value)) return;
    if (!a && !b) return;
    sites_.push_back({slot.step, slot.slot, theirs});
  }

  size_t loop_start(size_t place) const {
    for (const opt::FlatLoop& loop : joined_.loops) {
      size_t first = place, last = 0;
      for (const opt::LoopClass& c : loop.classes) {
        for (NodeId id : c.nodes) {
          auto it = place_.find(id);
          if (it == place_.end()) continue;
          first = std::min(first, it->second), last = std::max(last, it->second);
        }
      }
      if (first <= place && place <= last) return first;
    }
    return place;
  }

  Result<void> choose(const Site& site) {
    Operand& mine = site.step.valid() ? joined_.steps[site.step].node.inputs[site.slot]
                                      : joined_.outputs[site.slot].second;
    for (const auto& [given, other, choice] : choices_) {
      if (given != key(mine) || other != key(site.other)) continue;
      if (choice.valid()) mine.data = graph::Ref{choice};
      return {};
    }
    const auto* ref = mine.get<graph::Ref>();
    bool is_input = ref && ref->value == input_ && site.other.kind() == OperandKind::Null;
    if (is_input) {  // the input itself, or null without it
      choices_.push_back({key(mine), key(site.other), ValueId{}});
      return {};
    }
    size_t place = site.step.valid() ? loop_start(place_.at(site.step)) : joined_.order.size();
    Operand theirs = site.other;
    if (const auto* r = theirs.get<graph::Ref>()) {
      AXON_TRY(ValueId value, imported(r->value, place));
      theirs.data = graph::Ref{value};
    }
    Step step;
    step.kind = Step::Kind::Choice;
    Operand input;
    input.data = graph::Ref{input_};
    step.node.inputs = {input, mine, theirs};
    graph::Value value;
    if (ref) value = joined_.values[ref->value];
    value.optional = theirs.kind() == OperandKind::Null || !ref;
    ValueId made = add(std::move(step), value, place);
    choices_.push_back({key(mine), key(site.other), made});
    Operand& changed = site.step.valid() ? joined_.steps[site.step].node.inputs[site.slot]
                                         : joined_.outputs[site.slot].second;
    changed.data = graph::Ref{made};
    return {};
  }

  static int32_t key(const Operand& operand) {
    const auto* ref = operand.get<graph::Ref>();
    return ref ? ref->value.index : -1;
  }

  ValueId add(Step step, graph::Value value, size_t& place) {
    NodeId id = joined_.steps.add(std::move(step));
    value.producer = id;
    value.output_index = 0;
    ValueId made = joined_.values.add(std::move(value));
    joined_.steps[id].node.outputs = {made};
    insert(id, place);
    return made;
  }

  void insert(NodeId id, size_t& place) {
    joined_.order.insert(joined_.order.begin() + static_cast<long>(place), id);
    for (size_t i = place; i < joined_.order.size(); ++i) place_[joined_.order[i]] = i;
    ++place;
  }

  // A value that only this call computes, with what it needs, before `place`.
  Result<ValueId> imported(ValueId theirs, size_t& place) {
    auto known = same_.find(theirs);
    if (known != same_.end()) {
      NodeId producer = joined_.values[known->second].producer;
      if (producer.valid() && place_.at(producer) >= place) return differ("operations");
      return known->second;
    }
    NodeId producer = module_.values[theirs].producer;
    if (!producer.valid()) return differ("inputs");
    for (const opt::FlatLoop& loop : call_.loops) {
      for (const opt::LoopClass& c : loop.classes) {
        if (std::find(c.nodes.begin(), c.nodes.end(), producer) != c.nodes.end())
          return differ("loops");
      }
    }
    Step step;
    step.node = module_.nodes[producer];
    for (Operand& input : step.node.inputs) {
      auto* ref = input.get<graph::Ref>();
      if (!ref) continue;
      AXON_TRY(ref->value, imported(ref->value, place));
    }
    std::vector<ValueId> outputs = step.node.outputs;
    NodeId id = joined_.steps.add(std::move(step));
    for (size_t i = 0; i < outputs.size(); ++i) {
      graph::Value value = module_.values[outputs[i]];
      value.producer = id;
      same_[outputs[i]] = joined_.values.add(std::move(value));
      joined_.steps[id].node.outputs[i] = same_[outputs[i]];
    }
    insert(id, place);
    return same_.at(theirs);
  }

  struct Made {
    int32_t given, other;
    ValueId choice;
  };
  Joined& joined_;
  const opt::Specialised& call_;
  const graph::Module& module_;
  ValueId input_;
  TypeTable& types_;
  std::unordered_map<ValueId, ValueId, IdHash> same_;
  std::unordered_map<SymbolId, SymbolId, IdHash> vars_;
  std::unordered_set<NodeId, IdHash> taken_;
  std::unordered_map<NodeId, size_t, IdHash> place_;
  std::vector<Site> sites_;
  std::vector<Made> choices_;
};

}  // namespace

Result<void> merge_call(Joined& joined, const opt::Specialised& call, ValueId input,
                        const opt::Forest& forest, TypeTable& types) {
  std::vector<Operand> results;
  for (const auto& [name, operand] : joined.outputs) {
    Operand result;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.output_names[i] != name) continue;
      const opt::Tree& tree = forest[call.outputs[i]];
      if (tree.kind == opt::Tree::Kind::Tensor) result.data = graph::Ref{tree.value};
    }
    results.push_back(std::move(result));
  }
  return Merger(joined, call, input, types).run(results);
}

}  // namespace axon::emit
