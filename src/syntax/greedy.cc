// W-GREEDY: places where the greedy rules read something else than many authors mean (language.md
// 4.5, Appendix D 1).
#include "syntax/parser.h"
#include "syntax/render.h"

namespace axon::syntax {
namespace {

std::string shortened(std::string text) {
  constexpr size_t kLimit = 100;
  if (text.size() > kLimit) text = text.substr(0, kLimit) + "...";
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

// The operand with which an unparenthesised operator expression ends, or an invalid id.
ExprId last_operand(ExprId id, const Ast& ast) {
  bool in_operator = false;
  while (true) {
    const Expr& expr = ast[id];
    if (const Binary* node = expr.get<Binary>()) {
      in_operator = true;
      id = node->right;
    } else if (const Ternary* node = expr.get<Ternary>()) {
      in_operator = false;
      id = node->else_value;
    } else {
      return in_operator ? id : ExprId{};
    }
  }
}

// Whether the argument is an operator expression that starts with a bracket.
bool starts_with_bracket(ExprId id, const Ast& ast) {
  bool in_operator = false;
  while (true) {
    const Expr& expr = ast[id];
    if (const Binary* node = expr.get<Binary>()) {
      in_operator = true;
      id = node->left;
    } else if (const Ternary* node = expr.get<Ternary>()) {
      id = node->cond;
    } else {
      ExprKind kind = expr.kind();
      return in_operator &&
             (kind == ExprKind::Paren || kind == ExprKind::List || kind == ExprKind::Tuple);
    }
  }
}

}  // namespace

void Parser::warn_greedy_args(ExprId call) {
  if (panic_) return;
  const std::vector<Arg>& args = ast_[call].as<Call>().args;
  for (size_t i = 0; i < args.size(); ++i) {
    ExprId operand = i + 1 < args.size() ? last_operand(args[i].value, ast_) : ExprId{};
    bool applied = operand.valid() && ast_[operand].kind() == ExprKind::Name;
    if (!applied && !starts_with_bracket(args[i].value, ast_)) continue;
    Span where = ast_[args[i].value].span;
    std::string reads = shortened(render_expr(call, ast_, names_));
    sink_.report(Diag::WGreedy, where, {"`" + source_text(where) + "` as an argument", reads});
    return;
  }
}

// A comma behind the last branch alone is more often meant to end the conditional.
void Parser::warn_greedy_branch(ExprId conditional, size_t then_items, size_t else_items) {
  if (panic_ || then_items > 1 || else_items < 2) return;
  const Expr& expr = ast_[conditional];
  ExprId branch =
      expr.kind() == ExprKind::If ? expr.as<If>().else_value : expr.as<Ternary>().else_value;
  std::string reads = shortened(render_expr(conditional, ast_, names_));
  sink_.report(Diag::WGreedy, ast_[branch].span,
               {"the comma in the last branch of a conditional", reads});
}

}  // namespace axon::syntax
