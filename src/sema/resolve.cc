// Merges all loaded files into one closed program with canonical names (language.md 7.2-7.10).
#include <algorithm>
#include <deque>

#include "ops/op.h"
#include "sema/cycles.h"
#include "sema/def_resolver.h"
#include "sema/stages.h"
#include "sema/validate.h"
#include "support/text.h"

namespace axon::sema {

using namespace syntax;

namespace {

// Same alias as far as a user can tell: parameters may be spelled differently.
class AliasEquality {
 public:
  AliasEquality(const TypeAlias& a, const TypeAlias& b, const Ast& ast) : ast_(ast) {
    equal_ = a.params.size() == b.params.size();
    for (size_t i = 0; equal_ && i < a.params.size(); ++i) {
      equal_ = a.params[i].variadic == b.params[i].variadic;
      renames_.emplace(a.params[i].name, b.params[i].name);
    }
    equal_ = equal_ && type(a.type, b.type);
  }
  bool equal() const { return equal_; }

 private:
  bool name(NameId a, NameId b) const {
    auto found = renames_.find(a);
    return (found == renames_.end() ? a : found->second) == b;
  }

  bool type(TypeExprId left, TypeExprId right) const {
    const TypeExpr& a = ast_[left];
    const TypeExpr& b = ast_[right];
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case TypeExprKind::Optional:
        return type(a.as<TypeOptional>().inner, b.as<TypeOptional>().inner);
      case TypeExprKind::List:
        return type(a.as<TypeList>().item, b.as<TypeList>().item);
      case TypeExprKind::Tuple: {
        const auto& x = a.as<TypeTuple>().items;
        const auto& y = b.as<TypeTuple>().items;
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [&](TypeExprId p, TypeExprId q) { return type(p, q); });
      }
      case TypeExprKind::Named:
        break;
    }
    const TypeNamed& x = a.as<TypeNamed>();
    const TypeNamed& y = b.as<TypeNamed>();
    return name(x.name, y.name) && x.has_args == y.has_args &&
           std::equal(x.args.begin(), x.args.end(), y.args.begin(), y.args.end(),
                      [&](const TypeArg& p, const TypeArg& q) {
                        if (p.type.valid() != q.type.valid()) return false;
                        return p.type.valid() ? type(p.type, q.type) : dim(p.dim, q.dim);
                      });
  }

  bool dim(DimExprId left, DimExprId right) const {
    while (ast_[left].kind() == DimExprKind::Paren) left = ast_[left].as<DimParen>().inner;
    while (ast_[right].kind() == DimExprKind::Paren) right = ast_[right].as<DimParen>().inner;
    const DimExpr& a = ast_[left];
    const DimExpr& b = ast_[right];
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case DimExprKind::Int:
        return a.as<DimInt>().value == b.as<DimInt>().value;
      case DimExprKind::Name:
        return name(a.as<DimName>().name, b.as<DimName>().name);
      case DimExprKind::Variadic:
        return name(a.as<DimVariadic>().name, b.as<DimVariadic>().name);
      case DimExprKind::Binary: {
        const DimBinary& x = a.as<DimBinary>();
        const DimBinary& y = b.as<DimBinary>();
        return x.op == y.op && dim(x.left, y.left) && dim(x.right, y.right);
      }
      case DimExprKind::Paren:
        break;
    }
    return false;
  }

  const Ast& ast_;
  std::unordered_map<NameId, NameId, IdHash> renames_;
  bool equal_ = true;
};

struct Resolved {
  bool done = false;
  Definition def;
  std::vector<Reference> references;
};

class Resolver {
 public:
  Resolver(const LoadedModules& modules, const ResolveOptions& options, Session& session)
      : modules_(modules), options_(options), session_(session), envs_(modules, session) {}

  ClosedProgram run() {
    envs_.check_lists();
    collect_aliases();
    AliasTable aliases(raw_aliases_, session_.ast, session_.names);
    collect_root_constants();
    collect_primitive_homes();
    for (const LoadedModule& module : modules_.modules) {
      used_imports_.emplace_back(module.module.imports.size(), false);
      resolved_.emplace_back(module.module.definitions.size());
    }
    ResolveContext context{envs_,         aliases,         alias_owner_, root_constants_,
                           used_imports_, primitive_home_, session_};
    context_ = &context;
    if (!check_alias_cycles(aliases, session_)) return {};
    resolve_aliases();
    resolve_user_files();
    Entity main = options_.partial ? any_entry() : find_main();
    if (main) mark(main, reached_);
    if (options_.partial) mark_user_files(reached_);
    for (const Reference& reference : alias_references_) mark(reference.entity, reached_);
    if (!session_.sink.has_errors()) check_cycles();  // a wrong name may close one
    if (session_.sink.has_errors() || !main) return {};
    if (!options_.partial) warn_unused();
    ClosedProgram out = assemble(main);
    validate_closed(out.program, session_);
    return out;
  }

 private:
  using Marks = std::vector<std::vector<bool>>;

  void collect_aliases() {
    for (size_t m = 0; m < modules_.modules.size(); ++m) {
      const auto& aliases = modules_.modules[m].module.aliases;
      for (size_t i = 0; i < aliases.size(); ++i) {
        Entity entity{Entity::Kind::Alias, m, i};
        auto [known, fresh] = alias_owner_.emplace(aliases[i].name, entity);
        if (fresh) {
          raw_aliases_.push_back(aliases[i]);
          continue;
        }
        const Entity& first = known->second;
        const TypeAlias& other = modules_.modules[first.module].module.aliases[first.index];
        if (AliasEquality(other, aliases[i], session_.ast).equal()) continue;
        session_.sink
            .report(Diag::ResAliasConflict, aliases[i].span, {session_.names.text(aliases[i].name)})
            .note(Note::NoteFirstHere, other.span);
      }
    }
  }

  void collect_root_constants() {
    for (const Definition& def : modules_.modules.back().module.definitions) {
      if (def.params.empty() && def.path_params.empty()) root_constants_.insert(def.name);
    }
  }

  // Which library definition calls which primitive; the first one in load order.
  void collect_primitive_homes() {
    for (size_t m = 0; m + 1 < modules_.modules.size(); ++m) {
      if (!modules_.modules[m].from_library) continue;
      for (const Definition& def : modules_.modules[m].module.definitions) {
        std::string home = envs_.module_name(m) + "." + std::string(session_.names.text(def.name));
        visit_body(def, session_.ast,
                   {[&](ExprId id) {
                      const Expr& node = session_.ast[id];
                      NameId callee;
                      if (const Call* call = node.get<Call>()) callee = call->callee;
                      if (const Name* name = node.get<Name>()) callee = name->name;
                      if (callee.valid() && find_primitive(session_.names.text(callee))) {
                        primitive_home_.emplace(callee, home);
                      }
                    },
                    [](StmtId) {}});
      }
    }
  }

  void resolve_aliases() {
    for (const TypeAlias& alias : raw_aliases_) {
      DefResolver resolver(*context_, alias_owner_.at(alias.name).module);
      aliases_.push_back(resolver.run(alias));
      alias_references_.insert(alias_references_.end(), resolver.references.begin(),
                               resolver.references.end());
    }
  }

  // Files of the user are resolved whole, the library as far as it is used.
  void resolve_user_files() {
    mark_user_files(touched_);
    for (const Reference& reference : alias_references_) mark(reference.entity, touched_);
  }

  void mark_user_files(Marks& marks) {
    for (size_t m = 0; m < modules_.modules.size(); ++m) {
      if (modules_.modules[m].from_library) continue;
      for (size_t i = 0; i < resolved_[m].size(); ++i) {
        mark({Entity::Kind::Def, m, i}, marks);
      }
    }
  }

  const Resolved& resolved(const Entity& entity) {
    Resolved& out = resolved_[entity.module][entity.index];
    if (out.done) return out;
    out.done = true;
    DefResolver resolver(*context_, entity.module);
    out.def = resolver.run(envs_.def(entity));
    out.def.name = envs_.canonical(entity);
    out.references = std::move(resolver.references);
    return out;
  }

  // Marks what `start` reaches through references.
  void mark(const Entity& start, Marks& marks) {
    if (marks.empty()) {
      for (const auto& module : resolved_) marks.emplace_back(module.size(), false);
    }
    std::deque<Entity> queue = {start};
    while (!queue.empty()) {
      Entity entity = queue.front();
      queue.pop_front();
      if (marks[entity.module][entity.index]) continue;
      marks[entity.module][entity.index] = true;
      for (const Reference& reference : resolved(entity).references) {
        queue.push_back(reference.entity);
      }
    }
  }

  // ---- entry -----------------------------------------------------------------------------

  const Pragma* pragma(std::string_view name) const {
    for (const Pragma& pragma : modules_.modules.back().module.pragmas) {
      if (session_.names.text(pragma.name) == name) return &pragma;
    }
    return nullptr;
  }

  Entity find_by_name(std::string_view text) {
    NameId name = session_.names.find(text);
    if (!name.valid()) return {};
    NameLookup found = envs_.value(envs_.root(), name, true);
    if (found.candidates.size() != 1) return {};
    Entity entity = found.candidates[0].entity;
    if (envs_.def(entity).is_global) return {};
    return entity;
  }

  Entity find_main() {
    std::string wanted = options_.main;
    Span span;
    if (wanted.empty()) {
      if (const Pragma* main = pragma("main")) {
        span = main->span;
        const String* text = session_.ast[main->value].get<String>();
        if (!text) {
          session_.sink.report(Diag::NormPragmaValue, span, {"MAIN", "a name in quotes"});
          return {};
        }
        wanted = std::string(session_.names.text(text->value));
      } else {
        for (const Definition& def : modules_.modules.back().module.definitions) {
          if (!def.is_global) wanted = std::string(session_.names.text(def.name));
        }
      }
    }
    Entity main = find_by_name(wanted);
    if (!main) {
      Diagnostic& diag = session_.sink.report(Diag::ResMain, span, {wanted});
      std::vector<std::string> known;
      for (const Definition& def : modules_.modules.back().module.definitions) {
        if (!def.is_global) known.emplace_back(session_.names.text(def.name));
      }
      for (const std::string& near : closest(wanted, known, 1)) {
        diag.note(Note::NoteDidYouMean, span, {"`" + near + "`"});
      }
      return {};
    }
    const Definition& def = envs_.def(main);
    if (!def.path_params.empty()) {
      session_.sink.report(Diag::ResMainPath, def.name_span, {session_.names.text(def.name)});
    }
    return main;
  }

  // The one that is asked for, else the last definition of the user's files that can be one.
  Entity any_entry() {
    Entity wanted = options_.main.empty() ? Entity{} : find_by_name(options_.main);
    if (wanted && envs_.def(wanted).path_params.empty()) return wanted;
    for (size_t m = modules_.modules.size(); m-- > 0;) {
      if (modules_.modules[m].from_library) continue;
      const auto& definitions = modules_.modules[m].module.definitions;
      for (size_t i = definitions.size(); i-- > 0;) {
        if (!definitions[i].is_global && definitions[i].path_params.empty())
          return {Entity::Kind::Def, m, i};
      }
    }
    return {};
  }

  // Entries that ARCHITECTURES tuples name count as used.
  void mark_architectures(Marks& marks) {
    const Pragma* list = pragma("architectures");
    if (!list) return;
    visit(list->value, session_.ast,
          {[&](ExprId id) {
             const Tuple* tuple = session_.ast[id].get<Tuple>();
             if (!tuple || tuple->items.size() < 2) return;
             const String* main = session_.ast[tuple->items[1]].get<String>();
             if (!main) return;
             names_of_entries_.push_back(std::string(session_.names.text(main->value)));
           },
           [](StmtId) {}});
    for (const std::string& name : names_of_entries_) {
      if (Entity entity = find_by_name(name)) mark(entity, marks);
    }
  }

  // ---- checks ----------------------------------------------------------------------------

  void check_cycles() {
    std::vector<Entity> entities;
    std::vector<std::vector<size_t>> index_of;
    for (size_t m = 0; m < resolved_.size(); ++m) {
      index_of.emplace_back(resolved_[m].size(), 0);
      for (size_t i = 0; i < resolved_[m].size(); ++i) {
        if (!resolved_[m][i].done) continue;
        index_of[m][i] = entities.size();
        entities.push_back({Entity::Kind::Def, m, i});
      }
    }
    std::vector<CycleNode> nodes;
    for (const Entity& entity : entities) {
      const Resolved& item = resolved_[entity.module][entity.index];
      CycleNode node{std::string(session_.names.text(item.def.name)), item.def.is_global, {}};
      for (const Reference& reference : item.references) {
        if (reference.in_type) continue;
        node.edges.push_back(
            {index_of[reference.entity.module][reference.entity.index], reference.span});
      }
      nodes.push_back(std::move(node));
    }
    for (const Cycle& cycle : find_cycles(nodes)) {
      std::string text;
      bool global = false;
      for (size_t node : cycle.nodes) {
        text += nodes[node].name + " → ";
        global |= nodes[node].is_global;
      }
      text += nodes[cycle.nodes[0]].name;
      Diagnostic& report = session_.sink.report(global ? Diag::ResGlobalCycle : Diag::ResRecursion,
                                                cycle.span, {text});
      for (size_t i = 1; i < cycle.nodes.size(); ++i) {
        const size_t next = cycle.nodes[(i + 1) % cycle.nodes.size()];
        const CycleNode& node = nodes[cycle.nodes[i]];
        for (const CycleEdge& edge : node.edges) {
          if (edge.to != next) continue;
          report.note(Note::NoteHere, edge.span,
                      {"`" + node.name + "` needs `" + nodes[next].name + "` here"});
          break;
        }
      }
    }
  }

  void warn_unused() {
    Marks used = reached_;
    mark_architectures(used);
    for (size_t m = 0; m < modules_.modules.size(); ++m) {
      const LoadedModule& module = modules_.modules[m];
      if (module.from_library) continue;
      for (size_t i = 0; i < module.module.definitions.size(); ++i) {
        const Definition& def = module.module.definitions[i];
        if (used[m][i]) continue;
        session_.sink.report(Diag::WUnusedDef, def.name_span, {session_.names.text(def.name)});
      }
      warn_unused_imports(m);
      warn_no_signature(module);
    }
  }

  // Several imports of one module count as one.
  void warn_unused_imports(size_t m) {
    const LoadedModule& module = modules_.modules[m];
    const auto& imports = module.module.imports;
    for (size_t i = 0; i < imports.size(); ++i) {
      bool used = false, repeated = false;
      for (size_t k = 0; k < imports.size(); ++k) {
        if (module.import_targets[k] != module.import_targets[i]) continue;
        used |= used_imports_[m][k];
        repeated |= k < i;
      }
      for (const ImportMember& member : module.module.exports) {
        used |= member.name == imports[i].module;
        for (const ImportMember& item : imports[i].members) used |= item.name == member.name;
      }
      if (used || repeated) continue;
      session_.sink.report(Diag::WUnusedImport, imports[i].span,
                           {session_.names.text(imports[i].module)});
    }
  }

  void warn_no_signature(const LoadedModule& module) {
    for (const ImportMember& member : module.module.exports) {
      for (const Definition& def : module.module.definitions) {
        if (def.name != member.name || def.is_global || def.has_signature) continue;
        session_.sink.report(Diag::WNoSignature, def.name_span, {session_.names.text(def.name)});
      }
    }
  }

  // ---- output ----------------------------------------------------------------------------

  ClosedProgram assemble(const Entity& main) {
    ClosedProgram out;
    Program& program = out.program;
    for (size_t m = 0; m < resolved_.size(); ++m) {
      for (size_t i = 0; i < resolved_[m].size(); ++i) {
        if (!reached_[m][i]) continue;
        program.by_name.emplace(resolved_[m][i].def.name, program.definitions.size());
        program.definitions.push_back(resolved_[m][i].def);
      }
    }
    program.aliases = aliases_;
    program.pragmas = modules_.modules.back().module.pragmas;
    program.main = envs_.canonical(main);
    program.overlays = modules_.overlays;
    set_main_pragma(program);
    return out;
  }

  // An entry chosen by the caller shows in the program like one that the file names.
  void set_main_pragma(Program& program) {
    NameId key = session_.names.intern("main");
    ExprId value = session_.ast.add(Expr{String{program.main}, {}});
    for (Pragma& pragma : program.pragmas) {
      if (pragma.name != key) continue;
      const String* text = session_.ast[pragma.value].get<String>();
      if (!text || text->value != program.main) pragma.value = value;
      return;
    }
    program.pragmas.insert(program.pragmas.begin(), Pragma{key, value, {}});
  }

  const LoadedModules& modules_;
  const ResolveOptions& options_;
  Session& session_;
  ModuleEnvs envs_;
  std::vector<TypeAlias> raw_aliases_, aliases_;
  std::unordered_map<NameId, Entity, IdHash> alias_owner_;
  NameSet root_constants_;
  std::unordered_map<NameId, std::string, IdHash> primitive_home_;
  std::vector<std::vector<bool>> used_imports_;
  std::vector<std::vector<Resolved>> resolved_;
  std::vector<Reference> alias_references_;
  std::vector<std::string> names_of_entries_;
  Marks touched_, reached_;
  ResolveContext* context_ = nullptr;
};

}  // namespace

ClosedProgram resolve(const LoadedModules& modules, const ResolveOptions& options,
                      Session& session) {
  return Resolver(modules, options, session).run();
}

}  // namespace axon::sema
