// Parameters and calls of a block's function.
#include "emit/jax/function.h"

#include "emit/jax/rows.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"
#include "support/text.h"

namespace axon::emit::jax {

using graph::Operand;
using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

namespace {

Expr reach(Expr from, std::string_view segment) {
  bool number = segment[0] >= '0' && segment[0] <= '9';
  return py::index(std::move(from), {number ? py::atom(segment) : py::text(segment)});
}

}  // namespace

Result<Stmt> Function::write(const std::string& name) {
  count_uses();
  bool alone = block_.outputs.size() == 1 && needs_.stores == Needs::Stores::None;
  if (!p_.is_root(id_) && alone) scope_.keep_waiting(block_.outputs[0]);
  if (p_.is_root(id_) && p_.joined.outputs.size() == 1 && !p_.calls.cached) {
    if (const auto* ref = p_.joined.outputs[0].second.get<graph::Ref>())
      scope_.keep_waiting(ref->value);
  }
  std::vector<py::Param> params = parameters();
  std::vector<Stmt> body = {py::docstring(function_doc(p_, id_, scope_))};
  scope_.redirect(&body);
  if (p_.is_root(id_)) begin();
  if (p_.is_root(id_) && p_.outline.encode.valid()) take_encoded();
  bind_sizes();
  if (!p_.is_root(id_) && has_many() && !weights_.stacked)
    scope_.statement(py::assign(py::atom("stores"), expand("list(stores)")));
  AXON_TRY_VOID(write_items(block_.items));
  Expr result = finish();
  return py::def(name, std::move(params), std::move(result), std::move(body));
}

std::optional<Expr> Function::expression(const graph::Node& node) {
  return row(node, weights_, *this);
}

// An expansion says the sizes that stay.
std::vector<DimId> Function::spelled(const graph::Node& node) const {
  if (node.op != Op::Expand) return {};
  const auto *x = node.inputs[0].get<graph::Ref>(), *sizes = node.inputs[1].get<graph::Ref>();
  const graph::Node* list = sizes ? p_.joined.producer(sizes->value) : nullptr;
  if (!x || !list || list->op != Op::CoreList) return {};
  std::vector<DimId> own = p_.types.dims_of(p_.joined.values[x->value].type), out;
  for (size_t i = 0; i < own.size(); ++i) {
    const auto* size = list->inputs[list->inputs.size() - own.size() + i].get<graph::LitInt>();
    if (size && size->value == -1) out.push_back(own[i]);
  }
  return out;
}

Expr Function::param(const std::string& path) {
  auto foreign = foreign_.find(path);
  if (foreign != foreign_.end()) return py::atom(foreign->second);
  if (std::optional<Expr> beside = beside_stack(path)) return *std::move(beside);
  std::string_view rest = path;
  if (!block_.path.empty()) rest.remove_prefix(block_.path.size() + 1);
  Expr from = py::atom("params");
  for (std::string_view segment : split(rest, '.'))
    from = segment[0] == '{' ? py::atom(element_) : reach(std::move(from), segment);
  return from;
}

// The parameters of a called block, seen from here.
Expr Function::subtree(BlockId called) const {
  if (std::optional<Expr> beside = beside_stack(p_.block(called).path)) return *std::move(beside);
  Expr from = py::atom("params");
  std::vector<std::string> segments = p_.outline.relative(id_, called);
  if (p_.block(called).is_item) segments.pop_back();  // the list of all is given
  for (const std::string& segment : segments)
    from = segment[0] == '{' ? py::atom(element_) : reach(std::move(from), segment);
  return from;
}

// Where parameters are that one round alone has, when the others are stacked.
std::optional<Expr> Function::beside_stack(const std::string& path) const {
  for (const Weights::Beside& beside : weights_.beside) {
    const std::string& top = p_.block(beside.block).path;
    if (path != top && !starts_with(path, top + ".")) continue;
    Expr from = py::atom("params");
    for (const std::string& segment : p_.outline.relative(id_, p_.block(beside.list).parent))
      from = reach(std::move(from), segment);
    from = reach(std::move(from), beside.name);
    if (path == top) return from;
    for (std::string_view segment : split(std::string_view(path).substr(top.size() + 1), '.'))
      from = reach(std::move(from), segment);
    return from;
  }
  return std::nullopt;
}

Result<void> Function::call(BlockId called) {
  const Block& block = p_.block(called);
  const Needs& needs = p_.needs[called];
  reads_.clear();
  bool helper = block.kind == Block::Kind::Layer && !p_.classes.count(called);
  if (helper && needs.last) {
    Operand x;
    x.data = graph::Ref{block.inputs[0]};
    narrow(x);
  }
  std::vector<ValueId> reads = call_reads(p_, called);
  make_room(reads);
  if (helper) {
    const graph::Node& node = p_.joined.steps[block.items[0].step].node;
    Expr made = layer(node, subtree(called), *this);
    scope_.define(block.outputs[0], {std::move(made), std::move(reads_)});
    reads_.clear();
    return {};
  }
  std::vector<Expr> args = {subtree(called)};
  for (ValueId value : reads) {
    Operand operand;
    operand.data = graph::Ref{value};
    args.push_back(this->value(operand));
  }
  add_extras(args, called, needs);
  Expr function = py::atom(p_.classes.at(called));
  if (block.is_item) {
    p_.prelude.use("jax/experts");
    args.insert(args.begin(), std::move(function));
    function = py::atom("experts");
  }
  Built built{py::call(std::move(function), std::move(args)), std::move(reads_)};
  reads_.clear();
  if (needs.stores == Needs::Stores::None && block.outputs.size() == 1)
    scope_.define(block.outputs[0], std::move(built));
  else
    bind_results(called, std::move(built));
  return {};
}

// One statement for all results, what was written to the cache last.
void Function::bind_results(BlockId called, Built built) {
  const Needs& needs = p_.needs[called];
  scope_.spend(built);
  std::vector<Expr> targets;
  for (ValueId value : p_.block(called).outputs) {
    if (scope_.uses(value) <= 0) {
      targets.push_back(py::atom("_"));
      continue;
    }
    auto carried = carried_.find(value.index);
    std::string name = carried != carried_.end() && scope_.is_free(carried->second)
                           ? carried->second
                           : scope_.name_for(value);
    scope_.bind(value, name);
    targets.push_back(py::atom(name));
  }
  if (needs.stores == Needs::Stores::One) targets.push_back(store_place(store_within(called)));
  if (needs.stores == Needs::Stores::Many) targets.push_back(py::atom("stores"));
  scope_.statement(py::assign(py::one_or_tuple(std::move(targets)), std::move(built.expr)));
}

void Function::add_extras(std::vector<Expr>& args, BlockId called, const Needs& needs) {
  for (SymbolId s : needs.symbols) args.push_back(symbol(s));
  for (const std::string& path : needs.params) args.push_back(param(path));
  if (needs.slots) args.push_back(py::atom("slots"));
  if (needs.stores == Needs::Stores::Many) args.push_back(py::atom("stores"));
  if (needs.stores == Needs::Stores::One) args.push_back(store_place(store_within(called)));
  if (needs.last) args.push_back(py::atom("last"));
}

}  // namespace axon::emit::jax
