// Expressions down to calls and their arguments (language.md 4.5). Greedy: whatever can extend the
// construct being parsed does.
#include "syntax/parser.h"
#include "syntax/shape.h"

namespace axon::syntax {
namespace {

std::optional<BinaryOp> operator_of(Tok kind) {
  switch (kind) {
    case Tok::Plus:
      return BinaryOp::Add;
    case Tok::Minus:
      return BinaryOp::Sub;
    case Tok::Star:
      return BinaryOp::Mul;
    case Tok::Slash:
      return BinaryOp::Div;
    case Tok::Percent:
      return BinaryOp::Mod;
    case Tok::EqEq:
      return BinaryOp::Eq;
    case Tok::NotEq:
      return BinaryOp::Ne;
    case Tok::Less:
      return BinaryOp::Lt;
    case Tok::LessEq:
      return BinaryOp::Le;
    case Tok::Greater:
      return BinaryOp::Gt;
    case Tok::GreaterEq:
      return BinaryOp::Ge;
    default:
      return {};
  }
}

}  // namespace

ExprId Parser::parse_expr() {
  int32_t begin = here();
  ExprId value = at_keyword(Word::Do) ? parse_do() : parse_bind_expr();
  return at(Tok::ColonColon) ? parse_ascription(value, begin) : value;
}

ExprId Parser::parse_ascription(ExprId value, int32_t begin) {
  take();
  In in(*this, "an ascription");
  TypeExprId type = parse_type();
  return add(Ascribe{value, type}, begin);
}

ExprId Parser::parse_do() {
  int32_t begin = here();
  take();
  Do node;
  const size_t outer = std::exchange(returned_, 1);
  node.is_inline = !parse_suite(node.body);
  returned_ = outer;
  return add(std::move(node), begin);
}

// Without a do-expression at the start, which only parse_expr takes.
ExprId Parser::parse_bind_expr() {
  int32_t begin = here();
  ExprId value = parse_pipe();
  return at(Tok::BindOp) ? parse_bind_function(value, begin) : value;
}

ExprId Parser::parse_bind_function(ExprId value, int32_t begin) {
  take();
  In in(*this, "the function after `>>=`");
  expect(Tok::Backslash);
  Target var = expect_local("a variable");
  expect(Tok::RArrow);
  Nest nest(*this, false);
  ExprId body = parse_expr();
  return add(BindExpr{value, var.name, var.span, body}, begin);
}

ExprId Parser::parse_pipe() {
  int32_t begin = here();
  ExprId value = parse_cond();
  return at(Tok::PipeOp) ? parse_stages(value, begin) : value;
}

ExprId Parser::parse_stages(ExprId value, int32_t begin) {
  Pipe node{value, {}};
  while (accept(Tok::PipeOp)) node.stages.push_back(parse_cond());
  return add(std::move(node), begin);
}

ExprId Parser::parse_cond() {
  if (at_keyword(Word::If)) return parse_if(false);
  int32_t begin = here();
  ExprId cond = parse_operators(Place::Expr);
  return at(Tok::Question) ? parse_ternary(cond, begin) : cond;
}

ExprId Parser::parse_ternary(ExprId cond, int32_t begin) {
  take();
  In in(*this, "a conditional");
  Nest nest(*this, false);
  size_t then_items = 0;
  size_t else_items = 0;
  ExprId then_value = parse_branch(then_items);
  expect(Tok::Colon, "`:` and the other branch");
  ExprId else_value = parse_branch(else_items);
  ExprId node = add_ternary(cond, then_value, else_value, begin);
  warn_greedy_branch(node, then_items, else_items);
  return node;
}

// `if … then … else …`; as an argument its parts are argument expressions.
ExprId Parser::parse_if(bool arg) {
  In in(*this, "an if-expression");
  Nest nest(*this, false);
  int32_t begin = here();
  size_t then_items = 1;
  size_t else_items = 1;
  const Word outer = awaited_;
  take();
  ++open_ifs_;
  awaited_ = Word::Then;
  ExprId cond = arg ? parse_arg(Place::ArgBranch) : parse_expr();
  expect_word(Word::Then);
  awaited_ = Word::Else;
  ExprId then_value = arg ? parse_arg(Place::ArgBranch) : parse_branch(then_items);
  expect_word(Word::Else);
  --open_ifs_;
  awaited_ = outer;
  ExprId else_value = arg ? parse_arg(Place::Arg) : parse_branch(else_items);
  ExprId node = add_if(cond, then_value, else_value, begin);
  if (!arg) warn_greedy_branch(node, then_items, else_items);
  return node;
}

// One expression, or several separated by commas, which make a tuple.
ExprId Parser::parse_branch(size_t& items) {
  int32_t begin = here();
  ExprId first = parse_expr();
  items = 1;
  return at(Tok::Comma) ? parse_branch_tuple(first, items, begin) : first;
}

ExprId Parser::parse_branch_tuple(ExprId first, size_t& items, int32_t begin) {
  Tuple tuple{{first}};
  while (accept(Tok::Comma)) {
    if (!at_expr()) break;
    tuple.items.push_back(parse_expr());
  }
  items = tuple.items.size();
  return items == 1 ? first : add(std::move(tuple), begin);
}

// An argument: a whole operator expression or conditional, without calls, pipes and `>>=`.
ExprId Parser::parse_arg(Place place) {
  int32_t begin = here();
  ExprId value;
  if (at_word(Word::Do)) {
    value = parse_do();
  } else if (at_keyword(Word::If)) {
    value = parse_if(true);
  } else {
    value = parse_operators(place);
    if (at(Tok::Question)) value = parse_arg_ternary(value, place, begin);
  }
  return at(Tok::ColonColon) ? parse_ascription(value, begin) : value;
}

ExprId Parser::parse_arg_ternary(ExprId cond, Place place, int32_t begin) {
  take();
  In in(*this, "a conditional");
  Nest nest(*this, false);
  ExprId then_value = parse_arg(Place::ArgBranch);
  expect(Tok::Colon, "`:` and the other branch");
  ExprId else_value = parse_arg(place);
  return add_ternary(cond, then_value, else_value, begin);
}

ExprId Parser::add_ternary(ExprId cond, ExprId then_value, ExprId else_value, int32_t begin) {
  return add(Ternary{cond, then_value, else_value}, begin);
}

ExprId Parser::add_if(ExprId cond, ExprId then_value, ExprId else_value, int32_t begin) {
  return add(If{cond, then_value, else_value}, begin);
}

// The operator here, if any. In an argument list `x -1` starts the next argument.
std::optional<BinaryOp> Parser::infix_operator(Place place) {
  if (panic_) return {};
  if (at_word(Word::And)) return BinaryOp::And;
  if (at_word(Word::Or)) return BinaryOp::Or;
  if (place == Place::Arg && at_negative() && peek().blank_before) return {};
  return operator_of(peek().kind);
}

// A chain of operands and left-associative operators, of any length. What waits for its right
// operand lies on a stack that all chains share.
ExprId Parser::parse_operators(Place place) {
  size_t base = waiting_.size();
  ExprId value = place == Place::Expr ? parse_application() : parse_atom(false);
  while (std::optional<BinaryOp> op = infix_operator(place)) {
    value = reduce(value, precedence(*op), base);
    waiting_.push_back({value, *op, span(peek())});
    take();
    value = place == Place::Expr ? parse_application() : parse_atom(false);
  }
  return reduce(value, 0, base);
}

// Combines the waiting operators that bind at least as tightly as `bound` with `right`.
ExprId Parser::reduce(ExprId right, int bound, size_t base) {
  while (waiting_.size() > base && precedence(waiting_.back().op) >= bound) {
    Waiting top = waiting_.back();
    waiting_.pop_back();
    if (panic_) continue;
    Span where = merge_spans(ast_[top.left].span, ast_[right].span);
    right = ast_.add(Expr{Binary{top.op, top.left, right, top.span}, where});
  }
  return right;
}

ExprId Parser::parse_application() {
  bool literal = at_word(Word::True) || at_word(Word::False) || at_word(Word::Null);
  if (!at(Tok::Name) || literal || at_word(Word::Do) || at_word(Word::If) || !at_expr()) {
    ExprId atom = parse_atom(true);
    if (at_arg() && !at(Tok::Minus))
      unexpected("an operator or the end of the expression (only a name takes arguments)");
    return atom;
  }
  int32_t begin = here();
  calls_.push_back(begin_call());
  if (at_arg()) parse_args();
  return finish_call(begin);
}

Call Parser::begin_call() {
  Token callee = take();
  callee_ = {callee.name, span(callee)};
  return Call{callee.name, span(callee), std::move(callee.paths), {}};
}

// Ends the innermost call; without arguments it is a name.
ExprId Parser::finish_call(int32_t begin) {
  Call call = std::move(calls_.back());
  calls_.pop_back();
  if (call.args.empty()) return add(Name{call.callee, std::move(call.suffixes)}, begin);
  ExprId node = add(std::move(call), begin);
  warn_greedy_args(node);
  return node;
}

bool Parser::at_arg() {
  if (at_word(Word::And) || at_word(Word::Or)) return false;
  if (at(Tok::Minus)) return at_negative() && peek().blank_before;
  return at_expr();
}

void Parser::parse_args() {
  size_t call = calls_.size() - 1;
  In in(*this, "a call of", calls_[call].callee);
  while (at_arg()) {
    Target keyword;
    if (at(Tok::Name) && stream_.peek_second() == Tok::Equal) {
      keyword = expect_ident("a keyword argument");
      take();
    }
    ExprId value = parse_arg(Place::Arg);
    calls_[call].args.push_back({keyword.name, value, keyword.span});
  }
}

}  // namespace axon::syntax
