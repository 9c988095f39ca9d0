// Where the canonical text needs parentheses.
#include "syntax/shape.h"

#include <algorithm>

#include "syntax/walk.h"

namespace axon::syntax {

int precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::Or:
      return 1;
    case BinaryOp::And:
      return 2;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return 3;
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return 4;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return 5;
  }
  AXON_UNREACHABLE("every operator has a row");
}

Shape::Shape(const Ast& ast, const Interner& names, const std::vector<TypeExprId>* types)
    : ast_(ast), names_(names), types_(types) {}

ExprId Shape::strip(ExprId id) const {
  while (ast_[id].kind() == ExprKind::Paren) id = ast_[id].as<Paren>().inner;
  return id;
}

bool Shape::is_typed(ExprId id) const {
  size_t index = static_cast<size_t>(id.index);
  return types_ && index < types_->size() && (*types_)[index].valid();
}

// Prints its own parentheses, or has a Paren node.
bool Shape::encloses_itself(ExprId id) const {
  ExprKind kind = ast_[id].kind();
  return kind == ExprKind::Paren || kind == ExprKind::Ascribe || is_typed(id);
}

// The expression that the text of `id` ends with, when `id` is open to the right; else invalid.
ExprId Shape::last_part(ExprId id) const {
  const Expr& expr = ast_[id];
  switch (expr.kind()) {
    case ExprKind::Ternary:
      return expr.as<Ternary>().else_value;
    case ExprKind::If:
      return expr.as<If>().else_value;
    case ExprKind::BindExpr:
      return expr.as<BindExpr>().body;
    case ExprKind::Lambda:
      return expr.as<Lambda>().body;
    default:
      return {};
  }
}

bool Shape::ends_in_do(ExprId id) const {
  while (id.valid() && !encloses_itself(id)) {
    if (ast_[id].kind() == ExprKind::Do) return true;
    id = last_part(id);
  }
  return false;
}

// Ends in a conditional or do, which would take a comma that follows.
bool Shape::ends_greedy(ExprId id) const {
  while (id.valid() && !encloses_itself(id)) {
    ExprKind kind = ast_[id].kind();
    if (kind == ExprKind::Do || kind == ExprKind::Ternary || kind == ExprKind::If) return true;
    id = last_part(id);
  }
  return false;
}

// Ends in a call, conditional, `>>=` or do, into which an operator that follows would go.
bool Shape::ends_open(ExprId id) const {
  while (!encloses_itself(id)) {
    const Expr& expr = ast_[id];
    switch (expr.kind()) {
      case ExprKind::Call:
        return !expr.as<Call>().args.empty();
      case ExprKind::Ternary:
      case ExprKind::If:
      case ExprKind::BindExpr:
      case ExprKind::Do:
      case ExprKind::Lambda:
        return true;
      case ExprKind::Pipe:
        id = expr.as<Pipe>().stages.back();
        break;
      case ExprKind::Binary:
        if (needs_parens(expr.as<Binary>().right, Slot::Right, expr.as<Binary>().op)) return false;
        id = expr.as<Binary>().right;
        break;
      default:
        return false;
    }
  }
  return false;
}

bool Shape::needs_parens(ExprId id, Slot slot, BinaryOp op) const {
  const Expr& expr = ast_[id];
  if (encloses_itself(id)) return false;
  bool tight = slot == Slot::Arg || slot == Slot::Default || slot == Slot::Ascribed;
  switch (expr.kind()) {
    case ExprKind::Int:
    case ExprKind::Float:
    case ExprKind::Bool:
    case ExprKind::Null:
    case ExprKind::String:
    case ExprKind::Path:
    case ExprKind::Paren:
    case ExprKind::Ascribe:
      return false;
    case ExprKind::List:
      return slot == Slot::Default;
    case ExprKind::Tuple:
      return slot == Slot::Arg || slot == Slot::Default;
    case ExprKind::Name:
      if (slot == Slot::Default) return !expr.as<Name>().suffixes.empty();
      return slot == Slot::Arg && expr.as<Name>().suffixes.empty() &&
             (names_.text(expr.as<Name>().name) == "and" ||
              names_.text(expr.as<Name>().name) == "or");
    case ExprKind::Call:
      if (expr.as<Call>().args.empty())
        return slot == Slot::Default && !expr.as<Call>().suffixes.empty();
      return tight || slot == Slot::Left || slot == Slot::Cond;
    case ExprKind::Binary: {
      int own = precedence(expr.as<Binary>().op);
      if (slot == Slot::Left) return own < precedence(op) || ends_open(id);
      if (slot == Slot::Right) return own <= precedence(op);
      return tight || (slot == Slot::Cond && ends_open(id));
    }
    case ExprKind::Pipe:
      return slot != Slot::Top && slot != Slot::Item && slot != Slot::BeforeStop &&
             slot != Slot::BindValue;
    case ExprKind::Ternary:
    case ExprKind::If:
    case ExprKind::BindExpr:
    case ExprKind::Lambda:
    case ExprKind::Do:
      if (slot == Slot::Top) return false;
      if (slot == Slot::Item) return ends_greedy(id);
      return slot != Slot::BeforeStop || ends_in_do(id);
  }
  AXON_UNREACHABLE("every kind has a case");
}

// The name, call or other node without operands that the text starts with.
ExprId Shape::first_part(ExprId id) const {
  Slot slot = Slot::Top;
  BinaryOp op = BinaryOp::Add;
  while (!encloses_itself(id) && !(slot != Slot::Top && needs_parens(id, slot, op))) {
    const Expr& expr = ast_[id];
    switch (expr.kind()) {
      case ExprKind::Binary:
        slot = Slot::Left;
        op = expr.as<Binary>().op;
        id = expr.as<Binary>().left;
        break;
      case ExprKind::Ternary:
        slot = Slot::Cond;
        id = expr.as<Ternary>().cond;
        break;
      case ExprKind::Pipe:
        slot = Slot::PipeValue;
        id = expr.as<Pipe>().value;
        break;
      case ExprKind::BindExpr:
        slot = Slot::BindValue;
        id = expr.as<BindExpr>().value;
        break;
      default:
        return id;
    }
  }
  return {};
}

bool Shape::starts_with(ExprId id, std::initializer_list<std::string_view> words) const {
  ExprId first = first_part(id);
  if (!first.valid()) return false;
  const Name* name = ast_[first].get<Name>();
  const Call* call = ast_[first].get<Call>();
  if (!name && !call) return false;
  return std::find(words.begin(), words.end(), names_.text(name ? name->name : call->callee)) !=
         words.end();
}

bool Shape::starts_negative(ExprId id) const {
  ExprId first = first_part(id);
  if (!first.valid()) return false;
  const Int* whole = ast_[first].get<Int>();
  const Float* real = ast_[first].get<Float>();
  return (whole && whole->value < 0) || (real && real->value < 0);
}

bool Shape::is_leaf(ExprId id) const {
  switch (ast_[id].kind()) {
    case ExprKind::Pipe:
    case ExprKind::BindExpr:
    case ExprKind::Ternary:
    case ExprKind::Binary:
    case ExprKind::Ascribe:
      return false;
    default:
      return true;
  }
}

// ---- blocks --------------------------------------------------------------------------------

bool Shape::is_inline_do(const Do& node) {
  if (!node.is_inline) return false;
  for (StmtId id : node.body) {
    StmtKind kind = ast_[id].kind();
    if (kind != StmtKind::Bind && kind != StmtKind::Return && kind != StmtKind::Yield) return false;
  }
  return !has_block(node.body);
}

bool Shape::has_block(const std::vector<StmtId>& body) {
  auto any = [&](const std::vector<ExprId>& values) {
    return std::any_of(values.begin(), values.end(),
                       [&](ExprId value) { return has_block(value); });
  };
  for (StmtId id : body) {
    const Stmt& stmt = ast_[id];
    if (const Bind* bind = stmt.get<Bind>()) {
      if (has_block(bind->value)) return true;
    } else if (const Return* node = stmt.get<Return>()) {
      if (any(node->values)) return true;
    } else if (const Yield* node = stmt.get<Yield>()) {
      if (any(node->values)) return true;
    } else {
      return true;
    }
  }
  return false;
}

bool Shape::compute_block(const Expr& expr) {
  if (const Do* node = expr.get<Do>()) return !is_inline_do(*node);
  bool found = false;
  const Expr* part = &expr;
  // Left operands in a loop: chains are long, everything else is bounded by the nesting limit.
  while (const Binary* node = part->get<Binary>()) {
    if (has_block(node->right)) return true;
    part = &ast_[node->left];
  }
  if (const Do* node = part->get<Do>()) return !is_inline_do(*node);
  for_each_child(*part, [&](ExprId child) { found = found || has_block(child); });
  return found;
}

bool Shape::has_block(ExprId id) {
  auto known = blocks_.find(id);
  if (known != blocks_.end()) return known->second;
  bool found = compute_block(ast_[id]);
  blocks_.emplace(id, found);
  return found;
}

}  // namespace axon::syntax
