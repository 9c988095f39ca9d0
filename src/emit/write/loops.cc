// Carried values and settings of kept loops.
#include "emit/write/block_writer.h"

namespace axon::emit {

using graph::Operand;
using graph::ValueId;
using py::Expr;

std::vector<ValueId> BlockWriter::outer_values(const LoopBlock& loop) const {
  std::vector<ValueId> out;
  for (const Item& item : loop.items) {
    std::vector<ValueId> reads;
    if (item.kind == Item::Kind::Step) reads = reads_of(p_.joined, p_.joined.steps[item.step].node);
    if (item.kind == Item::Kind::Call) reads = p_.block(item.block).inputs;
    out.insert(out.end(), reads.begin(), reads.end());
  }
  return out;
}

void BlockWriter::bind_settings(int32_t index) {
  for (const Setting& setting : p_.joined.settings) {
    if (setting.loop == index) scope_.bind(setting.value, scope_.name_for(setting.value));
  }
}

std::vector<std::pair<std::string, Expr>> BlockWriter::settings_of(int32_t loop) {
  std::vector<std::pair<std::string, Expr>> out;
  for (const Setting& setting : p_.joined.settings) {
    if (setting.loop != loop) continue;
    std::vector<Expr> numbers;
    for (const Operand& number : setting.by_round) numbers.push_back(value(number));
    out.emplace_back(*scope_.name_of(setting.value), py::tuple(std::move(numbers)));
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

void BlockWriter::leave(const LoopBlock::Carry& carry, const std::string& name) {
  Built built = scope_.use(carry.result);
  scope_.spend(built);
  if (built.expr != py::atom(name))
    scope_.statement(py::assign(py::atom(name), std::move(built.expr)));
  scope_.bind(carry.out, name);
}

}  // namespace axon::emit
