// Stores of caches, keep masks, the last positions.
#include "emit/py/template.h"
#include "emit/torch/function.h"

namespace axon::emit::torch {

using graph::Node;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

void Function::keep(const Step& step) {
  const Node& node = step.node;
  reads_.clear();
  Expr made = step.kind == Step::Kind::Bias ? biased(node) : keep_mask(step);
  scope_.define(node.outputs[0], {std::move(made), std::move(reads_)}, false);
  reads_.clear();
}

Expr Function::biased(const Node& node) {
  p_.prelude.use("torch/biased");
  Expr bias = value(node.inputs[0]);
  return expand("biased({0}, {1})", {std::move(bias), value(node.inputs[1])});
}

Expr Function::keep_mask(const Step& step) {
  const Node& node = step.node;
  bool causal = node.attrs[0].value.as<graph::LitBool>().value;
  bool windowed = node.attrs[3].value.kind() != OperandKind::Null;
  if (!causal && !windowed) {
    const auto* padding = node.inputs[0].get<graph::Ref>();
    bool optional = may_be_none(padding->value);
    for (const JoinedInput& input : p_.joined.inputs)
      optional |= input.value == padding->value && input.optional;
    Expr mask = value(node.inputs[0]);
    Expr seen = expand("{0}[:, None, None, :]", {mask});
    return optional ? expand("None if {0} is None else {1}", {mask, seen}) : seen;
  }
  bool always = step.always || windowed;
  p_.prelude.use(always ? "torch/causal_mask" : "torch/causal_keep");
  std::vector<Expr> args = {py::atom("slots"), py::atom("key_count"), value(node.inputs[0])};
  if (windowed) args.push_back(py::keyword("window", value(node.attrs[3].value)));
  return py::call(py::atom(always ? "causal_mask" : "causal_keep"), std::move(args));
}

Result<void> Function::write_stores(const Step& step) {
  std::vector<ValueId> news;
  std::vector<Expr> args = {py::atom("slots")}, targets;
  for (const Operand& input : step.node.inputs) news.push_back(input.as<graph::Ref>().value);
  scope_.settle(news);
  Expr store = py::atom("past");
  if (needs_.stores == Needs::Stores::Many) {
    store = py::index(py::atom("stores"), {py::integer(step.store)});
    scope_.statement(py::assign(py::atom("past"), store));
    store = py::atom("past");
  }
  // Without a cache the new values are all there are: the names stay.
  for (size_t i = 0; i < news.size(); ++i) {
    Built built = scope_.use(news[i]);
    scope_.spend(built);
    if (scope_.uses(news[i]) > 0)
      return unsupported("the cache", "what is written is used otherwise too");
    scope_.bind(step.node.outputs[i], built.expr.text);
    args.push_back(built.expr);
    targets.push_back(built.expr);
  }
  Expr update = py::call(expand("{0}.update", {store}), std::move(args));
  if (targets.size() == 1) targets = {py::tuple(std::move(targets))};
  Stmt assign = py::assign(py::one_or_tuple(std::move(targets)), std::move(update));
  scope_.statement(py::if_(expand("past is not None"), {std::move(assign)}));
  return {};
}

// Only the last positions go on: `x = newest(x, last)`.
void Function::narrow(const Operand& operand) {
  ValueId value = operand.as<graph::Ref>().value;
  scope_.settle({value});
  Expr name = py::atom(*scope_.name_of(value));
  p_.prelude.use("torch/newest");
  scope_.statement(py::assign(name, expand("newest({0}, last)", {name})));
}

int32_t Function::store_within(BlockId id) const {
  for (graph::NodeId step : own_steps(p_, id)) {
    if (p_.joined.steps[step].kind == Step::Kind::Write) return p_.joined.steps[step].store;
  }
  for (BlockId called : called_blocks(p_, id)) {
    int32_t store = store_within(called);
    if (store >= 0) return store;
  }
  return -1;
}

}  // namespace axon::emit::torch
