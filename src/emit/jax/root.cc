// Functions of the whole model.
#include "emit/jax/root.h"

#include <algorithm>

#include "emit/py/template.h"
#include "emit/write/labels.h"

namespace axon::emit::jax {
namespace {

using py::expand;
using py::Expr;
using py::Stmt;

// Where the list of a loop is in the tree of parameters.
Expr place_of_list(const Program& p, BlockId list) {
  Expr at = py::atom("params");
  for (const std::string& segment : p.outline.relative(p.outline.root, list))
    at = py::index(std::move(at), {py::text(segment)});
  return at;
}

Stmt load(Program& p, const Weights& weights) {
  p.prelude.use("jax/load_params");
  std::vector<Stmt> body = {
      py::docstring("The parameters from a directory's safetensors files, and the names of tensors "
                    "there\nthat the program does not read.")};
  Expr loaded = expand("load_params(shapes(), directory, dtype)");
  if (!weights.scan) {
    body.push_back(py::return_(std::move(loaded)));
  } else {
    p.prelude.use("jax/stack");
    body.push_back(py::assign(expand("params, unread"), std::move(loaded)));
    for (const LoopBlock& loop : p.outline.loops) {
      Expr at = place_of_list(p, loop.list);
      body.push_back(py::assign(at, expand("stack({0})", {at})));
    }
    body.push_back(py::return_(expand("(params, unread)")));
  }
  return py::def("load",
                 {{"directory", expand("str | Path"), {}},
                  {"dtype", py::atom("DTypeLike"), expand("jnp.float32")}},
                 expand("tuple[Params, list[str]]"), std::move(body));
}

// `(batch, 3, capacity, 64)` as a shape of a store.
Expr store_shape(Program& p, const StoreTensor& tensor, int64_t layers) {
  DimTable& dims = p.types.dims();
  std::vector<Expr> sizes;
  if (layers > 0) sizes.push_back(py::integer(layers));
  for (DimId dim : tensor.dims) {
    auto symbol = dims.as_symbol(dim);
    if (symbol == p.calls.batch)
      sizes.push_back(py::atom("batch"));
    else if (symbol == p.calls.capacity)
      sizes.push_back(py::atom("capacity"));
    else
      sizes.push_back(py::integer(dims.as_integer(dim).value_or(0)));
  }
  return py::tuple(std::move(sizes));
}

// All layers as one stack, as a list of equal ones, or one by one.
Expr layers_of(Program& p, const Weights& weights) {
  int64_t count = static_cast<int64_t>(p.joined.stores.size());
  std::vector<Expr> all;
  for (const std::vector<StoreTensor>& store : p.joined.stores) {
    std::vector<Expr> args = {py::atom("dtype")};
    for (const StoreTensor& tensor : store)
      args.push_back(store_shape(p, tensor, weights.scan ? count : 0));
    all.push_back(py::call(expand("Store.create"), std::move(args)));
  }
  if (weights.scan) return all.front();
  bool alike = std::all_of(all.begin(), all.end(), [&](const Expr& e) { return e == all[0]; });
  if (!alike) return py::list(std::move(all));
  Expr rounds = expand("range({0})", {py::integer(count)});
  return py::list({Expr{Expr::Kind::ForIn, "", {all[0], py::atom("_"), rounds}}});
}

Stmt init_cache(Program& p, const Weights& weights) {
  p.prelude.use("jax/cache");
  std::vector<Stmt> body = {py::docstring("Empty stores with room for `capacity` positions."),
                            py::assign(expand("layers"), layers_of(p, weights)),
                            py::return_(expand("Cache.create(layers)"))};
  std::optional<Expr> limit;
  if (p.calls.limit > 0) limit = py::integer(p.calls.limit);
  return py::def("init_cache",
                 {{"batch", py::atom("int"), {}},
                  {"capacity", py::atom("int"), limit},
                  {"dtype", py::atom("DTypeLike"), expand("jnp.float32")}},
                 py::atom("Cache"), std::move(body));
}

// The model as generation calls it.
Stmt next_logits(Program& p) {
  std::string mask = input_name(p, p.calls.roles.mask);
  std::vector<Expr> args = {py::atom("params"), py::atom("ids")};
  if (!mask.empty()) args.push_back(py::keyword(mask, py::atom("mask")));
  args.push_back(py::keyword(input_name(p, p.calls.roles.cache), py::atom("cache")));
  args.push_back(py::keyword("last", py::integer(1)));
  const graph::Module& main = (*p.request.graph)[p.request.graph->main];
  Expr cache = py::attribute(
      py::atom("out"),
      p.types.dims().names().text(main.output_names[static_cast<size_t>(p.calls.roles.new_cache)]));
  return py::def("next_logits",
                 {{"params", py::atom("Params"), {}},
                  {"ids", py::atom("Array"), {}},
                  {"mask", expand("Array | None"), {}},
                  {"cache", py::atom("Cache"), {}}},
                 expand("tuple[Array, Cache]"),
                 {py::docstring("Logits [B, V] behind the last of `ids` [B, S], and the cache with "
                                "them."),
                  py::assign(py::atom("out"), py::call(py::atom("forward"), std::move(args))),
                  py::return_(py::tuple({expand("out.logits[:, -1]"), std::move(cache)}))});
}

Stmt generate(Program& p) {
  p.prelude.use("jax/generate");
  std::string mask = input_name(p, p.calls.roles.mask);
  std::vector<py::Param> params = {{"params", py::atom("Params"), {}},
                                   {"ids", py::atom("Array"), {}},
                                   {"mask", expand("Array | None"), py::atom("None")},
                                   {"max_new_tokens", py::atom("int"), py::integer(20)},
                                   {"eos_token_id", expand("int | Sequence[int]"), py::tuple({})},
                                   {"pad_token_id", expand("int | None"), py::atom("None")},
                                   {"sampling", py::atom("Sampling"), expand("Sampling()")},
                                   {"key", expand("Array | None"), py::atom("None")}};
  params[1].name = input_name(p, p.calls.roles.ids);
  Expr ids = py::atom(params[1].name);
  if (mask.empty())
    params.erase(params.begin() + 2);
  else
    params[2].name = mask;
  std::vector<Expr> args = {py::atom("next_logits"), py::atom("params"), ids,
                            py::atom(mask.empty() ? "None" : mask)};
  for (const char* name : {"cache", "max_new_tokens", "ends", "pad_token_id", "key", "sampling"})
    args.push_back(py::atom(name));
  std::vector<Stmt> body = {
      py::docstring("The prompt followed by new tokens, [B, S + new]: the likeliest each, or drawn "
                    "with `key`\nat a temperature above 0. A row ends at an end token; rows are "
                    "padded on the left."),
      py::assign(expand("ends"),
                 expand("[eos_token_id] if isinstance(eos_token_id, int) else list(eos_token_id)")),
      py::assign(expand("dtype"), expand("jax.tree.leaves(params)[0].dtype")),
      py::assign(expand("capacity"), expand("{0}.shape[1] + max_new_tokens", {ids})),
      py::assign(expand("cache"), expand("init_cache({0}.shape[0], capacity, dtype)", {ids})),
      py::return_(py::call(py::atom("generate_tokens"), std::move(args)))};
  return py::def("generate", std::move(params), py::atom("Array"), std::move(body));
}

Stmt compiled(const Program& p) {
  Expr last = py::keyword("static_argnames", py::text("last"));
  Expr cache = py::keyword("donate_argnames", py::text(input_name(p, p.calls.roles.cache)));
  std::vector<Expr> args = {py::atom("forward")};
  if (p.calls.roles.logits >= 0) args.push_back(std::move(last));
  args.push_back(std::move(cache));
  return py::assign(py::atom("compiled"), py::call(py::dotted("jax.jit"), std::move(args)));
}

}  // namespace

std::vector<Stmt> root_functions(Program& p, const Weights& weights) {
  std::vector<Stmt> out = {load(p, weights)};
  p.prelude.use("jax/partition_specs");
  if (!p.calls.cached) return out;
  out.push_back(
      py::comment("For calls one by one: compiled once for a prompt's length and once for "
                  "all later tokens.\nThe cache given is used up."));
  out.push_back(compiled(p));
  out.push_back(init_cache(p, weights));
  if (p.calls.roles.ids < 0 || p.calls.roles.logits < 0) return out;
  out.push_back(next_logits(p));
  out.push_back(generate(p));
  return out;
}

std::vector<Stmt> output_class(Program& p) {
  size_t count = p.joined.outputs.size() + (p.calls.cached ? 1 : 0);
  if (count < 2) return {};
  std::vector<Stmt> body = {py::docstring("What a call gives.")};
  auto field = [&](std::string_view name, const char* type) {
    Stmt s;
    s.kind = Stmt::Kind::Declare;
    s.exprs = {py::atom(name)};
    s.annotation = expand(type);
    body.push_back(std::move(s));
  };
  for (const auto& [name, operand] : p.joined.outputs) {
    const auto* ref = operand.get<graph::Ref>();
    bool optional = !ref || p.joined.values[ref->value].optional;
    field(p.types.dims().names().text(name), optional ? "Array | None" : "Array");
  }
  const graph::Module& main = (*p.request.graph)[p.request.graph->main];
  if (p.calls.cached)
    field(p.types.dims().names().text(
              main.output_names[static_cast<size_t>(p.calls.roles.new_cache)]),
          "Any");
  return {py::class_(output_name(p), {py::atom("NamedTuple")}, std::move(body))};
}

}  // namespace axon::emit::jax
