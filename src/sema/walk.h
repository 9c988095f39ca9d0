// Scope-aware rewriting of definitions: the common ground of the stages from resolve to elaborate.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/function_ref.h"
#include "syntax/nodes.h"

namespace axon::sema {

using NameSet = std::unordered_set<NameId, IdHash>;

// The value names bound in the blocks around a program point.
class LocalScope {
 public:
  void push() { marks_.push_back(trail_.size()); }
  void pop();
  void bind(NameId name);
  bool contains(NameId name) const { return counts_.count(name) > 0; }
  int depth(NameId name) const;  // how many bindings of the name are in force
  void clear();
  std::vector<NameId> names() const;

 private:
  std::unordered_map<NameId, int, IdHash> counts_;
  std::vector<NameId> trail_;
  std::vector<size_t> marks_;
};

// Rewrites a definition bottom up. Nodes whose parts stay the same are shared with the input. While
// it runs, `locals` holds what language.md 7.5 makes visible (parameters and path parameters too).
// Stages override the hooks that concern them and call the inherited one to descend.
class Rewriter {
 public:
  Rewriter(syntax::Ast& ast, Interner& names);
  virtual ~Rewriter() = default;
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // Rewrites types, defaults and body in place.
  void definition(syntax::Definition& def);

 protected:
  virtual syntax::ExprId expr(syntax::ExprId id);
  virtual void stmt(syntax::StmtId id, std::vector<syntax::StmtId>& out);
  virtual syntax::TypeExprId type(syntax::TypeExprId id) { return id; }
  virtual syntax::PathLit path(const syntax::PathLit& path) { return path; }
  virtual void bind(const syntax::Target& target);
  virtual void default_value(syntax::Param& param);

  // The children of an expression, rewritten; the same id when none changed.
  syntax::ExprId children(syntax::ExprId id);
  // Statements in a scope of their own.
  virtual std::vector<syntax::StmtId> block(const std::vector<syntax::StmtId>& body);
  void statements(const std::vector<syntax::StmtId>& body, std::vector<syntax::StmtId>& out);
  void bind_all(const std::vector<syntax::Target>& targets);
  virtual void loop(syntax::StmtId id, syntax::Loop loop, std::vector<syntax::StmtId>& out);
  virtual void scope_bind(syntax::StmtId id, syntax::ScopeBind scope,
                          std::vector<syntax::StmtId>& out);
  syntax::StmtId add(syntax::StmtId like, syntax::Stmt changed);

  syntax::Ast& ast_;
  Interner& names_;
  LocalScope locals_;

 private:
  syntax::ExprId binary_chain(syntax::ExprId id);
  void if_stmt(syntax::StmtId id, syntax::IfStmt node, std::vector<syntax::StmtId>& out);
};

// The value names that a block leaves bound behind itself when it shares the names of its
// surroundings: targets of binds, loops and scopes, names bound in both suites of an if-statement.
// Inside a scope bind only names that `outer` knows already count. In order of first binding.
std::vector<NameId> bound_names(const std::vector<syntax::StmtId>& body, const syntax::Ast& ast,
                                const Interner& names, function_ref<bool(NameId)> outer);

// Looks through parentheses.
syntax::ExprId strip_parens(syntax::ExprId id, const syntax::Ast& ast);
bool is_discard(NameId name, const Interner& names);

// What a loop's shorthand stands for (language.md 9.7). Without targets it is run for its checks
// only.
struct LoopShape {
  std::vector<syntax::Target> targets;
  std::vector<syntax::Target> carry;
};
LoopShape loop_shape(const syntax::Loop& loop, const syntax::Ast& ast);

// Calls the visitors for every expression and statement below (and including) the given one, outer
// ones first. They must not add nodes.
struct Visitor {
  function_ref<void(syntax::ExprId)> expr;
  function_ref<void(syntax::StmtId)> stmt;
};
void visit(syntax::ExprId id, const syntax::Ast& ast, const Visitor& visitor);
void visit(const std::vector<syntax::StmtId>& body, const syntax::Ast& ast, const Visitor& visitor);
void visit_body(const syntax::Definition& def, const syntax::Ast& ast, const Visitor& visitor);

}  // namespace axon::sema
