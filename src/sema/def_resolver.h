// Resolves the names of one definition: values, callees, placeholders, dims (language.md 6.2, 7.3).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sema/alias.h"
#include "sema/module_env.h"
#include "sema/walk.h"

namespace axon::sema {

// One use of a definition inside another. Uses in types do not make a definition call another.
struct Reference {
  Entity entity;
  Span span;
  bool in_type = false;
};

// What all definitions of one resolve run share.
struct ResolveContext {
  const ModuleEnvs& envs;
  const AliasTable& aliases;
  const std::unordered_map<NameId, Entity, IdHash>& alias_owner;
  const NameSet& root_constants;  // names that a dim variable of another module must not have
  std::vector<std::vector<bool>>& used_imports;                     // by module, by import
  std::unordered_map<NameId, std::string, IdHash>& primitive_home;  // library definition of each
  Session& session;
};

class DefResolver : public Rewriter {
 public:
  DefResolver(ResolveContext& context, size_t module);

  syntax::Definition run(const syntax::Definition& def);
  syntax::TypeAlias run(const syntax::TypeAlias& alias);
  std::vector<Reference> references;

 protected:
  syntax::ExprId expr(syntax::ExprId id) override;
  std::vector<syntax::StmtId> block(const std::vector<syntax::StmtId>& body) override;
  syntax::TypeExprId type(syntax::TypeExprId id) override;
  syntax::PathLit path(const syntax::PathLit& path) override;
  void bind(const syntax::Target& target) override;
  void loop(syntax::StmtId id, syntax::Loop loop, std::vector<syntax::StmtId>& out) override;
  void scope_bind(syntax::StmtId id, syntax::ScopeBind scope,
                  std::vector<syntax::StmtId>& out) override;

 private:
  enum class TypeMode : uint8_t { Param, Return, Ascription, Alias };
  enum class Use : uint8_t { Value, Callee, Placeholder };
  using PendingRebinds = std::unordered_map<NameId, Span, IdHash>;

  void prepare(const syntax::Definition& def);
  void keep_rebound(const PendingRebinds& before);
  syntax::ExprId pipe(syntax::ExprId id);
  NameId value_name(NameId name, Span span, Use use);
  NameId module_name(NameId name, Span span, Use use);
  NameId primitive(NameId name, Span span);
  void check_shown(const NameLookup& found, NameId name, Span span);
  void report_unknown(NameId name, Span span, Use use);
  void suggest_for_value(Diagnostic& diag, Span span);
  void suggest_equality(Diagnostic& diag, Span is);
  syntax::ExprId statement_argument(const syntax::Call& call) const;
  bool suggest_dtype(Diagnostic& diag, std::string_view text, Span span);
  bool suggest_habit(Diagnostic& diag, std::string_view text, Span span);
  void report_not_callable(NameId name, Span span, const syntax::Definition* def);
  bool is_type_name(NameId name) const;
  void check_callee(const syntax::Call& call);
  void suggest(Diagnostic& diag, NameId name, Span span, Use use);
  void report_ambiguous(const NameLookup& found, NameId name, Span span);
  void use(const Candidate& candidate, Span span, bool in_type);
  syntax::TypeExprId named_type(syntax::TypeExprId id, syntax::TypeNamed named, Span span);
  void check_type_name(NameId name, Span span, bool has_args, const syntax::TypeAlias* alias,
                       size_t count);
  void free_alias_dims(const syntax::TypeAlias& alias, syntax::TypeExprId type);
  void free_alias_dims(const syntax::TypeAlias& alias, size_t owner, syntax::DimExprId dim);
  syntax::DimExprId dim(syntax::DimExprId id);
  NameId dim_name(NameId name, Span span);
  NameId dim_variable(NameId name);
  void check_path(const syntax::PathLit& path);
  void note_read(NameId name, Span span);
  bool warns() const { return !from_library_; }

  ResolveContext& context_;
  Session& session_;
  size_t module_;
  bool from_library_;
  TypeMode mode_ = TypeMode::Param;
  std::vector<NameId> path_params_;
  NameSet dependent_;   // parameters that name a dim
  NameSet bound_dims_;  // after renaming
  NameSet return_dims_;
  NameSet alias_params_;
  NameSet reported_;            // unknown names: the first use of each is enough
  bool word_reported_ = false;  // a keyword that was read as a name: what is around it is no call
  NameSet used_names_;          // every name of the definition, for fresh ones
  LocalScope dim_values_;       // dims that an ascription made values
  std::unordered_map<NameId, NameId, IdHash> dim_renames_;
  PendingRebinds rebound_;  // outer names that a scope bind gave a new value, by place
};

}  // namespace axon::sema
