// Where the canonical text needs parentheses so that it parses to the same tree (language.md 11.1).
#pragma once

#include <unordered_map>

#include "syntax/nodes.h"

namespace axon::syntax {

// The place of an expression in its surroundings.
enum class Slot : uint8_t {
  Top,         // a whole Expr that ends where its surroundings end
  Item,        // before a comma
  BeforeStop,  // before `;`, `..` or `then`
  Arg,         // argument, or the value of `step=`
  Default,     // default of a parameter
  Ascribed,    // before `::`
  Left,        // operand of a binary operator
  Right,
  Cond,  // before `?`
  PipeValue,
  PipeStage,
  BindValue,  // before `>>=`
};

class Shape {
 public:
  // `types` as in RenderOptions: typed expressions print with parentheses of their own.
  Shape(const Ast& ast, const Interner& names, const std::vector<TypeExprId>* types);

  ExprId strip(ExprId id) const;
  bool is_typed(ExprId id) const;
  // Whether the expression, which stands without Paren, has to be put in parentheses.
  bool needs_parens(ExprId id, Slot slot, BinaryOp op = BinaryOp::Add) const;
  // Whether it prints on several lines.
  bool has_block(ExprId id);
  bool has_block(const std::vector<StmtId>& body);
  // Whether a do-expression prints as `do a; b`.
  bool is_inline_do(const Do& node);
  // Whether the text starts with a word that is a keyword there.
  bool starts_with(ExprId id, std::initializer_list<std::string_view> words) const;
  bool starts_negative(ExprId id) const;
  // Whether it starts with a token of its own instead of a part: names, calls, literals, `if`, do.
  bool is_leaf(ExprId id) const;

 private:
  ExprId first_part(ExprId id) const;
  bool encloses_itself(ExprId id) const;
  bool ends_open(ExprId id) const;
  bool ends_in_do(ExprId id) const;
  bool ends_greedy(ExprId id) const;
  ExprId last_part(ExprId id) const;
  bool compute_block(const Expr& expr);

  const Ast& ast_;
  const Interner& names_;
  const std::vector<TypeExprId>* types_;
  std::unordered_map<ExprId, bool, IdHash> blocks_;
};

int precedence(BinaryOp op);

}  // namespace axon::syntax
