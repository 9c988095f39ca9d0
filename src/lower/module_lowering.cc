// Lowers one definition: binds to nodes, loops to core.repeat, names to values.
#include "lower/module_lowering.h"

#include "graph/builder.h"
#include "graph/verify.h"
#include "sema/operators.h"
#include "sema/validate_typed.h"
#include "support/text.h"

namespace axon::lower {

using namespace syntax;
using graph::Node;
using graph::Operand;
using graph::ValueId;

NameId source_name(NameId name, Interner& names) {
  std::string_view text = names.text(name);
  // A graph read again binds `x__g1` again: its second value is `x__g1__g1`.
  for (;;) {
    size_t mark = text.rfind("__g");
    if (mark == text.npos || mark == 0 || !parse_int(std::string(text.substr(mark + 3)))) break;
    text = text.substr(0, mark);
  }
  return names.intern(text);
}

ModuleLowering::ModuleLowering(Context& context, graph::ModuleId module, size_t definition)
    : c_(context),
      def_(context.program.flat.program.definitions[definition]),
      typed_(context.program.definitions[definition]),
      graph_(context.graph),
      id_(module),
      ast_(context.session.ast),
      types_(context.session.types),
      names_(context.session.names),
      dims_(context.session.ast, context.session.types) {}

void ModuleLowering::run() {
  module().is_global = def_.is_global;
  module().span = def_.span;
  module().return_type = typed_.return_type.valid() ? typed_.return_type : types_.any();
  inputs();
  if (!def_.statement_body) results({def_.body_expr});
  for (size_t i = 0; i < def_.body.size(); ++i) {
    const Stmt s = ast_[def_.body[i]];
    const auto following = std::span(def_.body).subspan(i + 1);
    if (const Bind* b = s.get<Bind>()) {
      bind(*b, s.span, following);
    } else if (const Loop* l = s.get<Loop>()) {
      loop(*l, s.span, following);
    } else if (const Return* r = s.get<Return>()) {
      results(r->values);
    } else {
      fail("a statement that is not flat", s.span);
    }
  }
  constraints();
}

void ModuleLowering::fail(std::string_view what, Span span) {
  c_.session.sink.report(
      Diag::GraphInvalid, span,
      {"typecheck", std::string(what) + " in `" + std::string(names_.text(def_.name)) + "`"});
}

TypeId ModuleLowering::type_of(ExprId id) const {
  size_t index = static_cast<size_t>(id.index);
  const auto& all = c_.program.type_of;
  return id.valid() && index < all.size() && all[index].valid() ? all[index] : types_.any();
}

bool ModuleLowering::is_global(NameId name) const {
  const auto& program = c_.program.flat.program;
  auto found = program.by_name.find(name);
  return found != program.by_name.end() && program.definitions[found->second].is_global &&
         c_.modules.contains(name);
}

// ---- values --------------------------------------------------------------------------------

// A name bound again gets `x__g1`, `x__g2`, …; so does `_`, which is never read.
NameId ModuleLowering::unique(NameId name) {
  std::string base(names_.text(name));
  NameId out = name;
  if (names_.text(out) == "_" || taken_.contains(out)) {
    // Numbers below the last one given are all taken.
    int& n = last_number_[name];
    do {
      out = names_.intern(base + "__g" + std::to_string(++n));
    } while (taken_.contains(out));
  }
  taken_.insert(out);
  return out;
}

ValueId ModuleLowering::add_value(NameId name, TypeId type) {
  graph::Value value;
  value.name = unique(name);
  value.type = type;
  ValueId id = module().values.add(value);
  values_[name] = id;
  return id;
}

void ModuleLowering::inputs() {
  for (const auto& [name, dim] : typed_.dim_values) dims_.tell(name, dim);
  for (size_t i = 0; i < def_.params.size(); ++i) {
    const Param& param = def_.params[i];
    bool typed = i < typed_.params.size();
    TypeId type = typed ? typed_.params[i].type : types_.any();
    ValueId value = add_value(param.name, type);
    module().values[value].optional = typed ? typed_.params[i].optional : param.optional;
    module().inputs.push_back(value);
    dims_.learn(param.type, type);
  }
  for (ValueId input : module().inputs) dims_.learn_symbols(module().values[input].type);
}

// The types that several names get from one value.
std::vector<TypeId> ModuleLowering::split(TypeId whole, size_t count) const {
  if (count == 1) return {whole};
  const TypeData data = types_.get(types_.strip_optional(whole));
  if (data.kind == TypeKind::Tuple && data.items.size() == count) return data.items;
  TypeId item = data.kind == TypeKind::List ? data.items[0] : types_.any();
  return std::vector<TypeId>(count, item);
}

graph::NodeId ModuleLowering::add_node(Node node, const PathLit& scope, Span span) {
  node.source = def_.helper.parent.valid() ? def_.helper.parent : def_.name;
  node.scope = path(scope, span);
  if (node.scope.pieces.empty()) node.scope.absolute = true;
  node.span = span;
  graph::NodeId id = module().nodes.add(std::move(node));
  module().order.push_back(id);
  return id;
}

void ModuleLowering::add_outputs(graph::NodeId node, const std::vector<Target>& targets,
                                 const std::vector<TypeId>& types) {
  for (size_t i = 0; i < targets.size(); ++i) {
    ValueId value = add_value(targets[i].name, types[i]);
    module().values[value].producer = node;
    module().values[value].output_index = static_cast<int32_t>(i);
    module().nodes[node].outputs.push_back(value);
    dims_.learn_symbols(types[i]);
  }
}

// ---- expressions ---------------------------------------------------------------------------

graph::Path ModuleLowering::path(const PathLit& lit, Span span) {
  graph::Path out;
  out.absolute = lit.absolute;
  for (const PathPiece& piece : lit.pieces) {
    graph::PathPiece p;
    p.text = piece.text;
    p.placeholder = piece.placeholder;
    p.joined = piece.joined;
    if (piece.placeholder) {
      Operand read = name(piece.text, {}, span);
      if (auto* r = read.get<graph::Ref>()) p.value = r->value;
      if (auto* d = read.get<graph::DimRef>()) p.dim = d->dim;
      if (auto* g = read.get<graph::GlobalRef>()) p.global = g->module;
    }
    out.pieces.push_back(p);
  }
  return out;
}

// A local, else a dim of the definition, else a global binding (language.md 7.3).
Operand ModuleLowering::name(NameId id, ExprId expr, Span span) {
  auto local = values_.find(id);
  if (local != values_.end()) {
    TypeId type = expr.valid() ? type_of(expr) : module().values[local->second].type;
    return {graph::Ref{local->second}, type};
  }
  if (is_global(id)) return {graph::GlobalRef{c_.modules.at(id)}, type_of(expr)};
  DimId dim = dims_.find(id);
  if (dim.valid()) return {graph::DimRef{dim}, types_.dim()};
  fail("name `" + std::string(names_.text(id)) + "` without a value", span);
  return {graph::LitNull{}, types_.null()};
}

Operand ModuleLowering::operand(ExprId id) {
  const Expr e = ast_[id];
  TypeId type = type_of(id);
  switch (e.kind()) {
    case ExprKind::Name:
      return name(e.as<Name>().name, id, e.span);
    case ExprKind::Int:
      return {graph::LitInt{e.as<Int>().value}, type};
    case ExprKind::Float:
      return {graph::LitFloat{e.as<Float>().value}, type};
    case ExprKind::Bool:
      return {graph::LitBool{e.as<Bool>().value}, type};
    case ExprKind::Null:
      return {graph::LitNull{}, type};
    case ExprKind::String:
      return {graph::LitString{e.as<String>().value}, type};
    case ExprKind::Path:
      return {path(e.as<PathExpr>().path, e.span), type};
    case ExprKind::Paren:
      return operand(e.as<Paren>().inner);
    default:
      break;
  }
  if (ExprId only = only_branch(e, type); only.valid()) return operand(only);
  graph::NestedExpr nested;
  nested.type = type;
  nested.span = e.span;
  application(nested, e);
  return {graph::Nested{module().nested.add(std::move(nested))}, type};
}

// Of a condition that the checker decided, the branch that is taken: the other one does not have
// the type. Invalid when both may be.
ExprId ModuleLowering::only_branch(const Expr& e, TypeId type) const {
  const Ternary* ternary = e.get<Ternary>();
  const If* conditional = e.get<If>();
  if (!ternary && !conditional) return {};
  ExprId yes = ternary ? ternary->then_value : conditional->then_value;
  ExprId no = ternary ? ternary->else_value : conditional->else_value;
  auto fits = [&](ExprId id) {
    return graph::compatible(type_of(id), type, types_, graph::Compatibility::Tolerant);
  };
  if (fits(yes) == fits(no)) return {};
  return fits(yes) ? yes : no;
}

template <class Target>
void ModuleLowering::application(Target& target, const Expr& e) {
  if (ExprId only = only_branch(e, target.type); only.valid()) {
    const Expr taken = ast_[only];
    if (!is_leaf(taken)) return application(target, taken);
    target.op = Op::CoreAlias;
    target.inputs.push_back(operand(only));
    return;
  }
  auto add = [&](ExprId id) {
    Operand o = operand(id);
    target.inputs.push_back(std::move(o));
  };
  switch (e.kind()) {
    case ExprKind::Call: {
      const Call& call = e.as<Call>();
      for (const Arg& arg : call.args) add(arg.value);
      if (auto primitive = find_primitive(names_.text(call.callee))) {
        target.op = *primitive;
        return;
      }
      target.op = Op::CoreCall;
      auto found = c_.modules.find(call.callee);
      if (found != c_.modules.end())
        target.callee = found->second;
      else
        fail("call of `" + std::string(names_.text(call.callee)) + "`", e.span);
      return;
    }
    case ExprKind::Binary:
      target.op = sema::core_op(e.as<Binary>().op);
      add(e.as<Binary>().left);
      add(e.as<Binary>().right);
      return;
    case ExprKind::Ternary:
      target.op = Op::CoreSelect;
      add(e.as<Ternary>().cond);
      add(e.as<Ternary>().then_value);
      add(e.as<Ternary>().else_value);
      return;
    case ExprKind::If:
      target.op = Op::CoreSelect;
      add(e.as<If>().cond);
      add(e.as<If>().then_value);
      add(e.as<If>().else_value);
      return;
    case ExprKind::List:
    case ExprKind::Tuple:
      target.op = e.kind() == ExprKind::List ? Op::CoreList : Op::CoreTuple;
      for (ExprId item : e.kind() == ExprKind::List ? e.as<List>().items : e.as<Tuple>().items)
        add(item);
      return;
    case ExprKind::Ascribe: {
      // Around an operation it only gives the type; around an atom it is an assertion of its own.
      const Ascribe& a = e.as<Ascribe>();
      dims_.learn(a.type, target.type);
      const Expr inner = ast_[a.value];
      if (!is_leaf(inner)) return application(target, inner);
      target.op = Op::CoreAscribe;
      add(a.value);
      return;
    }
    case ExprKind::Paren:
      return application(target, ast_[e.as<Paren>().inner]);
    default:
      return fail("an expression that is not flat", e.span);
  }
}

// ---- statements ----------------------------------------------------------------------------

void ModuleLowering::bind(const Bind& bind, Span span, std::span<const StmtId> following) {
  const Expr e = ast_[bind.value];
  Node node;
  node.type = type_of(bind.value);
  if (is_leaf(e)) {
    node.op = Op::CoreAlias;
    node.inputs.push_back(operand(bind.value));
  } else {
    application(node, e);
  }
  TypeId whole = node.type;
  graph::NodeId id = add_node(std::move(node), bind.scope, span);
  std::vector<TypeId> types = split(whole, bind.targets.size());
  const bool list = types.size() > 1 && types_.kind(types_.strip_optional(whole)) == TypeKind::List;
  for (size_t i = 0; list && i < types.size(); ++i)
    types[i] = own_sizes(types[i], bind.targets[i].name, following);
  add_outputs(id, bind.targets, types);
}

// The type under which the next statement that reads a name sees it.
std::optional<TypeId> ModuleLowering::type_at_use(NameId wanted,
                                                  std::span<const StmtId> following) const {
  // A branch sees no null where its condition says so: its word counts when there is no other.
  std::optional<TypeId> found, narrowed;
  int branches = 0;
  auto result = [&] { return found ? found : narrowed; };
  auto visit = [&](auto&& self, ExprId id) -> void {
    if (!id.valid() || found) return;
    const Expr& e = ast_[id];
    auto choice = [&](ExprId cond, ExprId yes, ExprId no) {
      self(self, cond);
      ++branches;
      self(self, yes);
      self(self, no);
      --branches;
    };
    switch (e.kind()) {
      case ExprKind::Name: {
        if (e.as<Name>().name != wanted) return;
        std::optional<TypeId>& seen = branches > 0 ? narrowed : found;
        if (!seen) seen = type_of(id);
        return;
      }
      case ExprKind::Ternary:
        return choice(e.as<Ternary>().cond, e.as<Ternary>().then_value, e.as<Ternary>().else_value);
      case ExprKind::If:
        return choice(e.as<If>().cond, e.as<If>().then_value, e.as<If>().else_value);
      case ExprKind::Call:
        for (const Arg& arg : e.as<Call>().args) self(self, arg.value);
        return;
      case ExprKind::Binary:
        self(self, e.as<Binary>().left);
        return self(self, e.as<Binary>().right);
      case ExprKind::List:
        for (ExprId item : e.as<List>().items) self(self, item);
        return;
      case ExprKind::Tuple:
        for (ExprId item : e.as<Tuple>().items) self(self, item);
        return;
      case ExprKind::Ascribe:
        return self(self, e.as<Ascribe>().value);
      case ExprKind::Paren:
        return self(self, e.as<Paren>().inner);
      default:
        return;
    }
  };
  for (StmtId id : following) {
    const Stmt& s = ast_[id];
    if (const Bind* b = s.get<Bind>()) {
      visit(visit, b->value);
      for (const Target& t : b->targets) {
        if (t.name == wanted) return result();
      }
    } else if (const Return* r = s.get<Return>()) {
      for (ExprId value : r->values) visit(visit, value);
    } else if (const Loop* l = s.get<Loop>()) {
      for (const Target& t : l->targets) {
        if (t.name == wanted) return result();
      }
    }
    if (found) return found;
  }
  return result();
}

// An item of a list that one name gets: a size that the items do not share is its own. Its name
// counts within the definition, so that texts of stages say the same.
TypeId ModuleLowering::own_sizes(TypeId item, NameId name, std::span<const StmtId> following) {
  DimTable& dims = types_.dims();
  std::unordered_map<SymbolId, DimId, IdHash> renewed;
  auto renew = [&](SymbolId symbol) -> DimId {
    if (dims.symbol(symbol).kind != SymbolKind::Unknown) return {};
    auto [it, added] = renewed.try_emplace(symbol);
    if (added) {
      NameId fresh = names_.intern("_u" + std::to_string(++own_sizes_));
      it->second = dims.of(dims.symbol(fresh, SymbolKind::Unknown));
    }
    return it->second;
  };
  TypeId own = types_.substitute(
      item, renew, [](SymbolId, bool&) { return std::vector<Axis>{}; },
      [](SymbolId) { return TypeId{}; });
  if (renewed.empty()) return item;
  auto used = type_at_use(name, following);
  if (!used) return own;
  const bool nullable = types_.kind(item) == TypeKind::Optional;
  return nullable ? types_.optional(types_.strip_optional(*used)) : *used;
}

// What the checker made of no round of a carry and of some: no use behind the loop says it when
// nothing reads the result there.
TypeId ModuleLowering::joined_type(const Call& round, const graph::RepeatInfo& info,
                                   int32_t carry) const {
  for (size_t i = 0; i < info.args.size(); ++i) {
    bool carried = info.args[i].kind == graph::RepeatArg::Kind::Carry;
    if (carried && info.args[i].index == carry) return type_of(round.args[i].value);
  }
  return types_.any();
}

// `targets <- for v <- [a..b) step=s carry (c…) step_helper args…`
void ModuleLowering::loop(const Loop& loop, Span span, std::span<const StmtId> following) {
  const Yield* yield = loop.body.size() == 1 ? ast_[loop.body[0]].get<Yield>() : nullptr;
  bool flat = yield && yield->values.size() == 1 && ast_[yield->values[0]].kind() == ExprKind::Call;
  if (!flat) return fail("a loop that is not flat", span);
  ExprId round_id = yield->values[0];
  const Call call = ast_[round_id].as<Call>();
  auto callee = c_.modules.find(call.callee);
  if (callee == c_.modules.end()) return fail("a loop without a step definition", span);
  graph::RepeatInfo info;
  info.callee = callee->second;
  info.var = loop.var;
  Node node;
  node.op = Op::CoreRepeat;
  for (ExprId bound : {loop.from, loop.to}) node.inputs.push_back(operand(bound));
  node.inputs.push_back(loop.step.valid() ? operand(loop.step) : graph::lit_int(1, types_));
  std::vector<TypeId> initial;
  for (const Target& carry : loop.carry) {
    info.carry_names.push_back(source_name(carry.name, names_));
    node.inputs.push_back(name(carry.name, {}, carry.span));
    initial.push_back(node.inputs.back().type);
  }
  std::vector<Target> targets = loop.targets;
  if (loop.carry.empty()) {
    // Evaluated for its checks only: one null goes round.
    info.carry_names.push_back(names_.intern("_"));
    node.inputs.push_back(graph::lit_null(types_));
    initial.push_back(types_.null());
    targets.push_back({names_.intern("_"), span});
  }
  if (targets.size() != info.carry_names.size())
    return fail("a loop with other targets than carries", span);
  for (const Arg& arg : call.args) {
    graph::RepeatArg role;
    const Name* plain = ast_[arg.value].get<Name>();
    bool found = plain && plain->name == loop.var;
    for (size_t i = 0; plain && !found && i < loop.carry.size(); ++i) {
      if (loop.carry[i].name != plain->name) continue;
      role = {graph::RepeatArg::Kind::Carry, static_cast<int32_t>(i)};
      found = true;
    }
    if (!found) {
      role = {graph::RepeatArg::Kind::Input, static_cast<int32_t>(node.inputs.size())};
      node.inputs.push_back(operand(arg.value));
    }
    info.args.push_back(role);
  }
  std::vector<TypeId> types = split(type_of(round_id), targets.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == initial[i]) continue;
    auto used = type_at_use(targets[i].name, following);
    TypeId seen = used ? *used : joined_type(call, info, static_cast<int32_t>(i));
    bool nullable = types[i].valid() && types_.kind(types[i]) == TypeKind::Optional;
    types[i] = nullable ? types_.optional(types_.strip_optional(seen)) : seen;
  }
  node.type = types.size() == 1 ? types[0] : types_.tuple(types);
  node.repeat = static_cast<int32_t>(module().repeats.size());
  module().repeats.push_back(std::move(info));
  graph::NodeId id = add_node(std::move(node), loop.lexical_scope, span);
  add_outputs(id, targets, types);
}

void ModuleLowering::results(const std::vector<ExprId>& values) {
  std::vector<ExprId> items = values;
  const Expr* only = values.size() == 1 ? &ast_[values[0]] : nullptr;
  if (only && only->kind() == ExprKind::Tuple) items = only->as<Tuple>().items;
  for (ExprId id : items) module().outputs.push_back(operand(id));
}

// ---- constraints ---------------------------------------------------------------------------

void ModuleLowering::constraints() {
  // What a branch needs must hold where the program is entered, as far as inputs say that the
  // branch is taken; inside, the branch itself tells.
  if (typed_.constraints.empty()) return;
  const std::set<SymbolId> unknown = result_names();
  bool main = def_.name == c_.program.flat.program.main;
  for (const sema::TypedConstraint& fact : typed_.constraints) {
    if (main || !fact.guarded) constraint(fact, unknown);
  }
}

// The names of sizes that only the result has, which says that its sizes are one.
std::set<SymbolId> ModuleLowering::result_names() const {
  std::set<SymbolId> out = sema::shared_symbols(typed_.return_type, types_);
  auto take = [&](auto& self, TypeId type) -> void {
    const TypeData data = types_.get(type);
    for (const Axis& axis : data.axes) {
      if (axis.is_run()) continue;
      for (SymbolId symbol : types_.dims().symbols(axis.dim)) out.erase(symbol);
    }
    for (TypeId item : data.items) self(self, item);
  };
  if (out.empty()) return out;
  for (const graph::Value& value : graph_[id_].values) take(take, value.type);
  return out;
}

// A name made equal to another dim stands for that one; what is then plainly true says nothing.
// Neither do facts on dims that the module does not know.
void ModuleLowering::constraint(const sema::TypedConstraint& fact,
                                const std::set<SymbolId>& unknown) {
  DimTable& dims = types_.dims();
  bool known = true;
  auto own = [&](DimId dim) {
    return dims.substitute(dim, [&](SymbolId symbol) -> DimId {
      DimId meaning = dims_.find(dims.symbol(symbol).name);
      SymbolKind kind = dims.symbol(symbol).kind;
      bool itself = kind == SymbolKind::Rigid || kind == SymbolKind::Param;
      known = known && (meaning.valid() || itself) && unknown.count(symbol) == 0;
      return meaning;
    });
  };
  DimId left = own(fact.left), right = own(fact.right);
  if (!known || left == right) return;
  graph::Constraint c;
  c.fact = {graph::Relation::Eq, graph::dim_operand(left, types_),
            graph::dim_operand(right, types_)};
  if (fact.or_one) {
    c.guards.push_back({graph::Relation::Ne, graph::dim_operand(left, types_),
                        graph::dim_operand(dims.integer(1), types_)});
  }
  for (const sema::TypedGuard& guard : fact.guards) {
    for (graph::ValueId input : module().inputs) {
      if (module().values[input].name != guard.param) continue;
      constexpr graph::Relation kRelations[] = {graph::Relation::IsNull, graph::Relation::NotNull,
                                                graph::Relation::IsTrue, graph::Relation::IsFalse};
      c.guards.push_back({kRelations[static_cast<size_t>(guard.is)],
                          graph::Operand{graph::Ref{input}, module().values[input].type},
                          {}});
    }
  }
  c.span = def_.name_span;
  module().constraints.push_back(std::move(c));
}

}  // namespace axon::lower
