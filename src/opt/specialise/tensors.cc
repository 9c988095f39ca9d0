// Nodes of the flat module: operands, results, and what needs no node after all.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "opt/specialise/infer.h"
#include "opt/specialise/specialiser.h"

namespace axon::opt {

Origin Specialiser::origin() {
  Origin origin;
  origin.source = graph_[frame_->id].name;
  origin.scope = scope_of(*frame_, *node_);
  origin.span = node_->span;
  for (const Frame* f = frame_; options_.calls && f && f->caller && f->call; f = f->caller)
    origin.calls.push_back(f->call->span);
  if (node_->outputs.size() == 1) origin.name = graph_[frame_->id].values[node_->outputs[0]].name;
  return origin;
}

graph::Operand Specialiser::integer_operand(DimId dim) {
  graph::Operand operand;
  std::optional<int64_t> value = dims_.as_integer(dim);
  if (value)
    operand.data = graph::LitInt{*value};
  else
    operand.data = graph::DimRef{dim};
  operand.type = value ? types_.int_() : types_.dim();
  return operand;
}

bool Specialiser::to_operand(TreeId id, graph::Operand& out) {
  const Tree& tree = forest_[id];
  switch (tree.kind) {
    case Tree::Kind::Null:
      out.data = graph::LitNull{};
      out.type = types_.null();
      return true;
    case Tree::Kind::Bool:
      out.data = graph::LitBool{tree.boolean};
      out.type = types_.bool_();
      return true;
    case Tree::Kind::Int:
      out = integer_operand(tree.dim);
      return true;
    case Tree::Kind::Float:
      out.data = graph::LitFloat{tree.number};
      out.type = types_.float_();
      return true;
    case Tree::Kind::String:
      out.data = graph::LitString{tree.text};
      out.type = types_.string();
      return true;
    case Tree::Kind::Path:
      out = path_literal(tree.text);
      return true;
    case Tree::Kind::Tensor:
      out = emitter_.ref(tree.value);
      return true;
    case Tree::Kind::List:
    case Tree::Kind::Tuple:
      break;
  }
  std::vector<graph::Operand> items(tree.items.size());
  if (seen_ && !made_in_round(id) && !items.empty()) {
    note_list(id);
    for (size_t i = 0; i < items.size(); ++i)
      note_item(id, dims_.integer(static_cast<int64_t>(i)), tree.items[i]);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (!to_operand(tree.items[i], items[i])) return false;
  }
  TypeId item = items.empty() ? types_.any() : items[0].type;
  TypeId type = types_.list(item);
  Origin where = origin();
  where.name = {};
  out = emitter_.ref(emitter_.list(std::move(items), type, where));
  return true;
}

// The sizes that the result has by its type, where something says them: names that are known here,
// or an operand of the same type (`..S`). An invalid size is not known; empty: none is.
std::vector<DimId> Specialiser::declared_shape(Frame& frame,
                                               const std::vector<graph::Operand>& inputs,
                                               TypeId type) {
  if (!type.valid()) return {};
  const TypeId plain = types_.strip_optional(type);
  const TypeData data = types_.get(plain);  // a copy: evaluating a global may make types
  if (data.kind != TypeKind::Tensor || !data.known_rank) return {};
  for (const graph::Operand& input : inputs) {
    const graph::Ref* ref = input.get<graph::Ref>();
    if (!ref || graph_[frame.id].values[ref->value].type != plain) continue;
    TreeId tree = frame.values[static_cast<size_t>(ref->value.index)];
    if (is_tensor(tree)) return forest_[tree].dims;
  }
  std::vector<DimId> out;
  for (const auto& axis : data.axes) {
    if (axis.is_run()) return {};
    out.push_back(resolve_dim(frame, axis.dim));
  }
  return out;
}

void Specialiser::add_fact(DimFact fact) {
  if (is_guess(fact.left) || is_guess(fact.right)) return;
  for (const DimFact& known : out_.facts) {
    if (known.relation == fact.relation && known.left == fact.left && known.right == fact.right &&
        known.or_one == fact.or_one)
      return;
  }
  if (node_ != nullptr) fact.span = node_->span;
  for (const Frame* f = frame_; f && f->caller && f->call; f = f->caller)
    fact.calls.push_back(f->call->span);
  out_.facts.push_back(fact);
}

TreeId Specialiser::tensor_op(Op op, const Args& given) {
  if (has_phantom(given)) return give_up();
  Args args = given;
  if (loop_var_.valid()) {
    for (TreeId& arg : args) arg = settled(arg);
  }
  TreeId known = simplify(op, args);
  if (known.valid() || failed_) return known;
  Inference inference(forest_, dims_, options_, args);
  inference.declared = std::exchange(declared_, {});
  if (!inference.run(op)) {
    TreeId other = misfit(args);
    return other.valid() ? other : fail(inference.error);
  }
  if (inference.results.empty()) return fail("it gives no piece");
  for (const DimFact& fact : inference.needed) {
    bool known = std::any_of(out_.facts.begin(), out_.facts.end(), [&](const DimFact& other) {
      return other.relation == fact.relation && other.left == fact.left &&
             other.right == fact.right;
    });
    if (!known) return fail("its pieces may have different sizes");
  }
  for (DimFact fact : inference.facts) {
    if (is_unknown(fact.left) || is_unknown(fact.right))
      return fail("a comparison of sizes that are too long formulas");
    // An axis of one is stretched instead, if the caller gives that.
    bool may_stretch = op == Op::Expand &&
                       std::any_of(out_.facts.begin(), out_.facts.end(), [&](const DimFact& k) {
                         return k.or_one && k.left == fact.left && k.right == fact.right;
                       });
    if (may_stretch) return fail("an axis is stretched if it is one");
    for (TreeId arg : args) {
      auto param = is_tensor(arg) ? params_.find(forest_[arg].value) : params_.end();
      if (param != params_.end()) fact.tensor = at(param->second, round_);
    }
    add_fact(fact);
  }
  for (Emitter::Result& result : inference.results) {
    for (DimId& dim : result.dims) {
      if (is_unknown(dim)) return fail("a size that is too long a formula");
      dim = with_facts(dim);
    }
  }
  TreeId uniform = fold_uniform(op, args, inference.results);
  if (uniform.valid() || failed_) return uniform;
  std::vector<graph::Operand> operands(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (!to_operand(args[i], operands[i])) return {};
  }
  std::vector<graph::ValueId> values =
      emitter_.node(op, std::move(operands), {}, inference.results, origin());
  Args trees;
  for (size_t i = 0; i < values.size(); ++i) {
    trees.push_back(
        forest_.tensor(inference.results[i].dims, inference.results[i].dtype, values[i]));
  }
  if (inference.several) return forest_.list(std::move(trees));
  if (trees.size() > 1) return forest_.tuple(std::move(trees));
  note_uniform(op, args, trees[0]);
  return trees[0];
}

// A value that exists already: identities of layout and conversion.
TreeId Specialiser::simplify(Op op, const Args& args) {
  if (op == Op::Clamp && is_tensor(args[0])) {
    bool open =
        forest_[args[1]].kind == Tree::Kind::Null && forest_[args[2]].kind == Tree::Kind::Null;
    return open ? args[0] : TreeId{};
  }
  if (op == Op::AssignSlice) return whole_assignment(args);
  if (op == Op::Scatter) return unit_scatter(args);
  if (op == Op::CoreBinaryNe && is_tensor(args[0]) && forest_[args[0]].dtype == DType::Bool) {
    return uniform(args[1]) == 0 && !is_tensor(args[1]) ? args[0] : TreeId{};
  }
  bool adds = op == Op::CoreBinaryAdd || op == Op::CoreBinarySub, scales = op == Op::CoreBinaryMul;
  if (adds || scales) {
    // An integer 0 or 1 beside a tensor of another type than bool changes nothing, nor does 1.0
    // beside one of floats.
    for (size_t i = op == Op::CoreBinarySub ? 1 : 0; i < 2; ++i) {
      const Tree& neutral = forest_[args[i]];
      const Tree& other = forest_[args[1 - i]];
      if (scales && neutral.kind == Tree::Kind::Float && neutral.number == 1.0 &&
          is_float(other.dtype))
        return args[1 - i];
      if (neutral.kind != Tree::Kind::Int || other.dtype == DType::Bool) continue;
      if (scales && dims_.as_integer(neutral.dim) == 1) return args[1 - i];
      if (adds && is_integer(other.dtype) && dims_.as_integer(neutral.dim) == 0) return args[1 - i];
    }
    return {};
  }
  switch (op) {
    case Op::Reshape:
    case Op::Expand:
    case Op::Slice:
    case Op::Repeat_:
    case Op::Cast:
    case Op::CastLike:
    case Op::TensorLike:
      break;
    default:
      return {};
  }
  if (!is_tensor(args[0])) return {};
  Inference inference(forest_, dims_, options_, args);
  if (!inference.run(op) || !inference.facts.empty() || !inference.needed.empty()) return {};
  const Tree& x = forest_[args[0]];
  const Emitter::Result& result = inference.results[0];
  return result.dims == x.dims && result.dtype == x.dtype ? args[0] : TreeId{};
}

// x, src, dim, start, end: a source that covers everything is the result.
TreeId Specialiser::whole_assignment(const Args& args) {
  if (!is_tensor(args[0]) || !is_tensor(args[1])) return {};
  const Tree& x = forest_[args[0]];
  const Tree& src = forest_[args[1]];
  const Tree& start = forest_[args[3]];
  bool from_zero = start.kind == Tree::Kind::Int && dims_.as_integer(start.dim) == 0;
  return from_zero && x.dims == src.dims && x.dtype == src.dtype ? args[1] : TreeId{};
}

// x, index, src, dim: an index that names one place of the axis everywhere writes a slice, which
// can be done in place.
TreeId Specialiser::unit_scatter(const Args& args) {
  if (!is_tensor(args[0]) || !is_tensor(args[1]) || !is_tensor(args[2])) return {};
  const Tree &x = forest_[args[0]], &index = forest_[args[1]], &src = forest_[args[2]];
  const Tree& given = forest_[args[3]];
  auto place = places_.find(index.value);
  std::optional<int64_t> axis =
      given.kind == Tree::Kind::Int ? dims_.as_integer(given.dim) : std::nullopt;
  auto rank = static_cast<int64_t>(x.dims.size());
  if (place == places_.end() || !axis || *axis < -rank || *axis >= rank) return {};
  std::vector<DimId> slice = x.dims;
  slice[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)] = dims_.integer(1);
  if (index.dims != slice || src.dims != slice || src.dtype != x.dtype) return {};
  TreeId start = forest_.integer(place->second);
  TreeId end = forest_.integer(dims_.value_add(place->second, dims_.integer(1)));
  return tensor_op(Op::AssignSlice, {args[0], args[2], args[3], start, end});
}

}  // namespace axon::opt
