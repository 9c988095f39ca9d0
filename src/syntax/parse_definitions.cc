// Definitions, signatures, global bindings and fixed scopes (language.md 4.1, 5, 8.4).
#include <set>

#include "source/habits.h"
#include "support/text.h"
#include "syntax/parser.h"
#include "syntax/path_text.h"

namespace axon::syntax {
namespace {

constexpr std::string_view kItemEnd = "an operator, an argument or the end of the item";

}  // namespace

void Parser::parse_definition(Module& module) {
  In in(*this, "the head of definition", peek().name);
  DefName head = parse_def_name();
  if (at(Tok::ColonColon)) {
    drop_signature("another signature", head.span);
    parse_signature(std::move(head));
  } else if (at(Tok::LArrow)) {
    parse_global(module, std::move(head));
  } else {
    parse_head_and_body(module, std::move(head));
  }
}

// `f@p@q`, also with blanks: `f @p @q`.
DefName Parser::parse_def_name() {
  Token token = take();
  DefName head{token.name, span(token), {}};
  for (const PathLit& path : token.paths) add_path_param(head, path);
  if (!token.paths.empty()) head.span.end = token.paths[0].span.begin;
  while (at(Tok::Path) || at(Tok::At)) {
    if (at(Tok::Path)) {
      add_path_param(head, take().paths[0]);
    } else {
      take();
      Target param = expect_ident("a path parameter");
      if (param.name.valid()) head.path_params.push_back(param);
    }
  }
  return head;
}

void Parser::add_path_param(DefName& head, const PathLit& path) {
  bool plain = !path.absolute && path.pieces.size() == 1 && !path.pieces[0].placeholder &&
               is_ident(names_.text(path.pieces[0].text));
  if (!plain) sink_.report(Diag::AstName, path.span, {source_text(path.span), "a path parameter"});
  if (path.pieces.empty()) return;
  head.path_params.push_back({path.pieces[0].text, {file_, path.span.begin + 1, path.span.end}});
}

void Parser::check_def_name(const DefName& head) {
  std::string_view name = names_.text(head.name);
  size_t dot = name.rfind('.');
  char last = dot == name.npos ? name[0] : name[dot + 1];
  if (name[0] == '_' || last == '_') sink_.report(Diag::AstReserved, head.span, {name});
}

// ---- signatures ----------------------------------------------------------------------------

void Parser::parse_signature(DefName head) {
  In in(*this, "the signature of", head.name);
  Signature signature;
  signature.head = std::move(head);
  take();
  do {
    signature.types.push_back(parse_type());
  } while (accept(Tok::RArrow));
  signature.span = since(signature.head.span.begin);
  expect_item_end("`->` or the end of the signature");
  if (!panic_) pending_ = std::move(signature);
}

// The signature before is followed by something else than its definition.
void Parser::drop_signature(std::string_view followed_by, Span follower) {
  if (!pending_) return;
  if (!follower.valid() && peek().kind != Tok::Eof) follower = span(peek());
  Diagnostic& report = sink_.report(Diag::AstSigName, pending_->head.span,
                                    {names_.text(pending_->head.name), followed_by});
  const std::string_view here =
      follower.valid() ? written_here(Habit::Word, source_text(follower)) : std::string_view();
  if (follower.valid())
    report.note(Note::NoteHere, follower,
                {here.empty() ? std::string_view("this follows it") : here});
  pending_.reset();
}

void Parser::apply_signature(Definition& definition, const DefName& head,
                             const Signature& signature) {
  const std::vector<Target>& in_sig = signature.head.path_params;
  const std::vector<Target>& in_head = head.path_params;
  auto is_path = [&](size_t index) {
    const TypeExpr& type = ast_[signature.types[index]];
    return type.kind() == TypeExprKind::Named && word_is(type.as<TypeNamed>().name, "Path") &&
           !type.as<TypeNamed>().has_args;
  };
  bool clash = false;
  bool differ = in_sig.size() != in_head.size();
  for (size_t i = 0; !differ && i < in_sig.size(); ++i) differ = in_sig[i].name != in_head[i].name;
  if (!in_sig.empty() && !in_head.empty() && differ) {
    clash = true;
    Span where = merge_spans(in_head.front().span, in_head.back().span);
    sink_.report(Diag::AstSigPath, where, {names_.text(head.name)})
        .note(Note::NoteFirstHere, merge_spans(in_sig.front().span, in_sig.back().span));
  }
  definition.has_signature = true;
  definition.span = merge_spans(signature.span, definition.span);
  const std::vector<Target>& names = in_head.empty() ? in_sig : in_head;
  if (!in_sig.empty() && !is_path(0)) {
    apply_types(definition, signature, 0, !clash);
    definition.path_params.clear();
    wrap_fixed_scope(definition, names);
    return;
  }
  definition.path_params.clear();
  for (const Target& name : names) definition.path_params.push_back(name.name);
  size_t paths = 0;
  while (paths < names.size() && paths + 1 < signature.types.size() && is_path(paths)) ++paths;
  if (paths < names.size() && !clash) {
    sink_
        .report(Diag::AstSigArity, head.span,
                {names_.text(head.name), counted(names.size(), "path parameter"),
                 "has `Path` " + counted(paths, "time") + " in front"})
        .note(Note::NoteExpectedHere, signature.span);
  }
  apply_types(definition, signature, paths, !clash && paths == names.size());
}

// Gives the parameters the argument types behind the first `path_types`.
void Parser::apply_types(Definition& definition, const Signature& signature, size_t path_types,
                         bool check_arity) {
  size_t types = signature.types.size() - 1 - path_types;
  definition.return_type = signature.types.back();
  std::set<int32_t> distinct;
  for (const Param& param : definition.params) distinct.insert(param.name.index);
  bool repeats = distinct.size() != definition.params.size();  // which is told instead
  bool aligned = check_arity && types == definition.params.size();
  if (check_arity && !repeats && types != definition.params.size()) {
    sink_
        .report(Diag::AstSigArity, definition.name_span,
                {names_.text(definition.name), counted(definition.params.size(), "parameter"),
                 "has " + counted(types, "argument type") + " for them"})
        .note(Note::NoteExpectedHere, signature.span);
  }
  for (size_t i = 0; i < definition.params.size() && i < types; ++i) {
    Param& param = definition.params[i];
    TypeExprId type = signature.types[path_types + i];
    bool optional = false;
    while (ast_[type].kind() == TypeExprKind::Optional) {
      type = ast_[type].as<TypeOptional>().inner;
      optional = true;
    }
    if (param.default_value.valid() && !optional && aligned) {
      sink_
          .report(Diag::AstDefaultRequired, param.span,
                  {names_.text(param.name), source_text(ast_[type].span)})
          .fix({file_, ast_[type].span.begin, ast_[type].span.begin}, "?");
    }
    param.optional = optional;
    param.type = type;
  }
}

// ---- definitions ---------------------------------------------------------------------------

void Parser::parse_global(Module& module, DefName head) {
  drop_signature("a global binding", head.span);
  In in(*this, "the global binding", head.name);
  check_def_name(head);
  Definition definition;
  definition.name = head.name;
  definition.name_span = head.span;
  definition.is_global = true;
  definition.origin = file_;
  if (!head.path_params.empty()) {
    Span where = merge_spans(head.span, head.path_params.back().span);
    sink_.report(Diag::AstName, where, {source_text(where), "a global binding"});
  }
  take();
  const int losses = this->losses();
  const int32_t begin = stream_.last_end();
  parse_body(definition);
  expect_item_end(kItemEnd);
  end_body(definition, begin, losses);
  definition.span = since(head.span.begin);
  module.definitions.push_back(std::move(definition));
}

void Parser::parse_head_and_body(Module& module, DefName head) {
  std::optional<Signature> signature = std::move(pending_);
  pending_.reset();
  if (signature && signature->head.name != head.name) {
    pending_ = std::move(signature);
    signature.reset();
    drop_signature("the definition of `" + std::string(names_.text(head.name)) + "`", head.span);
  }
  check_def_name(head);
  Definition definition;
  definition.name = head.name;
  definition.name_span = head.span;
  definition.origin = file_;
  for (const Target& param : head.path_params) definition.path_params.push_back(param.name);
  const size_t errors = sink_.error_count();
  const int losses = this->losses();
  while (at(Tok::Name) || at(Tok::Question)) {
    Param param = parse_param();
    if (param.name.valid()) definition.params.push_back(std::move(param));
  }
  const bool opened = colon_body(definition);
  const Span equal = span(peek());
  if (!opened && !accept(Tok::Equal)) {
    // Most likely no definition at all.
    if (Diagnostic* report = unexpected("a parameter or `=`"))
      suggest_item(head, !definition.params.empty(), *report);
    return;
  }
  bool sound_head = opened || sink_.error_count() == errors;
  const int32_t begin = stream_.last_end();
  {
    In in(*this, "definition", head.name);
    if (!panic_ && !opened) parse_body(definition);
    if (is_signature(definition, equal)) return;
    if (sink_.error_count() == errors) take_level_rest(definition);
    if (at(Tok::Equal))
      unexpected(kItemEnd, "a parameter with a default is written `?y=3`, and its type `?Int`");
    if (at(Tok::Comma)) unexpected(kItemEnd, "several values stand in parentheses: `f x = (x, x)`");
    expect_item_end(kItemEnd);
  }
  end_body(definition, begin, losses);
  definition.span = since(head.span.begin);
  // Of a body that breaks off it is not certain where its head ended.
  const bool fits = signature && signature->types.size() ==
                                     1 + definition.params.size() + definition.path_params.size();
  if (signature && sound_head && (!panic_ || fits)) apply_signature(definition, head, *signature);
  module.definitions.push_back(std::move(definition));
}

// `f x:` at the end of a line, which goes on as `f x = do`.
bool Parser::colon_body(Definition& definition) {
  if (!at(Tok::Colon) || definition.params.empty() || faulty() || !stream_.ends_line())
    return false;
  const Span where = span(peek());
  sink_.report(Diag::ParSyntax, where, {shown(peek()), "a parameter or `=`", place()})
      .note(Note::NoteHere, where, {"the body of a definition stands behind `=`: `f x = do`"})
      .fix(where, " = do");
  ++mended_;
  take();
  In in(*this, "definition", definition.name);
  definition.statement_body = true;
  parse_suite(definition.body);
  return true;
}

// `f = T -> T`
bool Parser::is_signature(const Definition& definition, Span equal) {
  if (!at(Tok::RArrow) || !definition.params.empty()) return false;
  Diagnostic* report = unexpected(kItemEnd, "the types of a definition stand behind `::`");
  if (report) report->fix(equal, "::");
  return true;
}

// Whether every path through a sound body ends in `return`.
bool Parser::returns(const std::vector<StmtId>& body) const {
  if (body.empty()) return false;
  const Stmt& last = ast_[body.back()];
  const IfStmt* branch = last.get<IfStmt>();
  return branch ? returns(branch->then_body) && returns(branch->else_body)
                : last.kind() == StmtKind::Return;
}

// A block that breaks off before its `return`, and goes on where items stand.
void Parser::take_level_rest(Definition& definition) {
  bool open = definition.statement_body && at(Tok::Sep) &&
              stream_.line_kind() == TokenStream::Line::Statement;
  if (!open) return;
  if (returns(definition.body)) return;
  sink_.report(Diag::LayDedent, stream_.next_line())
      .note(Note::NoteHere, definition.name_span,
            {"the block of `" + std::string(names_.text(definition.name)) +
             "` had no `return` before that line"});
  ++damage_;
  parse_level_block(definition.body);
}

// `improt NN` reads as the head of a definition, and so does `f : T`.
void Parser::suggest_item(const DefName& head, bool has_params, Diagnostic& report) {
  const std::string_view here = written_here(Habit::Word, names_.text(head.name));
  const bool sign = peek().kind == Tok::Colon || peek().kind == Tok::RArrow;
  if (!here.empty()) {
    report.note(Note::NoteHere, head.span, {here});
  } else if (words_[Word::Return] == head.name || words_[Word::Yield] == head.name) {
    report.note(Note::NoteHere, head.span, {"a statement stands at the column of its block"});
  } else if (peek().kind == Tok::LParen) {
    report.note(Note::NoteHere, span(peek()),
                {"parameters stand behind the name, with blanks between them: `f x y = x + y`; "
                 "their types stand in a line above: `f :: Int -> Int -> Int`"});
  } else if (sign && has_params) {
    report.note(Note::NoteHere, span(peek()),
                {"the body of a definition stands behind `=`: `f x = do`"});
  } else if (sign) {
    report.note(Note::NoteDidYouMean, span(peek()), {"`::`"}).fix(span(peek()), "::");
  }
  for (const std::string& near : closest(names_.text(head.name), {"import", "export", "type"}, 1))
    report.note(Note::NoteDidYouMean, head.span, {"`" + near + "`"});
}

Param Parser::parse_param() {
  Param param;
  int32_t begin = here();
  bool has_default = accept(Tok::Question);
  param.name = expect_local("a parameter").name;
  if (has_default) {
    expect(Tok::Equal, "`=` and a default");
    param.default_value = parse_default();
    param.optional = true;
  }
  param.span = since(begin);
  return param;
}

ExprId Parser::parse_default() {
  int32_t begin = here();
  if (at(Tok::LParen)) return parse_paren(false);
  if (at_negative()) return parse_negative();
  bool literal = at(Tok::Int) || at(Tok::Float) || at(Tok::String) || at(Tok::Path) ||
                 at_word(Word::True) || at_word(Word::False) || at_word(Word::Null);
  if (literal) return parse_literal();
  if (!at(Tok::Name)) {
    unexpected("a literal, a name or an expression in parentheses");
    return {};
  }
  NameId name = take_qname("a default");
  return add(Name{name, {}}, begin);
}

// A `do` block as the whole right side is kept as statements.
void Parser::parse_body(Definition& definition) {
  int32_t begin = here();
  ExprId value = parse_expr();
  if (definition.is_global) reject_tuple_bind(value, 1);
  if (!value.valid() || panic_) {
    definition.body_expr = value;
    return;
  }
  const Do* block = ast_[value].get<Do>();
  if (block && !block->is_inline && ast_[value].span.begin == begin) {
    definition.statement_body = true;
    definition.body = block->body;
  } else {
    definition.body_expr = value;
  }
}

// Of a body in which something was dropped nothing is known.
void Parser::end_body(Definition& definition, int32_t begin, int losses) {
  if (!panic_ && this->losses() == losses) return;
  definition.statement_body = false;
  definition.body.clear();
  definition.body_expr = unread_from(begin);
}

// The whole body goes under one relative scope, the names joined by dots (language.md 8.4).
void Parser::wrap_fixed_scope(Definition& definition, const std::vector<Target>& scope) {
  definition.fixed_scope = true;
  Span where = definition.name_span;
  size_t count = 1;
  ScopeBind bind;
  if (definition.statement_body) {
    bind.body = std::move(definition.body);
    count = count_returned(bind.body);
  } else {
    bind.body.push_back(ast_.add(Stmt{Return{{definition.body_expr}}, where}));
  }
  for (const Target& name : scope) bind.path.pieces.push_back({name.name, false, false});
  bind.path.span = merge_spans(scope.front().span, scope.back().span);
  Return result;
  for (size_t i = 0; i < count; ++i) {
    std::string text = "__result" + (count == 1 ? std::string() : std::to_string(i + 1));
    NameId name = names_.intern(text);
    bind.targets.push_back({name, where});
    result.values.push_back(ast_.add(Expr{Name{name, {}}, where}));
  }
  definition.statement_body = true;
  definition.body_expr = {};
  definition.body = {ast_.add(Stmt{std::move(bind), where}),
                     ast_.add(Stmt{std::move(result), where})};
}

// How many values the first return in `body` gives; 1 when there is none.
size_t Parser::count_returned(const std::vector<StmtId>& body) const {
  std::vector<StmtId> left(body.rbegin(), body.rend());
  while (!left.empty()) {
    const Stmt& statement = ast_[left.back()];
    left.pop_back();
    if (const Return* found = statement.get<Return>()) return found->values.size();
    if (const IfStmt* branch = statement.get<IfStmt>()) {
      left.insert(left.end(), branch->else_body.rbegin(), branch->else_body.rend());
      left.insert(left.end(), branch->then_body.rbegin(), branch->then_body.rend());
    }
  }
  return 1;
}

}  // namespace axon::syntax
