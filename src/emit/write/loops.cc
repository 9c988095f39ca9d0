// Carried values and settings of kept loops.
#include <algorithm>
#include <set>

#include "emit/write/block_writer.h"

namespace axon::emit {

using graph::Operand;
using graph::ValueId;
using py::Expr;

namespace {

// `(a, b, a, b)` as `(a, b) * 2`.
Expr repeated(const std::vector<Expr>& items) {
  for (size_t period = 1; period < items.size(); ++period) {
    bool fits = items.size() % period == 0;
    for (size_t i = period; fits && i < items.size(); ++i) fits = items[i] == items[i - period];
    if (!fits) continue;
    Expr once = py::tuple({items.begin(), items.begin() + static_cast<long>(period)});
    return py::binary(std::move(once), "*",
                      py::integer(static_cast<int64_t>(items.size() / period)));
  }
  return py::tuple(items);
}

}  // namespace

std::vector<ValueId> BlockWriter::outer_values(int32_t index) const {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  std::vector<ValueId> reads = setting_reads(p_.joined, index), inner, out;
  auto add = [](std::vector<ValueId>& to, const std::vector<ValueId>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const Item& item : loop.items) {
    if (item.kind == Item::Kind::Step) {
      const graph::Node& node = p_.joined.steps[item.step].node;
      add(reads, reads_of(p_.joined, node));
      add(inner, node.outputs);
    }
    if (item.kind == Item::Kind::Call) {
      add(reads, call_reads(p_, item.block));
      add(inner, p_.block(item.block).outputs);
    }
  }
  for (const LoopBlock::Carry& carry : loop.carries) inner.push_back(carry.in);
  for (const LoopBlock::Kept& kept : loop.takes) inner.push_back(kept.each);
  for (const Setting& setting : p_.joined.settings) {
    if (setting.loop == index) inner.push_back(setting.value);
  }
  for (ValueId value : reads) {
    if (std::find(inner.begin(), inner.end(), value) == inner.end()) out.push_back(value);
  }
  return out;
}

void BlockWriter::open_lists(int32_t index, const Expr& type) {
  for (const LoopBlock::Kept& kept : p_.outline.loops[static_cast<size_t>(index)].makes) {
    std::string name = scope_.name_for(kept.all);
    scope_.bind(kept.all, name);
    py::Stmt empty = py::assign(py::atom(name), py::list({}));
    empty.annotation = type;
    scope_.statement(std::move(empty));
  }
}

void BlockWriter::fill_lists(int32_t index) {
  for (const LoopBlock::Kept& kept : p_.outline.loops[static_cast<size_t>(index)].makes) {
    Built built = scope_.use(kept.each);
    scope_.spend(built);
    Expr append = py::attribute(py::atom(*scope_.name_of(kept.all)), "append");
    scope_.statement(py::evaluate(py::call(std::move(append), {std::move(built.expr)})));
  }
}

void BlockWriter::bind_settings(int32_t index) {
  for (const LoopBlock::Kept& kept : p_.outline.loops[static_cast<size_t>(index)].takes)
    scope_.bind(kept.each, scope_.name_for(kept.each));
  for (const Setting& setting : p_.joined.settings) {
    if (setting.loop == index) scope_.bind(setting.value, scope_.name_for(setting.value));
  }
}

std::vector<std::pair<std::string, Expr>> BlockWriter::settings_of(int32_t loop) {
  std::vector<std::pair<std::string, Expr>> out;
  for (const Setting& setting : p_.joined.settings) {
    if (setting.loop != loop) continue;
    std::vector<Expr> rounds;
    for (const Operand& operand : setting.by_round) rounds.push_back(value(operand));
    out.emplace_back(*scope_.name_of(setting.value), repeated(rounds));
  }
  for (const LoopBlock::Kept& kept : p_.outline.loops[static_cast<size_t>(loop)].takes) {
    Built built = scope_.use(kept.all);
    scope_.spend(built);
    out.emplace_back(*scope_.name_of(kept.each), std::move(built.expr));
  }
  return out;
}

// A carried value has one name before, within and after the loop.
std::string BlockWriter::enter(const LoopBlock::Carry& carry) {
  Built built = scope_.use(carry.before);
  scope_.spend(built);
  std::string name;
  if (built.expr.kind == Expr::Kind::Atom && scope_.uses(carry.before) <= 0 &&
      scope_.name_of(carry.before)) {
    name = built.expr.text;
  } else {
    name = scope_.name_for(carry.out);
    scope_.statement(py::assign(py::atom(name), std::move(built.expr)));
  }
  scope_.bind(carry.in, name);
  return name;
}

// The names take the results at once: what one of them is may be the old value of another.
void BlockWriter::leave(const std::vector<LoopBlock::Carry>& carries,
                        const std::vector<std::string>& names) {
  std::vector<Expr> targets, results;
  std::set<std::string> given;
  bool apart = true;  // one statement after the other does
  for (size_t i = 0; i < carries.size(); ++i) {
    Built built = scope_.use(carries[i].result);
    for (ValueId value : built.reads) {
      const std::string* name = scope_.name_of(value);
      apart = apart && !(name && given.count(*name) > 0);
    }
    scope_.spend(built);
    if (built.expr == py::atom(names[i])) continue;
    given.insert(names[i]);
    targets.push_back(py::atom(names[i]));
    results.push_back(std::move(built.expr));
  }
  if (!apart) targets = {py::tuple(std::move(targets))}, results = {py::tuple(std::move(results))};
  for (size_t i = 0; i < targets.size(); ++i)
    scope_.statement(py::assign(std::move(targets[i]), std::move(results[i])));
  for (size_t i = 0; i < carries.size(); ++i) scope_.bind(carries[i].out, names[i]);
}

}  // namespace axon::emit
