// Operands and items of a block as expressions and statements.
#include "emit/write/block_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "emit/py/template.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::emit {

using graph::Node;
using graph::NodeId;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

BlockWriter::BlockWriter(Program& program, BlockId id)
    : p_(program),
      id_(id),
      block_(program.block(id)),
      needs_(program.needs[id]),
      dims_(program.types.dims()),
      scope_(program.joined, program.types, program.names) {}

Expr BlockWriter::value(const Operand& operand) {
  switch (operand.kind()) {
    case OperandKind::Ref: {
      Built built = scope_.use(operand.as<graph::Ref>().value);
      reads_.insert(reads_.end(), built.reads.begin(), built.reads.end());
      return built.expr;
    }
    case OperandKind::Dim:
      return dim(operand.as<graph::DimRef>().dim);
    case OperandKind::Bool:
      return py::atom(operand.as<graph::LitBool>().value ? "True" : "False");
    case OperandKind::Int:
      return py::integer(operand.as<graph::LitInt>().value);
    case OperandKind::Float:
      return py::number(operand.as<graph::LitFloat>().value);
    case OperandKind::String:
      return py::text(names().text(operand.as<graph::LitString>().value));
    default:
      return py::atom("None");
  }
}

std::vector<Expr> BlockWriter::items(const Operand& operand) {
  const auto* ref = operand.get<graph::Ref>();
  const Node* list = ref ? p_.joined.producer(ref->value) : nullptr;
  AXON_CHECK(list && list->op == Op::CoreList, "a shape is a list of sizes");
  std::vector<Expr> out;
  for (const Operand& item : list->inputs) out.push_back(value(item));
  return out;
}

std::vector<DimId> BlockWriter::shape(const Operand& operand) {
  const auto* ref = operand.get<graph::Ref>();
  return ref ? p_.types.dims_of(p_.joined.values[ref->value].type) : std::vector<DimId>{};
}

DType BlockWriter::dtype(const Operand& operand) {
  const auto* ref = operand.get<graph::Ref>();
  return ref ? p_.joined.values[ref->value].dtype : DType::Unknown;
}

std::optional<Expr> BlockWriter::places(DimId from, DimId to) {
  DimId past = dims_.of(p_.calls.past);
  if (!p_.calls.cached || from != past || to != dims_.value_add(past, dims_.of(p_.calls.tokens)))
    return std::nullopt;
  return py::atom("slots");
}

Expr BlockWriter::dim_tree(const DimTable::Tree& tree) {
  using Kind = DimTable::Tree::Kind;
  switch (tree.kind) {
    case Kind::Integer:
      return py::integer(tree.value);
    case Kind::Symbol:
      return symbol(tree.symbol);
    default:
      break;
  }
  Expr out = dim_tree(tree.operands[0]);
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    Expr next = dim_tree(tree.operands[i]);
    if (tree.kind == Kind::Min || tree.kind == Kind::Max) {
      out = py::call(py::atom(tree.kind == Kind::Min ? "min" : "max"), {out, next});
      continue;
    }
    std::string_view op = tree.kind == Kind::Add   ? "+"
                          : tree.kind == Kind::Sub ? "-"
                          : tree.kind == Kind::Mul ? "*"
                          : tree.kind == Kind::Div ? "//"
                                                   : "%";
    out = py::binary(std::move(out), op, std::move(next));
  }
  return out;
}

Expr BlockWriter::symbol(SymbolId id) {
  if (id == p_.calls.past) return expand("slots[0]");
  auto it = sizes_.find(id);
  if (it != sizes_.end()) return py::atom(it->second);
  if (p_.calls.cached && id == p_.calls.capacity) return py::atom("key_count");
  return py::atom(std::string(names().text(dims_.symbol(id).name)));
}

void BlockWriter::count_uses() {
  count_items(block_.items);
  if (p_.is_root(id_)) {
    for (const auto& [name, operand] : p_.joined.outputs) {
      if (const auto* ref = operand.get<graph::Ref>()) scope_.add_use(ref->value);
    }
    return;
  }
  for (ValueId value : block_.outputs) scope_.add_use(value);
}

void BlockWriter::count_items(const std::vector<Item>& all) {
  for (const Item& item : all) {
    if (item.kind == Item::Kind::Step) {
      const Node& node = p_.joined.steps[item.step].node;
      for (ValueId value : reads_of(p_.joined, node)) scope_.add_use(value);
      // Rows that mention an operand twice.
      if (node.op == Op::FusedAttention && node.attrs[1].value.as<graph::LitBool>().value) {
        const auto* keep = node.inputs[5].get<graph::Ref>();
        if (keep && may_be_none(keep->value)) scope_.add_use(keep->value);
      }
    } else if (item.kind == Item::Kind::Call) {
      for (ValueId value : call_reads(p_, item.block)) scope_.add_use(value);
    } else {
      const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(item.loop)];
      count_items(loop.items);
      for (ValueId value : setting_reads(p_.joined, item.loop)) scope_.add_use(value);
      for (const LoopBlock::Carry& carry : loop.carries) {
        scope_.add_use(carry.before);
        scope_.add_use(carry.result);
      }
      for (const LoopBlock::Kept& kept : loop.takes) scope_.add_use(kept.all);
      for (const LoopBlock::Kept& kept : loop.makes) scope_.add_use(kept.each);
    }
  }
}

Result<void> BlockWriter::write_items(const std::vector<Item>& all) {
  find_branches(all);
  for (const Item& item : all) {
    if (item.kind == Item::Kind::Step && branch_of_.count(item.step)) continue;
    AXON_TRY_VOID(put(item));
  }
  return {};
}

Result<void> BlockWriter::put(const Item& item) {
  if (item.kind == Item::Kind::Step) return step(item.step);
  if (item.kind == Item::Kind::Loop) return loop(item.loop);
  return call(item.block);
}

// Where the program's own text uses what a step of the library gives; the step's own place else.
Span BlockWriter::use_of(const Node& node) const {
  auto own = [&](const Node& n) {
    return n.span.valid() && !starts_with(p_.request.files->path(n.span.file), "library/");
  };
  if (own(node)) return node.span;
  std::unordered_set<ValueId, IdHash> made(node.outputs.begin(), node.outputs.end());
  for (NodeId id : p_.joined.order) {
    const Node& next = p_.joined.steps[id].node;
    std::vector<ValueId> reads = reads_of(p_.joined, next);
    auto is_made = [&](ValueId value) { return made.count(value) != 0; };
    if (std::none_of(reads.begin(), reads.end(), is_made)) continue;
    if (own(next)) return next.span;
    made.insert(next.outputs.begin(), next.outputs.end());
  }
  return node.span;
}

Error BlockWriter::no_row(const Node& node) const {
  std::string where, hint = "run the program natively, or write it with other operations";
  if (p_.request.files && node.span.valid()) {
    Span use = use_of(node);
    where = fmt::format("{}:{}", p_.request.files->path(use.file),
                        p_.request.files->line_column(use.file, use.begin).line);
    std::string name = fmt::format("target `{}`", target());
    if (p_.request.sink) {
      Diagnostic& d =
          p_.request.sink->report(Diag::BackUnsupported, use, {name, spelling(node.op), where});
      if (use != node.span) d.note(Note::NoteHere, node.span, {"in the library"});
      d.note(Note::NoteHere, {}, {hint});
    }
    where = ", used at " + where;
  }
  Error error =
      unsupported(fmt::format("`{}` for target `{}`{}", spelling(node.op), target(), where),
                  "the target has no such operation yet");
  error.hint = std::move(hint);
  return error;
}

Result<void> BlockWriter::step(NodeId id) {
  const Step& step = p_.joined.steps[id];
  switch (step.kind) {
    case Step::Kind::Choice:
      return choice(id);
    case Step::Kind::Write:
      return write_stores(step);
    case Step::Kind::Keep:
    case Step::Kind::Bias:
      keep(step);
      return {};
    case Step::Kind::Node:
      break;
  }
  reads_.clear();
  if (id == p_.head && needs_.last) narrow(step.node.inputs[1]);
  if (!is_slots(step.node)) make_room(reads_of(p_.joined, step.node));
  std::optional<Expr> expr = is_slots(step.node) ? slots_of(step.node) : expression(step.node);
  if (!expr) return no_row(step.node);
  Built built{std::move(*expr), std::move(reads_)};
  reads_.clear();
  if (step.node.outputs.size() == 1)
    scope_.define(step.node.outputs[0], std::move(built));
  else
    scope_.define_all(step.node.outputs, std::move(built));
  return {};
}

// Operands that would make a long line get names, the longest first.
void BlockWriter::make_room(const std::vector<ValueId>& operands) {
  constexpr size_t kRoom = 56;
  for (;;) {
    size_t sum = 0, longest = 0;
    ValueId worst;
    for (ValueId value : operands) {
      size_t width = scope_.pending_width(value);
      const std::string* name = scope_.name_of(value);
      sum += 2 + (width ? width : name ? name->size() : 0);
      if (width > longest) longest = width, worst = value;
    }
    if (sum <= kRoom || longest == 0 || operands.size() == 1) return;
    scope_.settle({worst});
  }
}

// The positions after the past, counted anew by the program: `arange(S).reshape(1, S) + P`.
bool BlockWriter::is_slots(const Node& node) {
  if (node.op != Op::CoreBinaryAdd || !p_.calls.cached) return false;
  const auto* past = node.inputs[1].get<graph::DimRef>();
  const auto* ref = node.inputs[0].get<graph::Ref>();
  if (!past || past->dim != dims_.of(p_.calls.past) || !ref) return false;
  const Node* shaped = p_.joined.producer(ref->value);
  if (!shaped || shaped->op != Op::Reshape || scope_.pending_width(ref->value) == 0) return false;
  const Node* range = p_.joined.producer(shaped->inputs[0].as<graph::Ref>().value);
  if (!range || range->op != Op::Arange) return false;
  const auto* from = range->inputs[1].get<graph::LitInt>();
  const auto* end = range->inputs[2].get<graph::DimRef>();
  return from && from->value == 0 && end && end->dim == dims_.of(p_.calls.tokens);
}

Expr BlockWriter::slots_of(const Node& node) {
  ValueId counted = node.inputs[0].as<graph::Ref>().value;
  scope_.spend(scope_.use(counted));
  return py::call(expand("slots.reshape"), items(p_.joined.producer(counted)->inputs[1]));
}

}  // namespace axon::emit
