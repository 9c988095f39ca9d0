// Compares the classes of a loop step by step.
#include "emit/outline/rounds.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "emit/outline/outline.h"
#include "support/text.h"

namespace axon::emit {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;

// An operand of a step of the first class that is another number in other classes.
struct Varying {
  NodeId step;
  bool attr = false;
  size_t index = 0;
  std::vector<Operand> by_class;
};

class Uniter {
 public:
  Uniter(Joined& joined, function_ref<bool(ValueId)> is_store, TypeTable& types)
      : j_(joined), is_store_(is_store), types_(types), names_(types.dims().names()) {}

  void run(size_t index) {
    opt::FlatLoop& loop = j_.loops[index];
    std::vector<Varying> varying;
    find_inside(loop);
    std::vector<NodeId> base = steps_of(loop.classes[0]);
    for (size_t c = 1; c < loop.classes.size(); ++c) {
      std::unordered_map<ValueId, ValueId, IdHash> map;
      for (size_t k = 0; k < loop.classes[c].carries.size(); ++k)
        map[loop.classes[c].carries[k].first] = loop.classes[0].carries[k].first;
      std::vector<NodeId> other = steps_of(loop.classes[c]);
      if (other.size() != base.size()) return;
      for (size_t i = 0; i < base.size(); ++i) {
        if (!alike(base[i], other[i], map, varying, c, loop.classes.size())) return;
      }
    }
    make_settings(loop, static_cast<int32_t>(index), varying);
    keep_first(loop);
  }

 private:
  std::vector<NodeId> steps_of(const opt::LoopClass& cls) const {
    std::vector<NodeId> out;
    for (NodeId id : cls.nodes) {
      if (std::find(j_.order.begin(), j_.order.end(), id) != j_.order.end()) out.push_back(id);
    }
    return out;
  }

  void find_inside(const opt::FlatLoop& loop) {
    inside_.clear();
    for (const opt::LoopClass& c : loop.classes) {
      for (NodeId id : c.nodes)
        inside_.insert(j_.steps[id].node.outputs.begin(), j_.steps[id].node.outputs.end());
      for (const auto& [in, out] : c.carries) inside_.insert({in, out});
    }
  }

  bool is_number(const Operand& o) const {
    return o.kind() == OperandKind::Float || o.kind() == OperandKind::Int;
  }

  // Numbers of one kind, or values of one type from before the loop.
  bool may_vary(const Operand& a, const Operand& b) const {
    if (a.kind() != b.kind()) return false;
    const auto *p = a.get<graph::Ref>(), *q = b.get<graph::Ref>();
    if (!p) return is_number(a);
    bool outside = inside_.count(p->value) == 0 && inside_.count(q->value) == 0;
    return outside && j_.values[p->value].type == j_.values[q->value].type;
  }

  bool same_literal(const Operand& a, const Operand& b) const {
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
        return a.as<graph::DimRef>().dim == b.as<graph::DimRef>().dim;
      case OperandKind::Path:
        return dotted(a.as<graph::Path>(), names_) == dotted(b.as<graph::Path>(), names_);
      default:
        return false;
    }
  }

  bool alike(NodeId first, NodeId other, std::unordered_map<ValueId, ValueId, IdHash>& map,
             std::vector<Varying>& varying, size_t cls, size_t classes) {
    const Node &a = j_.steps[first].node, &b = j_.steps[other].node;
    if (a.op != b.op || a.inputs.size() != b.inputs.size() || a.attrs.size() != b.attrs.size() ||
        a.outputs.size() != b.outputs.size())
      return false;
    if (a.op == Op::CoreAlias && map.count(b.outputs[0]))
      return true;  // how a carried value enters
    auto compare = [&](const Operand& x, const Operand& y, bool attr, size_t index) {
      auto noted = std::find_if(varying.begin(), varying.end(), [&](const Varying& v) {
        return v.step == first && v.attr == attr && v.index == index;
      });
      if (noted != varying.end()) return noted->by_class[cls] = y, may_vary(x, y);
      const auto *p = x.get<graph::Ref>(), *q = y.get<graph::Ref>();
      if (p && q) {
        auto known = map.find(q->value);
        if (known != map.end()) return known->second == p->value;
        if (p->value == q->value || (is_store_(p->value) && is_store_(q->value))) return true;
      }
      if (same_literal(x, y)) return true;
      if (!may_vary(x, y)) return false;
      Varying made{first, attr, index, std::vector<Operand>(classes, x)};
      made.by_class[cls] = y;
      varying.push_back(std::move(made));
      return true;
    };
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if (!compare(a.inputs[i], b.inputs[i], false, i)) return false;
    }
    for (size_t i = 0; i < a.attrs.size(); ++i) {
      if (a.attrs[i].name != b.attrs[i].name ||
          !compare(a.attrs[i].value, b.attrs[i].value, true, i))
        return false;
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if (j_.values[a.outputs[i]].type != j_.values[b.outputs[i]].type) return false;
      map[b.outputs[i]] = a.outputs[i];
    }
    return true;
  }

  void make_settings(const opt::FlatLoop& loop, int32_t index,
                     const std::vector<Varying>& varying) {
    for (const Varying& v : varying) {
      Node& node = j_.steps[v.step].node;
      Operand& place = v.attr ? node.attrs[v.index].value : node.inputs[v.index];
      NameId name = v.attr ? node.attrs[v.index].name : operand_name(node, v.index);
      std::vector<Operand> by_round;
      for (const opt::LoopRound& round : loop.rounds)
        by_round.push_back(v.by_class[static_cast<size_t>(round.cls)]);
      Operand ref;
      ref.data = graph::Ref{setting(index, std::move(by_round), name)};
      place = ref;
    }
  }

  // Rows say what their operands are called.
  NameId operand_name(const Node& node, size_t index) {
    Interner& names = types_.dims().names();
    const OpInfo& info = op_info(node.op);
    if (info.op_class == OpClass::Fused) {
      std::string_view name = trim(split(info.signature, ',')[index]);
      if (name[0] == '?') name.remove_prefix(1);
      return names.intern(name);
    }
    const auto* ref = node.inputs[index].get<graph::Ref>();
    return ref ? j_.values[ref->value].name : names.intern("factor");
  }

  // Places that differ alike share a setting.
  ValueId setting(int32_t loop, std::vector<Operand> by_round, NameId name) {
    for (const Setting& known : j_.settings) {
      if (known.loop == loop &&
          std::equal(known.by_round.begin(), known.by_round.end(), by_round.begin(), by_round.end(),
                     [&](const Operand& a, const Operand& b) { return same_setting(a, b); }))
        return known.value;
    }
    graph::Value value;
    value.name = name;
    if (const auto* ref = by_round[0].get<graph::Ref>()) {
      value = j_.values[ref->value];
      value.name = name;
      value.producer = NodeId{};
      for (const Operand& other : by_round)
        value.optional |= j_.values[other.as<graph::Ref>().value].optional;
    } else {
      value.type = by_round[0].kind() == OperandKind::Int ? types_.int_() : types_.float_();
    }
    Setting made{j_.values.add(std::move(value)), loop, std::move(by_round)};
    j_.settings.push_back(std::move(made));
    return j_.settings.back().value;
  }

  bool same_setting(const Operand& a, const Operand& b) const {
    const auto *p = a.get<graph::Ref>(), *q = b.get<graph::Ref>();
    return p && q ? p->value == q->value : same_literal(a, b);
  }

  // The other classes go; what they carried out is what the first carries out.
  void keep_first(opt::FlatLoop& loop) {
    std::unordered_map<ValueId, ValueId, IdHash> out;
    std::unordered_set<NodeId, IdHash> gone;
    for (size_t c = 1; c < loop.classes.size(); ++c) {
      for (size_t k = 0; k < loop.classes[c].carries.size(); ++k)
        out[loop.classes[c].carries[k].second] = loop.classes[0].carries[k].second;
      gone.insert(loop.classes[c].nodes.begin(), loop.classes[c].nodes.end());
    }
    auto redirect = [&](Operand& operand) {
      auto* ref = operand.get<graph::Ref>();
      auto it = ref ? out.find(ref->value) : out.end();
      if (it != out.end()) ref->value = it->second;
    };
    std::erase_if(j_.order, [&](NodeId id) { return gone.count(id) != 0; });
    for (NodeId id : j_.order) {
      for (Operand& input : j_.steps[id].node.inputs) redirect(input);
    }
    for (auto& [name, operand] : j_.outputs) redirect(operand);
    loop.classes.resize(1);
    for (opt::LoopRound& round : loop.rounds) round.cls = 0;
  }

  Joined& j_;
  function_ref<bool(ValueId)> is_store_;
  TypeTable& types_;
  const Interner& names_;
  std::unordered_set<ValueId, IdHash> inside_;  // made in the rounds of the loop
};

}  // namespace

void unite_rounds(Joined& joined, function_ref<bool(ValueId)> is_store, TypeTable& types) {
  for (size_t i = 0; i < joined.loops.size(); ++i) {
    if (joined.loops[i].classes.size() > 1) Uniter(joined, is_store, types).run(i);
  }
}

}  // namespace axon::emit
