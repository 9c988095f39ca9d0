// Name resolution inside one definition or alias.
#include "sema/def_resolver.h"

#include <algorithm>

#include "ops/op.h"
#include "source/habits.h"
#include "support/text.h"
#include "syntax/path_text.h"
#include "syntax/render.h"
#include "types/dtype.h"

namespace axon::sema {

using namespace syntax;

DefResolver::DefResolver(ResolveContext& context, size_t module)
    : Rewriter(context.session.ast, context.session.names),
      context_(context),
      session_(context.session),
      module_(module),
      from_library_(context.envs.modules().modules[module].from_library) {}

Definition DefResolver::run(const Definition& source) {
  Definition def = source;
  prepare(def);
  for (Param& param : def.params) {
    mode_ = TypeMode::Param;
    if (param.type.valid()) param.type = type(param.type);
  }
  mode_ = TypeMode::Return;
  if (def.return_type.valid()) def.return_type = type(def.return_type);
  mode_ = TypeMode::Ascription;
  locals_.push();
  dim_values_.push();
  for (NameId name : def.path_params) locals_.bind(name);
  for (const Param& param : def.params) locals_.bind(param.name);
  for (Param& param : def.params) {
    if (param.default_value.valid()) param.default_value = expr(param.default_value);
  }
  if (def.statement_body) {
    def.body = block(def.body);
  } else {
    def.body_expr = expr(def.body_expr);
  }
  dim_values_.pop();
  locals_.pop();
  return def;
}

TypeAlias DefResolver::run(const TypeAlias& source) {
  TypeAlias alias = source;
  mode_ = TypeMode::Alias;
  alias_params_.clear();
  for (const AliasParam& param : alias.params) alias_params_.insert(param.name);
  alias.type = type(alias.type);
  return alias;
}

void DefResolver::prepare(const Definition& def) {
  path_params_ = def.path_params;
  for (NameId name : path_params_) used_names_.insert(name);
  for (const Param& param : def.params) {
    used_names_.insert(param.name);
    if (!param.type.valid()) continue;
    const TypeExpr& type = ast_[param.type];
    if (type.kind() != TypeExprKind::Named) continue;
    std::string_view name = names_.text(type.as<TypeNamed>().name);
    if (name == "Dim" || name == "Int") dependent_.insert(param.name);
  }
  visit_body(def, ast_,
             {[&](ExprId id) {
                if (const Name* name = ast_[id].get<Name>()) used_names_.insert(name->name);
              },
              [&](StmtId id) {
                if (const Bind* bound = ast_[id].get<Bind>()) {
                  for (const Target& target : bound->targets) used_names_.insert(target.name);
                }
              }});
}

// ---- values --------------------------------------------------------------------------------

void DefResolver::note_read(NameId name, Span span) {
  auto found = rebound_.find(name);
  if (found == rebound_.end()) return;
  if (warns()) {
    session_.sink.report(Diag::WScopeRebind, found->second, {names_.text(name)})
        .note(Note::NoteHere, span, {"read here"});
  }
  rebound_.erase(found);
}

namespace {

// Words that mean nothing as names, where nobody has defined them.
bool is_statement_word(std::string_view text) {
  constexpr std::string_view kWords[] = {"return", "yield", "for",    "if",     "then", "else",
                                         "do",     "type",  "import", "export", "where"};
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords);
}

}  // namespace

NameId DefResolver::value_name(NameId name, Span span, Use use) {
  if (is_discard(name, names_)) {
    session_.sink.report(Diag::ResDiscard, span);
    return name;
  }
  if (locals_.contains(name)) {
    note_read(name, span);
    if (use == Use::Callee) report_not_callable(name, span, nullptr);
    return name;
  }
  auto renamed = dim_renames_.find(name);
  NameId dim = renamed == dim_renames_.end() ? name : renamed->second;
  if (bound_dims_.count(dim) || dim_values_.contains(dim)) {
    if (use == Use::Callee) report_not_callable(name, span, nullptr);
    return dim;
  }
  if (return_dims_.count(dim) && use != Use::Callee) {
    if (reported_.insert(name).second)
      session_.sink.report(Diag::ResDimUnbound, span, {names_.text(name)});
    return dim;
  }
  return module_name(name, span, use);
}

NameId DefResolver::module_name(NameId name, Span span, Use use) {
  NameLookup found = context_.envs.value(module_, name, true);
  if (found.candidates.empty()) {
    std::string_view text = names_.text(name);
    if (use != Use::Placeholder && text[0] == '_') return primitive(name, span);
    if (!context_.envs.lists_missing(module_, name)) report_unknown(name, span, use);
    return name;
  }
  if (found.candidates.size() > 1) {
    report_ambiguous(found, name, span);
    return name;
  }
  const Candidate& hit = found.candidates[0];
  const Definition& def = context_.envs.def(hit.entity);
  if (use == Use::Callee && def.is_global) report_not_callable(name, span, &def);
  if (use == Use::Placeholder && !def.is_global) report_unknown(name, span, use);
  check_shown(found, name, span);
  this->use(hit, span, false);
  return context_.envs.canonical(hit.entity);
}

void DefResolver::check_shown(const NameLookup& found, NameId name, Span span) {
  if (found.own || !warns()) return;
  if (names_.text(name).find('.') == std::string_view::npos) return;
  std::string owner = context_.envs.module_name(found.owner);
  if (found.not_imported)
    session_.sink.report(Diag::WNotImported, span, {names_.text(name), owner});
  if (found.is_private) session_.sink.report(Diag::WPrivate, span, {names_.text(name), owner});
}

void DefResolver::use(const Candidate& candidate, Span span, bool in_type) {
  if (candidate.import != kNoImport) context_.used_imports[module_][candidate.import] = true;
  references.push_back({candidate.entity, span, in_type});
}

NameId DefResolver::primitive(NameId name, Span span) {
  // What is no primitive either gets its own report when calls are elaborated.
  if (!warns() || !find_primitive(names_.text(name))) return name;
  auto home = context_.primitive_home.find(name);
  std::string advice = home == context_.primitive_home.end()
                           ? "models call the definitions of the library"
                           : "the library has `" + home->second + "`";
  session_.sink.report(Diag::WPrim, span, {names_.text(name), advice});
  return name;
}

void DefResolver::report_not_callable(NameId name, Span span, const Definition* def) {
  if (word_reported_) return;
  Diagnostic& diag = session_.sink.report(Diag::ResNotCallable, span, {names_.text(name)});
  if (def) diag.note(Note::NoteDefinedHere, def->name_span, {names_.text(def->name)});
  suggest_for_value(diag, span);
}

// `x is None` and `x is not None`, at the `is`.
void DefResolver::suggest_equality(Diagnostic& diag, Span is) {
  const std::string_view text = session_.files.text(is.file).substr(static_cast<size_t>(is.begin));
  for (std::string_view none : {"None", "null"}) {
    for (std::string_view negation : {"", "not "}) {
      const std::string written = "is " + std::string(negation) + std::string(none);
      if (!starts_with(text, written)) continue;
      if (text.size() > written.size() && is_ident_char(text[written.size()])) continue;
      diag.fix({is.file, is.begin, is.begin + static_cast<int32_t>(written.size())},
               negation.empty() ? "== null" : "!= null");
    }
  }
}

// What a value with something behind it may have been meant as: an index, or a misspelt operator.
void DefResolver::suggest_for_value(Diagnostic& diag, Span span) {
  std::string_view rest = session_.files.text(span.file).substr(static_cast<size_t>(span.end));
  if (starts_with(rest, "[")) {
    const std::string text(names_.text(names_.find(diag.args[0].text)));
    diag.note(Note::NoteHere, span,
              {"there is no indexing with brackets: of a list take `List.index " + text +
               " 0`, of a tensor `Tensor.slice " + text + " dim=0 start=0 end=1`"});
    return;
  }
  const size_t begin = rest.find_first_not_of(' ');
  if (begin == 0 || begin == rest.npos) return;
  size_t end = begin;
  while (end < rest.size() && is_ident_char(rest[end])) ++end;
  const std::string_view word = rest.substr(begin, end - begin);
  const NameId name = names_.find(word);
  if (word.size() < 2 || !name.valid() || locals_.contains(name)) return;
  const Span where{span.file, span.end + static_cast<int32_t>(begin),
                   span.end + static_cast<int32_t>(end)};
  const std::string_view here = written_here(Habit::Word, word);
  if (!here.empty()) {
    diag.note(Note::NoteHere, where, {here});
    suggest_equality(diag, where);
    return;
  }
  for (const std::string& near : closest(word, {"and", "or"}, 1))
    diag.note(Note::NoteDidYouMean, where, {"`" + near + "`"}).fix(where, near);
}

void DefResolver::report_unknown(NameId name, Span span, Use use) {
  if (!reported_.insert(name).second) return;
  std::string_view text = names_.text(name);
  std::string home(text.substr(0, text.rfind('.')));
  if (context_.envs.lists_missing(module_, names_.intern(home))) return;
  if (is_statement_word(text) && std::exchange(word_reported_, true)) return;
  bool missing = home.size() < text.size() && !context_.envs.knows_module(home);
  if (missing && !reported_.insert(names_.intern(home)).second) return;
  Diag code = use == Use::Placeholder ? Diag::ResPlaceholder : Diag::ResUnknown;
  suggest(session_.sink.report(code, span, {text}), name, span, use);
}

bool DefResolver::is_type_name(NameId name) const {
  return is_builtin_type(names_.text(name)) || context_.aliases.find(name) != nullptr;
}

// An argument that is a keyword of statements and no name of anything, of a callee that nobody
// knows.
ExprId DefResolver::statement_argument(const Call& call) const {
  if (!context_.envs.value(module_, call.callee, true).candidates.empty()) return {};
  for (const Arg& arg : call.args) {
    const Name* name = ast_[arg.value].get<Name>();
    if (!name || !is_statement_word(names_.text(name->name)) || locals_.contains(name->name))
      continue;
    if (context_.envs.value(module_, name->name, true).candidates.empty()) return arg.value;
  }
  return {};
}

// A call of a type or of a value: no call was meant, and what looks like arguments is told with it.
void DefResolver::check_callee(const Call& call) {
  const bool value = locals_.contains(call.callee) || bound_dims_.count(call.callee) > 0;
  const ExprId word = value ? ExprId{} : statement_argument(call);
  if (word.valid()) {  // `i for i in xs`: no call was meant
    report_unknown(ast_[word].as<Name>().name, ast_[word].span, Use::Value);
    reported_.insert(call.callee);
  } else if (!value) {
    // `let y = x in y`
    const bool habit = !written_here(Habit::Word, names_.text(call.callee)).empty();
    if (!habit && !is_type_name(call.callee)) return;
    if (!context_.envs.value(module_, call.callee, true).candidates.empty()) return;
    report_unknown(call.callee, call.callee_span, Use::Callee);
  }
  for (const Arg& arg : call.args) {
    visit(arg.value, ast_,
          {[&](ExprId id) {
             const Name* name = ast_[id].get<Name>();
             if (name && !is_statement_word(names_.text(name->name))) reported_.insert(name->name);
           },
           [](StmtId) {}});
  }
}

// Names that are habits, and members of values, of which there are none. Whether that says it all.
bool DefResolver::suggest_habit(Diagnostic& diag, std::string_view text, Span span) {
  const size_t dot = text.rfind('.');
  std::string_view here = written_here(Habit::Word, text.substr(0, text.find('.')));
  const std::string_view value = text.substr(0, text.find('.'));
  const NameId local = names_.find(value);
  const bool is_value = local.valid() && (locals_.contains(local) || bound_dims_.count(local) > 0);
  if (dot == text.npos || !is_value) {
    if (!here.empty()) diag.note(Note::NoteHere, span, {here});
    constexpr std::string_view kWritten = "it is written `";
    if (dot == text.npos && starts_with(here, kWritten))
      diag.fix(span, std::string(here.substr(kWritten.size(), here.size() - kWritten.size() - 1)));
    return !here.empty() && dot == text.npos;
  }
  here = written_here(Habit::Member, text.substr(dot + 1));
  const std::string member(text.substr(dot + 1));
  std::string advice = "`" + std::string(value) + "` is a value and has no members";
  if (!here.empty()) advice += "; " + std::string(here);
  diag.note(Note::NoteHere, span, {advice});
  if (!here.empty()) return true;
  for (const std::string& near : context_.envs.suggestions(module_, member, {})) {
    if (near.size() > member.size() && ends_with(near, "." + member))
      diag.note(Note::NoteDidYouMean, span, {"`" + near + " " + std::string(value) + "`"});
  }
  return true;
}

// `float32`, `torch.float32`
bool DefResolver::suggest_dtype(Diagnostic& diag, std::string_view text, Span span) {
  const size_t dot = text.rfind('.');
  const NameId owner = names_.find(text.substr(0, dot));
  if (dot != text.npos && owner.valid() && locals_.contains(owner)) return false;
  const std::string word(text.substr(dot + 1));
  if (!parse_dtype(word)) return false;
  diag.note(Note::NoteHere, span, {"an element type is named by a text: `\"" + word + "\"`"})
      .fix(span, "\"" + word + "\"");
  return true;
}

// What may have been meant by an unknown name.
void DefResolver::suggest(Diagnostic& diag, NameId name, Span span, Use use) {
  std::string_view text = names_.text(name);
  if (is_type_name(name)) {
    diag.note(Note::NoteHere, span,
              {"`" + std::string(text) + "` is a type, and no value: types stand behind `::`"});
    return;
  }
  if (is_statement_word(text)) {
    const std::string_view here = written_here(Habit::Syntax, text);
    if (text == "where" && !here.empty()) {
      diag.note(Note::NoteHere, span, {here});
      return;
    }
    diag.note(Note::NoteHere, span,
              {"`" + std::string(text) +
               "` is a name here; a block is opened by `do`, and a statement or item starts at its "
               "column"});
    return;
  }
  if (use == Use::Value && suggest_dtype(diag, text, span)) return;
  if (suggest_habit(diag, text, span)) return;
  std::string home(text.substr(0, text.rfind('.')));
  if (home.size() < text.size() && !context_.envs.knows_module(home))
    diag.note(Note::NoteHere, span,
              {"no module `" + home + "` is imported; `import " + home +
               "` stands at the top of the file"});
  if (text.size() < 3) return;  // everything short is near
  std::vector<std::string> locals;
  for (NameId local : locals_.names()) locals.emplace_back(names_.text(local));
  for (NameId dim : bound_dims_) locals.emplace_back(names_.text(dim));
  if (use == Use::Value) locals.insert(locals.end(), {"true", "false", "null"});
  std::string near_names;
  for (const std::string& near : context_.envs.suggestions(module_, text, locals)) {
    near_names += (near_names.empty() ? "`" : ", `") + near + "`";
  }
  if (!near_names.empty()) diag.note(Note::NoteDidYouMean, span, {near_names});
}

void DefResolver::report_ambiguous(const NameLookup& found, NameId name, Span span) {
  std::vector<std::pair<std::string, Span>> shown;
  for (const Candidate& candidate : found.candidates) {
    shown.emplace_back(names_.text(context_.envs.canonical(candidate.entity)),
                       context_.envs.def(candidate.entity).name_span);
  }
  std::sort(shown.begin(), shown.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (size_t i = 0; i < shown.size(); ++i) {
    text += (i == 0 ? "`" : i + 1 == shown.size() ? " or `" : ", `") + shown[i].first + "`";
  }
  Diagnostic& diag = session_.sink.report(Diag::ResAmbiguous, span, {names_.text(name), text});
  for (const auto& [candidate, where] : shown) {
    diag.note(Note::NoteCandidate, where, {"`" + candidate + "`"});
  }
}

// A stage that is a bare name is a callee.
ExprId DefResolver::pipe(ExprId id) {
  Expr node = ast_[id];
  Pipe& pipe = std::get<Pipe>(node.data);
  pipe.value = expr(pipe.value);
  for (ExprId& stage : pipe.stages) {
    Expr inner = ast_[strip_parens(stage, ast_)];
    const Name* name = inner.get<Name>();
    if (!name || !name->suffixes.empty()) {
      stage = expr(stage);
      continue;
    }
    NameId now = value_name(name->name, inner.span, Use::Callee);
    stage = ast_.add(Expr{Name{now, {}}, inner.span});
  }
  return ast_.add(std::move(node));
}

ExprId DefResolver::expr(ExprId id) {
  if (ast_[id].kind() == ExprKind::Pipe) return pipe(id);
  if (const Call* call = ast_[id].get<Call>()) check_callee(Call(*call));
  ExprId inner = children(id);
  Expr node = ast_[inner];
  if (const Name* name = node.get<Name>()) {
    Use use = name->suffixes.empty() ? Use::Value : Use::Callee;
    NameId now = value_name(name->name, node.span, use);
    if (now == name->name) return inner;
    std::get<Name>(node.data).name = now;
    return ast_.add(std::move(node));
  }
  if (const Call* call = node.get<Call>()) {
    NameId now = value_name(call->callee, call->callee_span, Use::Callee);
    if (now == call->callee) return inner;
    std::get<Call>(node.data).callee = now;
    return ast_.add(std::move(node));
  }
  return inner;
}

// ---- paths ---------------------------------------------------------------------------------

PathLit DefResolver::path(const PathLit& source) {
  check_path(source);
  PathLit out = source;
  for (PathPiece& piece : out.pieces) {
    if (piece.placeholder) piece.text = value_name(piece.text, source.span, Use::Placeholder);
  }
  return out;
}

void DefResolver::check_path(const PathLit& path) {
  if (path.absolute || path.pieces.empty() || path_params_.empty() || !warns()) return;
  const PathPiece& first = path.pieces[0];
  bool whole = path.pieces.size() < 2 || !path.pieces[1].joined;
  if (!whole || !first.placeholder || first.text != path_params_[0]) return;
  session_.sink.report(Diag::WPathDouble, path.span, {render_path(path, names_)});
}

// ---- statements ----------------------------------------------------------------------------

void DefResolver::bind(const Target& target) {
  rebound_.erase(target.name);
  Rewriter::bind(target);
}

// What a nested block rebinds stays inside; only scope binds share the names of their block.
void DefResolver::keep_rebound(const PendingRebinds& before) {
  for (auto it = rebound_.begin(); it != rebound_.end();) {
    it = before.count(it->first) ? std::next(it) : rebound_.erase(it);
  }
}

std::vector<StmtId> DefResolver::block(const std::vector<StmtId>& body) {
  PendingRebinds before = rebound_;
  dim_values_.push();
  std::vector<StmtId> out = Rewriter::block(body);
  dim_values_.pop();
  keep_rebound(before);
  return out;
}

void DefResolver::loop(StmtId id, Loop node, std::vector<StmtId>& out) {
  for (const Target& carry : loop_shape(node, ast_).carry) {
    if (is_discard(carry.name, names_)) {
      session_.sink.report(Diag::ResDiscard, carry.span);
    } else if (!locals_.contains(carry.name) && !bound_dims_.count(carry.name) &&
               !dim_values_.contains(carry.name)) {
      report_unknown(carry.name, carry.span, Use::Value);
    } else {
      note_read(carry.name, carry.span);
    }
  }
  PendingRebinds before = rebound_;
  dim_values_.push();
  Rewriter::loop(id, std::move(node), out);
  dim_values_.pop();
  keep_rebound(before);
}

void DefResolver::scope_bind(StmtId id, ScopeBind node, std::vector<StmtId>& out) {
  auto outer = [&](NameId name) { return locals_.contains(name); };
  std::vector<NameId> changed = bound_names(node.body, ast_, names_, outer);
  std::vector<std::pair<NameId, Span>> again;
  for (NameId name : changed) {
    bool target = std::any_of(node.targets.begin(), node.targets.end(),
                              [&](const Target& t) { return t.name == name; });
    if (outer(name) && !target) again.emplace_back(name, node.path.span);
  }
  Rewriter::scope_bind(id, std::move(node), out);
  for (const auto& [name, span] : again) {
    rebound_.emplace(name, span.valid() ? span : ast_[id].span);
  }
}

// ---- types ---------------------------------------------------------------------------------

TypeExprId DefResolver::type(TypeExprId id) {
  TypeExpr node = ast_[id];
  switch (node.kind()) {
    case TypeExprKind::Optional: {
      TypeOptional& optional = std::get<TypeOptional>(node.data);
      TypeExprId inner = type(optional.inner);
      if (inner == optional.inner) return id;
      optional.inner = inner;
      break;
    }
    case TypeExprKind::List: {
      TypeList& list = std::get<TypeList>(node.data);
      TypeExprId item = type(list.item);
      if (item == list.item) return id;
      list.item = item;
      break;
    }
    case TypeExprKind::Tuple: {
      TypeTuple& tuple = std::get<TypeTuple>(node.data);
      std::vector<TypeExprId> items;
      for (TypeExprId item : tuple.items) items.push_back(type(item));
      if (items == tuple.items) return id;
      tuple.items = std::move(items);
      break;
    }
    case TypeExprKind::Named:
      return named_type(id, node.as<TypeNamed>(), node.span);
  }
  return ast_.add(std::move(node));
}

TypeExprId DefResolver::named_type(TypeExprId id, TypeNamed named, Span span) {
  bool param = mode_ == TypeMode::Alias && !named.has_args && alias_params_.count(named.name);
  if (param) return id;
  const TypeAlias* alias =
      is_builtin_type(names_.text(named.name)) ? nullptr : context_.aliases.find(named.name);
  check_type_name(named.name, span, named.has_args, alias, named.args.size());
  if (alias && mode_ != TypeMode::Alias) free_alias_dims(*alias, alias->type);
  bool changed = false;
  for (size_t i = 0; i < named.args.size(); ++i) {
    TypeArg& arg = named.args[i];
    bool wants_type = alias && context_.aliases.takes_type(*alias, i, named.args.size());
    if (arg.type.valid()) {
      TypeExprId now = type(arg.type);
      changed |= now != arg.type;
      arg.type = now;
    } else if (wants_type) {
      const DimExpr& dim = ast_[arg.dim];
      if (dim.kind() != DimExprKind::Name) {
        session_.sink.report(Diag::TypeUnknown, dim.span, {"a dimension"});
        continue;
      }
      NameId name = dim.as<DimName>().name;
      if (mode_ == TypeMode::Alias && alias_params_.count(name)) continue;
      const TypeAlias* inner =
          is_builtin_type(names_.text(name)) ? nullptr : context_.aliases.find(name);
      check_type_name(name, dim.span, false, inner, 0);
    } else {
      DimExprId now = dim(arg.dim);
      changed |= now != arg.dim;
      arg.dim = now;
    }
  }
  return changed ? ast_.add(TypeExpr{std::move(named), span}) : id;
}

void DefResolver::check_type_name(NameId name, Span span, bool has_args, const TypeAlias* alias,
                                  size_t count) {
  std::string_view text = names_.text(name);
  if (alias) {
    if (!AliasTable::match(*alias, count)) {
      session_.sink.report(Diag::TypeAliasArity, span, {text, alias->params.size(), count})
          .note(Note::NoteDefinedHere, alias->span, {names_.text(alias->name)});
    }
    std::vector<size_t> imports;
    const Entity& owner = context_.alias_owner.at(alias->name);
    bool imported = context_.envs.imports_alias(module_, owner, imports);
    for (size_t import : imports) context_.used_imports[module_][import] = true;
    bool qualified = text.find('.') != text.npos && !imports.empty();
    if (!imported && !qualified && warns()) {
      session_.sink.report(Diag::WAliasNotImported, span,
                           {text, context_.envs.module_name(owner.module)});
    }
    return;
  }
  if (is_builtin_type(text)) {
    if (!has_args || text == "Tensor") return;
  } else if (text.find('.') == text.npos && !has_args) {
    return;  // a type variable
  }
  Diagnostic& diag = session_.sink.report(Diag::TypeUnknown, span, {text});
  if (suggest_type(diag, text, span)) return;
  std::vector<std::string> known = {"Tensor"};
  for (const TypeAlias& other : context_.aliases.all()) {
    known.emplace_back(names_.text(other.name));
  }
  for (const std::string& near : closest(text, known, 1)) {
    diag.note(Note::NoteDidYouMean, span, {"`" + near + "`"});
  }
}

// Names in an alias body that are neither its parameters nor constants are dims of whoever uses it.
void DefResolver::free_alias_dims(const TypeAlias& alias, TypeExprId id) {
  const TypeExpr node = ast_[id];
  switch (node.kind()) {
    case TypeExprKind::Optional:
      return free_alias_dims(alias, node.as<TypeOptional>().inner);
    case TypeExprKind::List:
      return free_alias_dims(alias, node.as<TypeList>().item);
    case TypeExprKind::Tuple:
      for (TypeExprId item : node.as<TypeTuple>().items) free_alias_dims(alias, item);
      return;
    case TypeExprKind::Named:
      break;
  }
  const TypeNamed& named = node.as<TypeNamed>();
  const TypeAlias* inner =
      is_builtin_type(names_.text(named.name)) ? nullptr : context_.aliases.find(named.name);
  if (inner) free_alias_dims(*inner, inner->type);
  size_t owner = context_.alias_owner.at(alias.name).module;
  for (size_t i = 0; i < named.args.size(); ++i) {
    if (named.args[i].type.valid()) {
      free_alias_dims(alias, named.args[i].type);
    } else if (!inner || !context_.aliases.takes_type(*inner, i, named.args.size())) {
      free_alias_dims(alias, owner, named.args[i].dim);
    }
  }
}

void DefResolver::free_alias_dims(const TypeAlias& alias, size_t owner, DimExprId id) {
  const DimExpr node = ast_[id];
  if (const auto* binary = std::get_if<DimBinary>(&node.data)) {
    free_alias_dims(alias, owner, binary->left);
    free_alias_dims(alias, owner, binary->right);
  } else if (const auto* paren = std::get_if<DimParen>(&node.data)) {
    free_alias_dims(alias, owner, paren->inner);
  } else if (const auto* name = std::get_if<DimName>(&node.data)) {
    bool param = std::any_of(alias.params.begin(), alias.params.end(),
                             [&](const AliasParam& p) { return p.name == name->name; });
    if (param || !context_.envs.value(owner, name->name, false).candidates.empty()) return;
    dim_variable(name->name);
  }
}

DimExprId DefResolver::dim(DimExprId id) {
  DimExpr node = ast_[id];
  switch (node.kind()) {
    case DimExprKind::Int:
    case DimExprKind::Variadic:
      return id;
    case DimExprKind::Name: {
      NameId now = dim_name(node.as<DimName>().name, node.span);
      if (now == node.as<DimName>().name) return id;
      return ast_.add(DimExpr{DimName{now}, node.span});
    }
    case DimExprKind::Binary: {
      DimBinary binary = node.as<DimBinary>();
      DimExprId left = dim(binary.left), right = dim(binary.right);
      if (left == binary.left && right == binary.right) return id;
      return ast_.add(DimExpr{DimBinary{binary.op, left, right}, node.span});
    }
    case DimExprKind::Paren: {
      DimExprId inner = dim(node.as<DimParen>().inner);
      if (inner == node.as<DimParen>().inner) return id;
      return ast_.add(DimExpr{DimParen{inner}, node.span});
    }
  }
  return id;
}

NameId DefResolver::dim_name(NameId name, Span span) {
  if (mode_ == TypeMode::Alias && alias_params_.count(name)) return name;
  if (mode_ != TypeMode::Alias && dependent_.count(name)) return name;
  NameLookup found = context_.envs.value(module_, name, false);
  bool dotted = names_.text(name).find('.') != std::string_view::npos;
  std::vector<Candidate> rigid;
  for (const Candidate& candidate : found.candidates) {
    const Definition& def = context_.envs.def(candidate.entity);
    if (def.params.empty() && def.path_params.empty()) rigid.push_back(candidate);
  }
  if (rigid.size() > 1) {
    report_ambiguous(found, name, span);
    return name;
  }
  if (rigid.size() == 1) {
    check_shown(found, name, span);
    use(rigid[0], span, true);
    return context_.envs.canonical(rigid[0].entity);
  }
  if (dotted) {
    report_unknown(name, span, Use::Value);
    return name;
  }
  return dim_variable(name);
}

// A dimension variable. Outside of the root it must not be spelled like a constant of the root: the
// closed program has one name space, where that spelling would mean the constant.
NameId DefResolver::dim_variable(NameId name) {
  NameId out = name;
  if (module_ != context_.envs.root() && context_.root_constants.count(name)) {
    auto known = dim_renames_.find(name);
    if (known == dim_renames_.end()) {
      for (int n = 1;; ++n) {
        out = names_.intern(std::string(names_.text(name)) + std::to_string(n));
        if (!used_names_.count(out) && !context_.root_constants.count(out)) break;
      }
      used_names_.insert(out);
      dim_renames_.emplace(name, out);
    } else {
      out = known->second;
    }
  }
  switch (mode_) {
    case TypeMode::Param:
      bound_dims_.insert(out);
      break;
    case TypeMode::Return:
      if (!bound_dims_.count(out)) return_dims_.insert(out);
      break;
    case TypeMode::Ascription:
      dim_values_.bind(out);
      break;
    case TypeMode::Alias:
      break;
  }
  return out;
}

}  // namespace axon::sema
