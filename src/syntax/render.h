// Canonical text of an AST of any stage (language.md 11).
#pragma once

#include <string>
#include <vector>

#include "syntax/nodes.h"

namespace axon::syntax {

struct RenderOptions {
  // Typed form (11.3): the type printed for each expression, by ExprId; empty for untyped stages.
  const std::vector<TypeExprId>* types = nullptr;
};

std::string render(const Module& module, const Ast& ast, const Interner& names,
                   const RenderOptions& options = {});
std::string render_definition(const Definition& definition, const Ast& ast, const Interner& names,
                              const RenderOptions& options = {});
std::string render_expr(ExprId expr, const Ast& ast, const Interner& names);
std::string render_type(TypeExprId type, const Ast& ast, const Interner& names);
std::string render_path(const PathLit& path, const Interner& names);

// Structural equality: spans and Paren nodes take no part.
bool equal(const Module& a, const Module& b, const Ast& ast);
bool equal(const Definition& a, const Definition& b, const Ast& ast);
bool equal(ExprId a, ExprId b, const Ast& ast);

}  // namespace axon::syntax
