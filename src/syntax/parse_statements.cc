// Statements, suites, loops, scopes (language.md 4.4, 4.6).
#include "source/habits.h"
#include "syntax/parser.h"
#include "syntax/path_text.h"

namespace axon::syntax {

// The lines of a block whose suite has been opened, with its end.
void Parser::parse_block(std::vector<StmtId>& body) {
  while (true) {
    Fresh fresh(*this);
    const size_t before = body.size();
    do {
      parse_statement(body, false);
    } while (accept(Tok::Semicolon) && !at(Tok::Sep) && !at(Tok::Dedent) && !at(Tok::Eof));
    if (!panic_ && !at(Tok::Sep) && !at(Tok::Dedent) && !at(Tok::Eof)) {
      const int losses = this->losses();
      unexpected("an operator, an argument or the end of the line");
      spoil_last(body, before, losses);
    }
    if (panic_) recover();
    if (stopped_) return;
    if (accept(Tok::Sep)) continue;
    accept(Tok::Dedent);
    return;
  }
}

void Parser::skip_block() {
  std::vector<StmtId> dropped;
  parse_block(dropped);
}

// After `do`. Returns whether the suite was a block.
bool Parser::parse_suite(std::vector<StmtId>& body) {
  if (panic_) return true;
  Span word{file_, stream_.last_begin(), stream_.last_end()};
  drop_colon(word);
  switch (stream_.open_suite()) {
    case TokenStream::Suite::Block: {
      Nest nest(*this, true);
      parse_block(body);
      return true;
    }
    case TokenStream::Suite::Inline:
      parse_inline(body);
      return false;
    case TokenStream::Suite::Empty:
      break;
  }
  sink_.report(Diag::LayEmptyDo, word);
  ++damage_;
  parse_level_block(body);
  return true;
}

// `do:` at the end of a line.
void Parser::drop_colon(Span word) {
  if (faulty() || !stream_.ends_line() || stream_.behind_sep().kind != Tok::Colon) return;
  const Span where = span(stream_.behind_sep());
  sink_.report(Diag::ParSyntax, where, {shown(peek()), "the end of the line", place()})
      .note(Note::NoteHere, word, {"a block is opened by `do` alone"})
      .fix(where, "");
  ++mended_;
  take();
}

// Statements that stand no deeper than the block which they should form; the error has been told.
void Parser::parse_level_block(std::vector<StmtId>& body) {
  bool last = false;
  stream_.set_loose(true);
  while (!last && at(Tok::Sep) && stream_.line_kind() == TokenStream::Line::Statement) {
    take();
    Fresh fresh(*this);
    last = !stream_.at_top_level() && (at_word(Word::Return) || at_word(Word::Yield));
    do {
      parse_statement(body, false);
    } while (accept(Tok::Semicolon) && !at(Tok::Sep) && !at(Tok::Dedent) && !at(Tok::Eof));
    bool ends = at(Tok::Sep) || at(Tok::Dedent) || at(Tok::Eof) || at_word(Word::Else);
    if (!panic_ && !ends) unexpected("an operator, an argument or the end of the line");
    if (panic_) recover();
    if (stopped_) break;
  }
  stream_.set_loose(false);
}

void Parser::parse_inline(std::vector<StmtId>& body) {
  Nest nest(*this, false);
  do {
    parse_statement(body, true);
  } while (accept(Tok::Semicolon) && at(Tok::Name) && at_expr());
}

// Of a statement with a syntax error the names that it binds are kept, where they are known.
void Parser::parse_statement(std::vector<StmtId>& body, bool is_inline) {
  constexpr std::string_view kBlock = "a bind, return, yield, for, if or scope";
  constexpr std::string_view kInline =
      "a bind, return or yield (an inline suite holds nothing else)";
  if (panic_) return;
  StmtId statement;
  int32_t begin = here();
  const int losses = this->losses();
  const std::optional<Word> word = statement_word(is_inline);
  if (word == Word::Return || word == Word::Yield) {
    statement = parse_values(word == Word::Return);
  } else if (word == Word::If) {
    statement = parse_if_statement();
  } else if (word == Word::For) {
    take_prefix();
    statement = parse_for(begin, {}, false);
  } else if (at_bind()) {
    statement = parse_bind(is_inline);
  } else {
    statement = no_statement(is_inline ? kInline : kBlock);
  }
  keep_statement(body, statement, losses);
}

// The first of the values that a statement binds or hands on.
ExprId Parser::value_of(const Stmt& statement) {
  if (const Bind* bind = statement.get<Bind>()) return bind->value;
  if (const Return* result = statement.get<Return>()) return result->values[0];
  if (const Yield* next = statement.get<Yield>()) return next->values[0];
  return {};
}

// What stands for a statement in a panic replaces all that was wrong in it.
void Parser::keep_statement(std::vector<StmtId>& body, StmtId statement, int losses) {
  if (stopped_ || !statement.valid()) return;
  if (panic_ && (!unread_.valid() || value_of(ast_[statement]) != unread_)) return;
  if (panic_) kept_ = damage_ - losses;
  body.push_back(statement);
}

// The line goes on behind the statement read last: its value is not what was meant.
void Parser::spoil_last(std::vector<StmtId>& body, size_t before, int losses) {
  if (body.size() == before || stopped_) return;
  const Stmt last = ast_[body.back()];
  const ExprId value = value_of(last);
  const Bind* bind = last.get<Bind>();
  const bool is_return = last.kind() == StmtKind::Return;
  const size_t count = is_return ? returned_ : yielded_;
  if (!value.valid() || (!bind && count == 0)) return;
  const ExprId hole = unread_from(ast_[value].span.begin);
  body.back() = bind ? add_bind(bind->targets, hole, last.span.begin)
                     : add_values(is_return, std::vector<ExprId>(count, hole), last.span.begin);
  kept_ = damage_ - losses;
}

// What stands here begins no statement: `x += 1`, or values that nothing is done with. A bind that
// was meant is given.
StmtId Parser::no_statement(std::string_view expected) {
  const std::vector<Token> next = at(Tok::Name) ? stream_.ahead(2) : std::vector<Token>();
  const bool values = at(Tok::Name) && stream_.ends_block();
  const Target name{peek().name, span(peek())};
  const int32_t begin = here();
  std::string_view hint;
  if (at(Tok::LParen) && stream_.mark_ahead())
    hint = "names on the left of `<-` stand without parentheses: `a, b <- f x`";
  Diagnostic* report = unexpected(expected, hint);
  if (!report) return {};
  if (!next.empty() && report->notes.empty() && suggest_bind(*report, next))
    return add_unread({name}, begin, begin);
  if (values && report->notes.empty()) suggest_return(*report, begin);
  return {};
}

// `x += 1`, `y := x`, `y -> x`: whether what stands behind the name was meant to bind it.
bool Parser::suggest_bind(Diagnostic& report, const std::vector<Token>& next) {
  const std::string_view source = files_.text(file_);
  const bool pair = next.size() == 2 && next[0].end == next[1].begin;
  Span sign{file_, next[0].begin, pair ? next[1].end : next[0].end};
  const bool third = pair && source.substr(static_cast<size_t>(sign.end), 1) == "=";
  if (third) ++sign.end;
  const std::string_view here = written_here(Habit::Sign, source_text(sign));
  const Span one{file_, next[0].begin, next[0].end};
  const bool walrus = source_text(sign) == ":=";
  if (pair && !here.empty()) {
    report.note(Note::NoteHere, sign, {here});
    if (walrus) report.fix(sign, "<-");
  } else if (next[0].kind == Tok::RArrow || next[0].kind == Tok::LessEq) {
    report.note(Note::NoteHere, one, {"a name is bound with `<-`"}).fix(one, "<-");
  } else if (next[0].kind == Tok::EqEq) {
    report.note(Note::NoteHere, one, {"a name is bound with `<-`; `==` compares"});
  } else if (next.size() == 2 && (next[0].kind == Tok::Colon || next[0].kind == Tok::ColonColon)) {
    report.note(Note::NoteHere, one, {"a type stands behind the value: `y <- (x :: T)`"});
  } else {
    return false;
  }
  return true;
}

// The last line of a block may lack the word that hands its values on.
void Parser::suggest_return(Diagnostic& report, int32_t begin) {
  const bool loop = construct_.what == "a for-loop";
  const bool plain = construct_.what == "definition" || construct_.what == "a scope";
  if (!loop && !plain) return;
  const std::string word = loop ? "yield" : "return";
  report.note(Note::NoteDidYouMean, {file_, begin, begin}, {"`" + word + "`"});
  report.fix({file_, begin, begin}, word + " ");
}

bool Parser::at_bind() {
  if (!at(Tok::Name) || at_word(Word::If) || at_keyword_prefix(Word::For)) return false;
  const Tok second = stream_.peek_second();
  return second == Tok::Comma || second == Tok::LArrow || second == Tok::Equal;
}

// The keyword of the statement here, also a misspelt one, which is reported.
std::optional<Word> Parser::statement_word(bool is_inline) {
  for (Word word : {Word::Return, Word::Yield}) {
    if (at_word(word)) return word;
  }
  if (!is_inline && at_word(Word::If)) return Word::If;
  if (!is_inline && at_keyword_prefix(Word::For)) return Word::For;
  if (!at(Tok::Name) || at_word(Word::If) || at_keyword_prefix(Word::For) || at_bind()) return {};
  const std::optional<Word> meant = is_inline
                                        ? slip_of({Word::Return, Word::Yield})
                                        : slip_of({Word::For, Word::If, Word::Return, Word::Yield});
  if (meant) misspelt(*meant);
  return meant;
}

StmtId Parser::parse_values(bool is_return) {
  const size_t count = is_return ? returned_ : yielded_;
  In in(*this, is_return ? "a return" : "a yield");
  int32_t begin = here();
  take();
  const int32_t value = stream_.last_end();
  std::vector<ExprId> values = parse_expr_list();
  if (panic_ && count == 0) return {};
  if (panic_) values.assign(count, unread_from(value));
  return add_values(is_return, std::move(values), begin);
}

StmtId Parser::add_values(bool is_return, std::vector<ExprId> values, int32_t begin) {
  if (is_return) return ast_.add(Stmt{Return{std::move(values)}, since(begin)});
  return ast_.add(Stmt{Yield{std::move(values)}, since(begin)});
}

std::vector<ExprId> Parser::parse_expr_list() {
  std::vector<ExprId> values;
  do {
    values.push_back(parse_expr());
  } while (accept(Tok::Comma));
  return values;
}

StmtId Parser::parse_if_statement() {
  In in(*this, "an if-statement");
  int32_t begin = here();
  Nest nest(*this, false);
  take();
  ++open_ifs_;
  awaited_ = Word::Then;
  IfStmt node;
  node.cond = parse_expr();
  expect_word(Word::Then);
  awaited_ = Word::Else;
  if (expect_word(Word::Do)) parse_suite(node.then_body);
  join_misspelt_else();
  if (!at_word(Word::Else) && !(at(Tok::Name) && is_slip(peek(), Word::Else)))
    unexpected("`else do` (an if-statement has both branches)");
  expect_word(Word::Else);
  --open_ifs_;
  if (at_word(Word::If)) unexpected("`do`", written_here(Habit::Word, "elif"));
  if (expect_word(Word::Do)) parse_suite(node.else_body);
  return add_statement(std::move(node), begin);
}

// The layout knows only `else` as the line that goes on with an `if`.
void Parser::join_misspelt_else() {
  if (!at(Tok::Sep) || stream_.behind_sep().kind != Tok::Name) return;
  const std::string_view word = names_.text(stream_.behind_sep().name);
  if (word == "elif" || word == "elseif") stream_.drop_sep();
  if (!is_slip(stream_.behind_sep(), Word::Else)) return;
  const std::vector<Token> next = stream_.ahead(1);
  if (!next.empty() && is_word(next[0], Word::Do)) stream_.drop_sep();
}

std::vector<Target> Parser::parse_targets(std::string_view role) {
  std::vector<Target> targets;
  do {
    targets.push_back(expect_local(role));
  } while (accept(Tok::Comma));
  return targets;
}

StmtId Parser::parse_bind(bool is_inline) {
  int32_t begin = here();
  const bool values =
      stream_.peek_second() == Tok::Comma && stream_.ends_block() && !stream_.mark_ahead();
  if (values) {
    return no_statement("a bind, return, yield, for, if or scope");
  }
  In in(*this, "the bind of", peek().name);
  std::vector<Target> targets = parse_targets("the target of a bind");
  if (panic_) return {};
  expect_arrow();
  const int32_t value = stream_.last_end();
  const StmtId statement = panic_ ? StmtId{} : parse_bound(targets, is_inline, begin);
  return panic_ ? add_unread(std::move(targets), value, begin) : statement;
}

// What stands behind the arrow of a bind.
StmtId Parser::parse_bound(const std::vector<Target>& targets, bool is_inline, int32_t begin) {
  bool is_for = at_prefix(Word::For);
  bool is_scope = !is_for && at_prefix(Word::Scope);
  if (is_inline && (is_for || is_scope)) {
    unexpected("an expression (an inline suite holds no `for` and no `scope`)");
  } else if (is_for) {
    take_prefix();
    return parse_for(begin, targets, true);
  } else if (is_scope) {
    take_prefix();
    return parse_scope(begin, targets);
  }
  ExprId value = parse_expr();
  reject_tuple_bind(value, targets.size());
  return add_bind(targets, value, begin);
}

// A bind whose value breaks off.
StmtId Parser::add_unread(std::vector<Target> targets, int32_t value, int32_t begin) {
  const ExprId hole = unread_from(value);
  return add_bind(std::move(targets), hole, begin);
}

StmtId Parser::add_bind(std::vector<Target> targets, ExprId value, int32_t begin) {
  return ast_.add(Stmt{Bind{std::move(targets), value, {}}, since(begin)});
}

StmtId Parser::add_statement(decltype(Stmt::data) data, int32_t begin) {
  return ast_.add(Stmt{std::move(data), since(begin)});
}

// `<-`, for which `=` is a common slip.
void Parser::expect_arrow() {
  if (!at(Tok::Equal)) {
    expect(Tok::LArrow);
    return;
  }
  Span where = span(peek());
  if (!faulty()) {
    sink_.report(Diag::ParSyntax, where, {"`=`", "`<-`", place()}).fix(where, "<-");
    ++mended_;
  }
  take();
}

// `a, b <- x, y`: reports the list and reads it to its end. `a <- f x, y` may have been meant as a
// call.
void Parser::reject_tuple_bind(ExprId first, size_t targets) {
  if (!at(Tok::Comma)) return;
  const bool call = targets == 1 && first.valid() && ast_[first].kind() == ExprKind::Call;
  while (accept(Tok::Comma)) {
    parse_expr();
    if (call && at(Tok::Equal)) take();
    if (call && at_expr()) parse_expr();
  }
  if (panic_) return;
  Span whole = since(ast_[first].span.begin);
  Diagnostic& report = sink_.report(Diag::ParTupleBind, whole);
  if (call) {
    report.note(Note::NoteHere, whole,
                {"between the arguments of a call stand blanks alone: `f x y dim=1`"});
    return;
  }
  report.fix({file_, whole.begin, whole.begin}, "(").fix({file_, whole.end, whole.end}, ")");
}

// ---- loops ---------------------------------------------------------------------------------

// After the word `for`.
StmtId Parser::parse_for(int32_t begin, std::vector<Target> targets, bool has_targets) {
  In in(*this, "a for-loop");
  Loop loop;
  loop.has_targets = has_targets;
  loop.targets = std::move(targets);
  parse_for_header(loop, begin);
  parse_loop_body(loop);
  return add_loop(loop, begin);
}

StmtId Parser::add_loop(Loop& loop, int32_t begin) {
  return ast_.add(Stmt{std::move(loop), since(begin)});
}

void Parser::parse_for_header(Loop& loop, int32_t begin) {
  parse_for_scope(loop);
  Target var = expect_local("a loop variable");
  loop.var = var.name;
  loop.var_span = var.span;
  expect(Tok::LArrow);
  bool closed_end = false;
  parse_range(loop, closed_end);
  parse_step(loop, begin);
  if (closed_end && !panic_) {
    const Expr& step = ast_[loop.step];
    bool negative = (step.kind() == ExprKind::Int && step.as<Int>().value < 0) ||
                    (step.kind() == ExprKind::Float && step.as<Float>().value < 0);
    if (negative) sink_.report(Diag::AstRangeStep, step.span, {source_text(step.span)});
  }
  parse_carry(loop);
}

void Parser::parse_step(Loop& loop, int32_t begin) {
  // `step 2 carry (x) do`: a body would be no call with a block.
  const bool lacks_equal = at_word(Word::Step) && stream_.peek_second() != Tok::Equal &&
                           stream_.words_ahead(Word::Carry) > 0 && !faulty();
  if (lacks_equal) {
    take();
    const int32_t end = stream_.last_end();
    sink_.report(Diag::ParSyntax, span(peek()), {shown(peek()), "`=`", place()})
        .fix({file_, end, peek().begin}, "=");
    ++mended_;
    loop.step = parse_arg(Place::ArgBranch);
  } else if (at_keyword(Word::Step) && stream_.peek_second() == Tok::Equal) {
    take();
    take();
    loop.step = parse_arg(Place::ArgBranch);
  } else if (!panic_) {
    loop.step = ast_.add(Expr{Int{1}, since(begin)});
  }
}

void Parser::parse_carry(Loop& loop) {
  if (!at_keyword(Word::Carry)) return;
  if (bare_carry_ahead()) return parse_bare_carry(loop);
  if (stream_.peek_second() != Tok::LParen) return;
  In in(*this, "the carry list");
  take();
  take();
  loop.has_carry = true;
  loop.carry = parse_targets("a carried name");
  if (at(Tok::Equal))
    unexpected("`,` or `)`", "what is carried has its first value before the loop: `carry (x)`");
  expect(Tok::RParen, "`,` or `)`");
}

// `carry x, y` without its parentheses.
void Parser::parse_bare_carry(Loop& loop) {
  In in(*this, "the carry list");
  take();
  const Token first = peek();
  loop.has_carry = true;
  loop.carry = parse_targets("a carried name");
  if (panic_ || faulty()) return;
  const Span names = since(first.begin);
  sink_.report(Diag::ParSyntax, names, {shown(first), "`(`", place()})
      .note(Note::NoteHere, names, {"carried names stand in parentheses: `carry (x, y)`"})
      .fix({file_, names.begin, names.begin}, "(")
      .fix({file_, names.end, names.end}, ")");
  ++mended_;
}

void Parser::parse_for_scope(Loop& loop) {
  if (!at(Tok::At) && !at(Tok::Path)) return;
  stream_.relex(Lexer::Mode::Scope);
  if (!accept(Tok::At)) {
    unexpected("`@` and a plain scope such as `layers` or `a.{i}`");
    return;
  }
  peek();
  stream_.relex(Lexer::Mode::Scope);
  if (!at(Tok::ScopeRef)) {
    unexpected("a scope such as `layers` or `a.{i}`");
    return;
  }
  loop.has_scope = true;
  loop.scope = take().paths[0];
}

// `[a..b)` and its closed and open forms, made half-open.
void Parser::parse_range(Loop& loop, bool& closed_end) {
  In in(*this, "the range of a for-loop");
  Nest nest(*this, true);
  bool open_begin = at(Tok::LParen);
  if (!open_begin && !at(Tok::LBracket)) {
    unexpected("a range such as `[0..n)`");
    return;
  }
  take();
  loop.from = parse_expr();
  part_range();
  loop.to = parse_expr();
  closed_end = at(Tok::RBracket);
  if (!closed_end) {
    expect(Tok::RParen, "an operator, `)` or `]`");
  } else {
    take();
  }
  if (panic_) return;
  if (open_begin) loop.from = plus_one(loop.from);
  if (closed_end) loop.to = plus_one(loop.to);
}

// Between the ends of a range, for which people write other signs.
void Parser::part_range() {
  constexpr std::string_view kExpected = "an operator or `..`";
  const bool comma = at(Tok::Comma), closed = at(Tok::RParen) || at(Tok::RBracket);
  if (!comma || faulty()) {
    if (closed) unexpected(kExpected, "a range has both ends: `[0..n)`");
    expect(Tok::DotDot, kExpected);
    return;
  }
  const Span where = span(peek());
  sink_.report(Diag::ParSyntax, where, {shown(peek()), kExpected, place()})
      .note(Note::NoteHere, where, {"a range is written `[0..n)`"})
      .fix(where, "..");
  ++mended_;
  take();
}

ExprId Parser::plus_one(ExprId bound) {
  Span where = ast_[bound].span;
  ExprId left = ast_[bound].kind() == ExprKind::Paren ? bound : ast_.add(Expr{Paren{bound}, where});
  ExprId one = ast_.add(Expr{Int{1}, where});
  return ast_.add(Expr{Binary{BinaryOp::Add, left, one, where}, where});
}

void Parser::parse_loop_body(Loop& loop) {
  const size_t outer = yielded_;
  yielded_ = loop.has_carry ? loop.carry.size() : loop.targets.size();
  parse_loop_block(loop);
  yielded_ = outer;
}

void Parser::parse_loop_block(Loop& loop) {
  if (colon_opens(Word::Do) || (at_keyword(Word::Do) && take().kind == Tok::Name)) {
    parse_suite(loop.body);
    return;
  }
  In in(*this, "the body of a for-loop");
  ExprId value = parse_bind_expr();
  if (loop.has_targets) reject_tuple_bind(value, loop.targets.size());
  if (!panic_) take_loop_value(loop, value);
}

// The body `E` of an inline loop becomes statements: a tuple yields its items, a do-expression
// gives its own, anything else is the one value yielded.
void Parser::take_loop_value(Loop& loop, ExprId value) {
  Span where = ast_[value].span;
  ExprId inner = value;
  while (ast_[inner].kind() == ExprKind::Paren) inner = ast_[inner].as<Paren>().inner;
  const Expr& node = ast_[inner];
  if (node.kind() == ExprKind::Do) {
    loop.body = node.as<Do>().body;
    bool yields = false;
    for (StmtId statement : loop.body) yields = yields || ast_[statement].kind() == StmtKind::Yield;
    if (!yields)
      sink_.report(Diag::AstYield, where, {"is missing from the block that is the loop's value"});
    return;
  }
  loop.is_inline = true;
  std::vector<ExprId> values{value};
  if (node.kind() == ExprKind::Tuple) values = node.as<Tuple>().items;
  loop.body.push_back(ast_.add(Stmt{Yield{std::move(values)}, where}));
}

// ---- scopes --------------------------------------------------------------------------------

// After the word `scope`.
StmtId Parser::parse_scope(int32_t begin, std::vector<Target> targets) {
  In in(*this, "a scope");
  ScopeBind node;
  node.targets = std::move(targets);
  parse_scope_head(node);
  const size_t outer = std::exchange(returned_, node.targets.size());
  if (expect_word(Word::Do)) parse_suite(node.body);
  returned_ = outer;
  return add_statement(std::move(node), begin);
}

void Parser::parse_scope_head(ScopeBind& node) {
  node.path = parse_scope_ref();
  while (at(Tok::Name) && stream_.peek_second() == Tok::Equal) {
    Target keyword = expect_ident("a keyword");
    take();
    parse_arg(Place::Arg);
    if (!panic_)
      sink_.report(Diag::AstScopeKwarg, since(keyword.span.begin), {names_.text(keyword.name)});
  }
}

PathLit Parser::parse_scope_ref() {
  constexpr std::string_view kExpected = "a scope such as `@attn`, `@@a.b` or `@'a.{i}'`";
  if (panic_) return {};
  stream_.relex(Lexer::Mode::Scope);
  if (accept(Tok::At)) {
    peek();
    stream_.relex(Lexer::Mode::Scope);
    if (at(Tok::Path)) unexpected(kExpected);
  }
  if (at(Tok::Path) || at(Tok::ScopeRef)) return take().paths[0];
  if (!at(Tok::String)) {
    unexpected(kExpected);
    return {};
  }
  Token token = take();
  std::vector<Diagnostic> errors;
  PathLit path = path_from_text(false, names_.text(token.name), span(token), names_, errors);
  for (Diagnostic& error : errors) sink_.report(error.id, error.span, std::move(error.args));
  return path;
}

}  // namespace axon::syntax
