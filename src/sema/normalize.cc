// Makes calls, pipes, path suffixes, zero-argument references and loops explicit
// (language.md 10.5).
#include <algorithm>

#include "sema/alias.h"
#include "sema/callee.h"
#include "sema/pragmas.h"
#include "sema/stages.h"
#include "sema/validate.h"
#include "sema/walk.h"
#include "source/habits.h"
#include "support/text.h"

namespace axon::sema {

using namespace syntax;

namespace {

// How many stages of a pipe become calls inside each other.
constexpr size_t kNestedStages = 256;

std::string describe(const Expr& node) {
  switch (node.kind()) {
    case ExprKind::Int:
    case ExprKind::Float:
      return "a number";
    case ExprKind::Bool:
    case ExprKind::Null:
      return "a literal";
    case ExprKind::String:
      return "a string";
    case ExprKind::Path:
      return "a path";
    case ExprKind::List:
      return "a list";
    case ExprKind::Tuple:
      return "a tuple";
    case ExprKind::If:
    case ExprKind::Ternary:
      return "a conditional";
    case ExprKind::Binary:
      return "an operator expression";
    case ExprKind::Ascribe:
      return "an ascription";
    case ExprKind::Do:
      return "a do block";
    case ExprKind::Name:
    case ExprKind::Call:
    case ExprKind::Pipe:
    case ExprKind::BindExpr:
    case ExprKind::Lambda:
    case ExprKind::Paren:
      break;
  }
  return "an expression";
}

// Gives unknown bare type names of one definition the spelling of explicit type variables.
class TypeVariables {
 public:
  TypeVariables(const AliasTable& aliases, Session& session)
      : aliases_(aliases), session_(session) {}

  void reset(bool warn) {
    warn_ = warn;
    renames_.clear();
    used_.clear();
  }
  void reserve(TypeExprId id) {
    const TypeExpr& type = session_.ast[id];
    switch (type.kind()) {
      case TypeExprKind::Optional:
        return reserve(type.as<TypeOptional>().inner);
      case TypeExprKind::List:
        return reserve(type.as<TypeList>().item);
      case TypeExprKind::Tuple:
        for (TypeExprId item : type.as<TypeTuple>().items) reserve(item);
        return;
      case TypeExprKind::Named:
        break;
    }
    const TypeNamed& named = type.as<TypeNamed>();
    used_.insert(named.name);
    for (const TypeArg& arg : named.args) {
      if (arg.type.valid()) reserve(arg.type);
    }
  }

  TypeExprId rewrite(TypeExprId id) {
    TypeExpr node = session_.ast[id];
    switch (node.kind()) {
      case TypeExprKind::Optional: {
        TypeExprId inner = rewrite(node.as<TypeOptional>().inner);
        if (inner == node.as<TypeOptional>().inner) return id;
        return session_.ast.add(TypeExpr{TypeOptional{inner}, node.span});
      }
      case TypeExprKind::List: {
        TypeExprId item = rewrite(node.as<TypeList>().item);
        if (item == node.as<TypeList>().item) return id;
        return session_.ast.add(TypeExpr{TypeList{item}, node.span});
      }
      case TypeExprKind::Tuple: {
        std::vector<TypeExprId> items;
        for (TypeExprId item : node.as<TypeTuple>().items) items.push_back(rewrite(item));
        if (items == node.as<TypeTuple>().items) return id;
        return session_.ast.add(TypeExpr{TypeTuple{std::move(items)}, node.span});
      }
      case TypeExprKind::Named:
        return named(id, node.as<TypeNamed>(), node.span);
    }
    return id;
  }

  NameSet alias_params;  // inside an alias body

 private:
  TypeExprId named(TypeExprId id, TypeNamed named, Span span) {
    bool changed = false;
    if (!named.has_args) {
      NameId now = variable(named.name, span);
      changed = now != named.name;
      named.name = now;
    }
    const TypeAlias* alias = aliases_.find(named.name);
    for (size_t i = 0; i < named.args.size(); ++i) {
      TypeArg& arg = named.args[i];
      if (arg.type.valid()) {
        TypeExprId now = rewrite(arg.type);
        changed |= now != arg.type;
        arg.type = now;
      } else if (alias && aliases_.takes_type(*alias, i, named.args.size())) {
        const DimExpr dim = session_.ast[arg.dim];
        if (dim.kind() != DimExprKind::Name) continue;
        NameId now = variable(dim.as<DimName>().name, dim.span);
        if (now == dim.as<DimName>().name) continue;
        arg.dim = session_.ast.add(DimExpr{DimName{now}, dim.span});
        changed = true;
      }
    }
    return changed ? session_.ast.add(TypeExpr{std::move(named), span}) : id;
  }

  NameId variable(NameId name, Span span) {
    std::string_view text = session_.names.text(name);
    if (is_builtin_type(text) || is_explicit_type_variable(text) || aliases_.find(name) ||
        alias_params.count(name)) {
      return name;
    }
    auto known = renames_.find(name);
    if (known != renames_.end()) return known->second;
    if (warn_ && text.size() > 1) {
      Diagnostic& warning = session_.sink.report(Diag::WTypevar, span, {text});
      const bool told = suggest_type(warning, text, span);
      for (const std::string& near : closest(text, {"Tensor", "Float", "String", "Path"}, 1))
        if (!told) warning.note(Note::NoteDidYouMean, span, {"`" + near + "`"});
    }
    NameId fresh;
    for (int n = 0;; ++n) {
      fresh = session_.names.intern(n == 0 ? "_T" : "_T" + std::to_string(n));
      if (used_.insert(fresh).second) break;
    }
    renames_.emplace(name, fresh);
    return fresh;
  }

  const AliasTable& aliases_;
  Session& session_;
  bool warn_ = false;
  NameSet used_;
  std::unordered_map<NameId, NameId, IdHash> renames_;
};

class Normalizer : public Rewriter {
 public:
  Normalizer(const Program& program, const AliasTable& aliases, Session& session)
      : Rewriter(session.ast, session.names),
        program_(program),
        session_(session),
        aliases_(aliases),
        variables_(aliases, session) {}

  void run(Definition& def) {
    dims_.clear();
    for (NameId name : dim_names(def, ast_)) dims_.insert(name);
    params_.clear();
    for (const Param& param : def.params) params_.insert(param.name);
    path_params_ = NameSet(def.path_params.begin(), def.path_params.end());
    scope_bound_ = path_params_.empty() ? NameSet() : bound_in_scopes(def);
    variables_.reset(!def.from_library);
    variables_.alias_params.clear();
    for (Param& param : def.params) {
      if (!param.type.valid()) continue;
      variables_.reserve(param.type);
      param.optional |= is_optional(param.type, aliases_, ast_, names_);
    }
    if (def.return_type.valid()) variables_.reserve(def.return_type);
    visit_body(def, ast_,
               {[&](ExprId id) {
                  if (const Ascribe* node = ast_[id].get<Ascribe>()) variables_.reserve(node->type);
                },
                [](StmtId) {}});
    kept_paths_.clear();
    definition(def);
    for (const auto& [param, kept] : kept_paths_) keep_path(def, param, kept);
  }

  void run(TypeAlias& alias) {
    variables_.reset(false);
    variables_.alias_params.clear();
    for (const AliasParam& param : alias.params) variables_.alias_params.insert(param.name);
    variables_.reserve(alias.type);
    alias.type = variables_.rewrite(alias.type);
  }

 protected:
  TypeExprId type(TypeExprId id) override { return variables_.rewrite(id); }

  // Segments hold no dots.
  PathLit path(const PathLit& source) override {
    PathLit out = source;
    out.pieces.clear();
    bool changed = false;
    for (const PathPiece& piece : source.pieces) {
      std::string text(names_.text(piece.text));
      if (piece.placeholder || text.find('.') == text.npos) {
        out.pieces.push_back(piece);
        continue;
      }
      changed = true;
      bool joined = piece.joined;
      for (size_t begin = 0; begin <= text.size();) {
        size_t dot = std::min(text.find('.', begin), text.size());
        if (dot > begin) {
          out.pieces.push_back({names_.intern(text.substr(begin, dot - begin)), false, joined});
        }
        joined = false;
        begin = dot + 1;
      }
    }
    return changed ? out : source;
  }

  ExprId expr(ExprId id) override {
    if (ast_[id].kind() == ExprKind::Pipe) return pipe(id);
    ExprId inner = children(id);
    Expr node = ast_[inner];
    switch (node.kind()) {
      case ExprKind::Name:
        return name(inner, node.as<Name>(), node.span);
      case ExprKind::Path:
        return path_value(node.as<PathExpr>().path, inner);
      case ExprKind::Call: {
        Call call = node.as<Call>();
        return finish_call(inner, std::move(call), {}, node.span);
      }
      case ExprKind::Paren: {
        ExprId within = node.as<Paren>().inner;
        return ast_[within].kind() == ExprKind::Ascribe ? within : inner;
      }
      case ExprKind::Ternary: {
        Ternary& ternary = std::get<Ternary>(node.data);
        const Paren* paren = ast_[ternary.cond].get<Paren>();
        if (!paren || ast_[paren->inner].kind() != ExprKind::Call) return inner;
        ternary.cond = paren->inner;
        return ast_.add(std::move(node));
      }
      default:
        return inner;
    }
  }

  void loop(StmtId id, Loop node, std::vector<StmtId>& out) override {
    LoopShape shape = loop_shape(node, ast_);
    Span span = ast_[id].span;
    const Yield* last = node.body.empty() ? nullptr : ast_[node.body.back()].get<Yield>();
    if (shape.carry.empty()) {
      session_.sink.report(Diag::WLoopNoEffect, span);
      std::vector<ExprId> values = last ? last->values : std::vector<ExprId>();
      if (values.size() == 1 && gives_null(values[0])) return Rewriter::loop(id, node, out);
      if (last) node.body.pop_back();
      for (ExprId value : values) {
        if (is_null(ast_[strip_parens(value, ast_)])) continue;
        node.body.push_back(
            ast_.add(Stmt{Bind{{Target{names_.intern("_"), span}}, value, {}}, span}));
      }
      node.body.push_back(ast_.add(Stmt{Yield{{ast_.add(Expr{Null{}, span})}}, span}));
    } else if (!last) {
      Yield yield;
      for (const Target& target : shape.targets) {
        yield.values.push_back(ast_.add(Expr{Name{target.name, {}}, target.span}));
      }
      node.body.push_back(ast_.add(Stmt{std::move(yield), span}));
    } else if (last->values.size() != 1 && last->values.size() != shape.carry.size()) {
      session_.sink.report(Diag::AstYield, ast_[node.body.back()].span,
                           {"hands on " + std::to_string(last->values.size()) +
                            " values, the loop carries " + std::to_string(shape.carry.size())});
    }
    node.has_targets = node.has_carry = !shape.carry.empty();
    node.targets = shape.targets;
    node.carry = shape.carry;
    Rewriter::loop(add(id, {node, {}}), node, out);
  }

 private:
  // `null`, or a call of a definition that returns just that.
  bool gives_null(ExprId id) const {
    const Expr& node = ast_[strip_parens(id, ast_)];
    if (is_null(node)) return true;
    const Call* call = node.get<Call>();
    const Definition* def = call ? find_definition(program_, call->callee) : nullptr;
    if (!def || !def->statement_body) return false;
    const Return* ret = ast_[def->body.back()].get<Return>();
    return ret && ret->values.size() == 1 && is_null(ast_[ret->values[0]]);
  }

  ExprId path_value(const PathLit& lit, ExprId like) {
    bool one = !lit.absolute && lit.pieces.size() == 1 && !lit.pieces[0].placeholder;
    if (!one || !path_params_.count(lit.pieces[0].text)) {
      if (like.valid()) return like;
      return ast_.add(Expr{PathExpr{lit}, lit.span});
    }
    NameId name = lit.pieces[0].text;
    if (locals_.depth(name) > 1 || scope_bound_.count(name)) name = kept_path(name);
    return ast_.add(Expr{Name{name, {}}, lit.span});
  }

  NameSet bound_in_scopes(const Definition& def) const {
    NameSet out;
    auto any = [](NameId) { return true; };
    visit_body(def, ast_,
               {[](ExprId) {},
                [&](StmtId id) {
                  const ScopeBind* scope = ast_[id].get<ScopeBind>();
                  if (!scope) return;
                  for (NameId name : bound_names(scope->body, ast_, names_, any)) out.insert(name);
                }});
    return out;
  }

  // A path parameter that a local hides keeps a second name from the start of the body on.
  NameId kept_path(NameId param) {
    for (const auto& [known, kept] : kept_paths_) {
      if (known == param) return kept;
    }
    NameId kept = names_.intern("__path_" + std::string(names_.text(param)));
    kept_paths_.emplace_back(param, kept);
    return kept;
  }

  void keep_path(Definition& def, NameId param, NameId kept) {
    ExprId value = ast_.add(Expr{Name{param, {}}, def.name_span});
    if (def.statement_body) {
      Bind bound{{Target{kept, def.name_span}}, value, {}};
      def.body.insert(def.body.begin(), ast_.add(Stmt{std::move(bound), def.name_span}));
    } else {
      Span span = ast_[def.body_expr].span;
      def.body_expr = ast_.add(Expr{BindExpr{value, kept, def.name_span, def.body_expr}, span});
    }
  }

  ExprId name(ExprId id, const Name& node, Span span) {
    if (!node.suffixes.empty()) {
      return finish_call(id, Call{node.name, span, node.suffixes, {}}, {}, span);
    }
    if (locals_.contains(node.name) || params_.count(node.name)) return id;
    if (const Definition* def = find_definition(program_, node.name)) {
      if (is_constant(*def)) {
        return def->is_global ? id : ast_.add(Expr{Call{node.name, span, {}, {}}, span});
      }
      if (dims_.count(node.name)) return id;
      session_.sink.report(Diag::NormBareCallable, span, {names_.text(node.name)})
          .note(Note::NoteDefinedHere, def->name_span, {names_.text(node.name)});
      return id;
    }
    if (dims_.count(node.name) || names_.text(node.name)[0] != '_') return id;
    Callee callee = find_callee(node.name, program_, ast_, names_);
    if (!callee.formals.empty()) {
      session_.sink.report(Diag::NormBareCallable, span, {names_.text(node.name)});
      return id;
    }
    return ast_.add(Expr{Call{node.name, span, {}, {}}, span});
  }

  ExprId pipe(ExprId id) {
    Expr node = ast_[id];
    const Pipe& source = node.as<Pipe>();
    ExprId value = expr(source.value);
    Span span = ast_[source.value].span;
    std::vector<StmtId> steps;
    for (size_t i = 0; i < source.stages.size(); ++i) {
      // Calls nest as deep as there are stages: long pipes are cut into binds of a block.
      if (i > 0 && i % kNestedStages == 0) value = bound_step(value, span, steps);
      ExprId stage = source.stages[i];
      ExprId inner = strip_parens(stage, ast_);
      Expr form = ast_[inner];
      span = merge_spans(span, form.span);
      Call call;
      if (const Name* name = form.get<Name>()) {
        call = Call{name->name, form.span, name->suffixes, {}};
        for (PathLit& suffix : call.suffixes) suffix = path(suffix);
      } else if (form.kind() == ExprKind::Call) {
        call = ast_[children(inner)].as<Call>();
      } else {
        session_.sink.report(Diag::NormPipeStage, form.span, {describe(form)});
        return id;
      }
      value = finish_call({}, std::move(call), value, span);
    }
    if (steps.empty()) return value;
    steps.push_back(ast_.add(Stmt{Return{{value}}, span}));
    return ast_.add(Expr{Do{std::move(steps), false}, span});
  }

  // Binds the value to a name of its own block.
  ExprId bound_step(ExprId value, Span span, std::vector<StmtId>& steps) {
    NameId name = names_.intern("__step" + std::to_string(steps.size() + 1));
    steps.push_back(ast_.add(Stmt{Bind{{{name, span}}, value, {}}, span}));
    return ast_.add(Expr{Name{name, {}}, span});
  }

  // Path suffixes, then path slots given by keyword, then the piped value and the written
  // arguments.
  ExprId finish_call(ExprId id, Call call, ExprId piped, Span span) {
    Callee callee = find_callee(call.callee, program_, ast_, names_);
    bool by_keyword = std::any_of(call.args.begin(), call.args.end(), [&](const Arg& arg) {
      return arg.keyword.valid() && slot_of(callee, arg.keyword) < callee.path_slots;
    });
    if (call.suffixes.empty() && !piped.valid() && !by_keyword) {
      missing_slots(callee, call, span);
      return id;
    }
    if (callee.known() && call.suffixes.size() > callee.path_slots) {
      report_path_args(callee, call, call.suffixes.size(), span);
      return ast_.add(Expr{Null{}, span});
    }
    std::vector<Arg> positional, keywords;
    for (const PathLit& suffix : call.suffixes) {
      positional.push_back({{}, path_value(suffix, {}), {}});
    }
    std::vector<Arg> written;
    if (piped.valid()) written.push_back({{}, piped, {}});
    written.insert(written.end(), call.args.begin(), call.args.end());
    fill_slots(callee, positional, written);
    positional.insert(positional.end(), written.begin(), written.end());
    call.suffixes.clear();
    call.args = std::move(positional);
    missing_slots(callee, call, span);
    return add_call(call, span);
  }

  // Moves keyword arguments of path slots to their places; slots before them take the first
  // positional arguments.
  void fill_slots(const Callee& callee, std::vector<Arg>& positional, std::vector<Arg>& written) {
    size_t last = 0;  // one past the last slot given by keyword
    for (const Arg& arg : written) {
      size_t slot = arg.keyword.valid() ? slot_of(callee, arg.keyword) : callee.path_slots;
      if (slot < callee.path_slots) last = std::max(last, slot + 1);
    }
    for (size_t slot = positional.size(); slot < last; ++slot) {
      auto take = [&](auto matches) {
        auto found = std::find_if(written.begin(), written.end(), matches);
        if (found == written.end()) return false;
        positional.push_back({{}, found->value, {}});
        written.erase(found);
        return true;
      };
      NameId name = callee.formals[slot].name;
      if (take([&](const Arg& arg) { return arg.keyword == name; })) continue;
      if (!take([](const Arg& arg) { return !arg.keyword.valid(); })) return;
    }
  }

  static size_t slot_of(const Callee& callee, NameId keyword) {
    size_t slot = 0;
    while (slot < callee.path_slots && callee.formals[slot].name != keyword) ++slot;
    return slot;
  }

  // Reports a call that gives fewer arguments than there are path slots.
  void missing_slots(const Callee& callee, const Call& call, Span span) {
    if (!callee.known()) return;
    size_t given = 0;
    for (const Arg& arg : call.args) given += arg.keyword.valid() ? 0 : 1;
    if (given >= callee.path_slots) return;
    report_path_args(callee, call, given, span);
  }

  void report_path_args(const Callee& callee, const Call& call, size_t given, Span span) {
    Diagnostic& diag = session_.sink.report(Diag::NormPathArgs, span,
                                            {names_.text(call.callee), callee.path_slots, given});
    if (callee.def)
      diag.note(Note::NoteDefinedHere, callee.def->name_span, {names_.text(call.callee)});
  }

  ExprId add_call(Call call, Span span) { return ast_.add(Expr{std::move(call), span}); }

  const Program& program_;
  Session& session_;
  const AliasTable& aliases_;
  TypeVariables variables_;
  NameSet dims_, params_, path_params_;
  NameSet scope_bound_;  // names that a scope bind may give other values, also behind it
  std::vector<std::pair<NameId, NameId>> kept_paths_;
};

}  // namespace

NormalizedProgram normalize(const ClosedProgram& closed, Session& session) {
  NormalizedProgram out{closed.program};
  Program& program = out.program;
  program.pragmas = normalize_pragmas(program.pragmas, session);
  AliasTable aliases(closed.program.aliases, session.ast, session.names);
  Normalizer normalizer(closed.program, aliases, session);
  for (TypeAlias& alias : program.aliases) normalizer.run(alias);
  for (Definition& def : program.definitions) normalizer.run(def);
  if (!session.sink.has_errors()) validate_normalized(program, session);
  return out;
}

}  // namespace axon::sema
