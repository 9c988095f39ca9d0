// Choices on left-out inputs as branches.
#include "emit/py/print.h"
#include "emit/py/template.h"
#include "emit/write/block_writer.h"

namespace axon::emit {

using graph::Node;
using graph::NodeId;
using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

BlockWriter::Readers BlockWriter::readers_of(const std::vector<Item>& all) const {
  Readers readers;
  auto other_uses = [&](const std::vector<ValueId>& values) {
    for (ValueId value : values) readers[value].emplace_back(NodeId{}, 0);
  };
  for (const Item& item : all) {
    if (item.kind == Item::Kind::Call) other_uses(call_reads(p_, item.block));
    if (item.kind == Item::Kind::Loop) {
      const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(item.loop)];
      other_uses(outer_values(item.loop));
      for (const LoopBlock::Carry& carry : loop.carries) other_uses({carry.before});
      for (const LoopBlock::Kept& kept : loop.takes) other_uses({kept.all});
    }
    if (item.kind != Item::Kind::Step) continue;
    const Step& step = p_.joined.steps[item.step];
    if (step.kind != Step::Kind::Choice) {
      for (ValueId value : reads_of(p_.joined, step.node))
        readers[value].emplace_back(item.step, -1);
      continue;
    }
    for (int side = 0; side < 3; ++side) {
      if (const auto* ref = step.node.inputs[static_cast<size_t>(side)].get<graph::Ref>())
        readers[ref->value].emplace_back(item.step, side);
    }
  }
  other_uses(block_.outputs);
  for (const auto& [name, operand] : p_.joined.outputs) {
    if (const auto* ref = operand.get<graph::Ref>()) other_uses({ref->value});
  }
  return readers;
}

// The one side that all readers of a step's results are on.
std::optional<BlockWriter::Side> BlockWriter::side_of(NodeId id, Readers& readers) const {
  std::optional<Side> side;
  for (ValueId value : p_.joined.steps[id].node.outputs) {
    for (Side here : readers[value]) {
      if (here.second < 0) {  // a step: where it goes, this goes
        auto known = branch_of_.find(here.first);
        if (known == branch_of_.end()) return std::nullopt;
        here = known->second;
      } else if (!here.first.valid() || here.second == 0) {
        return std::nullopt;
      }
      if (side && *side != here) return std::nullopt;
      side = here;
    }
  }
  return side;
}

void BlockWriter::find_branches(const std::vector<Item>& all) {
  Readers readers = readers_of(all);
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (it->kind != Item::Kind::Step || p_.joined.steps[it->step].kind != Step::Kind::Node)
      continue;
    if (auto side = side_of(it->step, readers)) branch_of_[it->step] = *side;
  }
}

// What both sides read stands before the branches.
void BlockWriter::settle_shared(NodeId choice) {
  std::vector<ValueId> shared;
  for (NodeId step : p_.joined.order) {
    auto known = branch_of_.find(step);
    if (known == branch_of_.end() || known->second.first != choice) continue;
    for (ValueId value : reads_of(p_.joined, p_.joined.steps[step].node)) {
      NodeId producer = p_.joined.values[value].producer;
      if (!producer.valid() || !branch_of_.count(producer)) shared.push_back(value);
    }
  }
  scope_.settle(shared);
}

namespace {

// Sides that a conditional expression has room for.
bool is_short(const std::vector<Stmt>& side) {
  constexpr size_t kWidth = 36;
  return side.size() == 1 && side[0].kind == Stmt::Kind::Assign &&
         py::flat(side[0].exprs[1]).size() <= kWidth;
}

}  // namespace

// The statements of a side; the first side gives the result its name.
Result<std::vector<Stmt>> BlockWriter::branch(NodeId id, int side, std::string& name) {
  const Node& node = p_.joined.steps[id].node;
  ValueId input = node.inputs[0].as<graph::Ref>().value;
  const auto *given = node.inputs[1].get<graph::Ref>(),
             *taken = node.inputs[static_cast<size_t>(side)].get<graph::Ref>();
  std::vector<Stmt> body;
  std::vector<Stmt>* outer = scope_.redirect(&body);
  if (taken) scope_.keep_waiting(taken->value);
  for (NodeId step : p_.joined.order) {
    auto known = branch_of_.find(step);
    if (known != branch_of_.end() && known->second == Side{id, side})
      AXON_TRY_VOID(this->step(step));
  }
  reads_.clear();
  Expr result = value(node.inputs[static_cast<size_t>(side)]);
  scope_.spend({result, reads_});
  if (name.empty()) {
    bool is_input = given && given->value == input && scope_.uses(input) <= 2;
    name = is_input ? *scope_.name_of(input) : scope_.name_for(node.outputs[0]);
    scope_.fresh(name);
  }
  if (result != py::atom(name)) body.push_back(py::assign(py::atom(name), std::move(result)));
  scope_.redirect(outer);
  return body;
}

Result<void> BlockWriter::choice(NodeId id) {
  const Node& node = p_.joined.steps[id].node;
  ValueId input = node.inputs[0].as<graph::Ref>().value;
  Expr missing = expand("{0} is None", {py::atom(*scope_.name_of(input))});
  settle_shared(id);
  std::string name;
  AXON_TRY(std::vector<Stmt> without, branch(id, 2, name));
  AXON_TRY(std::vector<Stmt> with, branch(id, 1, name));
  scope_.add_use(input, -1);
  scope_.bind(node.outputs[0], name);
  if (is_short(without) && is_short(with)) {
    Expr either = py::conditional(without[0].exprs[1], missing, with[0].exprs[1]);
    scope_.statement(py::assign(py::atom(name), std::move(either)));
    return {};
  }
  scope_.statement(py::if_(std::move(missing), std::move(without), std::move(with)));
  return {};
}

}  // namespace axon::emit
