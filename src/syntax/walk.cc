// Children of expressions, and all expressions of a body.
#include "syntax/walk.h"

namespace axon::syntax {

void for_each_child(const Expr& expr, function_ref<void(ExprId)> visit) {
  auto all = [&](const std::vector<ExprId>& items) {
    for (ExprId item : items) visit(item);
  };
  switch (expr.kind()) {
    case ExprKind::Name:
    case ExprKind::Int:
    case ExprKind::Float:
    case ExprKind::Bool:
    case ExprKind::Null:
    case ExprKind::String:
    case ExprKind::Path:
    case ExprKind::Do:
      return;
    case ExprKind::List:
      return all(expr.as<List>().items);
    case ExprKind::Tuple:
      return all(expr.as<Tuple>().items);
    case ExprKind::Call:
      for (const Arg& arg : expr.as<Call>().args) visit(arg.value);
      return;
    case ExprKind::Pipe:
      visit(expr.as<Pipe>().value);
      return all(expr.as<Pipe>().stages);
    case ExprKind::BindExpr:
      visit(expr.as<BindExpr>().value);
      return visit(expr.as<BindExpr>().body);
    case ExprKind::If:
      visit(expr.as<If>().cond);
      visit(expr.as<If>().then_value);
      return visit(expr.as<If>().else_value);
    case ExprKind::Ternary:
      visit(expr.as<Ternary>().cond);
      visit(expr.as<Ternary>().then_value);
      return visit(expr.as<Ternary>().else_value);
    case ExprKind::Binary:
      visit(expr.as<Binary>().left);
      return visit(expr.as<Binary>().right);
    case ExprKind::Lambda:
      return visit(expr.as<Lambda>().body);
    case ExprKind::Paren:
      return visit(expr.as<Paren>().inner);
    case ExprKind::Ascribe:
      return visit(expr.as<Ascribe>().value);
  }
}

namespace {

struct Work {
  std::vector<ExprId> exprs;
  std::vector<StmtId> stmts;

  void add(const std::vector<ExprId>& ids) { exprs.insert(exprs.end(), ids.begin(), ids.end()); }
  void add(const std::vector<StmtId>& ids) { stmts.insert(stmts.end(), ids.begin(), ids.end()); }
  void add_parts(const Stmt& stmt);
  void run(const Ast& ast, const Visitor& visitor);
};

void Work::add_parts(const Stmt& stmt) {
  switch (stmt.kind()) {
    case StmtKind::Bind:
      return exprs.push_back(stmt.as<Bind>().value);
    case StmtKind::Return:
      return add(stmt.as<Return>().values);
    case StmtKind::Yield:
      return add(stmt.as<Yield>().values);
    case StmtKind::If:
      exprs.push_back(stmt.as<IfStmt>().cond);
      add(stmt.as<IfStmt>().then_body);
      return add(stmt.as<IfStmt>().else_body);
    case StmtKind::Loop:
      add(std::vector{stmt.as<Loop>().from, stmt.as<Loop>().to, stmt.as<Loop>().step});
      return add(stmt.as<Loop>().body);
    case StmtKind::ScopeBind:
      return add(stmt.as<ScopeBind>().body);
  }
}

void Work::run(const Ast& ast, const Visitor& visitor) {
  while (!exprs.empty() || !stmts.empty()) {
    if (!exprs.empty()) {
      ExprId id = exprs.back();
      exprs.pop_back();
      if (!id.valid()) continue;
      const Expr& expr = ast[id];
      visitor.expr(id, expr);
      for_each_child(expr, [&](ExprId child) { exprs.push_back(child); });
      if (const Do* block = expr.get<Do>()) add(block->body);
    } else {
      StmtId id = stmts.back();
      stmts.pop_back();
      const Stmt& stmt = ast[id];
      visitor.stmt(id, stmt);
      add_parts(stmt);
    }
  }
}

}  // namespace

void walk(const Definition& definition, const Ast& ast, const Visitor& visitor) {
  Work work;
  for (const Param& param : definition.params) work.exprs.push_back(param.default_value);
  work.exprs.push_back(definition.body_expr);
  work.add(definition.body);
  work.run(ast, visitor);
}

void walk(ExprId expr, const Ast& ast, const Visitor& visitor) {
  Work work;
  work.exprs.push_back(expr);
  work.run(ast, visitor);
}

}  // namespace axon::syntax
