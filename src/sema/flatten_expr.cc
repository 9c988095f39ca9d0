// Expressions to preludes of binds and flat right-hand sides.
#include <algorithm>

#include "sema/callee.h"
#include "sema/flatten_body.h"
#include "support/check.h"

namespace axon::sema {

using namespace syntax;

NameId FlattenContext::fresh(NameId like) {
  std::string base(session.names.text(like));
  int& n = last_number[like];  // numbers below are all taken
  while (true) {
    NameId name = session.names.intern(base + "__" + std::to_string(++n));
    if (used_names.insert(name).second) return name;
  }
}

BodyFlattener::BodyFlattener(FlattenContext& context, PathLit prefix)
    : ctx_(context),
      ast_(context.session.ast),
      names_(context.session.names),
      prefix_(std::move(prefix)) {
  locals_.push();
}

NameId BodyFlattener::temporary() {
  while (true) {
    NameId name = names_.intern("_v" + std::to_string(++temporaries_));
    if (ctx_.used_names.count(name) || own_names_.count(name)) continue;
    visible_.insert(name);
    return name;
  }
}

ExprId BodyFlattener::add(Expr node) const { return ast_.add(std::move(node)); }

NameId BodyFlattener::value_name(NameId name) const {
  if (!locals_.contains(name)) return name;
  auto found = renames_.find(name);
  return found == renames_.end() ? name : found->second;
}

PathLit BodyFlattener::renamed(const PathLit& source) const {
  PathLit out = source;
  for (PathPiece& piece : out.pieces) {
    if (piece.placeholder) piece.text = value_name(piece.text);
  }
  return out;
}

// The prefix with a relative path or scope behind it.
PathLit BodyFlattener::extended(const PathLit& scope) const {
  PathLit tail = renamed(scope);
  if (tail.absolute) return tail;
  PathLit out = prefix_;
  out.span = scope.span;
  out.pieces.insert(out.pieces.end(), tail.pieces.begin(), tail.pieces.end());
  return out;
}

PathLit BodyFlattener::path(const PathLit& source) const { return extended(source); }

// A type of a parameter or an ascription, whose dims are values from then on.
TypeExprId BodyFlattener::type(TypeExprId id) {
  TypeExprId out = expand_aliases(id, ctx_.aliases, ast_, names_);
  for (NameId name : dims_in(out, ast_)) valued_dims_.insert(name);
  return out;
}

// The current prefix as an argument. A prefix that is just a path parameter is passed by its name.
ExprId BodyFlattener::prefix_value(Span span) const {
  if (prefix_.pieces.size() == 1 && prefix_.pieces[0].placeholder &&
      std::find(ctx_.path_names.begin(), ctx_.path_names.end(), prefix_.pieces[0].text) !=
          ctx_.path_names.end()) {
    return add({Name{prefix_.pieces[0].text, {}}, span});
  }
  PathLit path = prefix_;
  path.span = span;
  return add({PathExpr{std::move(path)}, span});
}

bool BodyFlattener::is_flat_atom(ExprId id) const {
  const Expr& node = ast_[id];
  auto all = [&](const std::vector<ExprId>& items) {
    return std::all_of(items.begin(), items.end(), [&](ExprId item) { return is_flat_atom(item); });
  };
  if (is_leaf(node)) return true;
  switch (node.kind()) {
    case ExprKind::List:
      return all(node.as<List>().items);
    case ExprKind::Tuple:
      return all(node.as<Tuple>().items);
    case ExprKind::Ascribe:
      return is_flat_atom(node.as<Ascribe>().value);
    default:
      return false;
  }
}

bool BodyFlattener::is_atom(ExprId id) const {
  id = strip_parens(id, ast_);
  const Expr& node = ast_[id];
  auto all = [&](const std::vector<ExprId>& items) {
    return std::all_of(items.begin(), items.end(), [&](ExprId item) { return is_atom(item); });
  };
  if (const List* list = node.get<List>()) return all(list->items);
  if (const Tuple* tuple = node.get<Tuple>()) return all(tuple->items);
  if (const Ascribe* ascribe = node.get<Ascribe>()) return is_atom(ascribe->value);
  return is_flat_atom(id);
}

bool BodyFlattener::is_flat(ExprId id) const {
  id = strip_parens(id, ast_);
  if (is_atom(id)) return true;
  const Expr& node = ast_[id];
  switch (node.kind()) {
    case ExprKind::Call: {
      const auto& args = node.as<Call>().args;
      return std::all_of(args.begin(), args.end(),
                         [&](const Arg& arg) { return is_atom(arg.value); });
    }
    case ExprKind::Binary:
      return is_atom(node.as<Binary>().left) && is_atom(node.as<Binary>().right);
    case ExprKind::Ternary:
      return is_atom(node.as<Ternary>().cond) && is_flat(node.as<Ternary>().then_value) &&
             is_flat(node.as<Ternary>().else_value);
    case ExprKind::If:
      return is_atom(node.as<If>().cond) && is_flat(node.as<If>().then_value) &&
             is_flat(node.as<If>().else_value);
    case ExprKind::Ascribe:
      return is_flat(node.as<Ascribe>().value);
    case ExprKind::Do: {
      const auto& body = node.as<Do>().body;
      const Return* last = body.size() == 1 ? ast_[body[0]].get<Return>() : nullptr;
      if (!last) return false;
      if (last->values.size() == 1) return is_flat(last->values[0]);
      return std::all_of(last->values.begin(), last->values.end(),
                         [&](ExprId value) { return is_atom(value); });
    }
    default:
      return false;
  }
}

std::vector<ExprId> BodyFlattener::atoms(const std::vector<ExprId>& ids) {
  std::vector<ExprId> out;
  for (ExprId id : ids) out.push_back(atom(id));
  return out;
}

ExprId BodyFlattener::atom(ExprId id) { return atomise(flat(id)); }

ExprId BodyFlattener::atomise(ExprId flat_id) {
  if (is_flat_atom(flat_id)) return flat_id;
  Span span = ast_[flat_id].span;
  NameId name = temporary();
  emit_bind({{name, span}}, flat_id, span);
  return add({Name{name, {}}, span});
}

ExprId BodyFlattener::flat(ExprId id) {
  Expr node = ast_[id];
  switch (node.kind()) {
    case ExprKind::Name:
      return add({Name{value_name(node.as<Name>().name), {}}, node.span});
    case ExprKind::Int:
    case ExprKind::Float:
    case ExprKind::Bool:
    case ExprKind::Null:
    case ExprKind::String:
      return add(std::move(node));
    case ExprKind::Path:
      return add({PathExpr{path(node.as<PathExpr>().path)}, node.span});
    case ExprKind::List:
      return add({List{atoms(node.as<List>().items)}, node.span});
    case ExprKind::Tuple:
      return add({Tuple{atoms(node.as<Tuple>().items)}, node.span});
    case ExprKind::Call:
      return flat_call(node.as<Call>(), node.span);
    case ExprKind::BindExpr:
      return flat_bind(node.as<BindExpr>());
    case ExprKind::If: {
      const If& branch = node.as<If>();
      return conditional(branch.cond, branch.then_value, branch.else_value, node.span);
    }
    case ExprKind::Ternary: {
      const Ternary& branch = node.as<Ternary>();
      return conditional(branch.cond, branch.then_value, branch.else_value, node.span);
    }
    case ExprKind::Binary:
      return flat_binary(id);
    case ExprKind::Paren:
      return flat(node.as<Paren>().inner);
    case ExprKind::Ascribe: {
      ExprId value = flat(node.as<Ascribe>().value);
      return add({Ascribe{value, type(node.as<Ascribe>().type)}, node.span});
    }
    case ExprKind::Do:
      return flat_do(node.as<Do>(), node.span);
    case ExprKind::Pipe:
    case ExprKind::Lambda:
      break;
  }
  AXON_UNREACHABLE("node that normalise removes");
}

ExprId BodyFlattener::flat_call(const Call& call, Span span) {
  Call now{call.callee, call.callee_span, {}, {}};
  if (ctx_.facts.hidden(call.callee)) now.args.push_back({{}, prefix_value(span), {}});
  for (size_t i = 0; i < call.args.size(); ++i) {
    ExprId value = strip_parens(call.args[i].value, ast_);
    const PathExpr* literal = ast_[value].get<PathExpr>();
    if (literal && ctx_.facts.config_key(call.callee, i)) {
      // A configuration key is its dotted text, whatever the prefix.
      PathLit key = renamed(literal->path);
      key.absolute = true;
      Span where = ast_[value].span;
      now.args.push_back({{}, add({PathExpr{std::move(key)}, where}), {}});
      continue;
    }
    now.args.push_back({{}, atom(call.args[i].value), {}});
  }
  return add({std::move(now), span});
}

// Chains of operators lean to the left and may be long: they are walked, not recursed into.
ExprId BodyFlattener::flat_binary(ExprId id) {
  struct Step {
    BinaryOp op;
    ExprId right;
    Span op_span, span;
  };
  std::vector<Step> steps;
  ExprId at = id;
  while (const Binary* binary = ast_[at].get<Binary>()) {
    steps.push_back({binary->op, binary->right, binary->op_span, ast_[at].span});
    at = strip_parens(binary->left, ast_);
  }
  ExprId left = flat(at);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    ExprId operand = atomise(left);
    ExprId right = atom(step->right);
    left = add({Binary{step->op, operand, right, step->op_span}, step->span});
  }
  return left;
}

BodyFlattener::DoState BodyFlattener::enter_do() {
  DoState state{renames_, std::move(block_renamed_), null_tests_, in_do_};
  block_renamed_.clear();
  in_do_ = true;
  locals_.push();
  return state;
}

void BodyFlattener::leave_do(DoState state) {
  locals_.pop();
  in_do_ = state.in_do;
  renames_ = std::move(state.renames);
  block_renamed_ = std::move(state.renamed);
  null_tests_ = std::move(state.tests);
}

// The locals of a do-block are bound in place; names that something else uses are replaced.
ExprId BodyFlattener::flat_do(const Do& node, Span span) {
  DoState state = enter_do();
  ExprId out;
  const Return* last = node.body.empty() ? nullptr : ast_[node.body.back()].get<Return>();
  if (last && last->values.size() == 1) {
    ExprId value = last->values[0];
    statements(std::vector<StmtId>(node.body.begin(), node.body.end() - 1));
    out = flat(value);
  } else {
    std::vector<ExprId> values = values_of(node.body);
    out = values.size() == 1 ? values[0] : add({Tuple{std::move(values)}, span});
  }
  leave_do(std::move(state));
  return out;
}

ExprId BodyFlattener::flat_bind(const BindExpr& node) {
  ExprId value = flat(node.value);
  DoState state = enter_do();
  emit_bind(bind_targets({{node.var, node.var_span}}), value, node.var_span);
  ExprId out = flat(node.body);
  leave_do(std::move(state));
  return out;
}

ExprId BodyFlattener::conditional(ExprId cond, ExprId then_value, ExprId else_value, Span span) {
  Branch when_true, when_false;
  when_true.value = then_value;
  when_true.non_null = non_null(cond, true);
  when_true.span = ast_[then_value].span;
  when_false.kind = HelperKind::BranchElse;
  when_false.value = else_value;
  when_false.non_null = non_null(cond, false);
  when_false.span = ast_[else_value].span;
  ExprId test = atom(cond);
  ExprId first = branch(when_true);
  ExprId second = branch(when_false);
  return add({Ternary{test, first, second}, span});
}

}  // namespace axon::sema
