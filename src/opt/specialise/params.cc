// What reads the checkpoint: parameters, the layers that own some, and configuration.
#include <fmt/format.h>

#include "graph/config_reads.h"
#include "model/config_convert.h"
#include "opt/specialise/specialiser.h"
#include "support/text.h"

namespace axon::opt {

// A relative leaf is appended to the base unless it stands under the base already (stdlib.md R6).
NameId Specialiser::key_of(TreeId base, TreeId leaf) {
  const Tree& l = forest_[leaf];
  if (l.kind != Tree::Kind::Path && l.kind != Tree::Kind::String) {
    fail(fmt::format("{} as a path", opt::spelling(l.kind)));
    return {};
  }
  if (!base.valid() || l.boolean || forest_[base].kind != Tree::Kind::Path) return l.text;
  std::string_view prefix = names_.text(forest_[base].text), text = names_.text(l.text);
  bool inside =
      text == prefix || (starts_with(text, prefix) && text.substr(prefix.size(), 1) == ".");
  if (prefix.empty() || inside) return l.text;
  return names_.intern(fmt::format("{}.{}", prefix, text));
}

TreeId Specialiser::has_root(NameId root) {
  NameId now = at(root, round_);
  bool truth = answers_.params && answers_.params->has_root(names_.text(now));
  if (now != root && seen_) {
    Observation o;
    o.kind = Observation::Kind::Root;
    o.text = root;
    o.truth = truth;
    seen_->push_back(std::move(o));
  }
  return forest_.boolean(truth);
}

const model::Resolved* Specialiser::resolve(NameId key) {
  NameId now = at(key, round_);
  const model::Resolved* found = nullptr;
  auto known = resolved_.find(now);
  if (known != resolved_.end()) {
    found = known->second ? &*known->second : nullptr;
  } else if (answers_.params) {
    auto& entry = resolved_[now];
    entry = answers_.params->resolve(names_.text(now));
    found = entry ? &*entry : nullptr;
  }
  if (now != key && seen_) {
    Observation o;
    o.kind = Observation::Kind::Parameter;
    o.text = key;
    o.truth = found != nullptr;
    if (found) o.shape = found->shape;
    seen_->push_back(std::move(o));
  }
  return found;
}

TreeId Specialiser::config_tree(const model::ConfigValue& value) {
  using Kind = model::ConfigValue::Kind;
  switch (value.kind) {
    case Kind::Null:
      return forest_.null();
    case Kind::Bool:
      return forest_.boolean(value.boolean);
    case Kind::Int:
      return forest_.integer(dims_.integer(value.integer));
    case Kind::Float:
      return forest_.number(value.number);
    case Kind::String:
      return forest_.string(names_.intern(value.text));
    case Kind::Map:
      return forest_.string(names_.intern(value.show()));
    case Kind::List:
      break;
  }
  Args items;
  for (const model::ConfigValue& item : value.items) items.push_back(config_tree(item));
  return forest_.list(std::move(items));
}

namespace {

// The key that is nearest to an absent one, in the mapping that should hold it.
std::string near_key(const model::ConfigValue& root, const std::string& key) {
  size_t dot = key.rfind('.');
  std::string parent = dot == key.npos ? std::string() : key.substr(0, dot);
  const model::ConfigValue* map = &root;
  if (!parent.empty()) map = model::lookup(root, parent).value;
  if (!map || map->kind != model::ConfigValue::Kind::Map) return {};
  std::vector<std::string> names;
  for (const auto& [name, value] : map->members) names.push_back(name);
  std::vector<std::string> near = closest(dot == key.npos ? key : key.substr(dot + 1), names, 1);
  if (near.empty()) return {};
  return parent.empty() ? near[0] : parent + "." + near[0];
}

}  // namespace

// The front end replaced the reads whose key and default it knew.
TreeId Specialiser::config_read(Op op, const Args& args) {
  const Tree& key_tree = forest_[args[0]];
  bool named = key_tree.kind == Tree::Kind::String || key_tree.kind == Tree::Kind::Path;
  if (!answers_.config || !named)
    return fail("a config read is not decided; a checkpoint is needed");
  if (loop_var_.valid() && at(key_tree.text, round_) != key_tree.text) return give_up();
  std::string key(names_.text(key_tree.text));
  model::Lookup found = model::lookup(*answers_.config, key);
  if (found.state == model::LookupState::NotAMap) {
    return report(Diag::RunConfigType,
                  {found.stuck_at, "no mapping", fmt::format("one to hold `{}`", key)});
  }
  bool there = found.state == model::LookupState::Found;
  if (op == Op::ConfigHas) return forest_.boolean(there);
  there = there && found.value->kind != model::ConfigValue::Kind::Null;
  if (op == Op::ConfigHasValue) return forest_.boolean(there);
  if (!there) {
    bool has_default = args.size() > 1 && forest_[args[1]].kind != Tree::Kind::Null;
    if (has_default) return args[1];
    if (op == Op::ConfigValue) return forest_.null();
    report(Diag::RunConfig, {key});
    if (std::string near = near_key(*answers_.config, key); !near.empty()) {
      sink_.all().back().note(Note::NoteDidYouMean, node_ ? node_->span : Span{},
                              {fmt::format("`{}`", near)});
    }
    return {};
  }
  model::ConfigType type = graph::asked_type(op);
  auto value = model::converted(type, *found.value);
  if (!value)
    return report(Diag::RunConfigType, {key, found.value->show(), std::string(needed(type))});
  return config_tree(*value);
}

graph::Operand Specialiser::path_literal(NameId text) {
  graph::Operand operand;
  operand.data = emitter_.path(text);
  operand.type = types_.path();
  return operand;
}

// A parameter by its key, with the shape that its type says as far as that has names with values.
TreeId Specialiser::param(Frame& frame, NameId key, TypeId type) {
  if (!key.valid()) return {};
  std::vector<DimId> declared;
  TypeId plain = type.valid() ? types_.strip_optional(type) : type;
  if (plain.valid() && types_.is_tensor(plain)) declared = types_.dims_of(plain);
  Wants wants;
  for (DimId& dim : declared) {
    dim = resolve_dim(frame, dim);
    wants.push_back(dim.valid() ? dims_.as_integer(dim) : std::nullopt);
  }
  const model::Resolved* found = read_param(key, declared.empty() ? nullptr : &wants);
  std::vector<DimId> dims;
  if (found) {
    for (int64_t n : found->shape) dims.push_back(dims_.integer(n));
  } else {
    unsure_ |= declared.empty();
    for (DimId dim : declared) dims.push_back(dim.valid() ? dim : guess());
  }
  DType stored = found ? storage_info(found->storage).dtype : DType::F32;
  DType dtype = is_float(stored) ? options_.compute : stored;
  graph::ValueId value =
      emitter_.node(Op::ParamsParam, {path_literal(key)}, {}, {{dims, dtype}}, origin())[0];
  params_[value] = key;
  return forest_.tensor(std::move(dims), dtype, value);
}

TreeId Specialiser::layer(Op op, const Args& args) {
  if (has_phantom(args)) return give_up();
  if (!is_tensor(args[1])) return report(Diag::RunNull, {fmt::format("`{}`", axon::spelling(op))});
  const std::vector<DimId>& dims = forest_[args[1]].dims;
  if (op == Op::Embedding) return embedding(args);
  if (op == Op::ExpertLinear) return expert_linear(args);
  if (dims.empty()) return fail("a layer of a tensor without axes");
  return op == Op::Layernorm ? layernorm(args) : linear(args);
}

// path, x, dim, bias, transpose, expert, weight_path, bias_path
TreeId Specialiser::linear(const Args& args) {
  NameId weight_key = key_of(args[0], args[6]), bias_key = key_of(args[0], args[7]);
  const Tree& x = forest_[args[1]];
  bool transpose = false, bias = false;
  if (!condition(args[4], transpose) || !condition(args[3], bias)) return {};
  if (!weight_key.valid() || !bias_key.valid()) return {};
  std::optional<int64_t> item;
  if (forest_[args[5]].kind != Tree::Kind::Null) {
    DimId number = dim_of(args[5]);
    item = number.valid() ? integer_of(number) : std::nullopt;
    if (!item)
      return number.valid() ? fail("the number of an expert is known only at run time") : TreeId{};
  }
  std::vector<DimId> dims = x.dims;
  Matrix w = read_matrix(weight_key, item.has_value(), transpose, wanted(args[2]), dims.back());
  if (item && w.bank && (*item < 0 || *item >= *w.bank))
    return report(Diag::RunIndex, {*item, *w.bank});
  dims.back() = w.out;
  Wants row = {dims_.as_integer(w.out)};  // of a bank of biases, or one for all
  const model::Resolved* stored = bias ? resolve(bias_key) : nullptr;
  if (item && stored && stored->shape.size() > 1) row.insert(row.begin(), w.bank);
  bool has_bias = bias && read_bias(bias_key, row);
  std::vector<graph::Operand> operands(8);
  operands[0] = path_literal(forest_[args[0]].text);
  operands[1] = emitter_.ref(x.value);
  to_operand(forest_.integer(dims.back()), operands[2]);
  to_operand(forest_.boolean(has_bias), operands[3]);
  to_operand(forest_.boolean(transpose), operands[4]);
  to_operand(item ? forest_.integer(dims_.integer(*item)) : forest_.null(), operands[5]);
  operands[6] = path_literal(weight_key);
  operands[7] = path_literal(bias_key);
  DType dtype = x.dtype;
  graph::ValueId value =
      emitter_.node(Op::Linear, std::move(operands), {}, {{dims, dtype}}, origin())[0];
  return forest_.tensor(std::move(dims), dtype, value);
}

// path, x, expert_idx, dim, bias, transpose, weight_path, bias_path
TreeId Specialiser::expert_linear(const Args& args) {
  NameId weight_key = key_of(args[0], args[6]), bias_key = key_of(args[0], args[7]);
  const Tree& x = forest_[args[1]];
  if (!is_tensor(args[2])) return report(Diag::RunNull, {"`expert_idx` of `expert_linear`"});
  const Tree& index = forest_[args[2]];
  bool transpose = false, bias = false;
  if (!condition(args[5], transpose) || !condition(args[4], bias)) return {};
  if (!weight_key.valid() || !bias_key.valid()) return {};
  if (index.dims.size() + 1 != x.dims.size())
    return fail("experts are not chosen for the rows of `x`");
  for (size_t i = 0; i < index.dims.size(); ++i) {
    if (index.dims[i] != x.dims[i]) return fail("experts are not chosen for the rows of `x`");
  }
  std::vector<DimId> dims = x.dims;
  Matrix bank = read_matrix(weight_key, true, transpose, wanted(args[3]), dims.back());
  dims.back() = bank.out;
  bool has_bias = bias && read_bias(bias_key, {bank.bank, dims_.as_integer(bank.out)});
  std::vector<graph::Operand> operands(8);
  operands[0] = path_literal(forest_[args[0]].text);
  operands[1] = emitter_.ref(x.value);
  operands[2] = emitter_.ref(index.value);
  to_operand(forest_.integer(dims.back()), operands[3]);
  to_operand(forest_.boolean(has_bias), operands[4]);
  to_operand(forest_.boolean(transpose), operands[5]);
  operands[6] = path_literal(weight_key);
  operands[7] = path_literal(bias_key);
  DType dtype = x.dtype;
  graph::ValueId value =
      emitter_.node(Op::ExpertLinear, std::move(operands), {}, {{dims, dtype}}, origin())[0];
  return forest_.tensor(std::move(dims), dtype, value);
}

// path, x, dim
TreeId Specialiser::embedding(const Args& args) {
  const Tree& x = forest_[args[1]];
  NameId base = forest_[args[0]].text;
  NameId key = names_.intern(fmt::format("{}.weight", names_.text(base)));
  std::optional<int64_t> width = wanted(args[2]);
  const model::Resolved* table = read_weight(key, {std::nullopt, width});
  if (!width && table) width = table->shape[1];
  std::vector<DimId> dims = x.dims;
  dims.push_back(width ? dims_.integer(*width) : guess());
  std::vector<graph::Operand> operands(3);
  operands[0] = path_literal(base);
  operands[1] = emitter_.ref(x.value);
  to_operand(forest_.integer(dims.back()), operands[2]);
  DType dtype = options_.compute;
  graph::ValueId value =
      emitter_.node(Op::Embedding, std::move(operands), {}, {{dims, dtype}}, origin())[0];
  return forest_.tensor(std::move(dims), dtype, value);
}

// path, x, eps, dim, weight_path, bias, bias_path
TreeId Specialiser::layernorm(const Args& args) {
  const Tree x = forest_[args[1]];
  NameId weight_key = key_of(args[0], args[4]), bias_key = key_of(args[0], args[6]);
  if (!weight_key.valid() || !bias_key.valid()) return {};
  bool bias = false;
  if (!condition(args[5], bias)) return {};
  TreeId eps = coerce(args[2], types_.float_());
  if (!eps.valid()) return {};
  const model::Resolved* weight = read_weight(weight_key, {dims_.as_integer(x.dims.back())});
  if (weight) bind_width(x.dims.back(), weight->shape[0], weight_key);
  bool has_bias = bias && read_bias(bias_key, {dims_.as_integer(x.dims.back())});
  std::vector<graph::Operand> operands(7);
  operands[0] = path_literal(forest_[args[0]].text);
  operands[1] = emitter_.ref(x.value);
  to_operand(forest_[eps].kind == Tree::Kind::Null ? forest_.number(1e-5) : eps, operands[2]);
  to_operand(forest_.null(), operands[3]);
  operands[4] = path_literal(weight_key);
  to_operand(forest_.boolean(has_bias), operands[5]);
  operands[6] = path_literal(bias_key);
  graph::ValueId value =
      emitter_.node(Op::Layernorm, std::move(operands), {}, {{x.dims, x.dtype}}, origin())[0];
  return forest_.tensor(x.dims, x.dtype, value);
}

}  // namespace axon::opt
