// Types and dims (language.md 4.2).
#include "support/text.h"
#include "syntax/parser.h"
#include "syntax/path_text.h"

namespace axon::syntax {

// A name without path suffixes.
NameId Parser::take_qname(std::string_view role) {
  Token token = take();
  if (!token.paths.empty())
    sink_.report(Diag::AstName, span(token), {source_text(span(token)), role});
  return token.name;
}

TypeExprId Parser::parse_type() {
  int32_t begin = here();
  if (at(Tok::Question)) {
    Nest nest(*this, false);
    take();
    TypeExprId inner = parse_type();
    return ast_.add(TypeExpr{TypeOptional{inner}, since(begin)});
  }
  if (at(Tok::LParen)) return parse_tuple_type();
  if (at(Tok::Name) || at(Tok::Path)) return parse_named_type();
  unexpected("a type");
  return {};
}

TypeExprId Parser::parse_tuple_type() {
  In in(*this, "a tuple type");
  Nest nest(*this, true);
  int32_t begin = here();
  take();
  TypeTuple tuple{{parse_type()}};
  expect(Tok::Comma, "`,` (a tuple type has two or more items)");
  do {
    if (at(Tok::RParen) && tuple.items.size() > 1) break;
    tuple.items.push_back(parse_type());
  } while (accept(Tok::Comma));
  expect(Tok::RParen, "`,` or `)`");
  return ast_.add(TypeExpr{std::move(tuple), since(begin)});
}

TypeExprId Parser::parse_named_type() {
  int32_t begin = here();
  if (at(Tok::Path)) {
    Token token = take();
    const PathLit& path = token.paths[0];
    bool plain = !path.absolute && path.pieces.size() == 1 && !path.pieces[0].placeholder &&
                 is_ident(names_.text(path.pieces[0].text));
    if (!plain) {
      sink_.report(Diag::AstName, span(token), {source_text(span(token)), "a type"});
      return ast_.add(TypeExpr{TypeNamed{names_.intern("Path"), {}, false}, since(begin)});
    }
    return ast_.add(TypeExpr{TypeNamed{path.pieces[0].text, {}, false}, since(begin)});
  }
  bool is_list = at_word(Word::List);
  NameId name = take_qname("a type");
  if (!at(Tok::LBracket)) return ast_.add(TypeExpr{TypeNamed{name, {}, false}, since(begin)});
  In in(*this, "the arguments of type", name);
  Nest nest(*this, true);
  take();
  if (is_list) {
    TypeExprId item = parse_type();
    expect(Tok::RBracket);
    return ast_.add(TypeExpr{TypeList{item}, since(begin)});
  }
  TypeNamed node{name, parse_type_args(), true};
  expect(Tok::RBracket, "`,` or `]`");
  return ast_.add(TypeExpr{std::move(node), since(begin)});
}

std::vector<TypeArg> Parser::parse_type_args() {
  std::vector<TypeArg> args;
  do {
    args.push_back(parse_type_arg());
  } while (accept(Tok::Comma));
  return args;
}

// What can be read as a dim is one.
TypeArg Parser::parse_type_arg() {
  if (at(Tok::LParen)) return parse_paren_arg();
  if (at(Tok::Path)) {  // a name written as a path, which may stand for a type with arguments
    TypeExprId type = parse_type();
    const TypeNamed* named =
        panic_ || !type.valid() ? nullptr : std::get_if<TypeNamed>(&ast_[type].data);
    if (!named || named->has_args) return {{}, type};
    Span span = ast_[type].span;
    return {parse_dim(ast_.add(DimExpr{DimName{named->name}, span})), {}};
  }
  bool is_type = at(Tok::Question) || (at(Tok::Name) && stream_.peek_second() == Tok::LBracket);
  if (is_type) return {{}, parse_type()};
  return {parse_dim(), {}};
}

// `(` opens a tuple type or a bracketed dim; the comma tells.
TypeArg Parser::parse_paren_arg() {
  int32_t begin = here();
  TypeArg first;
  {
    Nest nest(*this, true);
    take();
    first = parse_type_arg();
    if (at(Tok::Comma)) {
      TypeTuple tuple{{type_of_arg(first)}};
      while (accept(Tok::Comma)) {
        if (at(Tok::RParen) && tuple.items.size() > 1) break;
        tuple.items.push_back(parse_type());
      }
      expect(Tok::RParen, "`,` or `)`");
      return {{}, ast_.add(TypeExpr{std::move(tuple), since(begin)})};
    }
    expect(Tok::RParen, first.dim.valid() ? "an operator, `,` or `)`" : "`,`");
  }
  if (panic_) return first;
  if (!first.dim.valid()) {
    sink_.report(Diag::ParSyntax, since(begin),
                 {"a type in parentheses", "a tuple type or a dimension", "a type"});
    return first;
  }
  DimExprId inner = ast_.add(DimExpr{DimParen{first.dim}, since(begin)});
  return {parse_dim(inner), {}};
}

// The argument read again as a type: a lone name names one.
TypeExprId Parser::type_of_arg(const TypeArg& arg) {
  if (arg.type.valid() || panic_) return arg.type;
  DimExpr dim = ast_[arg.dim];
  if (dim.kind() == DimExprKind::Name) {
    return ast_.add(TypeExpr{TypeNamed{dim.as<DimName>().name, {}, false}, dim.span});
  }
  sink_.report(Diag::ParSyntax, dim.span, {"a dimension", "a type", "a tuple type"});
  return {};
}

// A chain of dims and operators; `first` is a factor that was already read.
DimExprId Parser::parse_dim(DimExprId first, bool may_negate) {
  struct Waiting {
    DimExprId left;
    char op;
  };
  std::vector<Waiting> waiting;
  auto level = [](char op) { return op == '+' || op == '-' ? 1 : 2; };
  auto op_here = [&]() -> char {
    if (at(Tok::Plus)) return '+';
    if (at(Tok::Minus)) return '-';
    if (at(Tok::Star)) return '*';
    if (at(Tok::Slash)) return '/';
    return at(Tok::Percent) ? '%' : '\0';
  };
  auto reduce = [&](DimExprId right, int bound) {
    while (!waiting.empty() && level(waiting.back().op) >= bound && !panic_) {
      const Waiting& top = waiting.back();
      Span where = merge_spans(ast_[top.left].span, ast_[right].span);
      right = ast_.add(DimExpr{DimBinary{top.op, top.left, right}, where});
      waiting.pop_back();
    }
    return right;
  };
  DimExprId value = first.valid() ? first : parse_dim_factor(may_negate);
  while (char op = op_here()) {
    value = reduce(value, level(op));
    take();
    waiting.push_back({value, op});
    value = parse_dim_factor(false);
  }
  return reduce(value, 0);
}

DimExprId Parser::parse_dim_factor(bool may_negate) {
  int32_t begin = here();
  bool negative = may_negate && accept(Tok::Minus);
  if (at(Tok::Int)) {
    std::string lexeme = (negative ? "-" : "") + std::string(names_.text(take().name));
    std::optional<int64_t> value = parse_int(lexeme);
    if (!value) sink_.report(Diag::LexIntRange, since(begin), {lexeme});
    return ast_.add(DimExpr{DimInt{value.value_or(0)}, since(begin)});
  }
  if (negative) {
    unexpected("a number after `-`");
  } else if (at(Tok::Name)) {
    NameId name = take_qname("a dimension");
    return ast_.add(DimExpr{DimName{name}, since(begin)});
  } else if (accept(Tok::DotDot)) {
    NameId name = expect_ident("the name of a run of dimensions").name;
    return ast_.add(DimExpr{DimVariadic{name}, since(begin)});
  } else if (at(Tok::LParen)) {
    Nest nest(*this, true);
    take();
    DimExprId inner = parse_dim();
    expect(Tok::RParen, "an operator or `)`");
    return ast_.add(DimExpr{DimParen{inner}, since(begin)});
  }
  unexpected("a dimension or type");
  return {};
}

}  // namespace axon::syntax
