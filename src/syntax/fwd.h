// Ids and forward declarations of the syntax layer.
#pragma once

#include "support/ids.h"
#include "support/interner.h"

namespace axon::syntax {

AXON_ID(ExprId);
AXON_ID(StmtId);
AXON_ID(TypeExprId);
AXON_ID(DimExprId);

struct Expr;
struct Stmt;
struct TypeExpr;
struct DimExpr;
struct Definition;
struct Module;
struct Ast;

}  // namespace axon::syntax
