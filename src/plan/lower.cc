// Planning of one phase: the walk over the nodes, inputs, states and outputs.
#include "plan/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/mapping.h"
#include "runtime/core/barriers.h"

namespace axon::plan {

Lowering::Lowering(Context& context, const LowerRequest& request, runtime::Phase& phase)
    : context_(context),
      request_(request),
      phase_(phase),
      module_(*request.module),
      dims_(context.dims),
      types_(context.types),
      uses_(*request.module, request.loops),
      views_(context.dims),
      view_(request.module->values.size()) {
  rows_.selected.resize(module_.nodes.size());
  find_rounds();
  for (size_t i = 0; i < request.states.size(); ++i)
    leaf_after_.emplace(request.states[i].after, i);
  for (size_t i = 0; i < request.states.size(); ++i)
    state_leaf_.emplace(request.states[i].state, i);
  if (request.head.valid()) rows_ = find_rows(module_, types_, uses_, request.head);
}

bool Lowering::fail(std::string_view why) {
  std::string what =
      node_ ? fmt::format("`{}`", axon::spelling(node_->op)) : std::string("this program");
  context_.sink.report(Diag::PlanUnsupported, node_ ? node_->span : Span{}, {std::move(what), why});
  return false;
}

void Lowering::place_inputs() {
  for (auto [value, index] : request_.inputs) {
    View v = views_.dense({}, dims_of(value), dtype_of(value));
    runtime::Value made;
    made.dtype = v.dtype;
    made.shape = context_.symbols.exprs(v.dims);
    made.place = runtime::PlaceInput{index};
    made.name = phase_.inputs[static_cast<size_t>(index)].name;
    v.base = phase_.values.add(std::move(made));
    view_[static_cast<size_t>(value.index)] = v;
  }
  for (const StateLeaf& leaf : request_.states) {
    if (leaf.before.valid()) view_[static_cast<size_t>(leaf.before.index)] = state_view(leaf.state);
  }
}

View Lowering::state_view(runtime::StateId state) {
  auto known = state_views_.find(state);
  if (known != state_views_.end()) return known->second;
  const runtime::State& facts = context_.program.states[state];
  runtime::Value made;
  made.dtype = facts.dtype;
  made.shape = facts.shape;
  made.place = runtime::PlaceState{state};
  made.name = facts.name;
  runtime::ValId id = phase_.values.add(std::move(made));
  std::vector<DimId> dims = dims_of(request_.states[state_leaf_.at(state)].after);
  return state_views_.emplace(state, views_.dense(id, std::move(dims), facts.dtype)).first->second;
}

// A value is resident in a state when it is what the state holds at the end, or a step of the chain
// of slice assignments that leads there and is dead after the next one (language.md 13.7).
void Lowering::find_resident() {
  for (const StateLeaf& leaf : request_.states) {
    graph::ValueId value = leaf.after;
    if (value == leaf.before || resident_.count(value)) continue;
    std::vector<graph::ValueId> chain;
    bool owned = false;
    for (;;) {
      graph::NodeId producer = module_.values[value].producer;
      if (!producer.valid() || module_.nodes[producer].op != Op::AssignSlice) break;
      chain.push_back(value);
      const graph::Ref* base = module_.nodes[producer].inputs[0].get<graph::Ref>();
      if (!base || uses_.last(base->value) > uses_.position(producer)) break;
      value = base->value;
      graph::NodeId origin = module_.values[value].producer;
      owned = value == leaf.before || (origin.valid() && module_.nodes[origin].op == Op::Zeros);
      if (owned) break;
    }
    if (!owned) continue;
    // The old contents must not be read behind the first write.
    size_t first = uses_.position(module_.values[chain.back()].producer);
    if (leaf.before.valid() && uses_.last(leaf.before) > first) continue;
    for (graph::ValueId v : chain) resident_.emplace(v, leaf.state);
  }
}

bool Lowering::lower_node(graph::NodeId id) {
  node_id_ = id;
  node_ = &module_.nodes[id];
  const MappingRow& row = mapping(node_->op);
  if (!row.handler) return fail(row.reason);
  return (this->*row.handler)(*node_);
}

bool Lowering::finish() {
  node_ = nullptr;
  for (const StateLeaf& leaf : request_.states) {
    auto resident = resident_.find(leaf.after);
    if (leaf.after == leaf.before ||
        (resident != resident_.end() && resident->second == leaf.state))
      continue;
    if (stored_.count(leaf.state)) continue;
    if (!view_[static_cast<size_t>(leaf.after.index)].base.valid()) {
      return fail(fmt::format("`{}` is not computed", context_.program.states[leaf.state].name));
    }
    View from = view_[static_cast<size_t>(leaf.after.index)];
    if (phase_.values[from.base].place_kind() == runtime::PlaceKind::State) {
      return fail(fmt::format("`{}` takes over the contents of another state",
                              context_.program.states[leaf.state].name));
    }
    copy(converted(from, context_.program.states[leaf.state].dtype), state_view(leaf.state));
  }
  for (const auto& [name, value] : request_.outputs) {
    View v = dense(view_[static_cast<size_t>(value.index)]);
    phase_.outputs.push_back({name, value_of(v)});
  }
  for (const runtime::Output& output : phase_.outputs) {
    runtime::ValId base = output.value;
    if (auto* view = std::get_if<runtime::PlaceView>(&phase_.values[base].place)) base = view->of;
    auto buffer = buffer_of_.find(base);
    if (buffer != buffer_of_.end()) buffers_[buffer->second].last = phase_.code.size();
  }
  std::vector<Buffer> own;
  for (const Buffer& buffer : buffers_) {
    bool merged = std::any_of(merged_.begin(), merged_.end(),
                              [&](const auto& m) { return m.first == buffer.value; });
    if (!merged) own.push_back(buffer);
  }
  place_buffers(std::move(own), dims_, context_.symbols, context_.program, phase_);
  for (auto [value, carry] : merged_) phase_.values[value].place = phase_.values[carry].place;
  runtime::place_barriers(phase_);
  return true;
}

bool Lowering::run() {
  place_inputs();
  find_resident();
  for (graph::NodeId id : module_.order) {
    size_t index = static_cast<size_t>(id.index);
    int written = index < written_of_.size() ? written_of_[index] : current_;
    if (written != current_ && (!leave_round() || !enter_round(written))) return false;
    if (!lower_node(id)) return false;
  }
  return leave_round() && finish();
}

}  // namespace axon::plan
