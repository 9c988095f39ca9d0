// Statements of a body: binds, scopes, if-statements and loops.
#include <algorithm>

#include "sema/flatten_body.h"
#include "support/check.h"

namespace axon::sema {

using namespace syntax;

void BodyFlattener::bind_formals(const Definition& def) {
  auto formal = [&](NameId name) {
    locals_.bind(name);
    visible_.insert(name);
    own_names_.insert(name);
  };
  for (NameId name : ctx_.path_names) formal(name);
  for (const Param& param : def.params) {
    formal(param.name);
    if (!param.type.valid()) continue;
    TypeExprId given = type(param.type);
    bool optional = ast_[given].kind() == TypeExprKind::Optional;
    if (optional) given = ast_[given].as<TypeOptional>().inner;
    facts_[param.name] = {given, param.optional || optional};
  }
}

std::vector<StmtId> BodyFlattener::run_definition() {
  std::vector<ExprId> values;
  Span span;
  if (ctx_.def.statement_body) {
    span = ast_[ctx_.def.body.back()].span;
    values = values_of(ctx_.def.body);
  } else {
    span = ast_[ctx_.def.body_expr].span;
    values = {atom(ctx_.def.body_expr)};
  }
  out_.push_back(ast_.add(Stmt{Return{std::move(values)}, span}));
  return std::move(out_);
}

void BodyFlattener::emit_bind(std::vector<Target> targets, ExprId value, Span span) {
  out_.push_back(ast_.add(Stmt{Bind{std::move(targets), value, prefix_}, span}));
}

namespace {

bool mentions(const PathLit& path, NameId flat_name) {
  return std::any_of(path.pieces.begin(), path.pieces.end(), [&](const PathPiece& piece) {
    return piece.placeholder && piece.text == flat_name;
  });
}

}  // namespace

bool BodyFlattener::in_prefix(NameId flat_name) const { return mentions(prefix_, flat_name); }

bool BodyFlattener::is_path_name(NameId flat_name) const {
  return std::find(ctx_.path_names.begin(), ctx_.path_names.end(), flat_name) !=
         ctx_.path_names.end();
}

// The name in the flat body for a source name that is bound here.
NameId BodyFlattener::bind_name(NameId name) {
  if (is_discard(name, names_)) return name;
  bool known = locals_.contains(name);
  NameId flat_name = name;
  if (in_do_) {
    if (block_renamed_.count(name)) {
      flat_name = value_name(name);
    } else if (visible_.count(name) || ctx_.outside_names.count(name)) {
      flat_name = ctx_.fresh(name);
    }
    block_renamed_.insert(name);
  } else if (known) {
    flat_name = value_name(name);
  } else if (block_ == BlockKind::Scope && ctx_.outside_names.count(name)) {
    flat_name = ctx_.fresh(name);
  }
  if (in_prefix(flat_name) || is_path_name(flat_name)) flat_name = ctx_.fresh(name);
  locals_.bind(name);
  if (flat_name == name) {
    renames_.erase(name);
  } else {
    renames_[name] = flat_name;
  }
  visible_.insert(flat_name);
  facts_.erase(flat_name);
  null_tests_.erase(name);
  for (auto it = null_tests_.begin(); it != null_tests_.end();) {
    it = it->second.subject == name ? null_tests_.erase(it) : std::next(it);
  }
  return flat_name;
}

std::vector<Target> BodyFlattener::bind_targets(const std::vector<Target>& targets) {
  std::vector<Target> out;
  for (const Target& target : targets) out.push_back({bind_name(target.name), target.span});
  return out;
}

void BodyFlattener::statements(const std::vector<StmtId>& body) {
  for (StmtId id : body) statement(id);
}

void BodyFlattener::statement(StmtId id) {
  Stmt node = ast_[id];
  switch (node.kind()) {
    case StmtKind::Bind: {
      const Bind& bound = node.as<Bind>();
      ExprId value = flat(bound.value);
      std::vector<Target> targets = bind_targets(bound.targets);
      if (bound.targets.size() == 1) record_null_test(bound.targets[0].name, bound.value);
      emit_bind(std::move(targets), value, node.span);
      return;
    }
    case StmtKind::If:
      return if_stmt(node.as<IfStmt>(), node.span);
    case StmtKind::Loop:
      return loop(node.as<Loop>(), node.span);
    case StmtKind::ScopeBind:
      return scope_bind(node.as<ScopeBind>(), node.span);
    case StmtKind::Return:
    case StmtKind::Yield:
      break;
  }
  AXON_UNREACHABLE("return or yield in the middle of a block");
}

bool BodyFlattener::returns(const std::vector<StmtId>& body) const {
  if (body.empty()) return false;
  const Stmt& last = ast_[body.back()];
  if (last.kind() == StmtKind::Return) return true;
  const IfStmt* node = last.get<IfStmt>();
  return node && (returns(node->then_body) || returns(node->else_body));
}

size_t BodyFlattener::return_count(const std::vector<StmtId>& body) const {
  const Stmt& last = ast_[body.back()];
  if (const Return* ret = last.get<Return>()) return ret->values.size();
  const IfStmt& node = last.as<IfStmt>();
  return return_count(returns(node.then_body) ? node.then_body : node.else_body);
}

// The atoms that a returning block hands back, after its statements.
std::vector<ExprId> BodyFlattener::values_of(const std::vector<StmtId>& body) {
  AXON_CHECK(!body.empty(), "empty block");
  std::vector<StmtId> before(body.begin(), body.end() - 1);
  statements(before);
  Stmt last = ast_[body.back()];
  if (const Return* ret = last.get<Return>()) return atoms(ret->values);
  if (const Yield* yield = last.get<Yield>()) return atoms(yield->values);
  if (const IfStmt* node = last.get<IfStmt>()) return returning_if(*node, last.span);
  AXON_UNREACHABLE("block without return");
}

std::vector<ExprId> BodyFlattener::returning_if(const IfStmt& node, Span span) {
  bool both = returns(node.then_body) && returns(node.else_body);
  if (!both) {
    ctx_.session.sink.report(Diag::FlatMixedReturn, span);
    return {add({Null{}, span})};
  }
  size_t count = return_count(node.then_body);
  size_t other = return_count(node.else_body);
  if (count != other) {
    ctx_.session.sink.report(Diag::TypeBranchArity, span, {count, other});
    return {add({Null{}, span})};
  }
  Branch when_true, when_false;
  when_true.suite = &node.then_body;
  when_true.non_null = non_null(node.cond, true);
  when_true.span = span;
  when_false.kind = HelperKind::BranchElse;
  when_false.suite = &node.else_body;
  when_false.non_null = non_null(node.cond, false);
  when_false.span = span;
  ExprId test = atom(node.cond);
  ExprId first = branch(when_true);
  ExprId second = branch(when_false);
  std::vector<Target> targets;
  std::vector<ExprId> out;
  for (size_t i = 0; i < count; ++i) targets.push_back({temporary(), span});
  for (const Target& target : targets) out.push_back(add({Name{target.name, {}}, span}));
  emit_bind(std::move(targets), add({Ternary{test, first, second}, span}), span);
  return out;
}

// Binds the names that both suites bind.
void BodyFlattener::if_stmt(const IfStmt& node, Span span) {
  if (returns(node.then_body) || returns(node.else_body)) {
    returning_if(node, span);  // one of the two does not return: reported there
    return;
  }
  auto outer = [&](NameId name) { return locals_.contains(name); };
  std::vector<NameId> other = bound_names(node.else_body, ast_, names_, outer);
  std::vector<NameId> joined;
  for (NameId name : bound_names(node.then_body, ast_, names_, outer)) {
    if (std::find(other.begin(), other.end(), name) != other.end()) joined.push_back(name);
  }
  Branch when_true, when_false;
  when_true.suite = &node.then_body;
  when_true.joined = joined;
  when_true.non_null = non_null(node.cond, true);
  when_true.span = span;
  when_false.kind = HelperKind::BranchElse;
  when_false.suite = &node.else_body;
  when_false.joined = joined;
  when_false.non_null = non_null(node.cond, false);
  when_false.span = span;
  ExprId test = atom(node.cond);
  ExprId first = branch(when_true);
  ExprId second = branch(when_false);
  std::vector<Target> targets;
  for (NameId name : joined) targets.push_back({name, span});
  if (targets.empty()) targets.push_back({names_.intern("_"), span});
  targets = bind_targets(targets);
  emit_bind(std::move(targets), add({Ternary{test, first, second}, span}), span);
}

void BodyFlattener::scope_bind(const ScopeBind& node, Span span) {
  PathLit outer_prefix = prefix_;
  Renames renames = renames_;
  BlockKind kind = block_;
  NameSet renamed = block_renamed_;
  std::vector<NameId> known = locals_.names();
  prefix_ = extended(node.path);
  block_ = BlockKind::Scope;
  locals_.push();
  std::vector<ExprId> values = values_of(node.body);
  locals_.pop();
  block_ = kind;
  prefix_ = std::move(outer_prefix);
  // Outer names keep what the scope made of them; its own names are gone.
  for (NameId name : known) {
    auto now = renames_.find(name);
    if (now == renames_.end()) {
      renames.erase(name);
    } else {
      renames[name] = now->second;
    }
  }
  renames_ = std::move(renames);
  block_renamed_ = std::move(renamed);
  ExprId value = values.size() == 1 ? values[0] : add({Tuple{std::move(values)}, span});
  emit_bind(bind_targets(node.targets), value, span);
}

void BodyFlattener::loop(const Loop& node, Span span) {
  Loop now;
  now.from = atom(node.from);
  now.to = atom(node.to);
  now.step = atom(node.step);
  now.var_span = node.var_span;
  now.is_inline = true;
  now.lexical_scope = prefix_;
  now.has_targets = node.has_targets;
  now.has_carry = node.has_carry;
  for (const Target& carry : node.carry) {
    NameId name = value_name(carry.name);
    if (in_prefix(name) || is_path_name(name)) {
      // Inside the loop the name would mean the carry, but the prefix needs what it means outside.
      NameId copy = ctx_.fresh(carry.name);
      visible_.insert(copy);
      emit_bind({{copy, carry.span}}, add({Name{name, {}}, carry.span}), carry.span);
      name = copy;
    }
    now.carry.push_back({name, carry.span});
  }
  // A loop variable that the prefix, the loop's own path or a dim mentions already would change
  // what that means.
  const PathLit own = node.has_scope ? extended(node.scope) : prefix_;
  bool clash = mentions(own, node.var) || is_path_name(node.var) || means_dim(node.var);
  now.var = clash ? ctx_.fresh(node.var) : node.var;
  now.body = loop_call(node, now.var, now.carry, span);
  now.targets = bind_targets(node.targets);
  out_.push_back(ast_.add(Stmt{std::move(now), span}));
}

}  // namespace axon::sema
