// Fills in defaults and makes every call purely positional (language.md 7.6, 7.7, 10.6).
#include <algorithm>
#include <set>

#include "sema/callee.h"
#include "sema/stages.h"
#include "sema/validate.h"
#include "sema/walk.h"
#include "source/habits.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::sema {

using namespace syntax;

namespace {

// Puts relative paths of a default under the path that the call passes.
class Anchor : public Rewriter {
 public:
  Anchor(PathLit base, Ast& ast, Interner& names) : Rewriter(ast, names), base_(std::move(base)) {}
  using Rewriter::expr;
  ExprId run(ExprId id) { return expr(id); }

 protected:
  PathLit path(const PathLit& source) override {
    if (source.absolute) return source;
    PathLit out = base_;
    out.pieces.insert(out.pieces.end(), source.pieces.begin(), source.pieces.end());
    out.span = source.span;
    return out;
  }

 private:
  PathLit base_;
};

class Elaborator : public Rewriter {
 public:
  Elaborator(const Program& program, Session& session)
      : Rewriter(session.ast, session.names), program_(program), session_(session) {}

  void run(Definition& def) {
    path_temps_ = 0;
    paths_ = std::set<NameId>(def.path_params.begin(), def.path_params.end());
    for (const Param& param : def.params) {
      if (!param.type.valid()) continue;
      const auto* type = std::get_if<TypeNamed>(&ast_[param.type].data);
      if (type && names_.text(type->name) == "Path") paths_.insert(param.name);
    }
    definition(def);
  }

  ExprId run_default(ExprId id) { return expr(id); }

  std::vector<Definition> extra;  // definitions that defaults had to become

 protected:
  void default_value(Param&) override {}

  ExprId expr(ExprId id) override {
    size_t errors = session_.sink.error_count();
    ExprId inner = children(id);
    // What an argument should have been is not known when it is wrong itself.
    bool sound = session_.sink.error_count() == errors;
    return sound && ast_[inner].kind() == ExprKind::Call ? complete_call(inner) : inner;
  }

 private:
  // Apart from expr(), whose frames lie on the stack as often as expressions nest.
  [[gnu::noinline]] ExprId complete_call(ExprId inner) {
    Call call = ast_[inner].as<Call>();
    Span span = ast_[inner].span;
    Callee callee = find_callee(call.callee, program_, ast_, names_);
    if (!callee.known()) {
      report_primitive(call);
      return inner;
    }
    std::vector<ExprId> actuals(callee.formals.size());
    if (!bind_arguments(callee, call, actuals, span)) return inner;
    bool complete = call.args.size() == actuals.size() &&
                    std::all_of(call.args.begin(), call.args.end(),
                                [](const Arg& arg) { return !arg.keyword.valid(); });
    if (complete) return inner;
    return fill_in(callee, call, std::move(actuals), span);
  }

  void report_primitive(const Call& call) {
    std::string_view name = names_.text(call.callee);
    Diagnostic& diag = session_.sink.report(Diag::ElabPrim, call.callee_span, {name});
    std::vector<std::string> known;
    for (size_t i = 0; i < kOpCount; ++i) {
      const OpInfo& info = op_info(static_cast<Op>(i));
      if (info.op_class == OpClass::Primitive) known.push_back("_" + std::string(info.name));
    }
    for (const std::string& near : closest(name, known, 1)) {
      diag.note(Note::NoteDidYouMean, call.callee_span, {"`" + near + "`"});
    }
  }

  Diagnostic& note_callee(Diagnostic& diag, const Callee& callee) {
    if (!callee.def || !callee.def->name_span.valid()) return diag;
    return diag.note(Note::NoteDefinedHere, callee.def->name_span, {names_.text(callee.def->name)});
  }

  bool bind_arguments(const Callee& callee, const Call& call, std::vector<ExprId>& actuals,
                      Span span) {
    std::string_view name = names_.text(call.callee);
    size_t positional = 0;
    for (const Arg& arg : call.args) {
      if (arg.keyword.valid()) continue;
      if (positional < actuals.size()) actuals[positional] = arg.value;
      ++positional;
    }
    if (positional > actuals.size()) {
      note_callee(session_.sink.report(Diag::ElabArity, span, {name, actuals.size(), positional}),
                  callee);
      return false;
    }
    for (const Arg& arg : call.args) {
      if (!arg.keyword.valid()) continue;
      auto formal = std::find_if(callee.formals.begin(), callee.formals.end(),
                                 [&](const Formal& f) { return f.name == arg.keyword; });
      if (formal == callee.formals.end()) {
        report_keyword(callee, call, arg);
        return false;
      }
      ExprId& slot = actuals[static_cast<size_t>(formal - callee.formals.begin())];
      if (slot.valid()) {
        note_callee(session_.sink.report(Diag::ElabDupArg, arg.keyword_span,
                                         {name, names_.text(arg.keyword)}),
                    callee)
            .note(Note::NoteFirstHere, given_at(call, arg, slot));
        return false;
      }
      slot = arg.value;
    }
    for (size_t i = 0; i < actuals.size(); ++i) {
      if (actuals[i].valid() || callee.formals[i].optional) continue;
      if (i == callee.path_slots && lacks_path(callee, actuals)) {
        report_path(callee, call, span);
        return false;
      }
      note_callee(session_.sink.report(Diag::ElabMissing, span,
                                       {name, names_.text(callee.formals[i].name)}),
                  callee);
      return false;
    }
    return true;
  }

  // Whether what stands in the last path slot is no path: the path was forgotten.
  bool lacks_path(const Callee& callee, const std::vector<ExprId>& actuals) const {
    if (callee.path_slots == 0) return false;
    ExprId id = actuals[callee.path_slots - 1];
    while (ast_[id].kind() == ExprKind::Paren) id = ast_[id].as<Paren>().inner;
    const Name* name = ast_[id].get<Name>();
    return ast_[id].kind() != ExprKind::Path && !(name && paths_.count(name->name) > 0);
  }

  void report_path(const Callee& callee, const Call& call, Span span) {
    const std::string name(names_.text(call.callee));
    const Span where = call.callee_span.valid() ? call.callee_span : span;
    Diagnostic& diag = session_.sink.report(Diag::NormPathArgs, where,
                                            {name, callee.path_slots, callee.path_slots - 1});
    diag.note(Note::NoteHere, where, {"a path hangs of the name, as in `" + name + "@up x`"});
    note_callee(diag, callee);
  }

  // The name of the argument that gave `slot` before `again`, else its value.
  Span given_at(const Call& call, const Arg& again, ExprId slot) const {
    for (const Arg& arg : call.args) {
      if (&arg != &again && arg.keyword == again.keyword && arg.keyword_span.valid())
        return arg.keyword_span;
    }
    return ast_[slot].span;
  }

  void report_keyword(const Callee& callee, const Call& call, const Arg& arg) {
    Diagnostic& diag = session_.sink.report(Diag::ElabKwarg, arg.keyword_span,
                                            {names_.text(call.callee), names_.text(arg.keyword)});
    std::vector<std::string> known;
    for (const Formal& formal : callee.formals) known.emplace_back(names_.text(formal.name));
    const std::string here(written_here(Habit::Keyword, names_.text(arg.keyword)));
    if (std::find(known.begin(), known.end(), here) != known.end()) {
      diag.note(Note::NoteDidYouMean, arg.keyword_span, {"`" + here + "`"});
      diag.fix(arg.keyword_span, here);
    } else {
      for (const std::string& near : closest(names_.text(arg.keyword), known, 1))
        diag.note(Note::NoteDidYouMean, arg.keyword_span, {"`" + near + "`"});
    }
    note_callee(diag, callee);
  }

  // ---- defaults --------------------------------------------------------------------------

  ExprId fill_in(const Callee& callee, Call call, std::vector<ExprId> actuals, Span span) {
    // A path argument that is no literal and no name is bound first, so that defaults can refer
    // to it by a placeholder.
    ExprId outer_value;
    NameId outer_name;
    for (size_t i = 0; i < actuals.size(); ++i) {
      if (actuals[i].valid()) continue;
      ExprId value = default_of(callee, i);
      if (!value.valid()) {
        actuals[i] = ast_.add(Expr{Null{}, span});
        continue;
      }
      if (callee.path_slots == 0 || !has_relative_path(value)) {
        actuals[i] = visible_here(callee, i, value, nullptr, span);
        continue;
      }
      PathLit base;
      if (!base_path(actuals[0], base)) {
        outer_name = fresh_path_name();
        outer_value = actuals[0];
        actuals[0] = ast_.add(Expr{Name{outer_name, {}}, ast_[outer_value].span});
        base_path(actuals[0], base);
      }
      actuals[i] = visible_here(callee, i, value, &base, span);
    }
    call.args.clear();
    for (ExprId value : actuals) call.args.push_back({{}, value, {}});
    ExprId out = ast_.add(Expr{std::move(call), span});
    if (!outer_value.valid()) return out;
    return ast_.add(Expr{BindExpr{outer_value, outer_name, span, out}, span});
  }

  // A default whose constants a local of the caller hides is moved to a definition of its own; the
  // names in the path that it is anchored to, if it is to one, become that definition's parameters.
  ExprId visible_here(const Callee& callee, size_t formal, ExprId value, const PathLit* base,
                      Span span) {
    bool hidden = false;
    visit(value, ast_,
          {[&](ExprId id) {
             const Name* name = ast_[id].get<Name>();
             hidden |= name && locals_.contains(name->name);
             const Call* call = ast_[id].get<Call>();
             hidden |= call && locals_.contains(call->callee);
             const PathExpr* path = ast_[id].get<PathExpr>();
             if (!path) return;
             for (const PathPiece& piece : path->path.pieces)
               hidden |= piece.placeholder && locals_.contains(piece.text);
           },
           [](StmtId) {}});
    auto anchored = [&](const PathLit& to) { return Anchor(to, ast_, names_).run(value); };
    if (!hidden) return base ? anchored(*base) : value;
    Definition def;
    def.name = default_name(callee, formal);
    def.name_span = def.span = span;
    def.origin = callee.def->origin;
    def.from_library = callee.def->from_library;
    Call call{def.name, span, {}, {}};
    PathLit own = base ? *base : PathLit{};
    for (PathPiece& piece : own.pieces) {
      if (!piece.placeholder || !locals_.contains(piece.text)) continue;
      call.args.push_back({{}, ast_.add(Expr{Name{piece.text, {}}, span}), {}});
      piece.text = fresh_path_name();
      def.params.push_back({piece.text, false, {}, {}, span});
    }
    def.body_expr = base ? anchored(own) : value;
    extra.push_back(std::move(def));
    return ast_.add(Expr{std::move(call), span});
  }

  NameId default_name(const Callee& callee, size_t formal) {
    const std::string base = std::string(names_.text(callee.def->name)) + "__default_" +
                             std::string(names_.text(callee.formals[formal].name)) + "_";
    NameId name;
    do {
      name = names_.intern(base + std::to_string(++default_count_));
    } while (find_definition(program_, name));
    return name;
  }

  // The path that an argument stands for, when that can be written as the start of a path.
  bool base_path(ExprId id, PathLit& out) const {
    const Expr& node = ast_[id];
    if (const Paren* paren = node.get<Paren>()) return base_path(paren->inner, out);
    if (const Ascribe* ascribe = node.get<Ascribe>()) return base_path(ascribe->value, out);
    if (const PathExpr* path = node.get<PathExpr>()) {
      out = path->path;
      return true;
    }
    if (const Name* name = node.get<Name>()) {
      out = PathLit{true, {{name->name, true, false}}, node.span};
      return true;
    }
    return false;
  }

  bool has_relative_path(ExprId id) const {
    bool found = false;
    visit(id, ast_,
          {[&](ExprId inner) {
             const PathExpr* path = ast_[inner].get<PathExpr>();
             found |= path && !path->path.absolute;
           },
           [](StmtId) {}});
    return found;
  }

  NameId fresh_path_name() {
    NameId name;
    do {
      name = names_.intern("__path_" + std::to_string(++path_temps_));
    } while (locals_.contains(name));
    return name;
  }

  // The elaborated default of a formal, with its relative paths as written; invalid: none.
  ExprId default_of(const Callee& callee, size_t formal) {
    if (callee.primitive) return primitive_default(callee.primitive->params[formal]);
    size_t paths = callee.def->path_params.size();
    const Param& param = callee.def->params[formal - paths];
    if (!param.default_value.valid()) return {};
    auto known = defaults_.find(param.default_value);
    if (known != defaults_.end()) return known->second;
    ExprId value = expr(param.default_value);
    defaults_.emplace(param.default_value, value);
    return value;
  }

  ExprId primitive_default(const OpParam& param) {
    if (!param.has_default) return {};
    std::string_view text = param.default_text;
    if (text == "null") return {};
    if (text == "true" || text == "false") return ast_.add(Expr{Bool{text == "true"}, {}});
    if (text[0] == '"') {
      return ast_.add(Expr{String{names_.intern(text.substr(1, text.size() - 2))}, {}});
    }
    if (text[0] == '@') {
      PathLit path;
      path.absolute = text.size() > 1 && text[1] == '@';
      for (std::string_view segment : split(text.substr(path.absolute ? 2 : 1), '.')) {
        path.pieces.push_back({names_.intern(segment), false, false});
      }
      return ast_.add(Expr{PathExpr{path}, {}});
    }
    if (auto value = parse_int(text)) return ast_.add(Expr{Int{*value}, {}});
    auto value = parse_double(text);
    AXON_CHECK(value.has_value(), "default in the operation table is no literal");
    return ast_.add(Expr{Float{*value, names_.intern(text)}, {}});
  }

  const Program& program_;
  Session& session_;
  int path_temps_ = 0, default_count_ = 0;
  std::set<NameId> paths_;  // parameters of the definition that are paths
  std::unordered_map<ExprId, ExprId, IdHash> defaults_;
};

// A default is copied to callers, so it may not name what belongs to the definition.
class DefaultCheck : public Rewriter {
 public:
  explicit DefaultCheck(Session& session)
      : Rewriter(session.ast, session.names), session_(session) {}

  void run(const Definition& def) {
    bool any = std::any_of(def.params.begin(), def.params.end(),
                           [](const Param& param) { return param.default_value.valid(); });
    if (!any) return;
    forbidden_ = NameSet(def.path_params.begin(), def.path_params.end());
    for (const Param& param : def.params) forbidden_.insert(param.name);
    program_dims(def);
    for (const Param& param : def.params) {
      if (!param.default_value.valid()) continue;
      param_ = param.name;
      reported_ = false;
      locals_.clear();
      expr(param.default_value);
    }
  }

  const Program* program = nullptr;

 protected:
  ExprId expr(ExprId id) override {
    const Expr& node = ast_[id];
    if (const Name* name = node.get<Name>()) check(name->name, node.span);
    return children(id);
  }
  PathLit path(const PathLit& path) override {
    for (const PathPiece& piece : path.pieces) {
      if (piece.placeholder) check(piece.text, path.span);
    }
    return path;
  }

 private:
  void program_dims(const Definition& def) {
    for (NameId dim : dim_names(def, ast_)) {
      const Definition* constant = find_definition(*program, dim);
      if (!constant || !is_constant(*constant)) forbidden_.insert(dim);
    }
  }
  void check(NameId name, Span span) {
    if (reported_ || !forbidden_.count(name) || locals_.contains(name)) return;
    reported_ = true;
    session_.sink.report(Diag::ElabDefaultScope, span, {names_.text(param_), names_.text(name)});
  }

  Session& session_;
  NameSet forbidden_;
  NameId param_;
  bool reported_ = false;
};

}  // namespace

ElaboratedProgram elaborate(const NormalizedProgram& normalized, Session& session) {
  ElaboratedProgram out{normalized.program, {}};
  Program& program = out.program;
  DefaultCheck check(session);
  check.program = &normalized.program;
  for (const Definition& def : normalized.program.definitions) check.run(def);
  if (session.sink.has_errors()) return out;
  Elaborator elaborator(normalized.program, session);
  std::vector<Definition> definitions;
  program.by_name.clear();
  auto push = [&](Definition def) {
    program.by_name.emplace(def.name, definitions.size());
    definitions.push_back(std::move(def));
  };
  for (Definition& def : program.definitions) {
    bool is_main = def.name == program.main;
    size_t before = elaborator.extra.size();
    elaborator.run(def);
    for (size_t i = before; i < elaborator.extra.size(); ++i) push(elaborator.extra[i]);
    for (Param& param : def.params) {
      if (is_main && param.default_value.valid()) {
        out.main_defaults.emplace_back(param.name, elaborator.run_default(param.default_value));
      }
      param.default_value = {};
    }
    push(std::move(def));
  }
  program.definitions = std::move(definitions);
  if (!session.sink.has_errors()) validate_elaborated(program, session);
  return out;
}

}  // namespace axon::sema
