// Loops by class: a round is written once for all rounds that come out alike. While it is written
// the loop variable is a symbol; every question whose answer may differ in another round is noted
// with its answer.
#include <fmt/format.h>

#include <algorithm>

#include "opt/specialise/specialiser.h"

namespace axon::opt {

TreeId Specialiser::give_up() {
  failed_ = gave_up_ = true;
  return {};
}

// ---- the loop variable ---------------------------------------------------------------------

DimId Specialiser::at(DimId dim, int64_t round) {
  if (!depends_on_round(dim)) return dim;
  if (dims_.as_symbol(dim) == loop_var_) return dims_.integer(round);
  return dims_.substitute(
      dim, [&](SymbolId s) { return s == loop_var_ ? dims_.integer(round) : DimId{}; });
}

// Markers `{i}` become the numbers of a round.
NameId Specialiser::at(NameId text, int64_t round) {
  std::string_view from = names_.text(text);
  if (from.find('{') == std::string_view::npos) return text;
  std::string out;
  while (!from.empty()) {
    size_t open = from.find('{');
    out += from.substr(0, open);
    if (open == std::string_view::npos) break;
    from.remove_prefix(open);
    size_t length = emitter_.marker_length(from);
    if (length == 0) {  // a brace of the program's own
      out += '{';
      from.remove_prefix(1);
      continue;
    }
    DimId dim = at(emitter_.marker(names_.intern(from.substr(0, length))), round);
    out += std::to_string(dims_.as_integer(dim).value_or(0));
    from.remove_prefix(length);
  }
  return names_.intern(out);
}

std::optional<int64_t> Specialiser::integer_of(DimId dim) {
  if (!depends_on_round(dim)) return dims_.as_integer(dim);
  std::optional<int64_t> value = dims_.as_integer(at(dim, round_));
  if (!value || !seen_) return value;
  Observation o;
  o.a = dim;
  o.number = *value;
  seen_->push_back(std::move(o));
  return value;
}

TreeId Specialiser::settled(TreeId id) {
  const Tree& tree = forest_[id];
  if (tree.kind == Tree::Kind::Int && depends_on_round(tree.dim)) {
    std::optional<int64_t> value = integer_of(tree.dim);
    return value ? forest_.integer(dims_.integer(*value)) : forest_.integer(at(tree.dim, round_));
  }
  if (tree.kind != Tree::Kind::List && tree.kind != Tree::Kind::Tuple) return id;
  bool changed = false;
  Args items = tree.items;
  for (TreeId& item : items) {
    TreeId now = settled(item);
    changed |= now != item;
    item = now;
  }
  if (!changed) return id;
  return forest_[id].kind == Tree::Kind::List ? forest_.list(std::move(items))
                                              : forest_.tuple(std::move(items));
}

bool Specialiser::made_in_round(TreeId id) const {
  size_t place = static_cast<size_t>(id.index);
  if (place < first_tree_) return false;
  return std::none_of(global_trees_.begin(), global_trees_.end(), [&](const auto& range) {
    return range.first <= place && place < range.second;
  });
}

// Lists from before the round may be others in another round.
bool Specialiser::note_list(TreeId list) {
  if (!seen_ || forest_[list].kind != Tree::Kind::List) return true;
  if (made_in_round(list)) {
    for (TreeId root = list; forest_[root].base.valid();) {
      root = forest_[root].base;
      if (!made_in_round(root)) return give_up().valid();
    }
    return true;
  }
  Observation o;
  o.kind = Observation::Kind::Length;
  o.tree = list;
  o.number = static_cast<int64_t>(forest_[list].items.size());
  seen_->push_back(std::move(o));
  return true;
}

void Specialiser::note_item(TreeId list, DimId index, TreeId item) {
  size_t made = static_cast<size_t>(list.index);
  if (!seen_ || made_in_round(list)) return;
  Observation o;
  o.kind = Observation::Kind::Item;
  o.tree = list;
  o.a = index;
  o.item = item;
  seen_->push_back(std::move(o));
  if (made < first_carry_ && !depends_on_round(index)) return;
  for (const Leaf& leaf : leaves(forest_, item)) {
    if (is_tensor(leaf.tree)) emitter_.depends_on_round(forest_[leaf.tree].value);
  }
}

bool Specialiser::has_phantom(const Args& args) const {
  for (TreeId arg : args) {
    const Tree& tree = forest_[arg];
    if (tree.kind == Tree::Kind::Tensor && emitter_.is_phantom(tree.value)) return true;
    if (tree.kind == Tree::Kind::List && has_phantom(tree.items)) return true;
  }
  return false;
}

// A piece of a path that differs from round to round.
NameId Specialiser::marker(DimId dim) {
  bool plain = dims_.as_symbol(dim) == loop_var_;
  std::string_view name = loop_name_.valid() ? names_.text(loop_name_) : "i";
  NameId text = names_.intern(plain ? fmt::format("{{{}}}", name)
                                    : fmt::format("{{{}_{}}}", name, dim.index));
  emitter_.add_marker(text, dim);
  return text;
}

// ---- writing a round -----------------------------------------------------------------------

// Carried tensors enter through aliases; carried lists get an identity of their own.
TreeId Specialiser::carried_in(TreeId id,
                               std::vector<std::pair<graph::ValueId, graph::ValueId>>& carries) {
  const Tree& tree = forest_[id];
  if (tree.kind == Tree::Kind::List) return forest_.list(tree.items);
  if (tree.kind == Tree::Kind::Tensor) {
    if (emitter_.is_phantom(tree.value)) return give_up();
    graph::ValueId in = emitter_.alias(tree.value, origin());
    carries.emplace_back(in, graph::ValueId{});
    return forest_.tensor(tree.dims, tree.dtype, in);
  }
  if (tree.kind != Tree::Kind::Tuple) return id;
  Args items = tree.items;
  for (TreeId& item : items) {
    item = carried_in(item, carries);
    if (!item.valid()) return {};
  }
  return forest_.tuple(std::move(items));
}

TreeId Specialiser::carried_out(TreeId id, size_t& position,
                                std::vector<std::pair<graph::ValueId, graph::ValueId>>& carries) {
  const Tree& tree = forest_[id];
  if (tree.kind == Tree::Kind::Tensor) {
    if (position >= carries.size()) return give_up();
    graph::Module& module = emitter_.module();
    bool same = module.values[carries[position].first].type == module.values[tree.value].type &&
                module.values[carries[position].first].dtype == tree.dtype;
    if (!same) return give_up();
    graph::ValueId out = emitter_.alias(tree.value, origin());
    carries[position++].second = out;
    return forest_.tensor(tree.dims, tree.dtype, out);
  }
  if (tree.kind != Tree::Kind::Tuple) return id;
  Args items = tree.items;
  for (TreeId& item : items) {
    item = carried_out(item, position, carries);
    if (!item.valid()) return {};
  }
  return forest_.tuple(std::move(items));
}

Specialiser::Args Specialiser::round_args(const graph::RepeatInfo& info, const Args& inputs,
                                          const Args& carries, TreeId round) {
  Args args;
  for (const graph::RepeatArg& arg : info.args) {
    size_t k = static_cast<size_t>(arg.index);
    if (arg.kind == graph::RepeatArg::Kind::Iter)
      args.push_back(round);
    else
      args.push_back(arg.kind == graph::RepeatArg::Kind::Carry ? carries[k] : inputs[k]);
  }
  return args;
}

bool Specialiser::write_round(const graph::RepeatInfo& info, const Args& inputs, int64_t round,
                              Args& carries) {
  FlatLoop& loop = out_.loops.back();
  LoopClass cls;
  cls.round = round;
  WrittenRound written;
  round_ = round;
  first_carry_ = forest_.size();
  emitter_.begin_round();
  for (TreeId carry : carries) {
    TreeId in = carried_in(carry, cls.carries);
    if (!in.valid()) return false;
    written.before.push_back(in);
  }
  first_tree_ = written.first_tree = forest_.size();
  seen_ = &written.seen;
  written.first_read = reads_.size();
  const graph::Node* node = node_;
  TreeId iter = forest_.integer(dims_.of(loop_var_));
  TreeId result =
      run_module(info.callee, round_args(info, inputs, written.before, iter), node, frame_);
  seen_ = nullptr;
  written.after_read = reads_.size();
  if (!result.valid()) return false;
  Args results = carries.size() == 1 ? Args{result} : forest_[result].items;
  size_t position = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    TreeId out = carried_out(results[i], position, cls.carries);
    if (!out.valid()) return false;
    written.after.push_back(out);
    carries[i] = settled(out);
  }
  if (position != cls.carries.size()) return give_up().valid();
  cls.nodes = emitter_.end_round();
  loop.rounds.push_back({round, static_cast<int32_t>(loop.classes.size()), true, {}, {}});
  loop.classes.push_back(std::move(cls));
  written_.push_back(std::move(written));
  return true;
}

// ---- comparing rounds ----------------------------------------------------------------------

// Both trees are alike; lists that differ, and tensors within lists, are remembered as pairs.
bool Specialiser::pair(TreeId old, TreeId now, bool in_list, TreeMap& trees, LoopRound& result) {
  const Tree& a = forest_[old];
  const Tree& b = forest_[now];
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Tree::Kind::Null:
      return true;
    case Tree::Kind::Bool:
      return a.boolean == b.boolean;
    case Tree::Kind::Int:
      return a.dim == b.dim;
    case Tree::Kind::Float:
      return a.number == b.number;
    case Tree::Kind::String:
    case Tree::Kind::Path:
      return a.text == b.text && a.boolean == b.boolean;
    case Tree::Kind::Tensor: {
      if (a.dims != b.dims || a.dtype != b.dtype || emitter_.is_phantom(b.value)) return false;
      if (!in_list) return true;
      for (const auto& [from, to] : result.replaced) {
        if (from == a.value) return to == b.value;
      }
      result.replaced.emplace_back(a.value, b.value);
      return true;
    }
    case Tree::Kind::List: {
      auto [it, fresh] = trees.emplace(old, now);
      return fresh || it->second == now;
    }
    case Tree::Kind::Tuple:
      break;
  }
  if (a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!pair(a.items[i], b.items[i], in_list, trees, result)) return false;
  }
  return true;
}

bool Specialiser::holds(const Observation& seen, int64_t round, TreeMap& trees, LoopRound& result) {
  auto list_now = [&](TreeId list) {
    auto it = trees.find(list);
    return it == trees.end() ? list : it->second;
  };
  switch (seen.kind) {
    case Observation::Kind::Number:
      return dims_.as_integer(at(seen.a, round)) == seen.number;
    case Observation::Kind::Compare:
      return decide(seen.op, at(seen.a, round), at(seen.b, round)) == seen.truth;
    case Observation::Kind::Root:
      return (answers_.params && answers_.params->has_root(names_.text(at(seen.text, round)))) ==
             seen.truth;
    case Observation::Kind::Parameter: {
      const model::Resolved* found = resolve(at(seen.text, round));
      return (found != nullptr) == seen.truth && (!found || found->shape == seen.shape);
    }
    case Observation::Kind::Length:
      return static_cast<int64_t>(forest_[list_now(seen.tree)].items.size()) == seen.number;
    case Observation::Kind::Item: {
      const Tree& list = forest_[list_now(seen.tree)];
      std::optional<int64_t> i = dims_.as_integer(at(seen.a, round));
      auto count = static_cast<int64_t>(list.items.size());
      if (i && *i < 0) *i += count;
      return i && *i >= 0 && *i < count &&
             pair(seen.item, list.items[static_cast<size_t>(*i)], true, trees, result);
    }
  }
  return false;
}

bool Specialiser::same_class(const WrittenRound& written, int64_t round, const Args& carries,
                             TreeMap& trees, LoopRound& result) {
  for (size_t i = 0; i < carries.size(); ++i) {
    if (!pair(written.before[i], carries[i], false, trees, result)) return false;
  }
  for (const Observation& seen : written.seen) {
    if (!holds(seen, round, trees, result)) return false;
  }
  return true;
}

// A carry after a round that is not written, from the one after the round of its class.
TreeId Specialiser::at_round(TreeId id, const WrittenRound& written, int64_t round, bool in_list,
                             TreeMap& trees, LoopRound& result) {
  auto known = trees.find(id);
  if (known != trees.end()) return known->second;
  const Tree& tree = forest_[id];
  if (tree.kind == Tree::Kind::Int)
    return depends_on_round(tree.dim) ? forest_.integer(at(tree.dim, round)) : id;
  if (tree.kind == Tree::Kind::Path || tree.kind == Tree::Kind::String) {
    NameId text = at(tree.text, round);
    if (text == tree.text) return id;
    return tree.kind == Tree::Kind::Path ? forest_.path(text, tree.boolean) : forest_.string(text);
  }
  if (tree.kind == Tree::Kind::Tensor) {
    if (!in_list) return id;  // it lies where the class leaves it
    for (const auto& [from, to] : result.replaced) {
      if (from == tree.value) return forest_.tensor(tree.dims, tree.dtype, to);
    }
    for (const auto& [from, to] : result.produced) {
      if (from == tree.value) return forest_.tensor(tree.dims, tree.dtype, to);
    }
    if (!emitter_.depends(tree.value)) return id;
    graph::ValueId to = emitter_.phantom(tree.value);
    result.produced.emplace_back(tree.value, to);
    return forest_.tensor(tree.dims, tree.dtype, to);
  }
  if (tree.kind != Tree::Kind::List && tree.kind != Tree::Kind::Tuple) return id;
  bool list = tree.kind == Tree::Kind::List;
  if (static_cast<size_t>(id.index) < written.first_tree && list) return id;
  TreeId now;
  if (list && tree.base.valid()) {
    TreeId base = at_round(tree.base, written, round, true, trees, result);
    now = forest_.appended(base, at_round(tree.items.back(), written, round, true, trees, result));
  } else {
    Args items = tree.items;
    for (TreeId& item : items)
      item = at_round(item, written, round, in_list || list, trees, result);
    now = list ? forest_.list(std::move(items)) : forest_.tuple(std::move(items));
  }
  trees.emplace(id, now);
  return now;
}

bool Specialiser::repeat_by_class(const graph::RepeatInfo& info, const Args& inputs,
                                  const std::vector<int64_t>& rounds, Args& carries) {
  std::string name(names_.text(info.var));
  loop_name_ = info.var;
  loop_var_ = dims_.fresh(name.empty() ? "i" : name, SymbolKind::Param);
  out_.loops.emplace_back();
  out_.loops.back().var = loop_var_;
  written_.clear();
  emitter_.begin_loop();
  const int64_t step = rounds[1] - rounds[0];
  for (int64_t round : rounds) {
    if (walked_enough(round - rounds[0], step)) return false;
    bool found = false;
    for (size_t c = 0; c < written_.size() && !found; ++c) {
      TreeMap trees;
      LoopRound result{round, static_cast<int32_t>(c), false, {}, {}};
      if (!same_class(written_[c], round, carries, trees, result)) continue;
      found = true;
      for (size_t i = 0; i < carries.size(); ++i) {
        carries[i] = at_round(written_[c].after[i], written_[c], round, false, trees, result);
      }
      repeat_reads(written_[c], round);
      out_.loops.back().rounds.push_back(std::move(result));
    }
    if (!found && !write_round(info, inputs, round, carries)) return false;
  }
  emitter_.end_loop();
  for (const LoopClass& cls : out_.loops.back().classes) {
    for (const auto& [in, out] : cls.carries) kept_.push_back(out);
  }
  loop_var_ = {};
  return true;
}

}  // namespace axon::opt
