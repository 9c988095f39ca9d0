// Methods of the root's class.
#include "emit/torch/root.h"

#include <algorithm>

#include "emit/py/template.h"
#include "emit/torch/forward.h"
#include "emit/write/labels.h"
#include "emit/write/scope.h"
#include "support/text.h"

namespace axon::emit::torch {
namespace {

using py::expand;
using py::Expr;
using py::Stmt;

Stmt from_pretrained(Program& p) {
  p.prelude.use("torch/load_weights");
  Expr self = py::text(root_name(p));
  std::vector<Stmt> body;
  body.push_back(
      py::docstring("The model with the weights of a directory's safetensors files.\n\n"
                    "Tensors that the program does not read are dropped and listed in `unread`."));
  body.push_back(py::return_(expand("load_weights(cls, directory, dtype, device)")));
  Stmt out = py::def("from_pretrained",
                     {{"cls", {}, {}},
                      {"directory", expand("str | Path"), {}},
                      {"dtype", expand("torch.dtype"), expand("torch.float32")},
                      {"device", expand("str | torch.device"), py::text("cpu")}},
                     self, std::move(body));
  out.decorators = {py::atom("classmethod")};
  return out;
}

// `join_linears(self, rows, Mlp, "gate_proj", "up_proj")`
Expr join_linears(const Program& p, const Joint& joint) {
  BlockId owner = joint.owner;
  if (p.block(owner).twin_of.valid()) owner = p.block(owner).twin_of;
  std::string name = p.is_root(owner) ? root_name(p) : p.classes.at(owner);
  std::vector<Expr> args = {py::atom("self"), py::atom("rows"), py::atom(name)};
  for (BlockId layer : joint.layers)
    args.push_back(py::text(axon::join(p.outline.relative(owner, layer), ".")));
  return py::call(py::atom("join_linears"), std::move(args));
}

Stmt pack_for_inference(Program& p) {
  std::vector<Stmt> body = {py::docstring(
      "Lays weights out for fast inference, in place: the last step before "
      "it.\n\nNames and values of `state_dict` stay as they are; no gradients from then on.")};
  if (!p.joined.banks.empty()) {
    p.prelude.use("torch/pack_experts");
    body.push_back(py::evaluate(expand("pack_experts(self)")));
  }
  std::vector<Expr> joins;
  for (const Joint& joint : p.joints) {
    Expr join = join_linears(p, joint);
    if (std::find(joins.begin(), joins.end(), join) == joins.end()) joins.push_back(join);
  }
  for (Expr& join : joins) body.push_back(py::evaluate(std::move(join)));
  if (p.prelude.in_use("torch/transposed_linear")) {
    p.prelude.use("torch/pack_transposed");
    body.push_back(py::evaluate(expand("pack_transposed(self, rows)")));
  }
  p.prelude.use("torch/pack_linears");
  body.push_back(py::evaluate(expand("pack_linears(self, rows)")));
  if (std::optional<Expr> table = shared_table(p)) {
    p.prelude.use("torch/tied_linear");
    body.push_back(py::assign(*table, expand("packed_table({0})", {*table})));
  }
  body.push_back(py::return_(py::atom("self")));
  return py::def("pack_for_inference",
                 {{"self", {}, {}}, {"rows", py::atom("int"), py::integer(1)}},
                 py::text(root_name(p)), std::move(body));
}

// `[None, 3, C, 64]` as a shape of a store.
Expr store_shape(Program& p, const StoreTensor& tensor) {
  DimTable& dims = p.types.dims();
  std::vector<Expr> sizes;
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

Stmt init_cache(Program& p) {
  p.prelude.use("torch/cache");
  std::vector<Stmt> body = {py::docstring("Empty stores with room for `capacity` positions.")};
  if (p.calls.limit > 0) {
    body.push_back(py::if_(expand("capacity is None"),
                           {py::assign(expand("capacity"), py::integer(p.calls.limit))}));
  }
  body.push_back(py::assign(expand("like"), expand("next(self.parameters())")));
  std::vector<std::vector<Expr>> shapes;
  bool alike = !p.joined.stores.empty();
  for (const std::vector<StoreTensor>& store : p.joined.stores) {
    std::vector<Expr> args = {py::atom("like")};
    for (const StoreTensor& tensor : store) args.push_back(store_shape(p, tensor));
    shapes.push_back(std::move(args));
    alike &= shapes.back() == shapes.front();
  }
  Expr layers;
  if (alike) {
    Expr each = py::call(expand("Store.create"), shapes.front());
    Expr rounds = expand("range({0})", {py::integer(static_cast<int64_t>(shapes.size()))});
    layers = py::list({Expr{Expr::Kind::ForIn, "", {each, py::atom("_"), rounds}}});
  } else {
    std::vector<Expr> all;
    for (std::vector<Expr>& args : shapes) all.push_back(py::call(expand("Store.create"), args));
    layers = py::list(std::move(all));
  }
  body.push_back(py::assign(expand("layers"), std::move(layers)));
  body.push_back(py::return_(expand("Cache(layers, capacity, like.device)")));
  bool limited = p.calls.limit > 0;
  return py::def("init_cache",
                 {{"self", {}, {}},
                  {"batch", py::atom("int"), {}},
                  {"capacity", expand(limited ? "int | None" : "int"),
                   limited ? std::optional<Expr>(py::atom("None")) : std::nullopt}},
                 py::atom("Cache"), std::move(body));
}

void add_sampling(std::vector<py::Param>& params) {
  params.push_back({"max_new_tokens", py::atom("int"), py::integer(20)});
  params.push_back({"eos_token_id", expand("int | Sequence[int] | None"), py::tuple({})});
  params.push_back({"pad_token_id", expand("int | None"), py::atom("None")});
  params.push_back({"temperature", py::atom("float"), py::real(0.0)});
  params.push_back({"top_k", py::atom("int"), py::integer(0)});
  params.push_back({"top_p", py::atom("float"), py::real(1.0)});
  params.push_back({"generator", expand("torch.Generator | None"), py::atom("None")});
}

Stmt pick() {
  return py::assign(expand("pick"), expand("Sampling(temperature, top_k, top_p, generator)"));
}

Stmt as_generate(std::vector<py::Param> params, std::vector<Stmt> body) {
  Stmt out = py::def("generate", std::move(params), py::atom("Tensor"), std::move(body));
  out.decorators = {expand("torch.no_grad()")};
  return out;
}

Stmt generate(Program& p) {
  std::string ids = input_name(p, p.calls.roles.ids);
  std::string mask = input_name(p, p.calls.roles.mask);
  std::vector<py::Param> params = {{"self", {}, {}}, {ids, py::atom("Tensor"), {}}};
  if (!mask.empty()) params.push_back({mask, expand("Tensor | None"), py::atom("None")});
  add_sampling(params);
  return as_generate(
      std::move(params),
      {
          py::docstring(
              "The prompt followed by new tokens, [B, S + new]: the likeliest each, or drawn "
              "at a\n`temperature` above 0. A row ends at an end token; rows are padded on "
              "the left."),
          py::assign(expand("cache"),
                     expand("self.init_cache({0}.shape[0], {0}.shape[1] + max_new_tokens)",
                            {py::atom(ids)})),
          pick(),
          py::return_(expand(
              "generate(self, cache, {0}, {1}, max_new_tokens, eos_token_id, pad_token_id, pick)",
              {py::atom(ids), py::atom(mask.empty() ? "None" : mask)})),
      });
}

// The source is encoded once; the decoder starts from one token.
Stmt generate_from_source(Program& p) {
  p.prelude.use("torch/decoding");
  std::vector<py::Param> params = {{"self", {}, {}}};
  Expr source{Expr::Kind::Dict, "", {}};
  std::vector<Expr> args;
  const std::vector<graph::ValueId>& inputs = p.block(p.outline.encode).inputs;
  for (const JoinedInput& input : p.joined.inputs) {
    if (std::find(inputs.begin(), inputs.end(), input.value) == inputs.end()) continue;
    Expr name = py::atom(p.types.dims().names().text(input.name));
    params.push_back({name.text, annotation(p, input.value), {}});
    if (input.optional) params.back().value = py::atom("None");
    source.items.push_back(py::text(name.text));
    source.items.push_back(name);
    args.push_back(std::move(name));
  }
  source.items.push_back(py::text("encoded"));
  source.items.push_back(py::call(py::dotted("self.encode"), args));
  add_sampling(params);
  params.push_back({"decoder_start_token_id", py::atom("int"), py::integer(start_token(p))});
  Expr ids = py::text(input_name(p, p.calls.roles.ids));
  Expr past = py::text(input_name(p, p.calls.roles.cache));
  return as_generate(
      std::move(params),
      {
          py::docstring(
              "The first token and those after it, [B, 1 + new]: the likeliest each, or drawn "
              "at a\n`temperature` above 0. A row ends at an end token."),
          py::assign(expand("cache"),
                     expand("self.init_cache({0}.shape[0], 1 + max_new_tokens)", {args[0]})),
          pick(),
          py::assign(expand("source"), std::move(source)),
          py::assign(expand("step"), expand("Decoding(self, source, {0}, {1})", {ids, past})),
          py::assign(expand("start"),
                     expand("{0}.new_full(({0}.shape[0], 1), decoder_start_token_id)", {args[0]})),
          py::return_(expand("generate(step, cache, start, None, max_new_tokens, eos_token_id, "
                             "pad_token_id, pick)")),
      });
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
        field(p.types.dims().names().text(name), expand(optional ? "Tensor | None" : "Tensor")));
  }
  const graph::Module& main = (*p.request.graph)[p.request.graph->main];
  if (p.calls.cached) {
    size_t cache = static_cast<size_t>(p.calls.roles.new_cache);
    body.push_back(
        field(p.types.dims().names().text(main.output_names[cache]), expand("Cache | None")));
  }
  return py::class_(output_name(p), {py::atom("NamedTuple")}, std::move(body));
}

}  // namespace

std::optional<Expr> shared_table(const Program& p) {
  if (!p.head.valid()) return std::nullopt;
  const Interner& names = p.types.dims().names();
  const std::string path = params_of(p.joined.steps[p.head].node, names)[0];
  for (const Block& block : p.outline.blocks) {
    if (block.kind != Block::Kind::Layer || block.params[0].path != path) continue;
    if (p.joined.steps[block.items[0].step].node.op != Op::Embedding) return std::nullopt;
    for (std::string_view segment : axon::split(block.path, '.')) {
      if (py::identifier(segment) != segment) return std::nullopt;
    }
    return py::dotted("self." + block.path);
  }
  return std::nullopt;
}

std::vector<Stmt> root_methods(Program& p) {
  std::vector<Stmt> out = {from_pretrained(p)};
  out.push_back(pack_for_inference(p));
  if (!p.calls.cached) return out;
  out.push_back(init_cache(p));
  const opt::Roles& roles = p.calls.roles;
  if (roles.ids < 0 || roles.logits < 0) return out;
  bool encodes = p.outline.encode.valid();
  if (encodes != roles.encoder) return out;  // a source that only callers know how to give
  p.prelude.use("torch/generate");
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

}  // namespace axon::emit::torch
