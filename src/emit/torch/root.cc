// Methods of the root's class.
#include "emit/torch/root.h"

#include "emit/py/template.h"
#include "emit/write/labels.h"

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

Stmt pack_for_inference(Program& p) {
  p.prelude.use("torch/pack_experts");
  std::vector<Stmt> body = {
      py::docstring(
          "Makes one tensor of the matrices of all experts, in place.\n\nNames and shapes of "
          "`state_dict` stay as they are."),
      py::return_(expand("pack_experts(self)"))};
  return py::def("pack_for_inference", {{"self", {}, {}}}, py::text(root_name(p)), std::move(body));
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
  bool alike = true;
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

Stmt generate(Program& p) {
  p.prelude.use("torch/generate");
  std::string ids = input_name(p, p.calls.roles.ids);
  std::string mask = input_name(p, p.calls.roles.mask);
  std::vector<py::Param> params = {{"self", {}, {}}, {ids, py::atom("Tensor"), {}}};
  if (!mask.empty()) params.push_back({mask, expand("Tensor | None"), py::atom("None")});
  params.push_back({"max_new_tokens", py::atom("int"), py::integer(20)});
  params.push_back({"eos_token_id", expand("int | Sequence[int]"), py::tuple({})});
  params.push_back({"pad_token_id", expand("int | None"), py::atom("None")});
  params.push_back({"temperature", py::atom("float"), py::real(0.0)});
  params.push_back({"top_k", py::atom("int"), py::integer(0)});
  params.push_back({"top_p", py::atom("float"), py::real(1.0)});
  params.push_back({"generator", expand("torch.Generator | None"), py::atom("None")});
  std::vector<Stmt> body = {
      py::docstring("The prompt followed by new tokens, [B, S + new]: the likeliest each, or drawn "
                    "at a\n`temperature` above 0. A row ends at an end token; rows are padded on "
                    "the left."),
      py::assign(expand("ends"),
                 expand("[eos_token_id] if isinstance(eos_token_id, int) else list(eos_token_id)")),
      py::assign(
          expand("cache"),
          expand("self.init_cache({0}.shape[0], {0}.shape[1] + max_new_tokens)", {py::atom(ids)})),
      py::assign(expand("pick"), expand("Sampling(temperature, top_k, top_p, generator)")),
      py::return_(
          expand("generate(self, cache, {0}, {1}, max_new_tokens, ends, pad_token_id, pick)",
                 {py::atom(ids), py::atom(mask.empty() ? "None" : mask)})),
  };
  Stmt out = py::def("generate", std::move(params), py::atom("Tensor"), std::move(body));
  out.decorators = {expand("torch.no_grad()")};
  return out;
}

}  // namespace

std::vector<Stmt> root_methods(Program& p) {
  std::vector<Stmt> out = {from_pretrained(p)};
  if (!p.joined.banks.empty()) out.push_back(pack_for_inference(p));
  if (!p.calls.cached) return out;
  out.push_back(init_cache(p));
  // A decoder with a source takes more than its own ids: its callers write the loop.
  const opt::Roles& roles = p.calls.roles;
  if (roles.ids >= 0 && roles.logits >= 0 && !roles.encoder) out.push_back(generate(p));
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
    field(p.types.dims().names().text(name), optional ? "Tensor | None" : "Tensor");
  }
  const graph::Module& main = (*p.request.graph)[p.request.graph->main];
  if (p.calls.cached)
    field(p.types.dims().names().text(
              main.output_names[static_cast<size_t>(p.calls.roles.new_cache)]),
          "Cache | None");
  return {py::class_(output_name(p), {py::atom("NamedTuple")}, std::move(body))};
}

}  // namespace axon::emit::torch
