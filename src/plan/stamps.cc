// Rounds of loops: the code of a class's written round is copied for every other round, with that
// round's weights and states in place of its own. Activations keep their places, so a copy costs
// next to nothing.
#include <fmt/format.h>

#include <algorithm>

#include "plan/lower.h"

namespace axon::plan {

void Lowering::find_rounds() {
  written_of_.assign(module_.nodes.size(), -1);
  if (!request_.loops) return;
  for (size_t l = 0; l < request_.loops->size(); ++l) {
    const opt::FlatLoop& loop = (*request_.loops)[l];
    for (size_t c = 0; c < loop.classes.size(); ++c) {
      const opt::LoopClass& cls = loop.classes[c];
      for (graph::NodeId id : cls.nodes)
        written_of_[static_cast<size_t>(id.index)] = static_cast<int>(written_.size());
      for (size_t p = 0; p < cls.carries.size(); ++p) {
        aliases_[cls.carries[p].first] = {l, p, false};
        aliases_[cls.carries[p].second] = {l, p, true};
      }
      Written made;
      made.loop = l;
      made.cls = c;
      written_.push_back(std::move(made));
    }
  }
}

DimId Lowering::in_round(DimId dim) const {
  if (dims_.as_symbol(dim) == round_var_) return dims_.integer(round_);
  return dims_.substitute(
      dim, [&](SymbolId s) { return s == round_var_ ? dims_.integer(round_) : DimId{}; });
}

std::string Lowering::text_of(const graph::Path& path) const {
  std::string text;
  for (const graph::PathPiece& piece : path.pieces) {
    if (!text.empty() && !piece.joined) text += '.';
    if (piece.placeholder)
      text += std::to_string(dims_.as_integer(in_round(piece.dim)).value_or(0));
    else
      text += context_.names.text(piece.text);
  }
  return text;
}

bool Lowering::enter_round(int written) {
  current_ = written;
  if (written < 0) return true;
  Written& here = written_[static_cast<size_t>(written)];
  const opt::FlatLoop& loop = (*request_.loops)[here.loop];
  here.begin = phase_.code.size();
  round_var_ = loop.var;
  round_ = loop.classes[here.cls].round;
  return true;
}

// Ends the written round, and makes the copies up to the next round that is written.
bool Lowering::leave_round() {
  if (current_ < 0) return true;
  size_t written = static_cast<size_t>(current_);
  if (!store_round_states(written)) return false;
  Written& here = written_[written];
  here.end = phase_.code.size();
  here.lowered = true;
  current_ = -1;
  const opt::FlatLoop& loop = (*request_.loops)[here.loop];
  auto it = std::find_if(loop.rounds.begin(), loop.rounds.end(), [&](const opt::LoopRound& r) {
    return r.written && r.cls == static_cast<int32_t>(here.cls);
  });
  size_t first = written - here.cls;  // classes of a loop stand together
  for (++it; it != loop.rounds.end(); ++it) {
    const Written& of = written_[first + static_cast<size_t>(it->cls)];
    const std::vector<graph::NodeId>& nodes = loop.classes[static_cast<size_t>(it->cls)].nodes;
    bool alive = std::any_of(nodes.begin(), nodes.end(), [&](graph::NodeId n) {
      return uses_.position(n) < module_.order.size() && module_.order[uses_.position(n)] == n;
    });
    if (it->written && alive) return true;
    if (!it->written && of.lowered && !stamp(loop, *it, first + static_cast<size_t>(it->cls)))
      return false;
  }
  // The loop is over: what its rounds read from outside lived until here.
  for (size_t buffer : outer_reads_)
    buffers_[buffer].last = std::max(buffers_[buffer].last, phase_.code.size() - 1);
  outer_reads_.clear();
  round_var_ = {};
  return true;
}

// States of this round that are not written in place get their contents before the round ends.
bool Lowering::store_round_states(size_t written) {
  for (const StateLeaf& leaf : request_.states) {
    graph::NodeId producer = module_.values[leaf.after].producer;
    if (!producer.valid() || leaf.after == leaf.before || resident_.count(leaf.after)) continue;
    auto alias = aliases_.find(leaf.after);
    if (alias != aliases_.end() && alias->second.out) continue;  // the last round's, when all end
    if (written_of_[static_cast<size_t>(producer.index)] != static_cast<int>(written)) continue;
    bool read_later = leaf.before.valid() && uses_.last(leaf.before) > uses_.position(producer) &&
                      uses_.last(leaf.before) >= module_.order.size();
    if (read_later) return fail("the old contents of a state are read after the loop");
    View from = view_[static_cast<size_t>(leaf.after.index)];
    for (const auto& [place, carry] : carries_) {
      if (place.first == written_[written].loop && carry.base == from.base)
        return fail("a state of a round is part of a carried tensor");
    }
    copy(converted(from, context_.program.states[leaf.state].dtype), state_view(leaf.state));
    stored_.insert(leaf.state);
  }
  return true;
}

// ---- copies --------------------------------------------------------------------------------

bool Lowering::map_values(const opt::FlatLoop& loop, const opt::LoopRound& round, size_t written) {
  map_.clear();
  round_var_ = loop.var;
  round_ = round.round;
  for (const WeightUse& use : written_[written].weights) {
    std::string key = text_of(*use.path) + use.suffix;
    map_[use.value] =
        weight_value(context_.weights.get(key, use.use, use.transposed, use.item), key);
  }
  auto map_base = [&](runtime::ValId from, runtime::ValId to) {
    auto [it, fresh] = map_.emplace(from, to);
    return fresh || it->second == to;
  };
  for (auto [from, to] : round.replaced) {
    const View& old = view_[static_cast<size_t>(from.index)];
    const View& now = view_[static_cast<size_t>(to.index)];
    bool whole = old.base.valid() && now.base.valid() && old.offset == now.offset &&
                 old.strides == now.strides;
    if (!old.base.valid()) continue;  // the round does not read it
    if (!whole || !map_base(old.base, now.base))
      return fail("values of a round lie differently in another round");
    if (auto buffer = buffer_of_.find(now.base); buffer != buffer_of_.end())
      outer_reads_.push_back(buffer->second);
  }
  for (auto [from, to] : round.produced) {
    auto leaf = leaf_after_.find(to), own = leaf_after_.find(from);
    if (leaf == leaf_after_.end()) continue;
    if (own == leaf_after_.end())
      return fail("a state of a round has no counterpart in the written round");
    runtime::StateId state = request_.states[leaf->second].state;
    stored_.insert(state);
    if (!map_base(state_view(request_.states[own->second].state).base, state_view(state).base)) {
      return fail("states of a round lie differently in another round");
    }
  }
  return true;
}

runtime::ValId Lowering::mapped(runtime::ValId value) {
  if (!value.valid()) return value;
  auto known = map_.find(value);
  if (known != map_.end()) return known->second;
  const auto* view = std::get_if<runtime::PlaceView>(&phase_.values[value].place);
  if (!view) return value;
  auto base = map_.find(view->of);
  if (base == map_.end()) return value;
  runtime::Value made = phase_.values[value];
  std::get<runtime::PlaceView>(made.place).of = base->second;
  runtime::ValId id = phase_.values.add(std::move(made));
  map_[value] = id;
  return id;
}

bool Lowering::stamp(const opt::FlatLoop& loop, const opt::LoopRound& round, size_t written) {
  if (!map_values(loop, round, written)) return false;
  for (size_t i = written_[written].begin; i < written_[written].end; ++i) {
    if (first_round_only_.count(i) > 0) continue;
    runtime::Instr instr = phase_.code[i];
    for (runtime::ValId& v : instr.inputs) v = mapped(v);
    for (runtime::ValId& v : instr.outputs) v = mapped(v);
    auto scope = scope_paths_.find(i);
    if (scope != scope_paths_.end()) instr.scope = text_of(*scope->second);
    phase_.code.push_back(std::move(instr));
  }
  return true;
}

// ---- carried tensors -----------------------------------------------------------------------

bool Lowering::is_whole_buffer(const View& view) const {
  return buffer_of_.count(view.base) && view.offset == dims_.integer(0) && views_.is_dense(view);
}

// Whether any value that lies there is read behind a place in the order of nodes.
bool Lowering::read_after(runtime::ValId base, size_t position) const {
  for (size_t i = 0; i < view_.size(); ++i) {
    if (view_[i].base == base && uses_.last(graph::ValueId{static_cast<int32_t>(i)}) > position)
      return true;
  }
  return false;
}

bool Lowering::loop_alias(const Node& node) {
  auto alias = aliases_.find(node.outputs[0]);
  if (alias == aliases_.end()) {
    set(node, 0, view_of(node.inputs[0]));
    return true;
  }
  View& carry = carries_[{alias->second.loop, alias->second.position}];
  return alias->second.out ? carry_out(node, carry) : carry_in(node, carry);
}

// The first value of a carried tensor becomes its buffer where nothing else reads it.
bool Lowering::carry_in(const Node& node, View& carry) {
  if (!carry.base.valid()) {
    const graph::Operand& input = node.inputs[0];
    View from = view_of(input);
    bool own = is_whole_buffer(from) && !read_after(from.base, uses_.position(node_id_));
    if (own) {
      carry = from;
    } else {
      carry = buffer(from.dims, from.dtype);
      size_t begin = phase_.code.size();
      copy(from, carry);
      // Later rounds find there what the round before them left.
      for (size_t i = begin; i < phase_.code.size(); ++i) first_round_only_.insert(i);
    }
  }
  outer_reads_.push_back(buffer_of_[carry.base]);
  set(node, 0, carry);
  return true;
}

// What a round hands on is written into the carry's buffer at once where the old contents are not
// read any more, else copied.
bool Lowering::carry_out(const Node& node, View& carry) {
  View from = view_of(node.inputs[0]);
  if (!carry.base.valid()) carry = buffer(from.dims, from.dtype);
  for (const auto& [place, other] : carries_) {
    if (other.base == from.base && other.base != carry.base)
      return fail("carried tensors trade places");
  }
  outer_reads_.push_back(buffer_of_[carry.base]);
  if (from.base != carry.base) {
    const Written& here = written_[static_cast<size_t>(current_)];
    bool taken = std::any_of(merged_.begin(), merged_.end(),
                             [&](const auto& m) { return m.first == from.base; });
    bool own = is_whole_buffer(from) && !taken &&
               !read_after(from.base, uses_.position(node_id_)) &&
               buffers_[buffer_of_[from.base]].first >= here.begin &&
               buffers_[buffer_of_[carry.base]].last < buffers_[buffer_of_[from.base]].first;
    if (own)
      merged_.emplace_back(from.base, carry.base);
    else
      copy(from, carry);
  }
  forget_copies(carry.base);
  set(node, 0, carry);
  return true;
}

}  // namespace axon::plan
