// Finds the smallest place around an error, and rewrites the definition without it.
#include "sema/unread.h"

#include <algorithm>
#include <unordered_set>

#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

class Finder {
 public:
  Finder(const Ast& ast, Span span) : ast_(ast), span_(span) {}

  ExprId run(const Definition& def) {
    if (!def.statement_body) consider(def.body_expr);
    visit_body(def, ast_, {[&](ExprId id) { look_at(id); }, [&](StmtId id) { look_at(ast_[id]); }});
    return found_;
  }

 private:
  // Outer places come first, so the last one is the smallest.
  void consider(ExprId id) {
    if (!id.valid()) return;
    const Span where = ast_[id].span;
    if (where.begin <= span_.begin && span_.end <= where.end) found_ = id;
  }

  // A stage of a pipe is no value by itself.
  void look_at(ExprId id) {
    const Expr& node = ast_[id];
    if (const Pipe* pipe = node.get<Pipe>()) {
      for (ExprId stage : pipe->stages) stages_.insert(strip_parens(stage, ast_).index);
      consider(id);
    } else if (node.kind() == ExprKind::Call && !stages_.count(id.index)) {
      consider(id);
    }
  }

  void look_at(const Stmt& statement) {
    if (const Bind* bind = statement.get<Bind>()) consider(bind->value);
    if (const Return* result = statement.get<Return>()) {
      for (ExprId value : result->values) consider(value);
    }
    if (const Yield* next = statement.get<Yield>()) {
      for (ExprId value : next->values) consider(value);
    }
    if (const IfStmt* branch = statement.get<IfStmt>()) consider(branch->cond);
    if (const Loop* loop = statement.get<Loop>()) {
      for (ExprId bound : {loop->from, loop->to, loop->step}) consider(bound);
    }
  }

  const Ast& ast_;
  Span span_;
  ExprId found_;
  std::unordered_set<int32_t> stages_;
};

class Replacer : public Rewriter {
 public:
  Replacer(Ast& ast, Interner& names, ExprId which) : Rewriter(ast, names), which_(which) {}

 protected:
  ExprId expr(ExprId id) override {
    if (id != which_) return children(id);
    return ast_.add(Expr{Null{true}, ast_[id].span});
  }

 private:
  ExprId which_;
};

}  // namespace

bool take_out_value(Definition& def, Span span, Session& session) {
  const ExprId found = Finder(session.ast, span).run(def);
  if (!found.valid() || is_unread(session.ast[found])) return false;
  Replacer(session.ast, session.names, found).definition(def);
  return true;
}

bool take_out_body(Definition& def, Session& session) {
  if (def.body_expr.valid() && is_unread(session.ast[def.body_expr])) return false;
  def.statement_body = false;
  def.body.clear();
  def.body_expr = session.ast.add(Expr{Null{true}, def.span});
  return true;
}

StmtId unread_return(Span last, Session& session) {
  const Span end{last.file, last.end, last.end};
  const ExprId value = session.ast.add(Expr{Null{true}, end});
  return session.ast.add(Stmt{Return{{value}}, end});
}

std::vector<Span> unread_in(const Definition& def, const Ast& ast) {
  std::vector<Span> out;
  visit_body(def, ast,
             {[&](ExprId id) {
                if (is_unread(ast[id])) out.push_back(ast[id].span);
              },
              [](StmtId) {}});
  return out;
}

bool is_unread_at(const Definition& def, Span span, const Ast& ast) {
  const std::vector<Span> unread = unread_in(def, ast);
  return std::any_of(unread.begin(), unread.end(), [&](Span where) {
    return where.begin <= span.begin && span.begin <= where.end;
  });
}

}  // namespace axon::sema
