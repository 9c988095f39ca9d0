// From the specialised calls to one module: stores, choices, keep masks.
#include "emit/outline/joined.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "emit/outline/experts.h"
#include "emit/outline/keeps.h"
#include "emit/outline/merge.h"
#include "emit/outline/rounds.h"
#include "support/text.h"

namespace axon::emit {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::ValueId;

class Joiner {
 public:
  Joiner(const Calls& calls, const graph::Graph& graph, TypeTable& types)
      : calls_(calls), main_(graph[graph.main]), types_(types), dims_(types.dims()) {}

  Result<Joined> run() {
    AXON_TRY_VOID(copy());
    for (size_t k = 0; k < calls_.optional.size(); ++k) {
      ValueId input;
      for (const JoinedInput& known : out_.inputs) {
        if (known.input == calls_.optional[k]) input = known.value;
      }
      if (!input.valid()) continue;  // no tensor: a flag that calls leave out
      AXON_TRY_VOID(merge_call(out_, calls_.without[k], input, calls_.forest, types_));
    }
    peel_references();
    AXON_TRY_VOID(find_stores());
    make_keeps(out_, calls_, types_);
    make_banks(out_, *calls_.answers.params, types_);
    unite_rounds(
        out_, [&](ValueId v) { return store_of_.count(v) != 0; }, types_);
    AXON_TRY_VOID(make_writes());
    drop_unused(out_);
    return std::move(out_);
  }

 private:
  std::string_view text(NameId name) const { return dims_.names().text(name); }

  Result<void> copy() {
    const opt::Specialised& all = *calls_.all;
    const graph::Module& module = all.module();
    for (const graph::Value& value : module.values) out_.values.add(value);
    for (const Node& node : module.nodes) out_.steps.add(Step{Step::Kind::Node, node, -1});
    out_.order = module.order;
    out_.loops = all.loops;
    for (const opt::FlatInput& input : all.inputs) {
      if (static_cast<int>(input.input) == calls_.roles.cache) continue;
      bool optional = std::count(calls_.optional.begin(), calls_.optional.end(), input.input) != 0;
      for (const JoinedInput& other : out_.inputs) {
        if (other.input == input.input)
          return unsupported(fmt::format("input `{}`", text(input.name)),
                             "it holds several tensors");
      }
      out_.inputs.push_back({input.name, input.input, input.value, optional});
    }
    for (size_t i = 0; i < all.outputs.size(); ++i) {
      if (calls_.cached && static_cast<int>(i) == calls_.roles.new_cache) continue;
      const opt::Tree& tree = calls_.forest[all.outputs[i]];
      Operand operand;
      if (tree.kind == opt::Tree::Kind::Tensor)
        operand.data = graph::Ref{tree.value};
      else if (tree.kind != opt::Tree::Kind::Null)
        return unsupported(fmt::format("output `{}`", text(all.output_names[i])),
                           "it is no tensor");
      out_.outputs.emplace_back(all.output_names[i], operand);
    }
    return {};
  }

  // What is counted needs a tensor for its device only: the one that filled ones were made like.
  void peel_references() {
    for (NodeId id : out_.order) {
      Node& node = out_.steps[id].node;
      if (node.op != Op::Arange) continue;
      while (const auto* ref = node.inputs[0].get<graph::Ref>()) {
        const Node* like = out_.producer(ref->value);
        if (!like || (like->op != Op::Zeros && like->op != Op::Full)) break;
        node.inputs[0] = Operand(like->inputs[0]);
      }
    }
  }

  // ---- stores --------------------------------------------------------------------------------

  Error bad_cache(std::string_view why) const { return unsupported("the cache", why); }

  // Tensors of the cache by the place that they share: `0.3.0` and `0.3.1` make store `0.3`.
  Result<void> find_stores() {
    std::vector<std::string> parents;
    for (const opt::FlatInput& input : calls_.all->inputs) {
      if (static_cast<int>(input.input) != calls_.roles.cache) continue;
      std::string place(text(input.name));
      std::string parent = place.substr(0, place.rfind('.'));
      auto it = std::find(parents.begin(), parents.end(), parent);
      size_t store = static_cast<size_t>(it - parents.begin());
      if (it == parents.end()) {
        parents.push_back(parent);
        out_.stores.emplace_back();
      }
      const graph::Value& value = out_.values[input.value];
      StoreTensor tensor{types_.dims_of(value.type), value.dtype, 0};
      bool found = false;
      for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
        if (dims_.as_symbol(tensor.dims[axis]) != calls_.capacity) continue;
        tensor.axis = axis;
        found = true;
      }
      if (!found) return bad_cache(fmt::format("`{}` has no axis of the capacity's size", place));
      store_of_[input.value] = {static_cast<int32_t>(store), out_.stores[store].size()};
      out_.stores[store].push_back(std::move(tensor));
    }
    return {};
  }

  struct StorePlace {
    int32_t store = -1;
    size_t tensor = 0;
  };

  const StorePlace* base_of(const Node& node) const {
    if (node.op != Op::AssignSlice) return nullptr;
    const auto* ref = node.inputs[0].get<graph::Ref>();
    auto it = ref ? store_of_.find(ref->value) : store_of_.end();
    return it == store_of_.end() ? nullptr : &it->second;
  }

  bool at_length(const Node& node) const {
    DimId past = dims_.of(calls_.past), end = dims_.value_add(past, dims_.of(calls_.tokens));
    const auto *a = node.inputs[3].get<graph::DimRef>(), *b = node.inputs[4].get<graph::DimRef>();
    return a && b && a->dim == past && b->dim == end;
  }

  // Assignments to the tensors of one store become one step, at the place of the last.
  Result<void> make_writes() {
    std::vector<std::vector<NodeId>> writes(out_.stores.size());
    for (NodeId id : out_.order) {
      const Node& node = out_.steps[id].node;
      const StorePlace* base = base_of(node);
      if (!base) {
        bool reads = false;
        for_each_read(node, [&](ValueId v) { reads |= store_of_.count(v) != 0; });
        if (reads) return bad_cache("it is read otherwise than by writing at its length");
        continue;
      }
      if (!at_length(node)) return bad_cache("it is not written at its length");
      writes[static_cast<size_t>(base->store)].push_back(id);
    }
    for (size_t store = 0; store < writes.size(); ++store) {
      if (writes[store].empty()) continue;  // of a round that is a copy
      if (writes[store].size() != out_.stores[store].size())
        return bad_cache("some of a layer's tensors are not written");
      AXON_TRY_VOID(join_writes(writes[store], static_cast<int32_t>(store)));
    }
    return check_rounds(writes);
  }

  Result<void> join_writes(const std::vector<NodeId>& ids, int32_t store) {
    Step step;
    step.kind = Step::Kind::Write;
    step.store = store;
    step.node = out_.steps[ids.back()].node;
    step.node.inputs.assign(ids.size(), {});
    step.node.outputs.assign(ids.size(), {});
    for (NodeId id : ids) {
      const Node& node = out_.steps[id].node;
      size_t tensor = base_of(node)->tensor;
      step.node.inputs[tensor] = node.inputs[1];
      step.node.outputs[tensor] = node.outputs[0];
    }
    // Nothing may read one of the results before the last is written.
    auto first = std::find(out_.order.begin(), out_.order.end(), ids.front());
    auto last = std::find(out_.order.begin(), out_.order.end(), ids.back());
    for (auto it = first; it != last; ++it) {
      bool reads = false;
      for_each_read(out_.steps[*it].node, [&](ValueId v) {
        for (ValueId made : step.node.outputs) reads |= v == made;
      });
      if (reads) return bad_cache("one of a layer's tensors is read before all are written");
    }
    NodeId made = ids.back();
    for (size_t i = 0; i < step.node.outputs.size(); ++i) {
      graph::Value& value = out_.values[step.node.outputs[i]];
      value.producer = made;
      value.output_index = static_cast<int32_t>(i);
    }
    for (NodeId id : ids) {
      if (id != made) std::erase(out_.order, id);
    }
    out_.steps[made] = std::move(step);
    return {};
  }

  // The rounds of a loop write the stores in order.
  Result<void> check_rounds(const std::vector<std::vector<NodeId>>& writes) {
    for (const opt::FlatLoop& loop : out_.loops) {
      int32_t first = -1;
      for (const opt::LoopClass& c : loop.classes) {
        for (NodeId id : c.nodes) {
          const Step& step = out_.steps[id];
          if (step.kind == Step::Kind::Write && first < 0) first = step.store;
        }
      }
      if (first < 0) continue;
      for (size_t r = 0; r < loop.rounds.size(); ++r) {
        size_t store = static_cast<size_t>(first) + r;
        bool in_order = store < writes.size();
        for (const auto& [from, to] : loop.rounds[r].replaced) {
          auto it = store_of_.find(to);
          if (it != store_of_.end()) in_order &= static_cast<size_t>(it->second.store) == store;
        }
        if (!in_order) return bad_cache("its layers are not written in the order of the loop");
      }
    }
    return {};
  }

  // ---- clean-up ------------------------------------------------------------------------------

  const Calls& calls_;
  const graph::Module& main_;
  TypeTable& types_;
  DimTable& dims_;
  Joined out_;
  std::unordered_map<ValueId, StorePlace, IdHash> store_of_;
};

}  // namespace

void drop_unused(Joined& joined) {
  std::vector<bool> used(joined.values.size());
  auto mark = [&](ValueId v) { used[static_cast<size_t>(v.index)] = true; };
  for (const auto& [name, operand] : joined.outputs) {
    if (const auto* ref = operand.get<graph::Ref>()) mark(ref->value);
  }
  for (const opt::FlatLoop& loop : joined.loops) {
    for (const opt::LoopClass& c : loop.classes) {
      for (const auto& [in, out] : c.carries) mark(out);
    }
  }
  for (size_t i = 0; i < joined.loops.size(); ++i) {
    for (ValueId value : setting_reads(joined, static_cast<int32_t>(i))) mark(value);
  }
  std::vector<NodeId> kept;
  for (auto it = joined.order.rbegin(); it != joined.order.rend(); ++it) {
    const Step& step = joined.steps[*it];
    bool wanted = step.kind == Step::Kind::Write;
    for (ValueId made : step.node.outputs) wanted |= used[static_cast<size_t>(made.index)];
    if (!wanted) continue;
    for_each_read(step.node, mark);
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  joined.order = std::move(kept);
}

Result<Joined> join_calls(const Calls& calls, const graph::Graph& graph, TypeTable& types) {
  return Joiner(calls, graph, types).run();
}

}  // namespace axon::emit
