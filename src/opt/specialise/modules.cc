// Specialisation of structure: modules, calls, selects and loops.
#include <fmt/format.h>

#include <utility>

#include "opt/simplify.h"
#include "opt/specialise/specialiser.h"
#include "support/text.h"

namespace axon::opt {
namespace {

// A loop that runs longer than this is not unrolled.
constexpr int64_t kMaxRounds = 1 << 16;
constexpr int64_t kProbedRounds = 1 << 9;  // of a loop that comes to nothing

}  // namespace

Specialiser::Specialiser(const graph::Graph& graph, TypeTable& types, Forest& forest,
                         const Answers& answers, const SpecialiseOptions& options, DiagSink& sink)
    : graph_(graph),
      types_(types),
      dims_(types.dims()),
      names_(types.dims().names()),
      forest_(forest),
      answers_(answers),
      options_(options),
      sink_(sink),
      emitter_(out_.graph, types),
      globals_(graph.modules.size()) {}

std::optional<Specialised> Specialiser::run(const std::vector<TreeId>& inputs) {
  bool done = run_main(inputs);
  if (gave_up_ || !deliver_reads() || !done) return std::nullopt;
  return std::move(out_);
}

bool Specialiser::run_main(const std::vector<TreeId>& inputs) {
  const graph::Module& main = graph_[graph_.main];
  emitter_.module().name = main.name;
  emitter_.module().span = main.span;
  Frame frame;
  frame.id = graph_.main;
  frame.values.resize(main.values.size());
  if (!bind_main(frame, inputs) || !entry_facts(frame) || !run_body(frame)) return false;
  const TypeData whole = main.return_type.valid() ? types_.get(main.return_type) : TypeData{};
  for (size_t i = 0; i < main.outputs.size(); ++i) {
    TreeId tree = operand(frame, main.outputs[i]);
    if (!tree.valid()) return false;
    const bool tuple = whole.kind == TypeKind::Tuple && whole.items.size() == main.outputs.size();
    check_result(frame, tuple ? whole.items[i] : main.return_type, tree, main.span);
    out_.outputs.push_back(tree);
    for (const Leaf& leaf : leaves(forest_, tree)) {
      const Tree& t = forest_[leaf.tree];
      if (t.kind == Tree::Kind::Tensor) emitter_.module().outputs.push_back(emitter_.ref(t.value));
    }
  }
  for (graph::ValueId value : kept_) emitter_.module().outputs.push_back(emitter_.ref(value));
  out_.output_names = main.output_names;
  out_.graph.pragmas = graph_.pragmas;
  remove_dead(out_.module());
  return true;
}

// Gives every tensor leaf of the input trees a value of the flat module.
bool Specialiser::bind_main(Frame& frame, const std::vector<TreeId>& inputs) {
  const graph::Module& main = graph_[graph_.main];
  AXON_CHECK(inputs.size() == main.inputs.size(), "one tree for each input of MAIN");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value& value = main.values[main.inputs[i]];
    auto rebuild = [&](auto&& self, TreeId id, const std::string& place) -> TreeId {
      const Tree tree = forest_[id];
      if (tree.kind == Tree::Kind::Tensor) {
        NameId name = names_.intern(place);
        std::vector<DimId> dims = name_constants(frame, tree.dims);
        FlatInput input{name, i, emitter_.input(name, dims, tree.dtype)};
        out_.inputs.push_back(input);
        return forest_.tensor(std::move(dims), tree.dtype, input.value);
      }
      if (tree.kind != Tree::Kind::List && tree.kind != Tree::Kind::Tuple) return id;
      Args items;
      for (size_t k = 0; k < tree.items.size(); ++k) {
        items.push_back(self(self, tree.items[k], fmt::format("{}.{}", place, k)));
      }
      return tree.kind == Tree::Kind::List ? forest_.list(items) : forest_.tuple(items);
    };
    TreeId tree = rebuild(rebuild, inputs[i], std::string(names_.text(value.name)));
    for (const graph::InputDefault& given : main.defaults) {  // what is not fed has its default
      if (static_cast<size_t>(given.input) == i && forest_[tree].kind == Tree::Kind::Null)
        tree = operand(frame, given.value);
    }
    tree = coerce(tree, value.type);
    bind_param_symbol(frame, value.name, tree);
    bind_dims(frame, value.type, tree);
    frame.values[static_cast<size_t>(main.inputs[i].index)] = tree;
  }
  return !failed_;
}

// What typechecking left to the caller of MAIN. Facts on values that are made later, or that are
// null in this shape of call, are no entry facts.
bool Specialiser::entry_facts(Frame& frame) {
  name_integers(frame);
  for (const graph::Constraint& constraint : graph_[graph_.main].constraints) {
    if (!entry_fact(frame, constraint)) {
      fail("a constraint of its entry is none on sizes");
      return false;
    }
  }
  return true;
}

// Whether an input is null, true or false, where that is known of this shape of call.
std::optional<bool> Specialiser::known_guard(Frame& frame, const graph::Fact& guard) {
  using graph::Relation;
  const graph::Ref* ref = guard.left.get<graph::Ref>();
  if (!ref || guard.relation < Relation::IsTrue) return std::nullopt;
  TreeId id = frame.values[static_cast<size_t>(ref->value.index)];
  if (!id.valid()) return std::nullopt;
  const Tree& tree = forest_[id];
  const bool null = tree.kind == Tree::Kind::Null;
  if (guard.relation == Relation::IsNull) return null;
  if (guard.relation == Relation::NotNull) return !null;
  if (null || tree.kind != Tree::Kind::Bool) return std::nullopt;
  return tree.boolean == (guard.relation == Relation::IsTrue);
}

bool Specialiser::entry_fact(Frame& frame, const graph::Constraint& constraint) {
  bool late = false;
  auto side = [&](const graph::Operand& o, DimId& out) {
    if (const graph::LitInt* literal = o.get<graph::LitInt>()) out = dims_.integer(literal->value);
    if (const graph::DimRef* dim = o.get<graph::DimRef>()) {
      out = resolve_dim(frame, dim->dim);
      late = late || is_late(dim->dim);
    }
    return o.get<graph::LitInt>() || o.get<graph::DimRef>();
  };
  DimFact fact;
  bool eq = constraint.fact.relation == graph::Relation::Eq;
  if (!eq && constraint.fact.relation != graph::Relation::Le) return false;
  fact.relation = eq ? DimFact::Relation::Eq : DimFact::Relation::Le;
  fact.span = constraint.span;
  if (!side(constraint.fact.left, fact.left) || !side(constraint.fact.right, fact.right))
    return false;
  for (const graph::Fact& guard : constraint.guards) {
    std::optional<bool> holds = known_guard(frame, guard);
    if (holds == false) return true;  // of a branch that this call does not take
    if (holds == true) continue;
    DimId left, one;
    bool sizes = side(guard.left, left) && side(guard.right, one);
    bool or_one = eq && sizes && guard.relation == graph::Relation::Ne && left == fact.left &&
                  one == dims_.integer(1) && !fact.or_one;
    if (!or_one) return false;
    fact.or_one = true;
  }
  if (!fact.left.valid() || !fact.right.valid() || fact.left == fact.right) return true;
  // Between numbers it was looked at when the program was checked; what is left of such facts is
  // of branches that the configuration does not take. Constants that no stage knew were not looked
  // at.
  if (!late && dims_.as_integer(fact.left) && dims_.as_integer(fact.right)) return true;
  add_fact(fact);
  return true;
}

TreeId Specialiser::run_module(graph::ModuleId id, const Args& args, const graph::Node* call,
                               const Frame* caller) {
  const graph::Module& module = graph_[id];
  if (args.size() != module.inputs.size()) {
    return fail(fmt::format("`{}` takes {} arguments, found {}", names_.text(module.name),
                            module.inputs.size(), args.size()));
  }
  Frame frame;
  frame.id = id;
  frame.values.resize(module.values.size());
  frame.caller = caller;
  frame.call = call;
  frame.depth = caller ? caller->depth + 1 : 0;
  if (caller && call) frame.scope = scope_of(*frame_, *call);
  for (size_t i = 0; i < args.size(); ++i) {
    const graph::Value& value = module.values[module.inputs[i]];
    TreeId tree = coerce(args[i], value.type);
    if (!tree.valid()) return {};
    bind_param_symbol(frame, value.name, tree);
    bind_dims(frame, value.type, tree);
    name_value(value.name, tree, frame);
    frame.values[static_cast<size_t>(module.inputs[i].index)] = tree;
  }
  Frame* outer = frame_;
  const graph::Node* outer_node = node_;
  TreeId result;
  if (!failed_ && run_body(frame)) result = result_of(frame);
  frame_ = outer;
  node_ = outer_node;
  return result;
}

TreeId Specialiser::result_of(Frame& frame) {
  const graph::Module& module = graph_[frame.id];
  Args results;
  for (const graph::Operand& output : module.outputs) {
    TreeId tree = operand(frame, output);
    if (!tree.valid()) return {};
    results.push_back(tree);
  }
  TreeId tree = results.size() == 1 ? results[0] : forest_.tuple(std::move(results));
  check_result(frame, module.return_type, tree, module.span);
  return coerce(tree, module.return_type);
}

bool Specialiser::run_body(Frame& frame) {
  const graph::Module& module = graph_[frame.id];
  frame_ = &frame;
  for (graph::NodeId id : module.order) {
    node_ = &module.nodes[id];
    if (!run_node(frame, *node_)) return false;
  }
  return !failed_;
}

bool Specialiser::run_node(Frame& frame, const graph::Node& node) {
  if (node.op == Op::CoreRepeat) return repeat(frame, node);
  TreeId result = evaluate(frame, node.op, node.callee, node.inputs, node.attrs, node.type);
  if (!result.valid()) return false;
  if (node.outputs.size() == 1) {
    result = coerce(result, node.type);
    if (!check_type(frame, node.type, result, node.op == Op::CoreCall)) return false;
    frame.values[static_cast<size_t>(node.outputs[0].index)] = result;
    name_value(graph_[frame.id].values[node.outputs[0]].name, result, frame);
    return true;
  }
  const Tree& tree = forest_[result];
  bool several = tree.kind == Tree::Kind::Tuple || tree.kind == Tree::Kind::List;
  if (several && tree.kind == Tree::Kind::List) {
    if (!note_list(result)) return false;
    for (size_t i = 0; i < tree.items.size(); ++i)
      note_item(result, dims_.integer(static_cast<int64_t>(i)), tree.items[i]);
  }
  if (!several || tree.items.size() != node.outputs.size()) {
    int64_t found = several ? static_cast<int64_t>(tree.items.size()) : 1;
    report(Diag::RunDestructure, {node.outputs.size(), found});
    return false;
  }
  const graph::Module& module = graph_[frame.id];
  Args items = tree.items;
  for (size_t i = 0; i < items.size(); ++i) {
    TypeId type = module.values[node.outputs[i]].type;
    TreeId item = coerce(items[i], type);
    if (!check_type(frame, type, item, node.op == Op::CoreCall)) return false;
    frame.values[static_cast<size_t>(node.outputs[i].index)] = item;
    name_value(module.values[node.outputs[i]].name, item, frame);
  }
  return true;
}

// A value has the name under which the outermost definition knows it.
void Specialiser::name_value(NameId name, TreeId tree, const Frame& frame) {
  if (is_tensor(tree) && !starts_with(names_.text(name), "_"))
    emitter_.rename(forest_[tree].value, name, frame.depth);
}

TreeId Specialiser::evaluate(Frame& frame, Op op, graph::ModuleId callee,
                             const std::vector<graph::Operand>& inputs,
                             const std::vector<graph::Attr>& attrs, TypeId type) {
  if (op == Op::CoreSelect) return coerce(select(frame, inputs), type);
  if (op_info(op).op_class == OpClass::Primitive) {
    Args args;
    if (!gather_args(frame, op, inputs, attrs, args)) return {};
    if (op == Op::ParamsParam) return param(frame, key_of(TreeId{}, args[0]), type);
    declared_ = declared_shape(frame, inputs, type);
    return primitive(op, std::move(args));
  }
  Args args;
  for (const graph::Operand& input : inputs) {
    TreeId tree = operand(frame, input);
    if (!tree.valid()) return {};
    args.push_back(tree);
  }
  switch (op) {
    case Op::CoreAlias:
      return args.size() == 1 ? args[0] : forest_.tuple(std::move(args));
    case Op::CoreAscribe: {
      TreeId tree = coerce(args[0], type);
      return check_type(frame, type, tree, true) ? tree : TreeId{};
    }
    case Op::CoreList:
      return forest_.list(std::move(args));
    case Op::CoreTuple:
      return forest_.tuple(std::move(args));
    case Op::CoreCall:
      return run_module(callee, args, node_, &frame);
    default:
      break;
  }
  declared_ = declared_shape(frame, inputs, type);
  if (op_info(op).op_class == OpClass::Core && args.size() == 2)
    return binary(op, args[0], args[1]);
  return fail(
      fmt::format("operation `{}` has no meaning in a structured graph", axon::spelling(op)));
}

TreeId Specialiser::select(Frame& frame, const std::vector<graph::Operand>& inputs) {
  TreeId tree = operand(frame, inputs[0]);
  bool chosen = false;
  if (!tree.valid() || !condition(tree, chosen)) return {};
  return operand(frame, inputs[chosen ? 1 : 2]);
}

// Where reads have failed there is no plan: enough of them tell what the checkpoint lacks.
bool Specialiser::walked_enough(int64_t from_first, int64_t step) {
  if (!broken_ || from_first / step < kProbedRounds) return false;
  fail("loop has too many rounds");
  return true;
}

bool Specialiser::repeat(Frame& frame, const graph::Node& node) {
  const graph::RepeatInfo& info = graph_[frame.id].repeats[static_cast<size_t>(node.repeat)];
  Args inputs;
  for (const graph::Operand& input : node.inputs) {
    TreeId tree = operand(frame, input);
    if (!tree.valid()) return false;
    inputs.push_back(tree);
  }
  int64_t range[3] = {0, 0, 1};
  for (size_t i = 0; i < 3; ++i) {
    DimId dim = dim_of(inputs[i]);
    if (!dim.valid()) return false;
    std::optional<int64_t> value = integer_of(dim);
    if (!value)
      return fail(fmt::format("loop bound `{}` is not constant", dims_.show(dim))).valid();
    range[i] = *value;
  }
  if (range[2] == 0) return report(Diag::RunStep, {}).valid();
  // Of a loop that is too long a few rounds are walked all the same: a checkpoint that lacks what
  // they read is to be told so, and not left to the first run.
  const bool too_long = (range[1] - range[0]) / range[2] > kMaxRounds;
  if (too_long) range[1] = range[0] + range[2] * kProbedRounds;
  Args carries(inputs.begin() + 3,
               inputs.begin() + 3 + static_cast<int64_t>(info.carry_names.size()));
  std::vector<int64_t> rounds;
  for (int64_t i = range[0]; range[2] > 0 ? i < range[1] : i > range[1]; i += range[2])
    rounds.push_back(i);
  if (options_.classes && !loop_var_.valid() && rounds.size() > 1) {
    if (!repeat_by_class(info, inputs, rounds, carries)) return false;
  } else {
    for (int64_t i : rounds) {
      if (walked_enough(i - range[0], range[2])) return false;
      TreeId iter = forest_.integer(dims_.integer(i));
      TreeId result =
          run_module(info.callee, round_args(info, inputs, carries, iter), &node, &frame);
      if (!result.valid()) return false;
      carries = carries.size() == 1 ? Args{result} : forest_[result].items;
    }
  }
  if (too_long) return fail("loop has too many rounds").valid();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    frame.values[static_cast<size_t>(node.outputs[i].index)] = carries[i];
    if (!check_type(frame, graph_[frame.id].values[node.outputs[i]].type, carries[i], true))
      return false;
    name_value(graph_[frame.id].values[node.outputs[i]].name, carries[i], frame);
  }
  return true;
}

TreeId Specialiser::global(graph::ModuleId id) {
  TreeId& known = globals_[static_cast<size_t>(id.index)];
  if (known.valid()) return known;
  // A global is the same in every round, also where a round is the first to ask for it.
  std::vector<Observation>* seen = std::exchange(seen_, nullptr);
  size_t first = forest_.size();
  TreeId tree = run_module(id, {}, nullptr, nullptr);
  if (seen) global_trees_.emplace_back(first, forest_.size());
  seen_ = seen;
  globals_[static_cast<size_t>(id.index)] = tree;
  return tree;
}

TreeId Specialiser::operand(Frame& frame, const graph::Operand& operand) {
  using graph::OperandKind;
  switch (operand.kind()) {
    case OperandKind::Ref:
      return frame.values[static_cast<size_t>(operand.as<graph::Ref>().value.index)];
    case OperandKind::Global:
      return global(operand.as<graph::GlobalRef>().module);
    case OperandKind::Dim: {
      DimId written = operand.as<graph::DimRef>().dim;
      DimId dim = resolve_dim(frame, written);
      if (dim.valid()) return forest_.integer(dim);
      return report(Diag::RunDim, {dims_.show(written), "is bound by no argument of this call"});
    }
    case OperandKind::Null:
      return forest_.null();
    case OperandKind::Bool:
      return forest_.boolean(operand.as<graph::LitBool>().value);
    case OperandKind::Int: {
      int64_t value = operand.as<graph::LitInt>().value;
      if (types_.kind(operand.type.valid() ? operand.type : types_.int_()) == TypeKind::Float) {
        return forest_.number(static_cast<double>(value));
      }
      return forest_.integer(dims_.integer(value));
    }
    case OperandKind::Float:
      return forest_.number(operand.as<graph::LitFloat>().value);
    case OperandKind::String:
      return forest_.string(operand.as<graph::LitString>().value);
    case OperandKind::Path:
      return path(frame, operand.as<graph::Path>());
    case OperandKind::Nested: {
      const graph::NestedExpr& expr = graph_[frame.id].nested[operand.as<graph::Nested>().expr];
      TreeId tree = evaluate(frame, expr.op, expr.callee, expr.inputs, expr.attrs, expr.type);
      return tree.valid() ? coerce(tree, expr.type) : tree;
    }
  }
  return {};
}

TreeId Specialiser::report(Diag id, std::vector<DiagArg> args) {
  if (gave_up_) return {};
  failed_ = true;
  // What comes of a read that failed is no news; the configuration does not.
  bool config = id == Diag::RunConfig || id == Diag::RunConfigType;
  if ((unsure_ && !config) || (broken_ && id == Diag::PlanUnsupported)) return {};
  sink_.report(id, node_ ? node_->span : Span{}, std::move(args)).notes = calls();
  return {};
}

TreeId Specialiser::fail(std::string_view why) {
  std::string what = node_ ? fmt::format("`{}`", axon::spelling(node_->op)) : "this program";
  // A branch or a loop's body has a module of its own, which is no name that anybody wrote.
  const NameId written = node_ ? node_->source : NameId{};
  if (frame_)
    what +=
        fmt::format(" in `{}`", names_.text(written.valid() ? written : graph_[frame_->id].name));
  return report(Diag::PlanUnsupported, {std::move(what), why});
}

std::optional<Specialised> specialise(const graph::Graph& graph, TypeTable& types, Forest& forest,
                                      const std::vector<TreeId>& inputs, const Answers& answers,
                                      const SpecialiseOptions& options, DiagSink& sink) {
  Specialiser first(graph, types, forest, answers, options, sink);
  std::optional<Specialised> result = first.run(inputs);
  if (!first.gave_up()) return result;
  SpecialiseOptions unrolled = options;
  unrolled.classes = false;
  return Specialiser(graph, types, forest, answers, unrolled, sink).run(inputs);
}

}  // namespace axon::opt
