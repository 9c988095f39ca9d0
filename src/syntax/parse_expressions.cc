// Expressions down to calls and their arguments (language.md 4.5). Greedy: whatever can extend the
// construct being parsed does.
#include "syntax/parser.h"
#include "syntax/shape.h"

namespace axon::syntax {
namespace {

std::optional<BinaryOp> operator_of(Tok kind) {
  switch (kind) {
    case Tok::Plus: return BinaryOp::Add;
    case Tok::Minus: return BinaryOp::Sub;
    case Tok::Star: return BinaryOp::Mul;
    case Tok::Slash: return BinaryOp::Div;
    case Tok::Percent: return BinaryOp::Mod;
    case Tok::EqEq: return BinaryOp::Eq;
    case Tok::NotEq: return BinaryOp::Ne;
    case Tok::Less: return BinaryOp::Lt;
    case Tok::LessEq: return BinaryOp::Le;
    case Tok::Greater: return BinaryOp::Gt;
    case Tok::GreaterEq: return BinaryOp::Ge;
    default: return {};
  }
}

}  // namespace

ExprId Parser::parse_expr() {
  int32_t begin = here();
  ExprId value = at_word(Word::Do) ? parse_do() : parse_bind_expr();
  return parse_ascription(value, begin);
}

ExprId Parser::parse_ascription(ExprId value, int32_t begin) {
  if (!accept(Tok::ColonColon)) return value;
  In in(*this, "an ascription");
  TypeExprId type = parse_type();
  return add(Ascribe{value, type}, begin);
}

ExprId Parser::parse_do() {
  int32_t begin = here();
  take();
  Do node;
  node.is_inline = !parse_suite(node.body);
  return add(std::move(node), begin);
}

// Without a do-expression at the start, which only parse_expr takes.
ExprId Parser::parse_bind_expr() {
  int32_t begin = here();
  ExprId value = parse_pipe();
  if (!accept(Tok::BindOp)) return value;
  In in(*this, "the function after `>>=`");
  expect(Tok::Backslash);
  Target var = expect_ident("a variable");
  expect(Tok::RArrow);
  Nest nest(*this, false);
  ExprId body = parse_expr();
  return add(BindExpr{value, var.name, var.span, body}, begin);
}

ExprId Parser::parse_pipe() {
  int32_t begin = here();
  Pipe node;
  node.value = parse_cond();
  while (accept(Tok::PipeOp)) node.stages.push_back(parse_cond());
  return node.stages.empty() ? node.value : add(std::move(node), begin);
}

ExprId Parser::parse_cond() {
  if (at_word(Word::If)) return parse_if(false);
  int32_t begin = here();
  ExprId cond = parse_operators(Place::Expr);
  if (!accept(Tok::Question)) return cond;
  In in(*this, "a conditional");
  Nest nest(*this, false);
  size_t then_items = 0;
  size_t else_items = 0;
  ExprId then_value = parse_branch(then_items);
  expect(Tok::Colon, "`:` and the other branch");
  ExprId else_value = parse_branch(else_items);
  ExprId node = add(Ternary{cond, then_value, else_value}, begin);
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
  take();
  ++open_ifs_;
  ExprId cond = arg ? parse_arg(Place::ArgBranch) : parse_expr();
  expect_word(Word::Then);
  ExprId then_value = arg ? parse_arg(Place::ArgBranch) : parse_branch(then_items);
  expect_word(Word::Else);
  --open_ifs_;
  ExprId else_value = arg ? parse_arg(Place::Arg) : parse_branch(else_items);
  ExprId node = add(If{cond, then_value, else_value}, begin);
  if (!arg) warn_greedy_branch(node, then_items, else_items);
  return node;
}

// One expression, or several separated by commas, which make a tuple.
ExprId Parser::parse_branch(size_t& items) {
  int32_t begin = here();
  Tuple tuple;
  tuple.items.push_back(parse_expr());
  while (at(Tok::Comma)) {
    take();
    if (!at_expr()) break;
    tuple.items.push_back(parse_expr());
  }
  items = tuple.items.size();
  return items == 1 ? tuple.items[0] : add(std::move(tuple), begin);
}

// An argument: a whole operator expression or conditional, without calls, pipes and `>>=`.
ExprId Parser::parse_arg(Place place) {
  int32_t begin = here();
  ExprId value;
  if (at_word(Word::Do)) {
    value = parse_do();
  } else if (at_word(Word::If)) {
    value = parse_if(true);
  } else {
    value = parse_operators(place);
    if (accept(Tok::Question)) {
      In in(*this, "a conditional");
      Nest nest(*this, false);
      ExprId then_value = parse_arg(Place::ArgBranch);
      expect(Tok::Colon, "`:` and the other branch");
      ExprId else_value = parse_arg(place);
      value = add(Ternary{value, then_value, else_value}, begin);
    }
  }
  return parse_ascription(value, begin);
}

// The operator here, if any. In an argument list `x -1` starts the next argument.
std::optional<BinaryOp> Parser::infix_operator(Place place) {
  if (panic_) return {};
  if (at_word(Word::And)) return BinaryOp::And;
  if (at_word(Word::Or)) return BinaryOp::Or;
  if (place == Place::Arg && at_negative() && peek().blank_before) return {};
  return operator_of(peek().kind);
}

// A chain of operands and left-associative operators, of any length.
ExprId Parser::parse_operators(Place place) {
  struct Waiting { ExprId left; BinaryOp op; Span span; };
  std::vector<Waiting> waiting;
  auto operand = [&] { return place == Place::Expr ? parse_application() : parse_atom(false); };
  auto reduce = [&](ExprId right, int bound) {
    while (!waiting.empty() && precedence(waiting.back().op) >= bound && !panic_) {
      const Waiting& top = waiting.back();
      Span where = merge_spans(ast_[top.left].span, ast_[right].span);
      right = ast_.add(Expr{Binary{top.op, top.left, right, top.span}, where});
      waiting.pop_back();
    }
    return right;
  };
  ExprId value = operand();
  while (std::optional<BinaryOp> op = infix_operator(place)) {
    value = reduce(value, precedence(*op));
    Span where = span(peek());
    take();
    waiting.push_back({value, *op, where});
    value = operand();
  }
  return reduce(value, 0);
}

ExprId Parser::parse_application() {
  bool literal = at_word(Word::True) || at_word(Word::False) || at_word(Word::Null);
  if (!at(Tok::Name) || literal || at_word(Word::Do) || at_word(Word::If) || !at_expr()) {
    ExprId atom = parse_atom(true);
    if (at_arg() && !at(Tok::Minus)) unexpected("an operator or the end of the expression (only a name takes arguments)");
    return atom;
  }
  int32_t begin = here();
  Token callee = take();
  if (!at_arg()) return add(Name{callee.name, std::move(callee.paths)}, begin);
  Call call{callee.name, span(callee), std::move(callee.paths), {}};
  parse_args(call);
  ExprId node = add(std::move(call), begin);
  warn_greedy_args(node);
  return node;
}

bool Parser::at_arg() {
  if (at_word(Word::And) || at_word(Word::Or)) return false;
  if (at(Tok::Minus)) return at_negative() && peek().blank_before;
  return at_expr();
}

void Parser::parse_args(Call& call) {
  In in(*this, "a call of", call.callee);
  while (at_arg()) {
    Arg arg;
    if (at(Tok::Name) && stream_.peek_second() == Tok::Equal) {
      Target keyword = expect_ident("a keyword argument");
      arg.keyword = keyword.name;
      arg.keyword_span = keyword.span;
      take();
    }
    arg.value = parse_arg(Place::Arg);
    call.args.push_back(arg);
  }
}

}  // namespace axon::syntax
