// Compares the classes of a loop step by step.
#include "emit/outline/rounds.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "emit/outline/outline.h"

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

  static bool is_number(const Operand& o) {
    return o.kind() == OperandKind::Float || o.kind() == OperandKind::Int;
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
      const auto *p = x.get<graph::Ref>(), *q = y.get<graph::Ref>();
      if (p && q) {
        auto known = map.find(q->value);
        if (known != map.end()) return known->second == p->value;
        return p->value == q->value || (is_store_(p->value) && is_store_(q->value));
      }
      auto noted = std::find_if(varying.begin(), varying.end(), [&](const Varying& v) {
        return v.step == first && v.attr == attr && v.index == index;
      });
      if (noted != varying.end()) return noted->by_class[cls] = y, is_number(y);
      if (same_literal(x, y)) return true;
      if (x.kind() != y.kind() || !is_number(x)) return false;
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
      Setting setting;
      setting.loop = index;
      for (const opt::LoopRound& round : loop.rounds)
        setting.by_round.push_back(v.by_class[static_cast<size_t>(round.cls)]);
      Node& node = j_.steps[v.step].node;
      graph::Value value;
      value.name = v.attr ? node.attrs[v.index].name : types_.dims().names().intern("factor");
      bool whole = v.by_class[0].kind() == OperandKind::Int;
      value.type = whole ? types_.int_() : types_.float_();
      setting.value = j_.values.add(std::move(value));
      Operand ref;
      ref.data = graph::Ref{setting.value};
      (v.attr ? node.attrs[v.index].value : node.inputs[v.index]) = ref;
      j_.settings.push_back(std::move(setting));
    }
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
};

}  // namespace

void unite_rounds(Joined& joined, function_ref<bool(ValueId)> is_store, TypeTable& types) {
  for (size_t i = 0; i < joined.loops.size(); ++i) {
    if (joined.loops[i].classes.size() > 1) Uniter(joined, is_store, types).run(i);
  }
}

}  // namespace axon::emit
