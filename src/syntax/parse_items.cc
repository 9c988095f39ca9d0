// Files and top-level items other than definitions (language.md 4.1, 4.3).
#include <algorithm>

#include "source/habits.h"
#include "support/text.h"
#include "syntax/parser.h"

namespace axon::syntax {

Module Parser::parse_file() {
  Module module;
  module.file = file_;
  errors_before_ = lasting_errors();  // the layout before the first item is part of that
  peek();
  if (at(Tok::Eof)) sink_.report(Diag::ParEmpty, {file_, 0, 0});
  while (!stopped_ && !at(Tok::Eof)) {
    int damage = damage_;
    const size_t before = module.definitions.size();
    parse_item(module);
    if (panic_) recover();
    if (damage_ != damage) {
      pending_.reset();
      skip_rest();
      if (module.definitions.size() > before) end_definition(module.definitions.back());
    }
    accept(Tok::Sep);
    errors_before_ = lasting_errors();
  }
  if (!stopped_) drop_signature("the end of the file");
  module.comments = lexer_.take_comments();
  report_hashes();
  add_main(module);
  return module;
}

// What was skipped behind a definition was meant as part of it.
void Parser::end_definition(Definition& definition) {
  definition.span.end = std::max(definition.span.end, stream_.last_end());
  const ExprId body = definition.body_expr;
  if (body.valid() && is_unread(ast_[body])) end_unread(body);
}

void Parser::report_hashes() {
  for (Span where : lexer_.hashes()) {
    sink_.report(Diag::LexChar, where, {"#"})
        .note(Note::NoteHere, where, {written_here(Habit::Sign, "#")})
        .fix(where, "--");
  }
}

// Lines that are no items went with the item that broke off above them.
void Parser::skip_rest() {
  while (!stopped_ && (at(Tok::Sep) || stream_.starts_line()) && !at(Tok::Eof) &&
         !stream_.after_gap() && stream_.line_kind() != TokenStream::Line::Item) {
    accept(Tok::Sep);
    take();
    recover();
  }
}

void Parser::expect_item_end(std::string_view expected) {
  if (at(Tok::Semicolon) && !faulty() && stream_.ends_line()) {
    const Span where = span(peek());
    sink_.report(Diag::ParSyntax, where, {shown(peek()), expected, place()})
        .note(Note::NoteHere, where,
              {"`;` stands between statements of one line, not behind items"})
        .fix(where, "");
    ++mended_;
    take();
  }
  if (!panic_ && !at(Tok::Sep) && !at(Tok::Eof)) unexpected(expected);
}

void Parser::parse_item(Module& module) {
  const std::optional<Word> word = item_word();
  if (word == Word::Import) {
    drop_signature("an import");
    parse_import(module);
  } else if (word == Word::Export) {
    drop_signature("an export");
    parse_export(module);
  } else if (word == Word::Type) {
    drop_signature("a type alias");
    parse_alias(module);
  } else if (at(Tok::Name)) {
    parse_definition(module);
  } else if (at(Tok::PragmaOpen)) {
    drop_signature("a pragma");
    parse_pragma(module);
  } else {
    unexpected("a definition, signature, global binding, import, export, type alias or pragma");
  }
}

// The keyword of the item here, also a misspelt one, which is reported.
std::optional<Word> Parser::item_word() {
  for (Word word : {Word::Import, Word::Export, Word::Type}) {
    if (at_word(word)) return word;
  }
  if (!at(Tok::Name) || (pending_ && pending_->head.name == peek().name)) return {};
  const std::optional<Word> meant = slip_of({Word::Import, Word::Export, Word::Type});
  if (meant) misspelt(*meant);
  return meant;
}

// ---- pragmas -------------------------------------------------------------------------------

void Parser::parse_pragma(Module& module) {
  int32_t begin = here();
  take();
  auto fail = [&](std::string_view name, std::string_view what) {
    if (panic_) return;
    std::optional<TokenStream::LeftOpen> open;
    if (peek().kind != Tok::Bad) open = stream_.left_open();
    if (peek().kind == Tok::Bad) {
      take();
    } else if (open) {
      sink_.report(Diag::ParPragma, {file_, begin, open->line_end},
                   {name, "is not closed with `#-}`"});
    } else {
      bool ends = at(Tok::PragmaClose) || at(Tok::Eof) || at(Tok::Sep);
      std::string found = ends ? std::string() : ", found " + shown(peek());
      sink_.report(Diag::ParPragma, ends ? since(begin) : span(peek()),
                   {name, std::string(what) + found});
    }
    panic_ = true;
    ++damage_;
  };
  if (!at(Tok::Name) || !peek().bare) return fail("{-#", "needs a name");
  Pragma pragma;
  std::string name = lower_ascii(names_.text(take().name));
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  pragma.name = names_.intern(name);
  if (at(Tok::PragmaClose)) {
    take();
    sink_.report(Diag::ParPragma, since(begin), {upper, "has no value"});
    return;
  }
  In in(*this, "the pragma", names_.intern(upper));
  pragma.value = parse_pragma_value();
  bool closed = at(Tok::PragmaClose);
  if (!pragma.value.valid()) {
    fail(upper, "needs a literal, or a list or tuple of literals");
    return;
  }
  if (!closed) return fail(upper, "needs `#-}` after its value");
  take();
  expect_item_end("the end of the line");
  pragma.span = since(begin);
  module.pragmas.push_back(pragma);
}

// A literal, or a list or tuple of them; an invalid id when it is something else.
ExprId Parser::parse_pragma_value() {
  if (at(Tok::LBracket)) return parse_pragma_items(Tok::RBracket, false);
  if (at(Tok::LParen)) return parse_pragma_items(Tok::RParen, true);
  if (at_negative()) return parse_negative();
  bool literal = at(Tok::Int) || at(Tok::Float) || at(Tok::String) || at(Tok::Path) ||
                 at_word(Word::True) || at_word(Word::False) || at_word(Word::Null);
  return literal ? parse_literal() : ExprId{};
}

ExprId Parser::parse_pragma_items(Tok close, bool tuple) {
  Nest nest(*this, true);
  int32_t begin = here();
  take();
  std::vector<ExprId> items;
  while (!at(close)) {
    ExprId item = parse_pragma_value();
    if (!item.valid()) return {};
    items.push_back(item);
    if (!accept(Tok::Comma)) break;
  }
  if (!at(close) || (tuple && items.size() < 2)) return {};
  take();
  if (tuple) return add(Tuple{std::move(items)}, begin);
  return add(List{std::move(items)}, begin);
}

// A file with a definition names its entry (language.md 4.6).
void Parser::add_main(Module& module) {
  NameId main = names_.intern("main");
  for (const Pragma& pragma : module.pragmas) {
    if (pragma.name == main) return;
  }
  auto last = std::find_if(module.definitions.rbegin(), module.definitions.rend(),
                           [](const Definition& d) { return !d.is_global; });
  if (last == module.definitions.rend()) return;
  ExprId value = ast_.add(Expr{String{last->name}, last->name_span});
  module.pragmas.push_back({main, value, last->name_span});
}

// ---- imports and exports -------------------------------------------------------------------

void Parser::parse_import(Module& module) {
  In in(*this, "an import");
  take();
  const size_t before = module.imports.size();
  do {
    parse_import_item(module);
  } while (accept(Tok::Comma));
  expect_item_end("`,` or the end of the line");
  if (panic_) module.imports.resize(std::min(before, module.imports.size()));
}

void Parser::parse_import_item(Module& module) {
  if (!at(Tok::Name)) {
    unexpected("the name of a module");
    return;
  }
  Import import;
  int32_t begin = here();
  import.module = take_qname("the name of a module");
  if (at_word(Word::As) && stream_.peek_second() == Tok::Name) {
    take();
    take();
    sink_.report(Diag::ParImportAs, since(begin), {names_.text(import.module)});
  } else if (at(Tok::LParen) || at(Tok::Name)) {
    import.has_members = true;
    import.members = parse_members();
  }
  if (panic_) return;
  import.span = since(begin);
  for (Import& other : module.imports) {
    if (other.module != import.module || other.has_members != import.has_members) continue;
    for (const ImportMember& member : import.members) {
      bool known = std::any_of(other.members.begin(), other.members.end(),
                               [&](const ImportMember& m) { return m.name == member.name; });
      if (!known) other.members.push_back(member);
    }
    return;
  }
  module.imports.push_back(std::move(import));
}

// `import T (a b)`
bool Parser::lacks_comma() {
  if (!at(Tok::Name) || !peek().bare || faulty() || peek().line_start) return false;
  const Span where = span(peek());
  const int32_t end = stream_.last_end();
  sink_.report(Diag::ParSyntax, where, {shown(peek()), "`,` or `)`", place()})
      .fix({file_, end, end}, ",");
  ++mended_;
  return true;
}

// `import T (*)`
bool Parser::take_star() {
  if (!at(Tok::Star) || faulty()) return false;
  const Span where = span(peek());
  sink_.report(Diag::ParSyntax, where, {shown(peek()), "a member", place()})
      .note(Note::NoteHere, where,
            {"`import T` makes all of it known as `T.name`; names that shall stand alone are "
             "listed: `import T (a, b)`"});
  ++mended_;
  take();
  return true;
}

std::vector<ImportMember> Parser::parse_members() {
  std::vector<ImportMember> members;
  auto add_member = [&] {
    Target member = expect_ident("a member");
    bool known = std::any_of(members.begin(), members.end(),
                             [&](const ImportMember& m) { return m.name == member.name; });
    if (!known && !panic_) members.push_back({member.name, member.span});
  };
  if (!accept(Tok::LParen)) {
    if (!at(Tok::Name)) unexpected("a member or `(`");
    // No item can have such a name: the next one begins here.
    auto at_item = [&] { return at_word(Word::Import) || at_word(Word::Export); };
    while (at(Tok::Name) && !at_item()) add_member();
    return members;
  }
  while (!at(Tok::RParen)) {
    if (take_star()) continue;
    add_member();
    if (!accept(Tok::Comma) && !lacks_comma()) break;
  }
  expect(Tok::RParen, "`,` or `)`");
  return members;
}

void Parser::parse_export(Module& module) {
  In in(*this, "an export");
  take();
  std::vector<ImportMember> members = parse_members();
  expect_item_end("a member or the end of the line (a list with commas has parentheses)");
  module.has_export = true;
  for (const ImportMember& member : members) {
    bool known = std::any_of(module.exports.begin(), module.exports.end(),
                             [&](const ImportMember& m) { return m.name == member.name; });
    if (!known) module.exports.push_back(member);
  }
}

// ---- aliases -------------------------------------------------------------------------------

void Parser::parse_alias(Module& module) {
  int32_t begin = here();
  In in(*this, "a type alias");
  take();
  TypeAlias alias;
  alias.origin = file_;
  alias.name = expect_ident("the name of a type alias").name;
  if (accept(Tok::LBracket)) {
    do {
      AliasParam param;
      param.variadic = accept(Tok::DotDot);
      param.name = expect_ident("an alias parameter").name;
      alias.params.push_back(param);
    } while (accept(Tok::Comma));
    expect(Tok::RBracket, "`,` or `]`");
  }
  expect(Tok::Equal);
  alias.type = parse_type();
  expect_item_end("the end of the line");
  if (panic_) return;
  alias.span = since(begin);
  module.aliases.push_back(std::move(alias));
}

}  // namespace axon::syntax
