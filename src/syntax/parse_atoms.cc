// Names, literals, brackets (language.md 4.5).
#include <cctype>

#include "support/text.h"
#include "syntax/parser.h"

namespace axon::syntax {

bool Parser::at_negative() { return at(Tok::Minus) && peek().glued_digit; }

// Whether an operand can start here.
bool Parser::at_expr() {
  if (panic_) return false;
  switch (peek().kind) {
    case Tok::Name:
      if (open_ifs_ == 0) return true;
      return !at_word(Word::Then) && !at_word(Word::Else) && !slips(awaited_);
    case Tok::Int:
    case Tok::Float:
    case Tok::String:
    case Tok::Path:
    case Tok::LParen:
    case Tok::LBracket:
    case Tok::Minus:
      return true;
    default:
      return false;
  }
}

ExprId Parser::parse_atom(bool tuple_allowed) {
  if (!at_expr()) {
    unexpected("an expression");
    return {};
  }
  int32_t begin = here();
  switch (peek().kind) {
    case Tok::LParen:
      return parse_paren(tuple_allowed);
    case Tok::LBracket:
      return parse_list();
    case Tok::Minus:
      return at_negative() ? parse_negative() : parse_unary_minus();
    case Tok::Name:
      break;
    default:
      return parse_literal();
  }
  bool word = at_word(Word::True) || at_word(Word::False) || at_word(Word::Null);
  if (word) return parse_literal();
  if (at_word(Word::Do) || at_word(Word::If)) {
    unexpected("an operand; put the conditional or block in parentheses");
    return {};
  }
  Token token = take();
  return add(Name{token.name, std::move(token.paths)}, begin);
}

// One token that is a value: number, string, path, true, false, null.
ExprId Parser::parse_literal() {
  int32_t begin = here();
  Token token = take();
  switch (token.kind) {
    case Tok::Int:
    case Tok::Float:
      return parse_number(token, false, span(token));
    case Tok::String:
      return add(String{token.name}, begin);
    case Tok::Path:
      return add(PathExpr{std::move(token.paths[0])}, begin);
    default:
      break;
  }
  if (token.name == words_[Word::Null]) return add(Null{}, begin);
  return add(Bool{token.name == words_[Word::True]}, begin);
}

ExprId Parser::parse_negative() {
  int32_t begin = here();
  take();
  Token token = take();
  return parse_number(token, true, since(begin));
}

ExprId Parser::parse_number(const Token& token, bool negative, Span where) {
  std::string lexeme = (negative ? "-" : "") + std::string(names_.text(token.name));
  if (token.kind == Tok::Float) {
    return ast_.add(Expr{Float{parse_double(lexeme).value_or(0), names_.intern(lexeme)}, where});
  }
  std::optional<int64_t> value = parse_int(lexeme);
  if (!value) sink_.report(Diag::LexIntRange, where, {lexeme});
  return ast_.add(Expr{Int{value.value_or(0)}, where});
}

// There is no unary minus; the operand is read so that nothing else is reported.
ExprId Parser::parse_unary_minus() {
  Span minus = span(take());
  int32_t begin = here();
  bool operand_follows = at_expr() && !at(Tok::Minus);
  if (!operand_follows) {
    sink_.report(Diag::ParUnary, minus, {"x"});
    panic_ = true;
    ++damage_;
    return {};
  }
  ExprId operand = parse_atom(true);
  if (!panic_) {
    Span whole = since(minus.begin);
    ++damage_;
    sink_.report(Diag::ParUnary, minus, {source_text(since(begin), 40)})
        .fix(minus, "(0 - ")
        .fix({file_, whole.end, whole.end}, ")");
  }
  return operand;
}

ExprId Parser::parse_paren(bool tuple_allowed) {
  In in(*this, "parentheses");
  Nest nest(*this, true);
  int32_t begin = here();
  take();
  ExprId first = parse_expr();
  return at(Tok::Comma) ? parse_tuple(first, begin, tuple_allowed) : finish_paren(first, begin);
}

ExprId Parser::finish_paren(ExprId inner, int32_t begin) {
  expect(Tok::RParen, "an operator, `,` or `)`");
  return add(Paren{inner}, begin);
}

ExprId Parser::parse_tuple(ExprId first, int32_t begin, bool tuple_allowed) {
  Tuple tuple{{first}};
  while (accept(Tok::Comma)) {
    if (at(Tok::RParen) && tuple.items.size() > 1) break;
    tuple.items.push_back(parse_expr());
  }
  return finish_tuple(std::move(tuple), begin, tuple_allowed);
}

// `f(a, b)` was meant as `f a b`; empty where that is not certain: behind a blank it may be a
// tuple.
std::string Parser::as_arguments(const Tuple& tuple, Span whole) const {
  const std::string_view source = files_.text(file_);
  auto cut = [&](Span span) {
    return source.substr(static_cast<size_t>(span.begin),
                         static_cast<size_t>(span.end - span.begin));
  };
  const std::string_view before = source.substr(0, static_cast<size_t>(whole.begin));
  const auto last = static_cast<unsigned char>(before.empty() ? 0 : before.back());
  if (last != '_' && std::isalnum(last) == 0) return {};
  std::string out;
  for (ExprId id : tuple.items) {
    if (!id.valid()) return {};
    const ExprKind kind = ast_[id].kind();
    const bool atom = kind == ExprKind::Name || kind == ExprKind::List || kind == ExprKind::Int ||
                      kind == ExprKind::Float || kind == ExprKind::String ||
                      kind == ExprKind::Path || kind == ExprKind::Bool || kind == ExprKind::Null;
    const std::string_view text = cut(ast_[id].span);
    if (!atom || text.find('(') != text.npos) return {};
    out += ' ';
    out += text;
  }
  return out;
}

ExprId Parser::finish_tuple(Tuple tuple, int32_t begin, bool tuple_allowed) {
  expect(Tok::RParen, "`,` or `)`");
  if (!tuple_allowed && !panic_) {
    Span whole = since(begin);
    ++damage_;
    Diagnostic& d = sink_.report(Diag::ParTupleArg, whole, {source_text(whole)});
    if (std::string plain = as_arguments(tuple, whole); !plain.empty()) d.fix(whole, plain);
  }
  return add(std::move(tuple), begin);
}

ExprId Parser::parse_list() {
  In in(*this, "a list");
  Nest nest(*this, true);
  int32_t begin = here();
  take();
  List list;
  while (!at(Tok::RBracket)) {
    list.items.push_back(parse_expr());
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RBracket, "`,` or `]`");
  return add(std::move(list), begin);
}

}  // namespace axon::syntax
