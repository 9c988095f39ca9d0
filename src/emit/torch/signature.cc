// What functions take and give.
#include <algorithm>

#include "emit/py/template.h"
#include "emit/torch/forward.h"
#include "emit/torch/function.h"
#include "emit/write/labels.h"
#include "support/text.h"

namespace axon::emit::torch {

using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

Expr encoded_type(const Program& program) {
  const std::vector<ValueId>& outputs = program.block(program.outline.encode).outputs;
  if (outputs.size() == 1) return annotation(program, outputs[0]);
  return py::atom(encoded_name(program));
}

std::vector<py::Param> Function::parameters() {
  std::vector<py::Param> out = {{"self", {}, {}}};
  if (p_.is_root(id_)) return root_parameters(std::move(out));
  for (ValueId value : block_.inputs) {
    out.push_back({scope_.parameter(value), annotation(p_, value), {}});
    if (id_ == p_.outline.encode && is_optional_input(value)) out.back().value = py::atom("None");
  }
  for (SymbolId s : needs_.symbols) {
    std::string name = symbol(s).text;
    out.push_back({scope_.fresh(name), py::atom("int"), {}});
  }
  for (const std::string& path : needs_.params) {
    std::vector<std::string_view> parts = split(path, '.');
    std::string name(parts.back());
    if (parts.size() > 1) name = std::string(parts[parts.size() - 2]) + "_" + name;
    foreign_[path] = scope_.fresh(name);
    out.push_back({foreign_[path], py::atom("Tensor"), {}});
  }
  if (needs_.slots) out.push_back({"slots", py::atom("Tensor"), {}});
  if (needs_.stores == Needs::Stores::One) out.push_back({"past", expand("Store | None"), {}});
  if (needs_.stores == Needs::Stores::Many)
    out.push_back({"stores", expand("Sequence[Store | None]"), {}});
  if (needs_.last) out.push_back({"last", expand("int | None"), {}});
  for (const char* name : {"slots", "past", "stores", "last", "key_count"}) reserve(name);
  return out;
}

std::vector<py::Param> Function::root_parameters(std::vector<py::Param> out) {
  std::vector<JoinedInput> inputs = p_.joined.inputs;  // those that must be given first
  std::stable_partition(inputs.begin(), inputs.end(),
                        [](const JoinedInput& input) { return !input.optional; });
  for (const JoinedInput& input : inputs) {
    py::Param param;
    param.name = scope_.parameter(input.value);
    param.annotation = expand(input.optional ? "Tensor | None" : "Tensor");
    if (input.optional) param.value = py::atom("None");
    out.push_back(std::move(param));
  }
  if (!p_.calls.cached) return out;
  past_ = input_name(p_, p_.calls.roles.cache);
  out.push_back({past_, expand("Cache | None"), py::atom("None")});
  if (p_.calls.roles.use_cache >= 0)
    out.push_back({input_name(p_, p_.calls.roles.use_cache), py::atom("bool"), py::atom("False")});
  if (p_.calls.roles.capacity >= 0)
    out.push_back(
        {input_name(p_, p_.calls.roles.capacity), expand("int | None"), py::atom("None")});
  if (p_.calls.roles.logits >= 0) out.push_back({"last", expand("int | None"), py::atom("None")});
  if (p_.outline.encode.valid()) {
    Expr type = encoded_type(p_);
    out.push_back(
        {"encoded", py::binary(std::move(type), "|", py::atom("None")), py::atom("None")});
  }
  for (const char* name : {"slots", "stores", "last", "key_count", "encoded"}) reserve(name);
  return out;
}

bool Function::is_optional_input(ValueId value) const {
  for (const JoinedInput& input : p_.joined.inputs) {
    if (input.value == value) return input.optional;
  }
  return false;
}

// What a call begins with: its cache, its positions, its padding mask.
void Function::begin() {
  if (p_.calls.cached) begin_cache();
  int role = p_.calls.roles.mask;
  if (role < 0) return;
  Expr mask = py::atom(input_name(p_, role));
  Expr fitted = expand(p_.calls.cached ? "fit_mask({0}, key_count)" : "{0}.bool()", {mask});
  scope_.statement(
      py::if_(expand("{0} is not None", {mask}), {py::assign(mask, std::move(fitted))}));
}

// `keep, all_k, all_v = self.encode(input_ids, attention_mask)`, unless the caller has done that.
void Function::take_encoded() {
  const Block& twin = p_.block(p_.outline.encode);
  std::vector<Expr> args, targets;
  for (ValueId value : twin.inputs) args.push_back(py::atom(*scope_.name_of(value)));
  for (ValueId value : twin.outputs) {
    const std::string* known = scope_.name_of(value);
    targets.push_back(py::atom(known ? *known : scope_.parameter(value)));
  }
  Expr encoded = py::atom("encoded");
  Expr made = py::call(py::dotted("self.encode"), std::move(args));
  scope_.statement(py::if_(expand("{0} is None", {encoded}), {py::assign(encoded, made)}));
  scope_.statement(py::assign(py::one_or_tuple(std::move(targets)), std::move(encoded)));
}

void Function::begin_cache() {
  const opt::Roles& roles = p_.calls.roles;
  Expr first = py::atom(input_name(p_, roles.ids)), past = py::atom(past_);
  if (roles.use_cache >= 0 && roles.capacity >= 0) {
    Expr wanted = py::atom(input_name(p_, roles.use_cache));
    Expr capacity = py::atom(input_name(p_, roles.capacity));
    Expr made = expand("self.init_cache({0}.shape[0], {1})", {first, std::move(capacity)});
    scope_.statement(py::if_(expand("{0} and {1} is None", {std::move(wanted), past}),
                             {py::assign(past, std::move(made))}));
  }
  scope_.statement(
      py::assign(expand("slots, key_count"), expand("call_span({0}, {1})", {past, first})));
  if (needs_.stores != Needs::Stores::Many) return;
  Expr count = py::integer(static_cast<int64_t>(p_.joined.stores.size()));
  Stmt stores = py::assign(py::atom("stores"),
                           expand("[None] * {0} if {1} is None else {1}.layers", {count, past}));
  stores.annotation = expand("Sequence[Store | None]");
  scope_.statement(std::move(stores));
}

std::optional<Expr> Function::finish() {
  if (p_.is_root(id_)) return finish_root();
  std::vector<Expr> results, types;
  for (ValueId value : block_.outputs) {
    results.push_back(scope_.use(value).expr);
    types.push_back(annotation(p_, value));
  }
  if (id_ == p_.outline.encode && results.size() > 1) {
    scope_.statement(py::return_(py::call(encoded_type(p_), std::move(results))));
    return encoded_type(p_);
  }
  Expr all = py::one_or_tuple(std::move(results));
  if (std::optional<Expr> made = scope_.take_last(all)) all = std::move(*made);
  scope_.statement(py::return_(std::move(all)));
  if (types.size() == 1) return types[0];
  return py::index(py::atom("tuple"), std::move(types));
}

std::optional<Expr> Function::finish_root() {
  std::vector<Expr> results;
  for (const auto& [name, operand] : p_.joined.outputs) {
    const auto* ref = operand.get<graph::Ref>();
    if (ref && p_.calls.cached) scope_.settle({ref->value});  // before the cache moves on
    if (ref && p_.calls.cached && !p_.head.valid() && names().text(name) == "logits")
      narrow(operand);
    results.push_back(value(operand));
  }
  if (p_.calls.cached) {
    Expr past = py::atom(past_);
    scope_.statement(py::if_(expand("{0} is not None", {past}),
                             {py::evaluate(expand("{0}.advance(slots.shape[0])", {past}))}));
    results.push_back(std::move(past));
  }
  if (results.size() == 1) {
    scope_.statement(py::return_(std::move(results[0])));
    return expand("Tensor");
  }
  scope_.statement(py::return_(py::call(py::atom(output_name(p_)), std::move(results))));
  return py::atom(output_name(p_));
}

}  // namespace axon::emit::torch
