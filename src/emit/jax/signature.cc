// What functions take and give.
#include <algorithm>

#include "emit/jax/function.h"
#include "emit/py/template.h"
#include "emit/write/labels.h"
#include "support/text.h"

namespace axon::emit::jax {

using graph::ValueId;
using py::expand;
using py::Expr;
using py::Stmt;

Expr annotation(const Program& program, ValueId value) {
  bool optional = program.joined.values[value].optional;
  for (const JoinedInput& input : program.joined.inputs)
    optional |= input.value == value && input.optional;
  TypeKind kind = program.types.kind(program.joined.values[value].type);
  if (kind == TypeKind::Int || kind == TypeKind::Float)
    return py::atom(kind == TypeKind::Int ? "int" : "float");
  if (kind == TypeKind::List) return expand(program.request.scan_layers ? "Array" : "list[Array]");
  return expand(optional ? "Array | None" : "Array");
}

Expr encoded_type(const Program& program) {
  const std::vector<ValueId>& outputs = program.block(program.outline.encode).outputs;
  if (outputs.size() == 1) return annotation(program, outputs[0]);
  return py::atom(encoded_name(program));
}

namespace {

// The stores of all layers: one stack of them, or a list.
Expr stores_type(const Weights& weights) {
  return expand(weights.stacked ? "Store | None" : "list[Store | None]");
}

}  // namespace

std::vector<py::Param> Function::parameters() {
  std::vector<py::Param> out = {{"params", py::atom("Params"), {}}};
  reserve("params");
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
    out.push_back({foreign_[path], py::atom("Array"), {}});
  }
  if (needs_.slots) out.push_back({"slots", py::atom("Array"), {}});
  if (needs_.stores == Needs::Stores::One) out.push_back({"past", expand("Store | None"), {}});
  if (needs_.stores == Needs::Stores::Many) out.push_back({"stores", stores_type(weights_), {}});
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
    param.annotation = expand(input.optional ? "Array | None" : "Array");
    if (input.optional) param.value = py::atom("None");
    out.push_back(std::move(param));
  }
  if (!p_.calls.cached) return out;
  past_ = input_name(p_, p_.calls.roles.cache);
  out.push_back({past_, expand("Cache | None"), py::atom("None")});
  if (p_.calls.roles.logits >= 0) out.push_back({"last", expand("int | None"), py::atom("None")});
  if (p_.outline.encode.valid()) {
    Expr type = encoded_type(p_);
    out.push_back(
        {"encoded", py::binary(std::move(type), "|", py::atom("None")), py::atom("None")});
  }
  for (const char* name : {"slots", "stores", "past", "last", "key_count", "encoded"})
    reserve(name);
  return out;
}

bool Function::is_optional_input(ValueId value) const {
  for (const JoinedInput& input : p_.joined.inputs) {
    if (input.value == value) return input.optional;
  }
  return false;
}

// What a call begins with: its positions, its cache, its padding mask.
void Function::begin() {
  if (p_.calls.cached) begin_cache();
  int role = p_.calls.roles.mask;
  if (role < 0) return;
  Expr mask = py::atom(input_name(p_, role));
  Expr fitted = expand(p_.calls.cached ? "fit_mask({0}, key_count)" : "{0}.astype(bool)", {mask});
  scope_.statement(
      py::if_(expand("{0} is not None", {mask}), {py::assign(mask, std::move(fitted))}));
}

void Function::begin_cache() {
  Expr first = py::atom(input_name(p_, p_.calls.roles.ids)), past = py::atom(past_);
  scope_.statement(
      py::assign(expand("slots, key_count"), expand("call_span({0}, {1})", {past, first})));
  if (!has_many()) return;
  Expr count = py::integer(static_cast<int64_t>(p_.joined.stores.size()));
  Expr stores = weights_.stacked
                    ? expand("None if {0} is None else {0}.layers", {past})
                    : expand("[None] * {1} if {0} is None else list({0}.layers)", {past, count});
  Stmt bind = py::assign(py::atom("stores"), std::move(stores));
  if (!weights_.stacked) bind.annotation = stores_type(weights_);
  scope_.statement(std::move(bind));
}

// `keep, all_k, all_v = encode(params, input_ids, attention_mask)`, unless the caller has done
// that.
void Function::take_encoded() {
  const Block& twin = p_.block(p_.outline.encode);
  std::vector<Expr> args = {py::atom("params")}, targets;
  for (ValueId value : twin.inputs) args.push_back(py::atom(*scope_.name_of(value)));
  for (ValueId value : twin.outputs) {
    const std::string* known = scope_.name_of(value);
    targets.push_back(py::atom(known ? *known : scope_.parameter(value)));
  }
  Expr encoded = py::atom("encoded");
  Expr made = py::call(py::atom("encode"), std::move(args));
  scope_.statement(py::if_(expand("{0} is None", {encoded}), {py::assign(encoded, made)}));
  scope_.statement(py::assign(py::one_or_tuple(std::move(targets)), std::move(encoded)));
}

// Results, then what was written to the cache; gives the type of them all.
Expr Function::finish() {
  if (p_.is_root(id_)) return finish_root();
  std::vector<Expr> results, types;
  for (ValueId value : block_.outputs) {
    results.push_back(scope_.use(value).expr);
    types.push_back(annotation(p_, value));
  }
  if (needs_.stores != Needs::Stores::None) {
    results.push_back(py::atom(has_many() ? "stores" : "past"));
    types.push_back(has_many() ? stores_type(weights_) : expand("Store | None"));
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

Expr Function::finish_root() {
  std::vector<Expr> results;
  for (const auto& [name, operand] : p_.joined.outputs) {
    const auto* ref = operand.get<graph::Ref>();
    if (ref && p_.calls.cached) scope_.settle({ref->value});
    if (ref && p_.calls.cached && !p_.head.valid() && names().text(name) == "logits")
      narrow(operand);
    results.push_back(value(operand));
  }
  if (p_.calls.cached) {
    Expr past = py::atom(past_);
    Expr more = expand("{0}.advance(stores, slots.shape[0])", {past});
    scope_.statement(
        py::if_(expand("{0} is not None", {past}), {py::assign(past, std::move(more))}));
    results.push_back(std::move(past));
  }
  if (results.size() == 1) {
    scope_.statement(py::return_(std::move(results[0])));
    return py::atom("Array");
  }
  scope_.statement(py::return_(py::call(py::atom(output_name(p_)), std::move(results))));
  return py::atom(output_name(p_));
}

}  // namespace axon::emit::jax
