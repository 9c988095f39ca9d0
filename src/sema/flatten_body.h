// Flattening of one definition body (language.md 10.7). Internal to flatten.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sema/alias.h"
#include "sema/prefix.h"
#include "sema/walk.h"

namespace axon::sema {

// What the body of a source definition and all its helpers share.
struct FlattenContext {
  const Program& program;
  const PrefixFacts& facts;
  const AliasTable& aliases;
  Session& session;
  const syntax::Definition& def;   // the source definition, elaborated
  std::vector<NameId> path_names;  // its path parameters, the hidden one included
  NameSet used_names;              // every name of the definition, for fresh ones
  NameSet outside_names;           // names that mean a dim or a definition somewhere in it
  NameSet signature_dims;          // dims of its signature that are no parameters
  int helper_count = 0;
  std::vector<syntax::Definition> helpers;                   // finished ones, inner before outer
  std::unordered_map<NameId, int, IdHash> last_number = {};  // of fresh(), by name

  NameId fresh(NameId like);
};

// What is known of a value name where a helper captures it.
struct Captured {
  syntax::TypeExprId type;  // declared type; invalid when it is not known
  bool optional = false;
};

class BodyFlattener {
 public:
  BodyFlattener(FlattenContext& context, syntax::PathLit prefix);

  // A whole body. The result ends in a return.
  std::vector<syntax::StmtId> run_definition();
  void bind_formals(const syntax::Definition& def);

 private:
  enum class BlockKind : uint8_t { Main, Scope };
  // A local bool that says whether a name is null.
  struct NullTest {
    NameId subject;
    bool is_null = true;
  };
  using Renames = std::unordered_map<NameId, NameId, IdHash>;

  // flatten_expr.cc
  syntax::ExprId flat(syntax::ExprId id);
  syntax::ExprId atom(syntax::ExprId id);
  std::vector<syntax::ExprId> atoms(const std::vector<syntax::ExprId>& ids);
  syntax::ExprId flat_call(const syntax::Call& call, Span span);
  syntax::ExprId flat_binary(syntax::ExprId id);
  syntax::ExprId flat_do(const syntax::Do& node, Span span);
  syntax::ExprId flat_bind(const syntax::BindExpr& node);
  syntax::ExprId conditional(syntax::ExprId cond, syntax::ExprId then_value,
                             syntax::ExprId else_value, Span span);
  syntax::ExprId atomise(syntax::ExprId flat_id);
  bool is_flat(syntax::ExprId id) const;       // needs no prelude
  bool is_atom(syntax::ExprId id) const;       // of the input
  bool is_flat_atom(syntax::ExprId id) const;  // of the output
  syntax::PathLit path(const syntax::PathLit& path) const;
  syntax::PathLit renamed(const syntax::PathLit& path) const;
  syntax::TypeExprId type(syntax::TypeExprId id);
  syntax::ExprId prefix_value(Span span) const;
  NameId value_name(NameId name) const;
  syntax::ExprId add(syntax::Expr node) const;
  NameId temporary();
  struct DoState {
    Renames renames;
    NameSet renamed;
    std::unordered_map<NameId, NullTest, IdHash> tests;
    bool in_do;
  };
  DoState enter_do();
  void leave_do(DoState state);

  // flatten_stmt.cc
  void statements(const std::vector<syntax::StmtId>& body);
  void statement(syntax::StmtId id);
  std::vector<syntax::ExprId> values_of(const std::vector<syntax::StmtId>& body);
  void if_stmt(const syntax::IfStmt& node, Span span);
  std::vector<syntax::ExprId> returning_if(const syntax::IfStmt& node, Span span);
  void loop(const syntax::Loop& node, Span span);
  void scope_bind(const syntax::ScopeBind& node, Span span);
  NameId bind_name(NameId name);
  bool in_prefix(NameId flat_name) const;  // as a placeholder
  bool is_path_name(NameId flat_name) const;
  std::vector<syntax::Target> bind_targets(const std::vector<syntax::Target>& targets);
  void emit_bind(std::vector<syntax::Target> targets, syntax::ExprId value, Span span);
  bool outer_known(NameId name) const { return locals_.contains(name); }
  syntax::PathLit extended(const syntax::PathLit& scope) const;

  // flatten_helper.cc
  struct Branch {
    syntax::HelperKind kind = syntax::HelperKind::BranchTrue;
    syntax::ExprId value;                                // either this
    const std::vector<syntax::StmtId>* suite = nullptr;  // or these, then `joined`
    std::vector<NameId> joined;                          // names that a binding suite hands on
    std::vector<NameId> non_null;                        // what the condition proves
    Span span;
  };
  syntax::ExprId branch(const Branch& branch);
  bool branch_is_flat(const Branch& branch) const;
  syntax::ExprId inline_branch(const Branch& branch);
  syntax::ExprId branch_helper(const Branch& branch);
  std::vector<syntax::StmtId> loop_call(const syntax::Loop& node, NameId var,
                                        const std::vector<syntax::Target>& carry, Span span);
  syntax::ExprId step_helper(const syntax::Loop& node, NameId var,
                             const std::vector<syntax::Target>& carry, Span span);
  syntax::ExprId flat_step(const syntax::Loop& node, NameId var,
                           const std::vector<syntax::Target>& carry);
  bool is_flat_loop(const syntax::Loop& node) const;
  void inherit(const BodyFlattener& outer);
  void bind_own(NameId source, NameId flat_name);
  std::vector<NameId> captured(const std::vector<syntax::StmtId>& body,
                               const std::vector<NameId>& bound) const;
  NameSet dependent_params() const;
  bool means_dim(NameId name) const;
  std::string loop_label(const syntax::Loop& node) const;
  std::string helper_name(const std::string& base);
  syntax::Definition helper(syntax::HelperKind kind, const std::string& name, Span span) const;
  std::vector<NameId> non_null(syntax::ExprId cond, bool holds) const;
  void record_null_test(NameId target, syntax::ExprId value);
  bool null_test(syntax::ExprId cond, NullTest& out) const;
  bool returns(const std::vector<syntax::StmtId>& body) const;
  size_t return_count(const std::vector<syntax::StmtId>& body) const;

  FlattenContext& ctx_;
  syntax::Ast& ast_;
  Interner& names_;
  syntax::PathLit prefix_;
  LocalScope locals_;    // source names in force
  Renames renames_;      // source name → name in the flat body, where they differ
  NameSet visible_;      // names bound so far in the flat body, outer ones included
  NameSet valued_dims_;  // dims that parameters and ascriptions made values so far
  std::unordered_map<NameId, Captured, IdHash> facts_;       // by flat name
  std::unordered_map<NameId, NullTest, IdHash> null_tests_;  // by source name
  BlockKind block_ = BlockKind::Main;
  bool in_do_ = false;     // inside an expression: nothing bound here may leak
  NameSet block_renamed_;  // names that the current do-block has given a place
  std::vector<syntax::StmtId> out_;
  int temporaries_ = 0;
  NameSet own_names_;  // names of the flat body, which temporaries skip
};

// Names in a flat body that nothing in it binds first, in order of use.
// `dependent`: names that mean the same in dims of ascriptions. Dims of ascriptions are bound by
// them, unless `outer` says that they have a value already.
std::vector<NameId> free_in(const std::vector<syntax::StmtId>& body, const syntax::Ast& ast,
                            const std::vector<NameId>& bound, const NameSet& dependent,
                            function_ref<bool(NameId)> outer);
std::vector<syntax::StmtId> substitute(const std::vector<syntax::StmtId>& body,
                                       const std::unordered_map<NameId, NameId, IdHash>& map,
                                       const NameSet& dependent, syntax::Ast& ast);
// Scopes may only name formals of the flat definition: cuts them before the first other
// placeholder.
std::vector<syntax::StmtId> trim_scopes(const std::vector<syntax::StmtId>& body,
                                        const NameSet& formals, syntax::Ast& ast);

}  // namespace axon::sema
