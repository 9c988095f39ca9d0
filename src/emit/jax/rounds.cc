// Kept loops: unrolled when the file is traced, or scanned over stacked layers.
#include "emit/jax/function.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"

namespace axon::emit::jax {

using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

Result<void> Function::loop(int32_t index) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  if (!loop.list.valid() && weights_.scan)
    return unsupported("a scan over layers", "they share their parameters");
  std::vector<ValueId> outer = outer_values(index);
  scope_.settle(outer);
  for (ValueId value : outer) scope_.add_use(value);  // they live through all rounds
  std::vector<std::string> carried;
  for (const LoopBlock::Carry& carry : loop.carries) {
    carried.push_back(enter(carry));
    carried_[carry.result.index] = carried.back();
  }
  if (loop.list.valid()) element_ = scope_.fresh(singular(p_.block(loop.list).segment) + "_params");
  number_ = loop.variable;
  if (loop.first_store >= 0 && !weights_.scan) number_ = scope_.fresh(loop.variable);
  if (weights_.scan && !(loop.makes.empty() && loop.takes.empty()))
    return unsupported("a scan over layers", "what an encoder's source gives to each is a list");
  open_lists(index, expand("list[Array]"));
  bind_settings(index);
  AXON_TRY(std::vector<Stmt> body, round(index, carried));
  for (ValueId value : outer) scope_.add_use(value, -1);
  if (weights_.scan)
    scan_rounds(index, carried, std::move(body));
  else
    count_rounds(index, std::move(body));
  for (ValueId value : setting_reads(p_.joined, index)) scope_.add_use(value, -1);
  return {};
}

Result<std::vector<Stmt>> Function::round(int32_t index, const std::vector<std::string>& carried) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  std::vector<Stmt> body;
  std::vector<Stmt>* around = scope_.redirect(&body);
  first_store_ = loop.first_store;
  scanning_ = weights_.scan;
  AXON_TRY_VOID(write_items(loop.items));
  scanning_ = false;
  first_store_ = -1;
  fill_lists(index);
  for (size_t i = 0; i < loop.carries.size(); ++i) leave(loop.carries[i], carried[i]);
  scope_.redirect(around);
  return body;
}

// `for i, layer_params in enumerate(params["layers"]):`
void Function::count_rounds(int32_t index, std::vector<Stmt> body) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  std::vector<Expr> targets, lists;
  if (loop.list.valid()) {
    targets.push_back(py::atom(element_));
    lists.push_back(subtree(loop.list));
  }
  for (auto& [name, numbers] : settings_of(index)) {
    targets.push_back(py::atom(name));
    lists.push_back(std::move(numbers));
  }
  bool writes = loop.first_store >= 0, counts = lists.empty();
  if (counts) {
    targets.push_back(py::atom(writes ? number_ : "_"));
    lists.push_back(expand("range({0})", {py::integer(static_cast<int64_t>(loop.count))}));
  }
  Expr target = py::one_or_tuple(std::move(targets));
  Expr list = lists.size() == 1 ? lists[0] : py::call(py::atom("zip"), std::move(lists));
  if (writes && !counts) {
    target = py::tuple({py::atom(number_), std::move(target)});
    list = py::call(py::atom("enumerate"), {std::move(list)});
  }
  scope_.statement(py::for_(std::move(target), std::move(list), std::move(body)));
}

// `x, stores = lax.scan(step, x, (params["layers"], stores))` with the round as a function.
void Function::scan_rounds(int32_t index, const std::vector<std::string>& carried,
                           std::vector<Stmt> body) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  bool writes = loop.first_store >= 0;
  std::vector<Expr> state, types, given = {py::atom(element_)}, stacked = {subtree(loop.list)};
  for (const std::string& name : carried) {
    state.push_back(py::atom(name));
    types.push_back(py::atom("Array"));
  }
  if (writes) {
    given.push_back(py::atom("past"));
    stacked.push_back(py::atom("stores"));
  }
  for (auto& [name, numbers] : settings_of(index)) {
    given.push_back(py::atom(name));
    stacked.push_back(expand("jnp.array({0})", {numbers}));
  }
  Expr all = py::one_or_tuple(state), type = py::one_or_tuple(types);
  if (types.size() > 1) type = py::index(py::atom("tuple"), std::move(types));
  Expr made = writes ? expand("Store | None") : py::atom("None");
  std::string name = scope_.fresh("step"), round = scope_.fresh("given");
  std::vector<Stmt> inner;
  if (given.size() > 1)
    inner.push_back(py::assign(py::tuple(given), py::atom(round)));
  else
    round = element_;
  std::vector<py::Param> params = {{state.size() == 1 ? state[0].text : "state", type, {}},
                                   {round, py::atom(given.size() > 1 ? "Any" : "Params"), {}}};
  if (state.size() > 1) inner.insert(inner.begin(), py::assign(all, py::atom("state")));
  inner.insert(inner.end(), body.begin(), body.end());
  inner.push_back(py::return_(py::tuple({all, py::atom(writes ? "past" : "None")})));
  scope_.statement(py::def(name, std::move(params),
                           py::index(py::atom("tuple"), {type, std::move(made)}),
                           std::move(inner)));
  Expr scan = expand("lax.scan({0}, {1}, {2})",
                     {py::atom(name), all, py::one_or_tuple(std::move(stacked))});
  scope_.statement(
      py::assign(py::tuple({all, py::atom(writes ? "stores" : "_")}), std::move(scan)));
}

}  // namespace axon::emit::jax
