// What reads the checkpoint: parameters and the layers that own some.
#include <fmt/format.h>

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

const model::Resolved* Specialiser::require_param(NameId key, size_t least_rank) {
  if (!key.valid()) return nullptr;
  const model::Resolved* found = resolve(key);
  std::string name(names_.text(at(key, round_)));
  if (!found) {
    report(Diag::RunParam, {name});
    if (!answers_.params) return nullptr;
    std::vector<std::string> near = answers_.params->near_misses(name);
    if (!near.empty()) {
      sink_.all().back().note(Note::NoteDidYouMean, node_ ? node_->span : Span{},
                              {fmt::format("`{}`", join(near, "`, `"))});
    }
    return nullptr;
  }
  if (found->shape.size() >= least_rank) return found;
  std::vector<std::string> sizes;
  for (int64_t n : found->shape) sizes.push_back(std::to_string(n));
  report(Diag::RunParamShape,
         {name, fmt::format("[{}]", join(sizes, ",")), fmt::format("{} axes", least_rank)});
  return nullptr;
}

// Whether an axis of a tensor has the width that the program names, if it names one.
bool Specialiser::has_width(TreeId dim, NameId key, const model::Resolved& found, size_t axis) {
  if (!dim.valid() || forest_[dim].kind != Tree::Kind::Int) return true;
  std::optional<int64_t> want = integer_of(forest_[dim].dim);
  if (!want || *want == found.shape[axis]) return true;
  std::vector<std::string> is, needs;
  for (size_t i = 0; i < found.shape.size(); ++i) {
    is.push_back(std::to_string(found.shape[i]));
    needs.push_back(std::to_string(i == axis ? *want : found.shape[i]));
  }
  report(Diag::RunParamShape,
         {std::string(names_.text(at(key, round_))), fmt::format("[{}]", join(is, ",")),
          fmt::format("[{}]", join(needs, ","))});
  return false;
}

namespace {

model::ConfigType asked(Op op) {
  switch (op) {
    case Op::ConfigInt:
    case Op::ConfigDim:
      return model::ConfigType::Integer;
    case Op::ConfigFloat:
      return model::ConfigType::Number;
    case Op::ConfigBool:
      return model::ConfigType::Truth;
    case Op::ConfigStr:
      return model::ConfigType::Text;
    case Op::ConfigList:
      return model::ConfigType::List;
    default:
      return model::ConfigType::Any;
  }
}

}  // namespace

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
    return report(Diag::RunConfig, {key});
  }
  model::ConfigType type = asked(op);
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

TreeId Specialiser::param(NameId key) {
  const model::Resolved* found = require_param(key, 0);
  if (!found) return {};
  std::vector<DimId> dims;
  for (int64_t n : found->shape) dims.push_back(dims_.integer(n));
  DType stored = storage_info(found->storage).dtype;
  DType dtype = is_float(stored) ? options_.compute : stored;
  graph::ValueId value =
      emitter_.node(Op::ParamsParam, {path_literal(key)}, {}, {{dims, dtype}}, origin())[0];
  return forest_.tensor(std::move(dims), dtype, value);
}

TreeId Specialiser::layer(Op op, const Args& args) {
  if (has_phantom(args)) return give_up();
  if (!is_tensor(args[1])) return report(Diag::RunNull, {fmt::format("`{}`", axon::spelling(op))});
  if (op == Op::Embedding) return embedding(args);
  if (op == Op::Layernorm) return layernorm(args);
  if (op == Op::Linear) return linear(op, args);
  return expert_linear(args);
}

// A width that only the call knows must be `wanted` then.
bool Specialiser::width_is_open(const Tree& x, int64_t wanted) {
  if (x.dims.empty() || dims_.as_integer(x.dims.back())) return false;
  DimFact fact;
  fact.left = x.dims.back();
  fact.right = dims_.integer(wanted);
  fact.span = node_ ? node_->span : Span{};
  add_fact(fact);
  return true;
}

// path, x, dim, bias, transpose, expert, weight_path, bias_path
TreeId Specialiser::linear(Op op, const Args& args) {
  NameId weight_key = key_of(args[0], args[6]), bias_key = key_of(args[0], args[7]);
  const Tree& x = forest_[args[1]];
  const model::Resolved* weight = require_param(weight_key, 2);
  if (!weight) return {};
  bool transpose = false, bias = false;
  if (!condition(args[4], transpose) || !condition(args[3], bias)) return {};
  size_t rank = weight->shape.size();
  TreeId expert = forest_.null();
  if (forest_[args[5]].kind != Tree::Kind::Null) {
    DimId number = dim_of(args[5]);
    std::optional<int64_t> item = number.valid() ? integer_of(number) : std::nullopt;
    if (!item)
      return number.valid() ? fail("the number of an expert is known only at run time") : TreeId{};
    if (rank != 3 || *item < 0 || *item >= weight->shape[0])
      return report(Diag::RunIndex, {*item, rank == 3 ? weight->shape[0] : int64_t{0}});
    expert = forest_.integer(dims_.integer(*item));
    rank = 2;
  }
  size_t lead = weight->shape.size() - rank;  // the axis of a bank
  int64_t in = weight->shape[lead + (transpose ? rank - 2 : rank - 1)],
          out = weight->shape[lead + (transpose ? rank - 1 : rank - 2)];
  std::optional<int64_t> width = x.dims.empty() ? std::nullopt : dims_.as_integer(x.dims.back());
  bool open = width_is_open(x, in);
  if (rank != 2 || (!open && width != in)) {
    return report(Diag::RunParamShape,
                  {std::string(names_.text(at(weight_key, round_))),
                   fmt::format("[{},{}]", transpose ? in : out, transpose ? out : in),
                   fmt::format("a width of {}", x.dims.empty() ? "1" : dims_.show(x.dims.back()))});
  }
  if (!has_width(args[2], weight_key, *weight, lead + (transpose ? rank - 1 : rank - 2))) return {};
  bool has_bias = bias && resolve(bias_key) != nullptr;
  std::vector<DimId> dims = x.dims;
  dims.back() = dims_.integer(out);
  std::vector<graph::Operand> operands(8);
  operands[0] = path_literal(forest_[args[0]].text);
  operands[1] = emitter_.ref(x.value);
  to_operand(forest_.integer(dims.back()), operands[2]);
  to_operand(forest_.boolean(has_bias), operands[3]);
  to_operand(forest_.boolean(transpose), operands[4]);
  to_operand(expert, operands[5]);
  operands[6] = path_literal(weight_key);
  operands[7] = path_literal(bias_key);
  graph::ValueId value = emitter_.node(op, std::move(operands), {}, {{dims, x.dtype}}, origin())[0];
  return forest_.tensor(std::move(dims), x.dtype, value);
}

// path, x, expert_idx, dim, bias, transpose, weight_path, bias_path
TreeId Specialiser::expert_linear(const Args& args) {
  NameId weight_key = key_of(args[0], args[6]), bias_key = key_of(args[0], args[7]);
  const Tree& x = forest_[args[1]];
  if (!is_tensor(args[2])) return report(Diag::RunNull, {"`expert_idx` of `expert_linear`"});
  const Tree& index = forest_[args[2]];
  const model::Resolved* bank = require_param(weight_key, 3);
  if (!bank) return {};
  bool transpose = false, bias = false;
  if (!condition(args[5], transpose) || !condition(args[4], bias)) return {};
  size_t rank = bank->shape.size();
  int64_t in = bank->shape[transpose ? rank - 2 : rank - 1],
          out = bank->shape[transpose ? rank - 1 : rank - 2];
  if (x.dims.empty() || index.dims.size() + 1 != x.dims.size())
    return fail("experts are not chosen for the rows of `x`");
  for (size_t i = 0; i < index.dims.size(); ++i) {
    if (index.dims[i] != x.dims[i]) return fail("experts are not chosen for the rows of `x`");
  }
  std::optional<int64_t> width = dims_.as_integer(x.dims.back());
  bool open = rank == 3 && width_is_open(x, in);
  if (rank != 3 || (!open && width != in)) {
    return report(Diag::RunParamShape,
                  {std::string(names_.text(at(weight_key, round_))),
                   fmt::format("[{},{}]", transpose ? in : out, transpose ? out : in),
                   fmt::format("a width of {}", dims_.show(x.dims.back()))});
  }
  if (!has_width(args[3], weight_key, *bank, transpose ? rank - 1 : rank - 2)) return {};
  std::vector<DimId> dims = x.dims;
  dims.back() = dims_.integer(out);
  std::vector<graph::Operand> operands(8);
  operands[0] = path_literal(forest_[args[0]].text);
  operands[1] = emitter_.ref(x.value);
  operands[2] = emitter_.ref(index.value);
  to_operand(forest_.integer(dims.back()), operands[3]);
  to_operand(forest_.boolean(bias && resolve(bias_key) != nullptr), operands[4]);
  to_operand(forest_.boolean(transpose), operands[5]);
  operands[6] = path_literal(weight_key);
  operands[7] = path_literal(bias_key);
  graph::ValueId value =
      emitter_.node(Op::ExpertLinear, std::move(operands), {}, {{dims, x.dtype}}, origin())[0];
  return forest_.tensor(std::move(dims), x.dtype, value);
}

// path, x, dim
TreeId Specialiser::embedding(const Args& args) {
  const Tree& x = forest_[args[1]];
  NameId base = forest_[args[0]].text;
  NameId key = names_.intern(fmt::format("{}.weight", names_.text(base)));
  const model::Resolved* table = require_param(key, 2);
  if (!table || !has_width(args[2], key, *table, table->shape.size() - 1)) return {};
  std::vector<DimId> dims = x.dims;
  dims.push_back(dims_.integer(table->shape.back()));
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
  const Tree& x = forest_[args[1]];
  NameId weight_key = key_of(args[0], args[4]), bias_key = key_of(args[0], args[6]);
  const model::Resolved* weight = require_param(weight_key, 1);
  if (!weight) return {};
  std::optional<int64_t> width = x.dims.empty() ? std::nullopt : dims_.as_integer(x.dims.back());
  bool open = weight->shape.size() == 1 && width_is_open(x, weight->shape[0]);
  if (weight->shape.size() != 1 || (!open && width != weight->shape[0])) {
    return report(
        Diag::RunParamShape,
        {std::string(names_.text(at(weight_key, round_))), fmt::format("[{}]", weight->shape[0]),
         fmt::format("a width of {}", x.dims.empty() ? "1" : dims_.show(x.dims.back()))});
  }
  bool bias = false;
  if (!condition(args[5], bias)) return {};
  TreeId eps = coerce(args[2], types_.float_());
  if (!eps.valid()) return {};
  std::vector<graph::Operand> operands(7);
  operands[0] = path_literal(forest_[args[0]].text);
  operands[1] = emitter_.ref(x.value);
  to_operand(forest_[eps].kind == Tree::Kind::Null ? forest_.number(1e-5) : eps, operands[2]);
  to_operand(forest_.null(), operands[3]);
  operands[4] = path_literal(weight_key);
  to_operand(forest_.boolean(bias && resolve(bias_key) != nullptr), operands[5]);
  operands[6] = path_literal(bias_key);
  graph::ValueId value =
      emitter_.node(Op::Layernorm, std::move(operands), {}, {{x.dims, x.dtype}}, origin())[0];
  return forest_.tensor(x.dims, x.dtype, value);
}

}  // namespace axon::opt
