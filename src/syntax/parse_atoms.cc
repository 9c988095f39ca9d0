// Names, literals, brackets (language.md 4.5).
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

// There is no unary minus; `0 - x` is read, unless the operand is a call, of which only the name
// is.
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
  if (panic_) return operand;
  Span whole = since(minus.begin);
  const bool is_call = at_arg();
  Diagnostic& report = sink_.report(Diag::ParUnary, minus, {source_text(since(begin), 40)});
  if (is_call) {
    ++damage_;
    return operand;
  }
  report.fix(minus, "(0 - ").fix({file_, whole.end, whole.end}, ")");
  ++mended_;
  const ExprId zero = ast_.add(Expr{Int{0}, minus});
  const ExprId difference = add(Binary{BinaryOp::Sub, zero, operand, minus}, minus.begin);
  return add(Paren{difference}, minus.begin);
}

ExprId Parser::parse_paren(bool tuple_allowed) {
  In in(*this, "parentheses");
  Nest nest(*this, true);
  int32_t begin = here();
  take();
  if (at(Tok::RParen)) return parse_empty_call(begin);
  const Target callee = callee_;
  ExprId first = parse_expr();
  callee_ = callee;
  if (at(Tok::Equal)) return parse_call_in_parens(Tuple{{first}}, begin);
  return at(Tok::Comma) ? parse_tuple(first, begin, tuple_allowed) : finish_paren(first, begin);
}

// Whether a bracket that begins there hangs of the name that is called.
bool Parser::is_call_paren(int32_t begin) const {
  return callee_.name.valid() && callee_.span.end == begin;
}

// `x.relu(…)`: the name begins like a value.
bool Parser::is_method() const {
  const std::string_view name = names_.text(callee_.name);
  return name.find('.') != name.npos && name[0] >= 'a' && name[0] <= 'z';
}

namespace {

constexpr std::string_view kMethod =
    "values have no methods: what works on `x` is called with it, as in `relu x`";
constexpr std::string_view kCall =
    "arguments stand behind the name, with blanks between them: `f x y dim=1`";

}  // namespace

// `f()`
ExprId Parser::parse_empty_call(int32_t begin) {
  const bool call = is_call_paren(begin);
  const bool method = call && is_method();
  Diagnostic* report = unexpected(
      "an expression", method ? kMethod
                       : call ? std::string_view("a call without arguments is the name alone")
                              : std::string_view());
  if (report && call && !method) report->fix({file_, begin, peek().end}, "");
  return {};
}

// `f(x, dim=1)`, at the `=`: reads on, so that the report can say how it is written here.
ExprId Parser::parse_call_in_parens(Tuple tuple, int32_t begin) {
  const Span sign = span(peek());
  const bool call = is_call_paren(begin);
  const size_t errors = sink_.error_count();
  const bool named =
      !panic_ && tuple.items.back().valid() && ast_[tuple.items.back()].kind() == ExprKind::Name;
  if (!call || !named) {
    unexpected("an operator, `,` or `)`", "values are compared with `==`");
    return {};
  }
  const Target callee = callee_;
  std::vector<bool> value_of_keyword(tuple.items.size(), false);
  do {
    if (!at(Tok::RParen)) {
      if (!at(Tok::Equal)) {
        tuple.items.push_back(parse_expr());
        value_of_keyword.push_back(false);
      }
      if (!accept(Tok::Equal)) continue;
      tuple.items.push_back(parse_expr());
      value_of_keyword.push_back(true);
    }
  } while (accept(Tok::Comma));
  callee_ = callee;
  expect(Tok::RParen, "`,` or `)`");
  if (panic_ || sink_.error_count() != errors) return {};
  Diagnostic& report = sink_.report(Diag::ParSyntax, sign, {"`=`", "`,` or `)`", place()});
  report.note(Note::NoteHere, sign, {is_method() ? kMethod : kCall});
  ++damage_;
  panic_ = true;
  std::string text;
  for (size_t i = 0; i < tuple.items.size() && !is_method(); ++i) {
    const std::string item = as_argument(tuple.items[i]);
    if (item.empty()) return {};
    text += (value_of_keyword[i] ? "=" : " ") + item;
  }
  if (!text.empty()) report.fix(since(begin), text);
  return {};
}

ExprId Parser::finish_paren(ExprId inner, int32_t begin) {
  expect(Tok::RParen, "an operator, `,` or `)`");
  return add(Paren{inner}, begin);
}

ExprId Parser::parse_tuple(ExprId first, int32_t begin, bool tuple_allowed) {
  Tuple tuple{{first}};
  const Target callee = callee_;
  while (accept(Tok::Comma)) {
    if (at(Tok::RParen) && tuple.items.size() > 1) break;
    tuple.items.push_back(parse_expr());
    callee_ = callee;
    if (at(Tok::Equal)) return parse_call_in_parens(std::move(tuple), begin);
  }
  return finish_tuple(std::move(tuple), begin, tuple_allowed);
}

// The text of an expression as an argument; empty where it is not certain.
std::string Parser::as_argument(ExprId id) const {
  if (!id.valid()) return {};
  const Expr& node = ast_[id];
  const std::string text(files_.text(file_).substr(
      static_cast<size_t>(node.span.begin), static_cast<size_t>(node.span.end - node.span.begin)));
  if (text.find('\n') != text.npos) return {};
  const bool closed = node.kind() == ExprKind::List || node.kind() == ExprKind::Paren;
  return is_leaf(node) || closed ? text : "(" + text + ")";
}

// `f(a, b)` was meant as `f a b`; empty where that is not certain: behind a blank it may be a
// tuple.
std::string Parser::as_arguments(const Tuple& tuple, Span whole) const {
  if (!is_call_paren(whole.begin) || is_method()) return {};
  std::string out;
  for (ExprId id : tuple.items) {
    const std::string text = as_argument(id);
    if (text.empty()) return {};
    out += " " + text;
  }
  return out;
}

ExprId Parser::finish_tuple(Tuple tuple, int32_t begin, bool tuple_allowed) {
  expect(Tok::RParen, "`,` or `)`");
  if (!tuple_allowed && !panic_) {
    Span whole = since(begin);
    const bool call = is_call_paren(begin);
    Diagnostic& d = sink_.report(Diag::ParTupleArg, whole, {source_text(whole)});
    if (call) d.note(Note::NoteHere, whole, {is_method() ? kMethod : kCall});
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
