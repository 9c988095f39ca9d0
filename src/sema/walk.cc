// Scope tracking and sharing rewrites over the syntax tree.
#include "sema/walk.h"

#include <algorithm>

namespace axon::sema {

using namespace syntax;

void LocalScope::pop() {
  while (trail_.size() > marks_.back()) {
    auto found = counts_.find(trail_.back());
    if (--found->second == 0) counts_.erase(found);
    trail_.pop_back();
  }
  marks_.pop_back();
}

void LocalScope::bind(NameId name) {
  ++counts_[name];
  trail_.push_back(name);
}

int LocalScope::depth(NameId name) const {
  auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

void LocalScope::clear() {
  counts_.clear();
  trail_.clear();
  marks_.clear();
}

std::vector<NameId> LocalScope::names() const {
  std::vector<NameId> out = trail_;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Rewriter::Rewriter(Ast& ast, Interner& names) : ast_(ast), names_(names) {}

void Rewriter::bind(const Target& target) {
  if (!is_discard(target.name, names_)) locals_.bind(target.name);
}

void Rewriter::bind_all(const std::vector<Target>& targets) {
  for (const Target& target : targets) bind(target);
}

void Rewriter::default_value(Param& param) { param.default_value = expr(param.default_value); }

void Rewriter::definition(Definition& def) {
  locals_.clear();
  for (Param& param : def.params) {
    if (param.type.valid()) param.type = type(param.type);
    if (param.default_value.valid()) default_value(param);
  }
  if (def.return_type.valid()) def.return_type = type(def.return_type);
  locals_.push();
  for (NameId name : def.path_params) locals_.bind(name);
  for (const Param& param : def.params) locals_.bind(param.name);
  if (def.statement_body) {
    def.body = block(def.body);
  } else {
    def.body_expr = expr(def.body_expr);
  }
  locals_.pop();
}

std::vector<StmtId> Rewriter::block(const std::vector<StmtId>& body) {
  std::vector<StmtId> out;
  locals_.push();
  statements(body, out);
  locals_.pop();
  return out;
}

void Rewriter::statements(const std::vector<StmtId>& body, std::vector<StmtId>& out) {
  for (StmtId id : body) stmt(id, out);
}

ExprId Rewriter::expr(ExprId id) { return children(id); }

namespace {

// Rewrites items through `map` and says whether one changed.
template <class T, class Map>
bool map_items(std::vector<T>& items, Map map) {
  bool changed = false;
  for (T& item : items) {
    T now = map(item);
    changed |= !(now == item);
    item = std::move(now);
  }
  return changed;
}

template <class Id, class Map>
bool map_one(Id& id, Map map) {
  Id now = map(id);
  bool changed = now != id;
  id = now;
  return changed;
}

bool same_path(const PathLit& a, const PathLit& b) { return a == b; }

}  // namespace

ExprId Rewriter::children(ExprId id) {
  Expr node = ast_[id];  // a copy: rewriting may move the store
  auto sub = [&](ExprId child) { return expr(child); };
  auto sub_path = [&](const PathLit& p) { return path(p); };
  bool changed = false;
  switch (node.kind()) {
    case ExprKind::Name:
      changed = map_items(std::get<Name>(node.data).suffixes, sub_path);
      break;
    case ExprKind::Int:
    case ExprKind::Float:
    case ExprKind::Bool:
    case ExprKind::Null:
    case ExprKind::String:
      return id;
    case ExprKind::Path: {
      PathLit& lit = std::get<PathExpr>(node.data).path;
      PathLit now = path(lit);
      changed = !same_path(now, lit);
      lit = std::move(now);
      break;
    }
    case ExprKind::List:
      changed = map_items(std::get<List>(node.data).items, sub);
      break;
    case ExprKind::Tuple:
      changed = map_items(std::get<Tuple>(node.data).items, sub);
      break;
    case ExprKind::Call: {
      Call& call = std::get<Call>(node.data);
      changed = map_items(call.suffixes, sub_path);
      for (Arg& arg : call.args) changed |= map_one(arg.value, sub);
      break;
    }
    case ExprKind::Pipe: {
      Pipe& pipe = std::get<Pipe>(node.data);
      changed = map_one(pipe.value, sub);
      changed |= map_items(pipe.stages, sub);
      break;
    }
    case ExprKind::BindExpr: {
      BindExpr& bound = std::get<BindExpr>(node.data);
      changed = map_one(bound.value, sub);
      locals_.push();
      bind({bound.var, bound.var_span});
      changed |= map_one(bound.body, sub);
      locals_.pop();
      break;
    }
    case ExprKind::If: {
      If& branch = std::get<If>(node.data);
      changed = map_one(branch.cond, sub);
      changed |= map_one(branch.then_value, sub);
      changed |= map_one(branch.else_value, sub);
      break;
    }
    case ExprKind::Ternary: {
      Ternary& branch = std::get<Ternary>(node.data);
      changed = map_one(branch.cond, sub);
      changed |= map_one(branch.then_value, sub);
      changed |= map_one(branch.else_value, sub);
      break;
    }
    case ExprKind::Binary:
      return binary_chain(id);
    case ExprKind::Lambda: {
      Lambda& lambda = std::get<Lambda>(node.data);
      locals_.push();
      bind({lambda.var, node.span});
      changed = map_one(lambda.body, sub);
      locals_.pop();
      break;
    }
    case ExprKind::Paren:
      changed = map_one(std::get<Paren>(node.data).inner, sub);
      break;
    case ExprKind::Ascribe: {
      Ascribe& ascribe = std::get<Ascribe>(node.data);
      changed = map_one(ascribe.value, sub);
      changed |= map_one(ascribe.type, [&](TypeExprId t) { return type(t); });
      break;
    }
    case ExprKind::Do: {
      Do& body = std::get<Do>(node.data);
      std::vector<StmtId> now = block(body.body);
      changed = now != body.body;
      body.body = std::move(now);
      break;
    }
  }
  return changed ? ast_.add(std::move(node)) : id;
}

// Chains of operators lean to the left and may be long: they are walked, not recursed into.
ExprId Rewriter::binary_chain(ExprId id) {
  std::vector<ExprId> chain;
  for (ExprId at = id; ast_[at].kind() == ExprKind::Binary; at = ast_[at].as<Binary>().left) {
    chain.push_back(at);
  }
  ExprId left = expr(ast_[chain.back()].as<Binary>().left);
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    Expr node = ast_[*at];
    Binary& binary = std::get<Binary>(node.data);
    ExprId right = expr(binary.right);
    bool same = left == binary.left && right == binary.right;
    binary.left = left;
    binary.right = right;
    left = same ? *at : ast_.add(std::move(node));
  }
  return left;
}

StmtId Rewriter::add(StmtId like, Stmt changed) {
  changed.span = ast_[like].span;
  return ast_.add(std::move(changed));
}

void Rewriter::stmt(StmtId id, std::vector<StmtId>& out) {
  Stmt node = ast_[id];
  auto sub = [&](ExprId child) { return expr(child); };
  switch (node.kind()) {
    case StmtKind::Bind: {
      Bind& bound = std::get<Bind>(node.data);
      bool changed = map_one(bound.value, sub);
      bind_all(bound.targets);
      out.push_back(changed ? ast_.add(std::move(node)) : id);
      return;
    }
    case StmtKind::Return: {
      bool changed = map_items(std::get<Return>(node.data).values, sub);
      out.push_back(changed ? ast_.add(std::move(node)) : id);
      return;
    }
    case StmtKind::Yield: {
      bool changed = map_items(std::get<Yield>(node.data).values, sub);
      out.push_back(changed ? ast_.add(std::move(node)) : id);
      return;
    }
    case StmtKind::If:
      return if_stmt(id, std::move(std::get<IfStmt>(node.data)), out);
    case StmtKind::Loop:
      return loop(id, std::move(std::get<Loop>(node.data)), out);
    case StmtKind::ScopeBind:
      return scope_bind(id, std::move(std::get<ScopeBind>(node.data)), out);
  }
}

void Rewriter::if_stmt(StmtId id, IfStmt node, std::vector<StmtId>& out) {
  auto outer = [&](NameId name) { return locals_.contains(name); };
  std::vector<NameId> then_names = bound_names(node.then_body, ast_, names_, outer);
  std::vector<NameId> else_names = bound_names(node.else_body, ast_, names_, outer);
  IfStmt now;
  now.cond = expr(node.cond);
  now.then_body = block(node.then_body);
  now.else_body = block(node.else_body);
  for (NameId name : then_names) {
    if (std::find(else_names.begin(), else_names.end(), name) != else_names.end()) {
      bind({name, ast_[id].span});
    }
  }
  bool same =
      now.cond == node.cond && now.then_body == node.then_body && now.else_body == node.else_body;
  out.push_back(same ? id : add(id, {std::move(now), {}}));
}

void Rewriter::loop(StmtId id, Loop node, std::vector<StmtId>& out) {
  auto sub = [&](ExprId child) { return expr(child); };
  bool changed = map_one(node.from, sub);
  changed |= map_one(node.to, sub);
  changed |= map_one(node.step, sub);
  if (node.has_scope) {
    PathLit scope = path(node.scope);
    changed |= !same_path(scope, node.scope);
    node.scope = std::move(scope);
  }
  LoopShape shape = loop_shape(node, ast_);
  locals_.push();
  bind({node.var, node.var_span});
  bind_all(shape.carry);
  std::vector<StmtId> body;
  statements(node.body, body);
  locals_.pop();
  changed |= body != node.body;
  node.body = std::move(body);
  bind_all(shape.targets);
  out.push_back(changed ? add(id, {std::move(node), {}}) : id);
}

void Rewriter::scope_bind(StmtId id, ScopeBind node, std::vector<StmtId>& out) {
  PathLit scope = path(node.path);
  bool changed = !same_path(scope, node.path);
  node.path = std::move(scope);
  std::vector<StmtId> body = block(node.body);
  changed |= body != node.body;
  node.body = std::move(body);
  bind_all(node.targets);
  out.push_back(changed ? add(id, {std::move(node), {}}) : id);
}

std::vector<NameId> bound_names(const std::vector<StmtId>& body, const Ast& ast,
                                const Interner& names, function_ref<bool(NameId)> outer) {
  std::vector<NameId> out;
  auto has = [&](NameId name) { return std::find(out.begin(), out.end(), name) != out.end(); };
  auto push = [&](NameId name) {
    if (!is_discard(name, names) && !has(name)) out.push_back(name);
  };
  auto known = [&](NameId name) { return has(name) || outer(name); };
  for (StmtId id : body) {
    const Stmt& stmt = ast[id];
    switch (stmt.kind()) {
      case StmtKind::Bind:
        for (const Target& target : stmt.as<Bind>().targets) push(target.name);
        break;
      case StmtKind::Return:
      case StmtKind::Yield:
        break;
      case StmtKind::If: {
        const IfStmt& node = stmt.as<IfStmt>();
        std::vector<NameId> other = bound_names(node.else_body, ast, names, known);
        for (NameId name : bound_names(node.then_body, ast, names, known)) {
          if (std::find(other.begin(), other.end(), name) != other.end()) push(name);
        }
        break;
      }
      case StmtKind::Loop:
        for (const Target& target : loop_shape(stmt.as<Loop>(), ast).targets) push(target.name);
        break;
      case StmtKind::ScopeBind: {
        const ScopeBind& node = stmt.as<ScopeBind>();
        for (NameId name : bound_names(node.body, ast, names, known)) {
          if (known(name)) push(name);
        }
        for (const Target& target : node.targets) push(target.name);
        break;
      }
    }
  }
  return out;
}

ExprId strip_parens(ExprId id, const Ast& ast) {
  while (const Paren* paren = ast[id].get<Paren>()) id = paren->inner;
  return id;
}

bool is_discard(NameId name, const Interner& names) { return names.text(name) == "_"; }

void visit(ExprId id, const Ast& ast, const Visitor& visitor) {
  visitor.expr(id);
  auto each = [&](ExprId child) { visit(child, ast, visitor); };
  const Expr& node = ast[id];
  switch (node.kind()) {
    case ExprKind::Name:
    case ExprKind::Int:
    case ExprKind::Float:
    case ExprKind::Bool:
    case ExprKind::Null:
    case ExprKind::String:
    case ExprKind::Path:
      return;
    case ExprKind::List:
      for (ExprId item : node.as<List>().items) each(item);
      return;
    case ExprKind::Tuple:
      for (ExprId item : node.as<Tuple>().items) each(item);
      return;
    case ExprKind::Call:
      for (const Arg& arg : node.as<Call>().args) each(arg.value);
      return;
    case ExprKind::Pipe:
      each(node.as<Pipe>().value);
      for (ExprId stage : node.as<Pipe>().stages) each(stage);
      return;
    case ExprKind::BindExpr:
      each(node.as<BindExpr>().value);
      each(node.as<BindExpr>().body);
      return;
    case ExprKind::If:
      each(node.as<If>().cond);
      each(node.as<If>().then_value);
      each(node.as<If>().else_value);
      return;
    case ExprKind::Ternary:
      each(node.as<Ternary>().cond);
      each(node.as<Ternary>().then_value);
      each(node.as<Ternary>().else_value);
      return;
    case ExprKind::Binary: {
      std::vector<ExprId> rights = {node.as<Binary>().right};
      ExprId left = node.as<Binary>().left;
      while (const Binary* inner = ast[left].get<Binary>()) {
        visitor.expr(left);
        rights.push_back(inner->right);
        left = inner->left;
      }
      each(left);
      for (auto right = rights.rbegin(); right != rights.rend(); ++right) each(*right);
      return;
    }
    case ExprKind::Lambda:
      each(node.as<Lambda>().body);
      return;
    case ExprKind::Paren:
      each(node.as<Paren>().inner);
      return;
    case ExprKind::Ascribe:
      each(node.as<Ascribe>().value);
      return;
    case ExprKind::Do:
      visit(node.as<Do>().body, ast, visitor);
      return;
  }
}

void visit(const std::vector<StmtId>& body, const Ast& ast, const Visitor& visitor) {
  auto each = [&](ExprId child) { visit(child, ast, visitor); };
  auto nested = [&](const std::vector<StmtId>& inner) { visit(inner, ast, visitor); };
  for (StmtId id : body) {
    visitor.stmt(id);
    const Stmt& stmt = ast[id];
    switch (stmt.kind()) {
      case StmtKind::Bind:
        each(stmt.as<Bind>().value);
        break;
      case StmtKind::Return:
        for (ExprId value : stmt.as<Return>().values) each(value);
        break;
      case StmtKind::Yield:
        for (ExprId value : stmt.as<Yield>().values) each(value);
        break;
      case StmtKind::If:
        each(stmt.as<IfStmt>().cond);
        nested(stmt.as<IfStmt>().then_body);
        nested(stmt.as<IfStmt>().else_body);
        break;
      case StmtKind::Loop:
        each(stmt.as<Loop>().from);
        each(stmt.as<Loop>().to);
        each(stmt.as<Loop>().step);
        nested(stmt.as<Loop>().body);
        break;
      case StmtKind::ScopeBind:
        nested(stmt.as<ScopeBind>().body);
        break;
    }
  }
}

void visit_body(const Definition& def, const Ast& ast, const Visitor& visitor) {
  if (def.statement_body) {
    visit(def.body, ast, visitor);
  } else {
    visit(def.body_expr, ast, visitor);
  }
}

LoopShape loop_shape(const Loop& loop, const Ast& ast) {
  if (loop.has_targets && loop.has_carry) return {loop.targets, loop.carry};
  if (loop.has_targets) return {loop.targets, loop.targets};
  if (loop.has_carry) return {loop.carry, loop.carry};
  LoopShape out;
  const Yield* yield = loop.body.empty() ? nullptr : ast[loop.body.back()].get<Yield>();
  if (!yield) return out;
  for (ExprId value : yield->values) {
    const Expr& node = ast[strip_parens(value, ast)];
    const Name* name = node.get<Name>();
    auto same = [&](const Target& target) { return target.name == name->name; };
    if (!name || !name->suffixes.empty() || std::any_of(out.carry.begin(), out.carry.end(), same)) {
      return {};
    }
    out.carry.push_back({name->name, node.span});
  }
  out.targets = out.carry;
  return out;
}

}  // namespace axon::sema
