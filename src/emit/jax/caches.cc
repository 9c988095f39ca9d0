// Stores of caches, keep masks, the last positions.
#include "emit/jax/function.h"
#include "emit/py/template.h"

namespace axon::emit::jax {

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
  Expr made;
  if (step.kind == Step::Kind::Bias) {
    p_.prelude.use("jax/biased");
    Expr bias = value(node.inputs[0]);
    made = expand("biased({0}, {1})", {std::move(bias), value(node.inputs[1])});
  } else {
    made = keep_mask(node);
  }
  scope_.define(node.outputs[0], {std::move(made), std::move(reads_)}, false);
  reads_.clear();
}

Expr Function::keep_mask(const Node& node) {
  bool causal = node.attrs[0].value.as<graph::LitBool>().value;
  bool windowed = node.attrs[3].value.kind() != OperandKind::Null;
  Expr mask = value(node.inputs[0]);
  if (causal || windowed) {
    const char* name = windowed ? "window_keep" : "causal_keep";
    p_.prelude.use(windowed ? "jax/window_keep" : "jax/causal_keep");
    std::vector<Expr> args = {py::atom("slots"), py::atom("key_count"), std::move(mask)};
    if (windowed) args.push_back(value(node.attrs[3].value));
    return py::call(py::atom(name), std::move(args));
  }
  const auto* padding = node.inputs[0].get<graph::Ref>();
  bool optional = p_.joined.values[padding->value].optional;
  for (const JoinedInput& input : p_.joined.inputs)
    optional |= input.value == padding->value && input.optional;
  Expr seen = expand("{0}[:, None, None, :]", {mask});
  return optional ? expand("None if {0} is None else {1}", {mask, seen}) : seen;
}

bool Function::has_many() const {
  return needs_.stores == Needs::Stores::Many ||
         (p_.is_root(id_) && needs_.stores == Needs::Stores::One);
}

Expr Function::store_place(int32_t store) const {
  if (!has_many() || scanning_) return py::atom("past");
  Expr place = py::integer(store);
  if (first_store_ >= 0) {
    place = py::atom(number_);
    if (first_store_ > 0) place = expand("{0} + {1}", {place, py::integer(first_store_)});
  }
  return py::index(py::atom("stores"), {std::move(place)});
}

Result<void> Function::write_stores(const Step& step) {
  std::vector<ValueId> news;
  std::vector<Expr> args = {py::atom("slots")}, targets;
  for (const Operand& input : step.node.inputs) news.push_back(input.as<graph::Ref>().value);
  scope_.settle(news);
  Expr place = store_place(step.store);
  if (place != py::atom("past")) scope_.statement(py::assign(py::atom("past"), place));
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
  Expr all = py::tuple(std::move(targets));
  Expr update = py::call(expand("past.update"), std::move(args));
  Stmt assign = py::assign(py::tuple({std::move(place), std::move(all)}), std::move(update));
  scope_.statement(py::if_(expand("past is not None"), {std::move(assign)}));
  return {};
}

// Only the last positions go on: `x = newest(x, last)`.
void Function::narrow(const Operand& operand) {
  ValueId value = operand.as<graph::Ref>().value;
  scope_.settle({value});
  Expr name = py::atom(*scope_.name_of(value));
  p_.prelude.use("jax/newest");
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

}  // namespace axon::emit::jax
