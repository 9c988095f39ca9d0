// From a Graph back to a closed, flat, typed program.
#include "lower/raise.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "graph/builder.h"
#include "ops/signature.h"
#include "sema/operators.h"
#include "sema/type_syntax.h"
#include "support/text.h"
#include "syntax/parse.h"

namespace axon::lower {
namespace {

using namespace syntax;
using graph::Operand;
using graph::OperandKind;
using graph::ValueId;

// Raises one module into one definition.
class Raiser {
 public:
  Raiser(const graph::Graph& graph, graph::ModuleId module, sema::Session& session,
         sema::TypedProgram& out, const RaiseOptions& options)
      : graph_(graph),
        m_(graph[module]),
        s_(session),
        types_(session.types),
        out_(out),
        options_(options) {}

  void run();

 private:
  ExprId add(Expr e, TypeId type) {
    e.span = span_;
    ExprId id = s_.ast.add(std::move(e));
    if (out_.type_of.size() < s_.ast.exprs.size()) out_.type_of.resize(s_.ast.exprs.size());
    out_.type_of[static_cast<size_t>(id.index)] = type;
    return id;
  }
  NameId value_name(ValueId id) const { return m_.values[id].name; }
  NameId fresh();
  void bind(std::vector<Target> targets, ExprId value);
  NameId bind_fresh(ExprId value);

  void header(Definition& def, sema::TypedDefinition& typed);
  void node(const graph::Node& n);
  void repeat(const graph::Node& n);
  bool brings_names(TypeId type);
  void constraints(sema::TypedDefinition& typed);
  std::optional<sema::TypedConstraint> typed_constraint(const graph::Constraint& c);
  ExprId application(Op op, graph::ModuleId callee, const std::vector<Operand>& inputs,
                     const std::vector<graph::Attr>& attrs, TypeId type, bool lazy);
  ExprId call(NameId callee, const std::vector<ExprId>& args, TypeId type);
  ExprId atom(const Operand& o, bool lazy);
  ExprId plain_name(const Operand& o);
  ExprId dim(DimId id, TypeId type, bool lazy);
  ExprId dim_tree(const DimTable::Tree& tree, bool whole, bool lazy);
  NameId symbol(SymbolId id, bool lazy);
  NameId named_dim(DimId id);
  ExprId output(size_t index);
  bool names_size(NameId name) const;
  PathLit path(const graph::Path& p);
  std::vector<Target> targets(const graph::Node& n);

  const graph::Graph& graph_;
  const graph::Module& m_;
  sema::Session& s_;
  TypeTable& types_;
  sema::TypedProgram& out_;
  const RaiseOptions& options_;
  std::vector<StmtId> body_;
  std::unordered_set<NameId, IdHash> taken_;
  std::unordered_set<SymbolId, IdHash> bound_;  // dims that the inputs bind
  std::unordered_map<SymbolId, NameId, IdHash> materialised_;
  std::unordered_map<DimId, NameId, IdHash> named_dims_;
  std::vector<std::pair<NameId, DimId>> dim_values_;  // names that were made for dims
  std::vector<ValueId> made_;                         // so far, in order
  PathLit scope_;
  Span span_;
  int next_ = 1;
  int last_dim_ = 0;
};

NameId Raiser::fresh() {
  NameId out;
  do {
    out = s_.names.intern("_v" + std::to_string(next_++));
  } while (!taken_.insert(out).second);
  return out;
}

void Raiser::bind(std::vector<Target> targets, ExprId value) {
  body_.push_back(s_.ast.add(Stmt{Bind{std::move(targets), value, scope_}, span_}));
}

NameId Raiser::bind_fresh(ExprId value) {
  NameId name = fresh();
  bind({{name, span_}}, value);
  return name;
}

std::vector<Target> Raiser::targets(const graph::Node& n) {
  std::vector<Target> out;
  for (ValueId id : n.outputs) out.push_back({value_name(id), n.span});
  return out;
}

// ---- operands ------------------------------------------------------------------------------

PathLit Raiser::path(const graph::Path& p) {
  PathLit out;
  out.absolute = p.absolute;
  out.span = span_;
  for (const graph::PathPiece& piece : p.pieces) {
    PathPiece to;
    to.text = piece.text;
    to.placeholder = piece.placeholder;
    to.joined = piece.joined;
    if (piece.placeholder) {
      if (piece.global.valid()) {
        to.text = graph_[piece.global].name;
      } else if (piece.value.valid()) {
        to.text = value_name(piece.value);
      } else if (options_.exact) {
        to.text = named_dim(piece.dim);
      } else if (auto single = types_.dims().as_symbol(piece.dim)) {
        to.text = symbol(*single, false);
      } else {
        to.text = bind_fresh(dim(piece.dim, types_.dim(), false));
      }
    }
    out.pieces.push_back(to);
  }
  return out;
}

// A dim symbol as a value: by its name where an input binds it, else taken from the first value
// whose shape shows it.
NameId Raiser::symbol(SymbolId id, bool lazy) {
  const DimTable& dims = types_.dims();
  NameId name = dims.symbol(id).name;
  const bool rigid = dims.symbol(id).kind == SymbolKind::Rigid;
  const graph::ModuleId constant = rigid ? graph::find_module(graph_, name) : graph::ModuleId{};
  const bool called = constant.valid() && !graph_[constant].is_global;
  if (!called && (rigid || bound_.contains(id))) return name;
  auto known = materialised_.find(id);
  if (known != materialised_.end()) return known->second;
  if (called) {
    const TypeId type = graph_[constant].return_type;
    return materialised_[id] = bind_fresh(call(name, {}, type));
  }
  if (lazy) return name;
  for (ValueId value : made_) {
    const TypeData data = types_.get(m_.values[value].type);
    if (data.kind != TypeKind::Tensor) continue;
    for (size_t i = 0; i < data.axes.size(); ++i) {
      if (data.axes[i].is_run()) break;
      if (dims.as_symbol(data.axes[i].dim) != id) continue;
      TypeId list = types_.list(types_.dim());
      ExprId x = add({Name{value_name(value), {}}, {}}, m_.values[value].type);
      NameId shape = bind_fresh(call(s_.names.intern("_shape"), {x}, list));
      ExprId whole = add({Name{shape, {}}, {}}, list);
      ExprId index = add({Int{static_cast<int64_t>(i)}, {}}, types_.int_());
      return materialised_[id] =
                 bind_fresh(call(s_.names.intern("_list_index"), {whole, index}, types_.dim()));
    }
  }
  return name;
}

ExprId Raiser::dim_tree(const DimTable::Tree& tree, bool whole, bool lazy) {
  using Kind = DimTable::Tree::Kind;
  if (tree.kind == Kind::Integer) return add({Int{tree.value}, {}}, types_.dim());
  if (tree.kind == Kind::Symbol)
    return add({Name{symbol(tree.symbol, lazy), {}}, {}}, types_.dim());
  BinaryOp op = BinaryOp::Add;
  switch (tree.kind) {
    case Kind::Add:
      op = BinaryOp::Add;
      break;
    case Kind::Sub:
      op = BinaryOp::Sub;
      break;
    case Kind::Mul:
      op = BinaryOp::Mul;
      break;
    case Kind::Div:
      op = BinaryOp::Div;
      break;
    case Kind::Mod:
      op = BinaryOp::Mod;
      break;
    default:
      op = tree.kind == Kind::Min ? BinaryOp::Lt : BinaryOp::Gt;
      break;
  }
  ExprId left = dim_tree(tree.operands[0], false, lazy);
  for (size_t i = 1; i < tree.operands.size(); ++i) {
    ExprId right = dim_tree(tree.operands[i], false, lazy);
    ExprId both;
    if (tree.kind == Kind::Min || tree.kind == Kind::Max) {
      ExprId less = add({Binary{op, left, right, span_}, {}}, types_.bool_());
      if (!lazy) less = add({Name{bind_fresh(less), {}}, {}}, types_.bool_());
      both = add({Ternary{less, left, right}, {}}, types_.dim());
    } else {
      both = add({Binary{op, left, right, span_}, {}}, types_.dim());
    }
    bool last = whole && i + 1 == tree.operands.size();
    left = lazy || last ? both : add({Name{bind_fresh(both), {}}, {}}, types_.dim());
  }
  return left;
}

// A dim by name: its own, unless a value hides that, or one that a constraint explains.
NameId Raiser::named_dim(DimId id) {
  const DimTable& dims = types_.dims();
  if (auto single = dims.as_symbol(id)) {
    NameId name = dims.symbol(*single).name;
    // The name of a constant is the constant, not the dim that it gives.
    if (!taken_.contains(name) && !graph::find_module(graph_, name).valid()) return name;
  }
  auto [it, added] = named_dims_.try_emplace(id);
  if (added) {
    do {
      it->second = s_.names.intern("_k" + std::to_string(++last_dim_));
    } while (!taken_.insert(it->second).second);
    dim_values_.emplace_back(it->second, id);
  }
  return it->second;
}

// A size that is returned has the name under which it is.
ExprId Raiser::output(size_t index) {
  const Operand& o = m_.outputs[index];
  const graph::DimRef* size = o.get<graph::DimRef>();
  if (!options_.exact || !size || index >= m_.output_names.size()) return atom(o, false);
  NameId name = m_.output_names[index];
  auto single = types_.dims().as_symbol(size->dim);
  bool own = single && types_.dims().symbol(*single).name == name;
  if (own || !name.valid() || names_size(name) || !taken_.insert(name).second)
    return atom(o, false);
  dim_values_.emplace_back(name, size->dim);
  return add({Name{name, {}}, {}}, o.type);
}

// Whether a type of the module mentions a size of that name.
bool Raiser::names_size(NameId name) const {
  const DimTable& dims = types_.dims();
  auto in = [&](auto&& self, TypeId type) -> bool {
    if (!type.valid()) return false;
    const TypeData& data = types_.get(type);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId s : dims.symbols(axis.dim)) {
        if (dims.symbol(s).name == name) return true;
      }
    }
    return std::any_of(data.items.begin(), data.items.end(),
                       [&](TypeId item) { return self(self, item); });
  };
  return std::any_of(m_.values.begin(), m_.values.end(),
                     [&](const graph::Value& v) { return in(in, v.type); });
}

ExprId Raiser::dim(DimId id, TypeId type, bool lazy) {
  if (options_.exact) return add({Name{named_dim(id), {}}, {}}, type);
  ExprId out = dim_tree(types_.dims().tree(id), false, lazy);
  out_.type_of[static_cast<size_t>(out.index)] = type;
  return out;
}

// Under `lazy` nothing may be bound before: the operand stands in a branch.
ExprId Raiser::atom(const Operand& o, bool lazy) {
  switch (o.kind()) {
    case OperandKind::Ref:
      return add({Name{value_name(o.as<graph::Ref>().value), {}}, {}}, o.type);
    case OperandKind::Global:
      return add({Name{graph_[o.as<graph::GlobalRef>().module].name, {}}, {}}, o.type);
    case OperandKind::Dim:
      return dim(o.as<graph::DimRef>().dim, o.type, lazy);
    case OperandKind::Null:
      return add({Null{}, {}}, o.type);
    case OperandKind::Bool:
      return add({Bool{o.as<graph::LitBool>().value}, {}}, o.type);
    case OperandKind::Int:
      return add({Int{o.as<graph::LitInt>().value}, {}}, o.type);
    case OperandKind::Float:
      return add({Float{o.as<graph::LitFloat>().value, {}}, {}}, o.type);
    case OperandKind::String:
      return add({String{o.as<graph::LitString>().value}, {}}, o.type);
    case OperandKind::Path:
      return add({PathExpr{path(o.as<graph::Path>())}, {}}, o.type);
    case OperandKind::Nested:
      break;
  }
  const graph::NestedExpr& e = m_.nested[o.as<graph::Nested>().expr];
  ExprId out = application(e.op, e.callee, e.inputs, e.attrs, e.type, lazy);
  bool atomic = e.op == Op::CoreList || e.op == Op::CoreTuple || e.op == Op::CoreAscribe;
  if (atomic || lazy) return out;
  return add({Name{bind_fresh(out), {}}, {}}, o.type);
}

ExprId Raiser::call(NameId callee, const std::vector<ExprId>& args, TypeId type) {
  Call c;
  c.callee = callee;
  c.callee_span = span_;
  for (ExprId arg : args) c.args.push_back({{}, arg, {}});
  return add({std::move(c), {}}, type);
}

ExprId Raiser::application(Op op, graph::ModuleId callee, const std::vector<Operand>& inputs,
                           const std::vector<graph::Attr>& attrs, TypeId type, bool lazy) {
  std::vector<ExprId> args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Operands of a select stay in place; flat branches hold no prelude.
    bool branch = op == Op::CoreSelect && i > 0;
    args.push_back(atom(inputs[i], lazy || branch));
  }
  switch (op) {
    case Op::CoreAlias:
      return args[0];
    case Op::CoreAscribe:
      return add({Ascribe{args[0], sema::to_syntax(type, s_)}, {}}, type);
    case Op::CoreList:
      return add({List{std::move(args)}, {}}, type);
    case Op::CoreTuple:
      return add({Tuple{std::move(args)}, {}}, type);
    case Op::CoreSelect:
      return add({Ternary{args[0], args[1], args[2]}, {}}, type);
    case Op::CoreCall:
      return call(graph_[callee].name, args, type);
    default:
      break;
  }
  if (sema::is_core_binary(op))
    return add({Binary{sema::binary_op(op), args[0], args[1], span_}, {}}, type);
  bool fused = op_info(op).op_class == OpClass::Fused;
  if (fused) {
    for (const graph::Attr& attr : attrs) args.push_back(atom(attr.value, lazy));
    std::string name = "__" + std::string(options_.target) + "_" + std::string(spelling(op));
    return call(s_.names.intern(name), args, type);
  }
  // Attributes take their places among the operands; null stands for a default between them.
  const OpSignature& signature = op_signature(op);
  for (const graph::Attr& attr : attrs) {
    for (size_t i = 0; i < signature.params.size(); ++i) {
      if (signature.params[i].name != s_.names.text(attr.name)) continue;
      while (args.size() <= i) args.push_back(add({Null{}, {}}, types_.null()));
      args[i] = atom(attr.value, lazy);
    }
  }
  return call(s_.names.intern("_" + std::string(spelling(op))), args, type);
}

// ---- nodes ---------------------------------------------------------------------------------

void Raiser::node(const graph::Node& n) {
  span_ = n.span;
  scope_ = path(n.scope);
  if (n.op == Op::CoreRepeat) {
    repeat(n);
  } else {
    ExprId value = application(n.op, n.callee, n.inputs, n.attrs, n.type, false);
    if (n.op != Op::CoreAlias) out_.type_of[static_cast<size_t>(value.index)] = n.type;
    bool operation = n.op != Op::CoreAlias && n.op != Op::CoreAscribe;
    // Names that an ascription brought in need one; around an operation it is no node of its own.
    if (options_.exact && operation && brings_names(n.type))
      value = add({Ascribe{value, sema::to_syntax(n.type, s_)}, {}}, n.type);
    bind(targets(n), value);
  }
  made_.insert(made_.end(), n.outputs.begin(), n.outputs.end());
}

// Whether a type is the first to mention a dim name that no input binds.
bool Raiser::brings_names(TypeId type) {
  bool any = false;
  const TypeData data = types_.get(type);
  for (const Axis& axis : data.axes) {
    if (axis.is_run()) continue;
    for (SymbolId id : types_.dims().symbols(axis.dim)) {
      bool variable = types_.dims().symbol(id).kind == SymbolKind::Variable;
      any = (variable && bound_.insert(id).second) || any;
    }
  }
  for (TypeId item : data.items) any = brings_names(item) || any;
  return any;
}

// An operand as a plain name, bound first when it is anything else.
ExprId Raiser::plain_name(const Operand& o) {
  ExprId value = atom(o, false);
  if (s_.ast[value].kind() == ExprKind::Name) return value;
  return add({Name{bind_fresh(value), {}}, {}}, o.type);
}

void Raiser::repeat(const graph::Node& n) {
  const graph::RepeatInfo& info = m_.repeats[static_cast<size_t>(n.repeat)];
  Loop loop;
  loop.var_span = n.span;
  loop.from = atom(n.inputs[0], false);
  loop.to = atom(n.inputs[1], false);
  loop.step = atom(n.inputs[2], false);
  loop.lexical_scope = scope_;
  size_t carries = info.carry_names.size();
  bool checks_only = carries == 1 && s_.names.text(info.carry_names[0]) == "_";
  std::unordered_set<NameId, IdHash> used;
  if (!checks_only) {
    loop.has_targets = loop.has_carry = true;
    loop.targets = targets(n);
    for (const graph::RepeatArg& arg : info.args) {
      if (arg.kind != graph::RepeatArg::Kind::Input) continue;
      const auto* ref = n.inputs[static_cast<size_t>(arg.index)].get<graph::Ref>();
      if (ref) used.insert(value_name(ref->value));
    }
    for (size_t i = 0; i < carries; ++i) {
      // A carry hides the outer name: it needs one that nothing else in the round reads.
      NameId name = s_.ast[plain_name(n.inputs[3 + i])].as<Name>().name;
      if (!used.insert(name).second) name = bind_fresh(atom(n.inputs[3 + i], false));
      loop.carry.push_back({name, n.span});
    }
  }
  std::vector<ExprId> inputs;
  bool hides = false;  // the variable would, if it kept its name, what a round reads
  for (const Target& carry : loop.carry) hides = hides || carry.name == info.var;
  for (const graph::RepeatArg& arg : info.args) {
    if (arg.kind != graph::RepeatArg::Kind::Input) continue;
    ExprId value = plain_name(n.inputs[static_cast<size_t>(arg.index)]);
    hides = hides || s_.ast[value].as<Name>().name == info.var;
    inputs.push_back(value);
  }
  auto input = inputs.begin();
  loop.var = hides ? fresh() : info.var;
  std::vector<ExprId> args;
  for (const graph::RepeatArg& arg : info.args) {
    size_t index = static_cast<size_t>(arg.index);
    switch (arg.kind) {
      case graph::RepeatArg::Kind::Iter:
        args.push_back(add({Name{loop.var, {}}, {}}, types_.int_()));
        break;
      case graph::RepeatArg::Kind::Carry:
        // As the rounds see it: what no round and some give.
        args.push_back(
            add({Name{loop.carry[index].name, {}}, {}}, m_.values[n.outputs[index]].type));
        break;
      case graph::RepeatArg::Kind::Input:
        args.push_back(*input++);
        break;
    }
  }
  ExprId round = call(graph_[info.callee].name, args, n.type);
  loop.body = {s_.ast.add(Stmt{Yield{{round}}, n.span})};
  loop.is_inline = true;
  body_.push_back(s_.ast.add(Stmt{std::move(loop), n.span}));
}

// ---- definitions ---------------------------------------------------------------------------

void Raiser::header(Definition& def, sema::TypedDefinition& typed) {
  def.name = m_.name;
  def.name_span = def.span = m_.span;
  def.origin = m_.span.file;
  def.is_global = m_.is_global;
  def.has_signature = def.statement_body = true;
  def.return_type = sema::to_syntax(m_.return_type, s_);
  typed.return_type = m_.return_type;
  for (ValueId input : m_.inputs) {
    const graph::Value& v = m_.values[input];
    TypeId inner = v.optional ? types_.strip_optional(v.type) : v.type;
    def.params.push_back({v.name, v.optional, sema::to_syntax(inner, s_), {}, m_.span});
    typed.params.push_back({v.name, v.type, v.optional});
    made_.push_back(input);
    auto collect = [&](auto&& self, TypeId type) -> void {
      const TypeData data = types_.get(type);
      for (const Axis& axis : data.axes) {
        if (axis.is_run()) continue;
        for (SymbolId id : types_.dims().symbols(axis.dim)) bound_.insert(id);
      }
      for (TypeId item : data.items) self(self, item);
    };
    if (v.type.valid()) collect(collect, v.type);
  }
  for (graph::NodeId id : m_.order) {
    const graph::Node& n = m_.nodes[id];
    if (n.source.valid() && n.source != m_.name) def.helper.parent = n.source;
  }
}

void Raiser::constraints(sema::TypedDefinition& typed) {
  DimTable& dims = types_.dims();
  for (const auto& [name, dim] : dim_values_) {
    typed.dim_values.emplace_back(name, dim);
    typed.constraints.push_back({dims.of(dims.symbol(name, SymbolKind::Variable)), dim, false});
  }
  for (const graph::Constraint& c : m_.constraints) {
    if (auto fact = typed_constraint(c)) typed.constraints.push_back(std::move(*fact));
  }
}

// The typed form of a constraint, where it has one.
std::optional<sema::TypedConstraint> Raiser::typed_constraint(const graph::Constraint& c) {
  using Is = sema::TypedGuard::Is;
  const auto *left = c.fact.left.get<graph::DimRef>(), *right = c.fact.right.get<graph::DimRef>();
  if (c.fact.relation != graph::Relation::Eq || !left || !right) return {};
  sema::TypedConstraint fact{left->dim, right->dim};
  DimId one = types_.dims().integer(1);
  for (const graph::Fact& guard : c.guards) {
    const auto* side = guard.left.get<graph::DimRef>();
    const auto* unit = guard.right.get<graph::DimRef>();
    const auto* input = guard.left.get<graph::Ref>();
    if (input && guard.relation >= graph::Relation::IsTrue) {
      Is is = guard.relation == graph::Relation::IsNull    ? Is::Null
              : guard.relation == graph::Relation::NotNull ? Is::NotNull
              : guard.relation == graph::Relation::IsTrue  ? Is::True
                                                           : Is::False;
      fact.guards.push_back({m_.values[input->value].name, is});
      fact.guarded = true;
      continue;
    }
    bool unless_one = !fact.or_one && guard.relation == graph::Relation::Ne && side && unit &&
                      unit->dim == one && (side->dim == fact.left || side->dim == fact.right);
    if (!unless_one) return {};
    fact.or_one = true;
    if (side->dim != fact.left) std::swap(fact.left, fact.right);
  }
  return fact;
}

void Raiser::run() {
  for (const graph::Value& v : m_.values) taken_.insert(v.name);
  Definition def;
  sema::TypedDefinition typed;
  header(def, typed);
  for (graph::NodeId id : m_.order) node(m_.nodes[id]);
  span_ = m_.span;
  scope_ = {};
  scope_.absolute = true;
  std::vector<ExprId> values;
  for (size_t i = 0; i < m_.outputs.size(); ++i) values.push_back(output(i));
  body_.push_back(s_.ast.add(Stmt{Return{std::move(values)}, span_}));
  def.body = std::move(body_);
  constraints(typed);
  for (const graph::InputDefault& d : m_.defaults) {
    NameId param = value_name(m_.inputs[static_cast<size_t>(d.input)]);
    out_.flat.main_defaults.emplace_back(param, atom(d.value, true));
  }
  sema::Program& program = out_.flat.program;
  program.by_name[def.name] = program.definitions.size();
  program.definitions.push_back(std::move(def));
  out_.definitions.push_back(std::move(typed));
}

// Pragma values as syntax, read from their text.
std::vector<Pragma> raise_pragmas(const graph::Graph& graph, sema::Session& session) {
  std::string text;
  for (const graph::Pragma& pragma : graph.pragmas) {
    text += "{-# " + std::string(session.names.text(pragma.name)) + " " + pragma.value + " #-}\n";
  }
  if (text.empty()) return {};
  FileId file = session.files.add("pragmas of a graph", text);
  return parse(file, session.files, session.names, session.ast, session.sink).pragmas;
}

}  // namespace

sema::TypedProgram raise(const graph::Graph& graph, sema::Session& session,
                         const RaiseOptions& options) {
  sema::TypedProgram out;
  sema::Program& program = out.flat.program;
  program.pragmas = raise_pragmas(graph, session);
  program.main = graph[graph.main].name;
  const std::vector<bool> reached = graph::reached_modules(graph);
  for (size_t i = 0; i < graph.modules.size(); ++i) {
    if (!reached[i]) continue;
    Raiser(graph, {static_cast<int32_t>(i)}, session, out, options).run();
  }
  out.type_of.resize(session.ast.exprs.size());
  return out;
}

}  // namespace axon::lower
