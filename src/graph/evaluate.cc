// Runs whole graphs: modules, calls, loops, lazy conditionals.
#include "graph/evaluate.h"

#include <algorithm>

#include "graph/builder.h"
#include "graph/eval_dims.h"
#include "graph/eval_ops.h"
#include "graph/text.h"
#include "ops/signature.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using Kind = EvalValue::Kind;
using Values = std::vector<EvalValue>;

// One activation of a module.
struct Frame {
  const Module& module;
  std::vector<std::optional<EvalValue>> values;  // by ValueId; set once made
  DimBinding dims;
};

class Evaluator {
 public:
  Evaluator(const Graph& graph, const TypeTable& types, const EvalOptions& options)
      : graph_(graph),
        types_(types),
        names_(types.dims().names()),
        options_(options),
        globals_(graph.modules.size()) {}

  Result<Values> main(const NamedValues& inputs);
  Result<Values> call(ModuleId id, Values inputs, bool entry);

 private:
  std::string name(NameId id) const { return std::string(names_.text(id)); }

  Result<void> enter(Frame& frame, Values inputs, bool entry);
  Result<bool> bind_inputs(Frame& frame, DimBinding::Only only);
  Result<void> know_constants(Frame& frame, TypeId type);
  Result<void> check_constraints(Frame& frame);
  Result<std::optional<bool>> holds(Frame& frame, const Fact& fact);
  Result<void> node(Frame& frame, const Node& n);
  Result<EvalValue> repeat(Frame& frame, const Node& n);
  Result<EvalValue> apply(Frame& frame, Op op, ModuleId callee, const std::vector<Operand>& inputs,
                          const std::vector<Attr>& attrs, TypeId type);
  Result<EvalValue> observed(Op op, Result<EvalValue> value);
  Result<EvalValue> select(Frame& frame, const std::vector<Operand>& inputs);
  Result<EvalValue> primitive(Frame& frame, Op op, const std::vector<Operand>& inputs,
                              const std::vector<Attr>& attrs);
  Result<EvalValue> operand(Frame& frame, const Operand& o);
  Result<EvalValue> path(Frame& frame, const Path& p);
  Result<int64_t> dim(Frame& frame, DimId id);
  Result<std::optional<int64_t>> dim_symbol(Frame& frame, SymbolId symbol);
  Result<EvalValue> global(ModuleId id);
  Result<EvalValue> ascribed(Frame& frame, EvalValue value, TypeId type);
  Result<void> fits(Frame& frame, TypeId type, const EvalValue& value, const std::string& what);
  Result<void> fits_made(Frame& frame, TypeId type, const EvalValue& value);
  EvalValue widened(EvalValue value, TypeId type) const;

  const Graph& graph_;
  const TypeTable& types_;
  const Interner& names_;
  const EvalOptions& options_;
  std::vector<std::optional<EvalValue>> globals_;
};

// An integer becomes a float where a float is declared (language.md 6.4).
EvalValue Evaluator::widened(EvalValue value, TypeId type) const {
  if (!type.valid() || value.is_null()) return value;
  const TypeData& data = types_.get(type);
  switch (data.kind) {
    case TypeKind::Optional:
      return widened(std::move(value), data.items[0]);
    case TypeKind::Float:
      return value.kind == Kind::Int ? EvalValue::of(value.as_double()) : value;
    case TypeKind::List:
      for (EvalValue& item : value.items) item = widened(std::move(item), data.items[0]);
      return value;
    case TypeKind::Tuple:
      for (size_t i = 0; i < value.items.size() && i < data.items.size(); ++i) {
        value.items[i] = widened(std::move(value.items[i]), data.items[i]);
      }
      return value;
    default:
      return value;
  }
}

// ---- entry ---------------------------------------------------------------------------------

Result<Values> Evaluator::main(const NamedValues& inputs) {
  const Module& m = graph_[graph_.main];
  Frame none{m, {}, DimBinding(types_)};
  none.values.resize(m.values.size());
  Values args;
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    const Value& formal = m.values[m.inputs[i]];
    EvalValue value;
    bool given = false;
    for (const auto& [key, v] : inputs) {
      if (key != name(formal.name)) continue;
      value = v;
      given = true;
    }
    for (const InputDefault& d : m.defaults) {
      if (static_cast<size_t>(d.input) != i || (given && !value.is_null())) continue;
      AXON_TRY(value, operand(none, d.value));
    }
    bool nullable =
        formal.optional || (formal.type.valid() && types_.kind(formal.type) == TypeKind::Optional);
    if (value.is_null() && !nullable) {
      return eval_error(Diag::RunInput, {name(formal.name), given ? "is null" : "is missing"});
    }
    args.push_back(std::move(value));
  }
  return call(graph_.main, std::move(args), true);
}

Result<Values> Evaluator::call(ModuleId id, Values inputs, bool entry) {
  const Module& m = graph_[id];
  AXON_CHECK(inputs.size() == m.inputs.size(), "arguments and inputs of a module differ in number");
  Frame frame{m, {}, DimBinding(types_)};
  frame.values.resize(m.values.size());
  AXON_TRY_VOID(enter(frame, std::move(inputs), entry));
  if (entry || options_.check_types) AXON_TRY_VOID(check_constraints(frame));
  for (NodeId node_id : m.order) {
    const Node& n = m.nodes[node_id];
    auto done = node(frame, n);
    if (done) continue;
    if (done.error().hint.empty()) {
      std::string where = n.outputs.empty() ? "" : "`" + name(m.values[n.outputs[0]].name) + "`, ";
      done.error().hint =
          "at " + where + std::string(spelling(n.op)) + " in `" + name(m.name) + "`";
    }
    return std::move(done.error());
  }
  Values out;
  const TypeData* whole = m.return_type.valid() ? &types_.get(m.return_type) : nullptr;
  bool tuple = whole && whole->kind == TypeKind::Tuple && whole->items.size() == m.outputs.size();
  for (size_t i = 0; i < m.outputs.size(); ++i) {
    AXON_TRY(EvalValue value, operand(frame, m.outputs[i]));
    TypeId type = m.outputs.size() == 1 ? m.return_type : tuple ? whole->items[i] : TypeId{};
    out.push_back(widened(std::move(value), type));
    AXON_TRY_VOID(fits(frame, type, out.back(), "the result"));
  }
  return out;
}

// What nothing knew before is looked at now: a size that somebody has named is what it is the first
// time. With `check_types` that goes for names of ours, too.
Result<void> Evaluator::fits(Frame& frame, TypeId type, const EvalValue& value,
                             const std::string& what) {
  if (!type.valid()) return {};
  AXON_TRY_VOID(know_constants(frame, type));
  const auto only = options_.check_types ? DimBinding::Only::All : DimBinding::Only::Declared;
  AXON_TRY_VOID(frame.dims.bind(type, value, only));
  return frame.dims.check(type, value, what);
}

// Lists only grow, so that looking at all items each time costs too much; items of one may differ
// in sizes of their own, which only what takes an item out can tell apart.
Result<void> Evaluator::fits_made(Frame& frame, TypeId type, const EvalValue& value) {
  if (!type.valid() || types_.kind(types_.strip_optional(type)) == TypeKind::List) return {};
  return fits(frame, type, value, "a result of type " + types_.show(type));
}

// Global constants that `type` names have values of their own: no axis says what they are.
Result<void> Evaluator::know_constants(Frame& frame, TypeId type) {
  if (!type.valid()) return {};
  const TypeData& data = types_.get(type);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId symbol : types_.dims().symbols(axis.dim)) {
      const Symbol& facts = types_.dims().symbol(symbol);
      if (frame.dims.get(symbol)) continue;
      for (ValueId input : frame.module.inputs) {  // or an integer argument gives it
        const auto& v = frame.values[static_cast<size_t>(input.index)];
        bool named =
            facts.kind == SymbolKind::Param && frame.module.values[input].name == facts.name;
        if (named && v && v->kind == Kind::Int) frame.dims.set(symbol, v->integer);
      }
      if (facts.kind != SymbolKind::Rigid) continue;
      AXON_TRY(std::optional<int64_t> value, dim_symbol(frame, symbol));
      if (value) frame.dims.set(symbol, *value);
    }
  }
  for (TypeId item : data.items) AXON_TRY_VOID(know_constants(frame, item));
  return {};
}

// Binds dims from the inputs' sizes; true when something was bound.
Result<bool> Evaluator::bind_inputs(Frame& frame, DimBinding::Only only) {
  const Module& m = frame.module;
  bool any = false;
  for (ValueId input : m.inputs) {
    const EvalValue& value = *frame.values[static_cast<size_t>(input.index)];
    AXON_TRY(bool bound, frame.dims.bind(m.values[input].type, value, only));
    any = any || bound;
  }
  return any;
}

// Binds the inputs, then the dims in their types.
Result<void> Evaluator::enter(Frame& frame, Values inputs, bool entry) {
  const Module& m = frame.module;
  const DimTable& dims = types_.dims();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& formal = m.values[m.inputs[i]];
    EvalValue value = widened(std::move(inputs[i]), formal.type);
    TypeId inner = formal.type.valid() ? types_.strip_optional(formal.type) : TypeId{};
    const TypeData* data = inner.valid() ? &types_.get(inner) : nullptr;
    bool ranked = data && data->kind == TypeKind::Tensor && data->known_rank;
    for (size_t a = 0; ranked && a < data->axes.size(); ++a) ranked = !data->axes[a].is_run();
    if (entry && ranked && value.is_tensor() && value.tensor->shape.size() != data->axes.size()) {
      return eval_error(Diag::RunRank,
                        {name(formal.name), value.tensor->shape.size(), data->axes.size()});
    }
    frame.values[static_cast<size_t>(m.inputs[i].index)] = std::move(value);
  }
  // A dim that names an integer parameter is that argument.
  for (ValueId input : m.inputs) {
    const Value& formal = m.values[input];
    if (!formal.type.valid()) continue;
    auto bind_named = [&](auto&& self, TypeId type) -> void {
      if (!type.valid()) return;
      const TypeData& data = types_.get(type);
      for (const Axis& axis : data.axes) {
        if (axis.is_run()) continue;
        for (SymbolId symbol : dims.symbols(axis.dim)) {
          const Symbol& s = dims.symbol(symbol);
          if (s.kind != SymbolKind::Param) continue;
          for (ValueId other : m.inputs) {
            const EvalValue& v = *frame.values[static_cast<size_t>(other.index)];
            if (m.values[other].name == s.name && v.kind == Kind::Int)
              frame.dims.set(symbol, v.integer);
          }
        }
      }
      for (TypeId item : data.items) self(self, item);
    };
    bind_named(bind_named, formal.type);
  }
  for (ValueId input : m.inputs) AXON_TRY_VOID(know_constants(frame, m.values[input].type));
  // Names of whole axes first: half of a size does not say what was halved.
  AXON_TRY_VOID(bind_inputs(frame, DimBinding::Only::Plain));
  // Compounds may wait for a symbol that a later parameter binds.
  for (bool progress = true; progress;) {
    AXON_TRY(progress, bind_inputs(frame, DimBinding::Only::All));
  }
  if (!entry && !options_.check_dims) return {};
  for (ValueId input : m.inputs) {
    const Value& formal = m.values[input];
    const EvalValue& value = *frame.values[static_cast<size_t>(input.index)];
    const std::string what = "`" + name(formal.name) + "`";
    AXON_TRY_VOID(frame.dims.check(formal.type, value, what));
    if (entry) AXON_TRY_VOID(frame.dims.check_runs(formal.type, value, what));
  }
  return {};
}

// Facts that typechecking left to the caller of MAIN. Those on values made later are not entry
// facts.
Result<void> Evaluator::check_constraints(Frame& frame) {
  for (const Constraint& c : frame.module.constraints) {
    bool applies = true;
    for (const Fact& guard : c.guards) {
      AXON_TRY(std::optional<bool> holding, holds(frame, guard));
      applies = applies && holding.value_or(false);
    }
    if (!applies) continue;
    AXON_TRY(std::optional<bool> holding, holds(frame, c.fact));
    if (holding.value_or(true)) continue;
    auto text = [&](const Operand& o) { return show_operand(graph_, frame.module, o, types_); };
    AXON_TRY(EvalValue left, operand(frame, c.fact.left));
    AXON_TRY(EvalValue right, operand(frame, c.fact.right));
    return eval_error(Diag::RunShape,
                      {text(c.fact.left), show(left), text(c.fact.right), show(right)});
  }
  return {};
}

Result<std::optional<bool>> Evaluator::holds(Frame& frame, const Fact& fact) {
  std::optional<bool> unknown;
  bool ready = true;
  auto is_ready = [&](const Operand& o) {
    if (o.kind() == OperandKind::Nested) ready = false;
    for_each_value(frame.module, o, [&](ValueId v) {
      ready = ready && frame.values[static_cast<size_t>(v.index)].has_value();
    });
    const DimRef* d = o.get<DimRef>();
    for (SymbolId symbol : d ? types_.dims().symbols(d->dim) : std::vector<SymbolId>{}) {
      if (frame.dims.get(symbol)) continue;
      auto value = dim_symbol(frame, symbol);
      if (value && *value) frame.dims.set(symbol, **value);
    }
    if (d) ready = ready && frame.dims.value(d->dim).has_value();
  };
  is_ready(fact.left);
  bool unary = fact.relation >= Relation::IsTrue;
  if (!unary) is_ready(fact.right);
  if (!ready) return unknown;
  AXON_TRY(EvalValue left, operand(frame, fact.left));
  if (fact.relation == Relation::IsNull) return std::optional(left.is_null());
  if (fact.relation == Relation::NotNull) return std::optional(!left.is_null());
  if (unary) {
    if (left.kind != Kind::Bool) return unknown;
    return std::optional(left.boolean == (fact.relation == Relation::IsTrue));
  }
  AXON_TRY(EvalValue right, operand(frame, fact.right));
  if (!left.is_number() || !right.is_number()) return unknown;
  double a = left.as_double(), b = right.as_double();
  switch (fact.relation) {
    case Relation::Eq:
      return std::optional(a == b);
    case Relation::Ne:
      return std::optional(a != b);
    case Relation::Le:
      return std::optional(a <= b);
    default:
      return std::optional(a < b);
  }
}

// ---- nodes ---------------------------------------------------------------------------------

Result<void> Evaluator::node(Frame& frame, const Node& n) {
  AXON_TRY(EvalValue result, n.op == Op::CoreRepeat
                                 ? repeat(frame, n)
                                 : apply(frame, n.op, n.callee, n.inputs, n.attrs, n.type));
  result = widened(std::move(result), n.type);
  AXON_TRY_VOID(fits_made(frame, n.type, result));
  auto store = [&](size_t i, EvalValue value) {
    frame.values[static_cast<size_t>(n.outputs[i].index)] = std::move(value);
  };
  if (n.outputs.size() == 1) {
    store(0, std::move(result));
    return {};
  }
  if (result.is_null()) return eval_error(Diag::RunNull, {"destructuring"});
  if (result.items.size() != n.outputs.size()) {
    return eval_error(Diag::RunDestructure, {n.outputs.size(), result.items.size()});
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) store(i, std::move(result.items[i]));
  return {};
}

Result<EvalValue> Evaluator::repeat(Frame& frame, const Node& n) {
  const RepeatInfo& info = frame.module.repeats[static_cast<size_t>(n.repeat)];
  Values inputs;
  for (const Operand& o : n.inputs) {
    AXON_TRY(EvalValue value, operand(frame, o));
    inputs.push_back(std::move(value));
  }
  for (size_t i = 0; i < 3; ++i) {
    if (inputs[i].is_null()) return eval_error(Diag::RunNull, {"a loop bound"});
    if (inputs[i].kind != Kind::Int) {
      return eval_error(Diag::RunValue,
                        {"a loop bound is " + show(inputs[i]) + ", needs an integer"});
    }
  }
  int64_t to = inputs[1].integer, step = inputs[2].integer;
  if (step == 0) return eval_error(Diag::RunStep);
  size_t count = info.carry_names.size();
  Values carries(inputs.begin() + 3, inputs.begin() + 3 + static_cast<int64_t>(count));
  for (int64_t at = inputs[0].integer; step > 0 ? at < to : at > to;) {
    Values args;
    for (const RepeatArg& arg : info.args) {
      switch (arg.kind) {
        case RepeatArg::Kind::Iter:
          args.push_back(EvalValue::of(at));
          break;
        case RepeatArg::Kind::Carry:
          args.push_back(carries[static_cast<size_t>(arg.index)]);
          break;
        case RepeatArg::Kind::Input:
          args.push_back(inputs[static_cast<size_t>(arg.index)]);
          break;
      }
    }
    AXON_TRY(Values next, call(info.callee, std::move(args), false));
    // A step may return its carries as one tuple.
    if (next.size() == 1 && count > 1) next = Values(std::move(next[0].items));
    if (next.size() > 1 && count == 1) {  // and one carry may be a tuple
      EvalValue whole = EvalValue::tuple(std::move(next));
      next.clear();
      next.push_back(std::move(whole));
    }
    if (next.size() != std::max<size_t>(count, 1)) {
      return eval_error(Diag::RunDestructure, {count, next.size()});
    }
    if (count > 0) carries = std::move(next);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  if (n.outputs.size() == 1) return carries[0];
  return EvalValue::tuple(std::move(carries));
}

Result<EvalValue> Evaluator::apply(Frame& frame, Op op, ModuleId callee,
                                   const std::vector<Operand>& inputs,
                                   const std::vector<Attr>& attrs, TypeId type) {
  if (op == Op::CoreSelect) return select(frame, inputs);
  if (op_info(op).op_class == OpClass::Primitive) return primitive(frame, op, inputs, attrs);
  Values args;
  for (const Operand& o : inputs) {
    AXON_TRY(EvalValue value, operand(frame, o));
    args.push_back(std::move(value));
  }
  if (op_info(op).op_class == OpClass::Fused) {
    if (options_.observer) options_.observer->operands(op, args);
    FusedCall call{op, std::move(args), {}};
    for (const Attr& attr : attrs) {
      AXON_TRY(EvalValue value, operand(frame, attr.value));
      call.attrs.emplace_back(name(attr.name), std::move(value));
    }
    return observed(op, eval_fused(call, options_));
  }
  switch (op) {
    case Op::CoreAlias:
      return args[0];
    case Op::CoreAscribe:
      return ascribed(frame, std::move(args[0]), type);
    case Op::CoreList:
      return EvalValue::list(std::move(args));
    case Op::CoreTuple:
      return EvalValue::tuple(std::move(args));
    case Op::CoreCall: {
      AXON_TRY(Values out, call(callee, std::move(args), false));
      return out.size() == 1 ? std::move(out[0]) : EvalValue::tuple(std::move(out));
    }
    default:
      if (options_.observer) options_.observer->operands(op, args);
      return observed(op, eval_binary(op, args[0], args[1]));
  }
}

Result<EvalValue> Evaluator::observed(Op op, Result<EvalValue> value) {
  if (value && options_.observer) options_.observer->result(op, *value);
  return value;
}

// Only the chosen operand is evaluated. Null counts as false; a tensor of one element is its truth.
Result<EvalValue> Evaluator::select(Frame& frame, const std::vector<Operand>& inputs) {
  AXON_TRY(EvalValue cond, operand(frame, inputs[0]));
  bool chosen = cond.boolean;
  if (cond.is_tensor() && cond.tensor->count() == 1) {
    chosen = cond.tensor->get(0) != 0;
  } else if (!cond.is_null() && cond.kind != Kind::Bool) {
    return eval_error(Diag::RunValue, {"a condition is " + show(cond) + ", needs true or false"});
  }
  return operand(frame, inputs[chosen ? 1 : 2]);
}

Result<EvalValue> Evaluator::primitive(Frame& frame, Op op, const std::vector<Operand>& inputs,
                                       const std::vector<Attr>& attrs) {
  const OpSignature& signature = op_signature(op);
  std::vector<std::optional<EvalValue>> given(signature.params.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    AXON_TRY(given[i], operand(frame, inputs[i]));
  }
  for (const Attr& attr : attrs) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (signature.params[i].name != names_.text(attr.name)) continue;
      AXON_TRY(given[i], operand(frame, attr.value));
    }
  }
  AXON_TRY(Values args, complete_operands(op, std::move(given)));
  if (options_.observer) options_.observer->operands(op, args);
  return observed(op, eval_primitive({op, args, options_}));
}

// An ascription asserts: not null where the type is not optional, and the rank.
Result<EvalValue> Evaluator::ascribed(Frame& frame, EvalValue value, TypeId type) {
  if (!type.valid()) return value;
  TypeKind kind = types_.kind(type);
  bool open = kind == TypeKind::Any || kind == TypeKind::Variable || kind == TypeKind::Null ||
              kind == TypeKind::Optional;
  if (value.is_null() && !open)
    return eval_error(Diag::RunNull, {"an ascription to " + types_.show(type)});
  AXON_TRY_VOID(fits(frame, type, value, "an ascribed value"));
  return value;
}

// ---- operands ------------------------------------------------------------------------------

Result<EvalValue> Evaluator::operand(Frame& frame, const Operand& o) {
  switch (o.kind()) {
    case OperandKind::Ref: {
      const auto& value = frame.values[static_cast<size_t>(o.as<Ref>().value.index)];
      AXON_CHECK(value.has_value(), "value read before it is made");
      return *value;
    }
    case OperandKind::Global:
      return global(o.as<GlobalRef>().module);
    case OperandKind::Dim: {
      AXON_TRY(int64_t value, dim(frame, o.as<DimRef>().dim));
      return widened(EvalValue::of(value), o.type);
    }
    case OperandKind::Null:
      return EvalValue::null();
    case OperandKind::Bool:
      return EvalValue::of(o.as<LitBool>().value);
    case OperandKind::Int:
      return widened(EvalValue::of(o.as<LitInt>().value), o.type);
    case OperandKind::Float:
      return EvalValue::of(o.as<LitFloat>().value);
    case OperandKind::String:
      return EvalValue::of(name(o.as<LitString>().value));
    case OperandKind::Path:
      return path(frame, o.as<Path>());
    case OperandKind::Nested: {
      const NestedExpr& e = frame.module.nested[o.as<Nested>().expr];
      AXON_TRY(EvalValue value, apply(frame, e.op, e.callee, e.inputs, e.attrs, e.type));
      value = widened(std::move(value), e.type);
      AXON_TRY_VOID(fits_made(frame, e.type, value));
      return value;
    }
  }
  AXON_UNREACHABLE("operand kind");
}

// Placeholders give their text; then empty segments vanish (language.md 8.5).
Result<EvalValue> Evaluator::path(Frame& frame, const Path& p) {
  std::string text;
  for (size_t i = 0; i < p.pieces.size(); ++i) {
    const PathPiece& piece = p.pieces[i];
    if (i > 0 && !piece.joined) text += '.';
    if (!piece.placeholder) {
      text += names_.text(piece.text);
      continue;
    }
    EvalValue value;
    if (piece.global.valid()) {
      AXON_TRY(value, global(piece.global));
    } else if (piece.dim.valid()) {
      AXON_TRY(int64_t size, dim(frame, piece.dim));
      value = EvalValue::of(size);
    } else {
      AXON_TRY(value, operand(frame, {Ref{piece.value}, {}}));
    }
    if (value.kind == Kind::Int)
      text += std::to_string(value.integer);
    else if (value.kind == Kind::String || value.kind == Kind::Path)
      text += value.text;
    else
      return eval_error(Diag::RunPlaceholder, {names_.text(piece.text), show(value)});
  }
  std::vector<std::string> segments;
  for (std::string_view segment : split(text, '.')) {
    if (!segment.empty()) segments.emplace_back(segment);
  }
  return EvalValue::path(join(segments, "."), p.absolute);
}

Result<EvalValue> Evaluator::global(ModuleId id) {
  std::optional<EvalValue>& memo = globals_[static_cast<size_t>(id.index)];
  if (!memo) {
    AXON_TRY(Values out, call(id, {}, false));
    memo = out.size() == 1 ? std::move(out[0]) : EvalValue::tuple(std::move(out));
  }
  return *memo;
}

Result<int64_t> Evaluator::dim(Frame& frame, DimId id) {
  const DimTable& dims = types_.dims();
  for (SymbolId symbol : dims.symbols(id)) {
    if (frame.dims.get(symbol)) continue;
    AXON_TRY(std::optional<int64_t> value, dim_symbol(frame, symbol));
    std::string text = name(dims.symbol(symbol).name);
    if (!value)
      return eval_error(Diag::RunDim, {text, "has no value: what carries it is null or not there"});
    frame.dims.set(symbol, *value);
  }
  auto value = frame.dims.value(id);
  if (!value) return eval_error(Diag::RunDivZero);
  return *value;
}

// A symbol that no shape bound on entry: a global constant, an integer input of that name, or an
// axis of a value made so far.
Result<std::optional<int64_t>> Evaluator::dim_symbol(Frame& frame, SymbolId symbol) {
  const Symbol& s = types_.dims().symbol(symbol);
  const Module& m = frame.module;
  std::optional<int64_t> out;
  if (s.kind == SymbolKind::Rigid) {
    ModuleId id = find_module(graph_, s.name);
    if (!id.valid() || !graph_[id].inputs.empty()) return out;
    AXON_TRY(EvalValue value, global(id));
    if (value.kind == Kind::Int) return std::optional(value.integer);
    if (!value.is_null())
      return eval_error(Diag::RunDim, {name(s.name), "is " + show(value) + ", no integer"});
    return out;
  }
  for (ValueId input : m.inputs) {
    const auto& value = frame.values[static_cast<size_t>(input.index)];
    if (m.values[input].name == s.name && value && value->kind == Kind::Int)
      return std::optional(value->integer);
  }
  for (NodeId node_id : m.order) {
    for (ValueId output : m.nodes[node_id].outputs) {
      const auto& value = frame.values[static_cast<size_t>(output.index)];
      if (!value) continue;
      AXON_TRY_VOID(know_constants(frame, m.values[output].type));
      AXON_TRY(bool bound, frame.dims.bind(m.values[output].type, *value));
      if (bound && frame.dims.get(symbol)) return frame.dims.get(symbol);
    }
  }
  return out;
}

}  // namespace

Result<NamedValues> evaluate(const Graph& graph, const TypeTable& types, const NamedValues& inputs,
                             const EvalOptions& options) {
  AXON_TRY(Values values, Evaluator(graph, types, options).main(inputs));
  const Module& m = graph[graph.main];
  NamedValues out;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string name;
    if (i < m.output_names.size()) name = types.dims().names().text(m.output_names[i]);
    out.emplace_back(std::move(name), std::move(values[i]));
  }
  return out;
}

Result<std::vector<EvalValue>> evaluate_module(const Graph& graph, ModuleId module,
                                               const TypeTable& types,
                                               std::vector<EvalValue> inputs,
                                               const EvalOptions& options) {
  return Evaluator(graph, types, options).call(module, std::move(inputs), false);
}

Result<EvalValue> evaluate_op(Op op, std::vector<EvalValue> operands, const EvalOptions& options) {
  if (op_info(op).op_class != OpClass::Primitive) {
    AXON_CHECK(operands.size() == 2, "a binary operation takes two operands");
    return eval_binary(op, operands[0], operands[1]);
  }
  std::vector<std::optional<EvalValue>> given;
  for (EvalValue& v : operands) given.emplace_back(std::move(v));
  AXON_TRY(Values args, complete_operands(op, std::move(given)));
  return eval_primitive({op, args, options});
}

}  // namespace axon::graph
