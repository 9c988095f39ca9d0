// Functions of the whole model.
#include "emit/jax/root.h"

#include <algorithm>

#include "emit/jax/function.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"
#include "emit/write/scope.h"

namespace axon::emit::jax {
namespace {

using py::expand;
using py::Expr;
using py::Stmt;

// Where a block's parameters are in the tree of the checkpoint.
Expr tree_place(const Program& p, BlockId id) {
  Expr at = py::atom("params");
  for (const std::string& segment : p.outline.relative(p.outline.root, id)) {
    bool number = segment[0] >= '0' && segment[0] <= '9';
    at = py::index(std::move(at), {number ? py::atom(segment) : py::text(segment)});
  }
  return at;
}

bool has_lists(const Program& p) {
  const std::vector<LoopBlock>& loops = p.outline.loops;
  return std::any_of(loops.begin(), loops.end(), [](const LoopBlock& l) { return l.list.valid(); });
}

Stmt load(Program& p, const Weights& weights) {
  p.prelude.use("jax/load_params");
  std::vector<Stmt> body = {
      py::docstring("The parameters from a directory's safetensors files, and the names of tensors "
                    "there\nthat the program does not read.")};
  Expr loaded = expand("load_params(shapes(), directory, dtype)");
  if (!weights.scan || !has_lists(p)) {
    body.push_back(py::return_(std::move(loaded)));
  } else {
    body.push_back(py::assign(expand("params, unread"), std::move(loaded)));
    body.push_back(py::return_(expand("(stack_layers(params), unread)")));
  }
  return py::def("load",
                 {{"directory", expand("str | Path"), {}},
                  {"dtype", py::atom("DTypeLike"), expand("jnp.float32")}},
                 expand("tuple[Params, list[str]]"), std::move(body));
}

// From the checkpoint's tree to the one that `forward` takes.
Stmt stack_layers(Program& p, const Weights& weights) {
  p.prelude.use("jax/stack");
  std::vector<Stmt> body = {
      py::docstring("The tree with each list of layers as one layer, whose parameters have a "
                    "leading axis\nof layers."),
      py::assign(py::atom("params"), expand("copied(params)"))};
  for (const Weights::Beside& beside : weights.beside) {
    Expr around = tree_place(p, p.block(beside.list).parent);
    Expr from = tree_place(p, beside.block);  // `params[…]["relative_attention_bias"]`
    Expr pop = expand("owner.pop({0})", {from.items[1]});
    body.push_back(py::assign(py::atom("owner"), from.items[0]));
    body.push_back(py::assign(py::index(std::move(around), {py::text(beside.name)}), pop));
  }
  std::vector<BlockId> done;  // loops that are twins have one list
  for (const LoopBlock& loop : p.outline.loops) {
    if (!loop.list.valid() || std::find(done.begin(), done.end(), loop.list) != done.end())
      continue;
    done.push_back(loop.list);
    Expr at = tree_place(p, loop.list);
    body.push_back(py::assign(at, expand("stack({0})", {at})));
  }
  body.push_back(py::return_(py::atom("params")));
  return py::def("stack_layers", {{"params", py::atom("Params"), {}}}, py::atom("Params"),
                 std::move(body));
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
      args.push_back(store_shape(p, tensor, weights.stacked ? count : 0));
    all.push_back(py::call(expand("Store.create"), std::move(args)));
  }
  if (all.empty()) return py::list({});
  if (weights.stacked) return all.front();
  bool alike = std::all_of(all.begin(), all.end(), [&](const Expr& e) { return e == all[0]; });
  if (!alike) return py::list(std::move(all));
  Expr rounds = expand("range({0})", {py::integer(count)});
  return py::list({Expr{Expr::Kind::ForIn, "", {all[0], py::atom("_"), rounds}}});
}

Stmt init_cache(Program& p, const Weights& weights) {
  p.prelude.use("jax/cache");
  std::vector<Stmt> body = {py::docstring("Empty stores with room for `capacity` positions."),
                            py::assign(expand("layers"), layers_of(p, weights)),
                            py::return_(expand("Cache(layers, jnp.zeros((), jnp.int32))"))};
  std::optional<Expr> limit;
  if (p.calls.limit > 0) limit = py::integer(p.calls.limit);
  return py::def("init_cache",
                 {{"batch", py::atom("int"), {}},
                  {"capacity", py::atom("int"), limit},
                  {"dtype", py::atom("DTypeLike"), expand("jnp.float32")}},
                 py::atom("Cache"), std::move(body));
}

void add_sampling(std::vector<py::Param>& params) {
  params.push_back({"max_new_tokens", py::atom("int"), py::integer(20)});
  params.push_back({"eos_token_id", expand("int | Sequence[int] | None"), py::tuple({})});
  params.push_back({"pad_token_id", expand("int | None"), py::atom("None")});
  params.push_back({"sampling", py::atom("Sampling"), expand("Sampling()")});
  params.push_back({"key", expand("Array | None"), py::atom("None")});
}

// The model as generation calls it: the parameters, with an encoder the source beside them.
Stmt next_logits(Program& p) {
  bool encodes = p.outline.encode.valid();
  std::string mask = encodes ? "" : input_name(p, p.calls.roles.mask);
  std::vector<Expr> args = {py::atom("params"), py::atom("ids")};
  if (encodes) {
    args = {Expr{Expr::Kind::Starred, "**", {py::atom("given")}},
            py::keyword(input_name(p, p.calls.roles.ids), py::atom("ids"))};
  }
  if (!mask.empty()) args.push_back(py::keyword(mask, py::atom("mask")));
  args.push_back(py::keyword(input_name(p, p.calls.roles.cache), py::atom("cache")));
  args.push_back(py::keyword("last", py::integer(1)));
  const graph::Module& main = (*p.request.graph)[p.request.graph->main];
  Expr cache = py::attribute(
      py::atom("out"),
      p.types.dims().names().text(main.output_names[static_cast<size_t>(p.calls.roles.new_cache)]));
  const char* doc = encodes ? "Logits [B, V] behind the last of `ids`, and the cache; `given` has "
                              "the rest."
                            : "Logits [B, V] behind the last of `ids` [B, S], and the cache with "
                              "them.";
  return py::def("next_logits",
                 {{encodes ? "given" : "params", py::atom("Params"), {}},
                  {"ids", py::atom("Array"), {}},
                  {encodes ? "_" : "mask", expand("Array | None"), {}},
                  {"cache", py::atom("Cache"), {}}},
                 expand("tuple[Array, Cache]"),
                 {py::docstring(doc),
                  py::assign(py::atom("out"), py::call(py::atom("forward"), std::move(args))),
                  py::return_(py::tuple({expand("out.logits[:, -1]"), std::move(cache)}))});
}

Stmt generate(Program& p) {
  p.prelude.use("jax/generate");
  std::string mask = input_name(p, p.calls.roles.mask);
  std::vector<py::Param> params = {{"params", py::atom("Params"), {}},
                                   {"ids", py::atom("Array"), {}},
                                   {"mask", expand("Array | None"), py::atom("None")}};
  add_sampling(params);
  params[1].name = input_name(p, p.calls.roles.ids);
  Expr ids = py::atom(params[1].name);
  if (mask.empty())
    params.erase(params.begin() + 2);
  else
    params[2].name = mask;
  std::vector<Expr> args = {py::atom("next_logits"), py::atom("params"), ids};
  for (const char* name : {"cache", "eos_token_id", "pad_token_id", "key", "sampling"})
    args.push_back(py::atom(name));
  if (!mask.empty()) args.push_back(py::atom(mask));
  std::vector<Stmt> body = {
      py::docstring("The prompt followed by new tokens, [B, S + new]: the likeliest each, or drawn "
                    "with `key`\nat a temperature above 0. A row ends at an end token; rows are "
                    "padded on the left.\nIts steps are compiled; it is not for `jax.jit` itself."),
      py::assign(expand("dtype"), expand("jax.tree.leaves(params)[0].dtype")),
      py::assign(expand("capacity"), expand("{0}.shape[1] + max_new_tokens", {ids})),
      py::assign(expand("cache"), expand("init_cache({0}.shape[0], capacity, dtype)", {ids})),
      py::return_(py::call(py::atom("generate_tokens"), std::move(args)))};
  return py::def("generate", std::move(params), py::atom("Array"), std::move(body));
}

// The source is encoded once; the decoder starts from one token.
struct Source {
  std::vector<py::Param> params;
  Expr given{Expr::Kind::Dict, "", {}};  // what all calls of the decoder share
  std::vector<Expr> args;
};

Source source_of(const Program& p) {
  Source out;
  out.given.items = {py::text("params"), py::atom("params")};
  const std::vector<graph::ValueId>& inputs = p.block(p.outline.encode).inputs;
  for (const JoinedInput& input : p.joined.inputs) {
    if (std::find(inputs.begin(), inputs.end(), input.value) == inputs.end()) continue;
    Expr name = py::atom(p.types.dims().names().text(input.name));
    out.params.push_back({name.text, annotation(p, input.value), {}});
    if (input.optional) out.params.back().value = py::atom("None");
    out.given.items.push_back(py::text(name.text));
    out.given.items.push_back(name);
    out.args.push_back(std::move(name));
  }
  out.given.items.push_back(py::text("encoded"));
  std::vector<Expr> args = out.args;
  args.insert(args.begin(), py::atom("params"));
  out.given.items.push_back(py::call(py::atom("compiled_encode"), std::move(args)));
  return out;
}

Stmt generate_from_source(Program& p) {
  p.prelude.use("jax/generate");
  Source source = source_of(p);
  std::vector<py::Param> params = {{"params", py::atom("Params"), {}}};
  params.insert(params.end(), source.params.begin(), source.params.end());
  add_sampling(params);
  params.push_back({"decoder_start_token_id", py::atom("int"), py::integer(start_token(p))});
  Expr first = source.args[0];
  std::vector<Stmt> body = {
      py::docstring(
          "The first token and those after it, [B, 1 + new]: the likeliest each, or "
          "drawn with `key`\nat a temperature above 0. A row ends at an end token.\nIts steps are "
          "compiled; it is not for `jax.jit` itself."),
      py::assign(expand("dtype"), expand("jax.tree.leaves(params)[0].dtype")),
      py::assign(expand("rows"), expand("{0}.shape[0]", {first})),
      py::assign(expand("cache"), expand("init_cache(rows, 1 + max_new_tokens, dtype)")),
      py::assign(expand("given"), std::move(source.given)),
      py::assign(expand("start"),
                 expand("jnp.full((rows, 1), decoder_start_token_id, {0}.dtype)", {first})),
      py::return_(expand(
          "generate_tokens(next_logits, given, start, cache, eos_token_id, pad_token_id, key, "
          "sampling)"))};
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

Stmt field(std::string_view name, Expr type) {
  Stmt s;
  s.kind = Stmt::Kind::Declare;
  s.exprs = {py::atom(name)};
  s.annotation = std::move(type);
  return s;
}

Stmt encoded_class(Program& p) {
  std::vector<Stmt> body = {py::docstring("What all calls on the same source share.")};
  for (graph::ValueId value : p.block(p.outline.encode).outputs) {
    std::string name = Scope::base_name(p.types.dims().names().text(p.joined.values[value].name));
    body.push_back(field(p.names.unique(name), annotation(p, value)));
  }
  return py::class_(encoded_name(p), {py::atom("NamedTuple")}, std::move(body));
}

Stmt output_class(Program& p) {
  std::vector<Stmt> body = {py::docstring("What a call gives.")};
  for (const auto& [name, operand] : p.joined.outputs) {
    const auto* ref = operand.get<graph::Ref>();
    bool optional = !ref || p.joined.values[ref->value].optional;
    body.push_back(
        field(p.types.dims().names().text(name), expand(optional ? "Array | None" : "Array")));
  }
  const graph::Module& main = (*p.request.graph)[p.request.graph->main];
  if (p.calls.cached) {
    size_t cache = static_cast<size_t>(p.calls.roles.new_cache);
    body.push_back(field(p.types.dims().names().text(main.output_names[cache]), py::atom("Any")));
  }
  return py::class_(output_name(p), {py::atom("NamedTuple")}, std::move(body));
}

}  // namespace

std::vector<Stmt> root_functions(Program& p, const Weights& weights) {
  std::vector<Stmt> out;
  if (weights.scan && has_lists(p)) out.push_back(stack_layers(p, weights));
  out.push_back(load(p, weights));
  p.prelude.use("jax/partition_specs");
  if (!p.calls.cached) return out;
  out.push_back(
      py::comment("For calls one by one: compiled once for a prompt's length and once for "
                  "all later tokens.\nThe cache given is used up."));
  out.push_back(compiled(p));
  const opt::Roles& roles = p.calls.roles;
  bool encodes = p.outline.encode.valid();
  if (encodes) out.push_back(py::assign(py::atom("compiled_encode"), expand("jax.jit(encode)")));
  out.push_back(init_cache(p, weights));
  if (roles.ids < 0 || roles.logits < 0) return out;
  if (encodes != roles.encoder) return out;  // a source that only callers know how to give
  out.push_back(next_logits(p));
  out.push_back(encodes ? generate_from_source(p) : generate(p));
  return out;
}

std::vector<Stmt> result_classes(Program& p) {
  std::vector<Stmt> out;
  if (p.outline.encode.valid() && p.block(p.outline.encode).outputs.size() > 1)
    out.push_back(encoded_class(p));
  if (p.joined.outputs.size() + (p.calls.cached ? 1 : 0) > 1) out.push_back(output_class(p));
  return out;
}

}  // namespace axon::emit::jax
