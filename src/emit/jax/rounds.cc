// Kept loops: unrolled when the file is traced, or scanned over stacked layers.
#include "emit/jax/function.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"
#include "support/check.h"

namespace axon::emit::jax {

using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

Result<void> Function::loop(int32_t index) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
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
  if (!weights_.scan) open_lists(index, expand("list[Array]"));
  bind_settings(index);
  AXON_TRY(std::vector<Stmt> body, round(index, carried));
  for (ValueId value : outer) scope_.add_use(value, -1);
  if (!weights_.scan)
    count_rounds(index, std::move(body));
  else if (loop.makes.empty())
    scan_rounds(index, carried, std::move(body));
  else
    map_rounds(index, std::move(body));
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
  if (!weights_.scan) fill_lists(index);
  if (weights_.scan && !loop.makes.empty()) return_made(loop);
  leave(loop.carries, carried);
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

// What a round makes for the stacks of all rounds: the function's result.
void Function::return_made(const LoopBlock& loop) {
  AXON_CHECK(loop.carries.empty(), "what is made once for many calls hands nothing on");
  std::vector<Expr> made;
  for (const LoopBlock::Kept& kept : loop.makes) {
    Built built = scope_.use(kept.each);
    scope_.spend(built);
    made.push_back(std::move(built.expr));
  }
  Expr all = py::one_or_tuple(std::move(made));
  if (std::optional<Expr> last = scope_.take_last(all)) all = std::move(*last);
  scope_.statement(py::return_(std::move(all)));
}

// What each round is given: names within, and the stacks that they are rows of.
Function::Given Function::given_of(int32_t index) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  Given out;
  if (loop.list.valid()) {
    out.names.push_back(py::atom(element_));
    out.stacks.push_back(subtree(loop.list));
    out.type = py::atom("Params");
  }
  if (loop.first_store >= 0) {
    out.names.push_back(py::atom("past"));
    out.stacks.push_back(py::atom("stores"));
  }
  auto settings = settings_of(index);
  size_t lists = settings.size() - loop.takes.size();  // the others are stacks already
  for (size_t i = 0; i < settings.size(); ++i) {
    out.names.push_back(py::atom(settings[i].first));
    Expr all = std::move(settings[i].second);
    out.stacks.push_back(i < lists ? expand("jnp.array({0})", {std::move(all)}) : std::move(all));
  }
  if (out.names.size() > 1 || !loop.list.valid())
    out.type = py::atom(out.names.empty() ? "None" : "Any");
  out.whole = element_;
  if (out.names.size() > 1) {
    out.whole = scope_.fresh("given");
    out.opening.push_back(py::assign(py::tuple(out.names), py::atom(out.whole)));
  } else if (!loop.list.valid()) {
    out.whole = out.names.empty() ? "_" : out.names[0].text;
  }
  return out;
}

// `x, stores = lax.scan(step, x, (params["layers"], stores))` with the round as a function.
void Function::scan_rounds(int32_t index, const std::vector<std::string>& carried,
                           std::vector<Stmt> body) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  bool writes = loop.first_store >= 0;
  std::vector<Expr> state, types;
  for (const std::string& name : carried) {
    state.push_back(py::atom(name));
    types.push_back(py::atom("Array"));
  }
  Given given = given_of(index);
  Expr all = py::one_or_tuple(state), type = py::one_or_tuple(types);
  if (types.size() > 1) type = py::index(py::atom("tuple"), std::move(types));
  Expr made = writes ? expand("Store | None") : py::atom("None");
  std::string name = scope_.fresh("step");
  std::vector<Stmt> inner;
  if (state.size() > 1) inner.push_back(py::assign(all, py::atom("state")));
  inner.insert(inner.end(), given.opening.begin(), given.opening.end());
  Expr result = py::tuple({all, py::atom(writes ? "past" : "None")});
  const Expr* last =
      body.empty() || body.back().kind != Stmt::Kind::Assign ? nullptr : &body.back().exprs[0];
  if (last && *last == result)
    result = body.back().exprs[1];
  else if (last && *last == all)
    result.items[0] = body.back().exprs[1];
  else
    last = nullptr;
  if (last) body.pop_back();
  inner.insert(inner.end(), body.begin(), body.end());
  inner.push_back(py::return_(std::move(result)));
  std::vector<py::Param> params = {{state.size() == 1 ? state[0].text : "state", type, {}},
                                   {given.whole, given.type, {}}};
  scope_.statement(py::def(name, std::move(params),
                           py::index(py::atom("tuple"), {type, std::move(made)}),
                           std::move(inner)));
  std::vector<Expr> args = {py::atom(name), all};
  if (given.stacks.empty()) {
    Expr count = py::integer(static_cast<int64_t>(loop.count));
    args.push_back(py::keyword("length", std::move(count)));
  } else {
    args.push_back(py::one_or_tuple(given.stacks));
  }
  scope_.statement(py::assign(py::tuple({all, py::atom(writes ? "stores" : "_")}),
                              py::call(py::dotted("lax.scan"), std::move(args))));
}

// `all_k, all_v = lax.map(step, params["layers"])`: rounds that hand nothing on.
void Function::map_rounds(int32_t index, std::vector<Stmt> body) {
  const LoopBlock& loop = p_.outline.loops[static_cast<size_t>(index)];
  Given given = given_of(index);
  std::string name = scope_.fresh("step");
  std::vector<Stmt> inner = given.opening;
  inner.insert(inner.end(), body.begin(), body.end());
  std::vector<Expr> types, targets;
  for (const LoopBlock::Kept& kept : loop.makes) {
    types.push_back(annotation(p_, kept.each));
    std::string all = scope_.name_for(kept.all);
    scope_.bind(kept.all, all);
    targets.push_back(py::atom(all));
  }
  Expr type = types.size() == 1 ? types[0] : py::index(py::atom("tuple"), types);
  scope_.statement(py::def(name, {{given.whole, given.type, {}}}, type, std::move(inner)));
  Expr map = expand("lax.map({0}, {1})", {py::atom(name), py::one_or_tuple(given.stacks)});
  scope_.statement(py::assign(py::one_or_tuple(std::move(targets)), std::move(map)));
}

}  // namespace axon::emit::jax
