// Children of expressions, and all expressions of a body, for walks that need no more than that.
#pragma once

#include "support/function_ref.h"
#include "syntax/nodes.h"

namespace axon::syntax {

// The expressions directly inside `expr`, in source order. Statements of a do-expression are not.
void for_each_child(const Expr& expr, function_ref<void(ExprId)> visit);

struct Visitor {
  function_ref<void(ExprId, const Expr&)> expr;
  function_ref<void(StmtId, const Stmt&)> stmt;
};
// Everything inside, the statements of do-expressions included; in no fixed order.
void walk(const Definition& definition, const Ast& ast, const Visitor& visitor);
void walk(ExprId expr, const Ast& ast, const Visitor& visitor);

}  // namespace axon::syntax
