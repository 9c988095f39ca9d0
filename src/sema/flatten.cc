// One operation per bind, absolute paths, explicit order, no aliases (language.md 10.7).
#include "sema/callee.h"
#include "sema/flatten_body.h"
#include "sema/stages.h"
#include "sema/validate.h"

namespace axon::sema {

using namespace syntax;

namespace {

// All names of a definition, and those of them that are no locals where they stand.
class NameCollector : public Rewriter {
 public:
  NameCollector(const Definition& def, Ast& ast, Interner& names) : Rewriter(ast, names) {
    for (NameId name : def.path_params) all.insert(name);
    for (const Param& param : def.params) all.insert(param.name);
    for (NameId name : dim_names(def, ast)) all.insert(name);
    Definition copy = def;
    definition(copy);
  }
  NameSet all, outside;

 protected:
  void default_value(Param&) override {}
  void bind(const Target& target) override {
    all.insert(target.name);
    Rewriter::bind(target);
  }
  ExprId expr(ExprId id) override {
    if (const Name* name = ast_[id].get<Name>()) use(name->name);
    return children(id);
  }
  PathLit path(const PathLit& path) override {
    for (const PathPiece& piece : path.pieces) {
      if (piece.placeholder) use(piece.text);
    }
    return path;
  }

 private:
  void use(NameId name) {
    all.insert(name);
    if (!locals_.contains(name)) outside.insert(name);
  }
};

// An expression outside of any body: absolute paths, no aliases, ids of its own.
class DefaultCopy : public Rewriter {
 public:
  DefaultCopy(const AliasTable& aliases, Ast& ast, Interner& names)
      : Rewriter(ast, names), aliases_(aliases) {}
  ExprId run(ExprId id) { return expr(id); }

 protected:
  ExprId expr(ExprId id) override {
    ExprId inner = children(id);
    if (inner != id) return inner;
    Expr copy = ast_[id];
    return ast_.add(std::move(copy));
  }
  PathLit path(const PathLit& source) override {
    PathLit out = source;
    out.absolute = true;
    return out;
  }
  TypeExprId type(TypeExprId id) override { return expand_aliases(id, aliases_, ast_, names_); }

 private:
  const AliasTable& aliases_;
};

class Flattener {
 public:
  Flattener(const Program& program, Session& session)
      : program_(program),
        session_(session),
        facts_(program, session),
        aliases_(program.aliases, session.ast, session.names) {}

  FlatProgram run(const ElaboratedProgram& elaborated) {
    FlatProgram out;
    out.program.pragmas = program_.pragmas;
    out.program.main = program_.main;
    out.program.overlays = program_.overlays;
    for (const Definition& def : program_.definitions) definition(def, out.program);
    for (const auto& [name, value] : elaborated.main_defaults) {
      DefaultCopy copy(aliases_, session_.ast, session_.names);
      out.main_defaults.emplace_back(name, copy.run(value));
    }
    return out;
  }

 private:
  TypeExprId type(TypeExprId id) {
    return id.valid() ? expand_aliases(id, aliases_, session_.ast, session_.names) : id;
  }

  NameId hidden_name(const NameSet& used) {
    NameId name = session_.names.intern("__scope");
    for (int n = 1; used.count(name); ++n) {
      name = session_.names.intern("__scope_" + std::to_string(n));
    }
    return name;
  }

  void definition(const Definition& def, Program& out) {
    NameCollector names(def, session_.ast, session_.names);
    FlattenContext context{program_,  facts_,        aliases_, session_, def, def.path_params,
                           names.all, names.outside, {},       0,        {}};
    for (NameId name : dim_names(def, session_.ast)) context.signature_dims.insert(name);
    for (const Param& param : def.params) context.signature_dims.erase(param.name);
    PrefixKind kind = prefix_kind(def, program_, session_.ast, session_.names);
    bool hidden = facts_.hidden(def.name);
    if (hidden) {
      NameId name = hidden_name(context.used_names);
      context.used_names.insert(name);
      context.path_names = {name};
    }
    PathLit prefix;
    prefix.absolute = true;
    if (hidden || kind == PrefixKind::PathParam) {
      prefix.pieces.push_back({context.path_names[0], true, false});
    }
    Definition flat = def;
    flat.params.clear();
    for (NameId path : context.path_names) {
      TypeExprId path_type;
      if (def.has_signature) {
        path_type =
            session_.ast.add(TypeExpr{TypeNamed{session_.names.intern("Path"), {}, false}, {}});
      }
      flat.params.push_back({path, false, path_type, {}, {}});
    }
    for (Param param : def.params) {
      param.type = type(param.type);
      while (param.type.valid() && session_.ast[param.type].kind() == TypeExprKind::Optional) {
        param.type = session_.ast[param.type].as<TypeOptional>().inner;
        param.optional = true;
      }
      flat.params.push_back(param);
    }
    flat.path_params.clear();
    flat.return_type = type(def.return_type);
    BodyFlattener body(context, prefix);
    body.bind_formals(def);
    flat.body = body.run_definition();
    flat.statement_body = true;
    flat.body_expr = {};
    for (Definition& helper : context.helpers) push(std::move(helper), out);
    push(std::move(flat), out);
  }

  static void push(Definition def, Program& out) {
    out.by_name.emplace(def.name, out.definitions.size());
    out.definitions.push_back(std::move(def));
  }

  const Program& program_;
  Session& session_;
  PrefixFacts facts_;
  AliasTable aliases_;
};

}  // namespace

FlatProgram flatten(const ElaboratedProgram& elaborated, Session& session) {
  FlatProgram out = Flattener(elaborated.program, session).run(elaborated);
  if (!session.sink.has_errors()) validate_flat(out.program, session);
  return out;
}

}  // namespace axon::sema
