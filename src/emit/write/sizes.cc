// Sizes that the statements of a block mention.
#include <algorithm>

#include "emit/write/block_writer.h"

namespace axon::emit {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::ValueId;
using py::Expr;

// Sizes that the statements mention, from the shapes of arguments: `B, S, _ = x.shape`.
void BlockWriter::bind_sizes() {
  std::vector<SymbolId> wanted = mentioned_sizes();
  std::vector<Told> told = told_sizes(p_, id_);
  std::vector<ValueId> done;
  for (const Told& first : told) {
    bool needed = std::find(wanted.begin(), wanted.end(), first.symbol) != wanted.end();
    if (!needed || std::find(done.begin(), done.end(), first.value) != done.end()) continue;
    done.push_back(first.value);
    size_t rank = p_.types.dims_of(p_.joined.values[first.value].type).size();
    std::vector<Expr> targets(rank, py::atom("_"));
    size_t count = 0, axis = 0;
    for (const Told& t : told) {
      if (t.value != first.value ||
          std::find(wanted.begin(), wanted.end(), t.symbol) == wanted.end())
        continue;
      std::string name = scope_.fresh(names().text(dims_.symbol(t.symbol).name));
      sizes_[t.symbol] = name;
      targets[t.axis] = py::atom(name);
      axis = t.axis;
      ++count;
    }
    Expr shape = py::attribute(py::atom(*scope_.name_of(first.value)), "shape");
    if (count == 1)
      scope_.statement(
          py::assign(targets[axis], py::index(shape, {py::integer(static_cast<int64_t>(axis))})));
    else
      scope_.statement(py::assign(py::tuple(std::move(targets)), std::move(shape)));
  }
}

// Whether an operation's expression spells its sizes out.
std::vector<SymbolId> BlockWriter::mentioned_sizes() {
  std::vector<SymbolId> out;
  auto add = [&](SymbolId s) {
    if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
  };
  auto add_operand = [&](auto&& self, const Operand& operand) -> void {
    if (const auto* d = operand.get<graph::DimRef>()) {
      for (SymbolId s : dims_.symbols(d->dim)) add(s);
    }
    const auto* ref = operand.get<graph::Ref>();
    const Node* list = ref ? p_.joined.producer(ref->value) : nullptr;
    if (!list || list->op != Op::CoreList) return;
    for (const Operand& item : list->inputs) self(self, item);
  };
  for (NodeId id : own_steps(p_, id_)) {
    const Step& step = p_.joined.steps[id];
    if (step.kind != Step::Kind::Node || step.node.op == Op::FusedAttention) continue;
    if (step.node.op == Op::Slice && slice_of_slots(step.node)) continue;
    for (const Operand& input : step.node.inputs) add_operand(add_operand, input);
    for (DimId more : spelled(step.node)) {
      for (SymbolId s : dims_.symbols(more)) add(s);
    }
  }
  for (BlockId called : called_blocks(p_, id_)) {
    for (SymbolId s : p_.needs[called].symbols) add(s);
  }
  return out;
}

bool BlockWriter::slice_of_slots(const Node& node) {
  const auto *a = node.inputs[2].get<graph::DimRef>(), *b = node.inputs[3].get<graph::DimRef>();
  return a && b && places(a->dim, b->dim).has_value();
}

}  // namespace axon::emit
