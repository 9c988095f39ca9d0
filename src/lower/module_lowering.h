// Lowers one definition. Private to the lowering.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "sema/dim_names.h"
#include "sema/stages.h"

namespace axon::lower {

// What all modules share.
struct Context {
  const sema::TypedProgram& program;
  sema::Session& session;
  graph::Graph& graph;
  std::unordered_map<NameId, graph::ModuleId, IdHash> modules;  // by definition, once they exist
};

// Without the `__g<n>` of a name bound again.
NameId source_name(NameId name, Interner& names);

class ModuleLowering {
 public:
  ModuleLowering(Context& context, graph::ModuleId module, size_t definition);
  void run();
  // An expression as an operand: atoms as they are, everything else nested.
  graph::Operand operand(syntax::ExprId id);
  syntax::ExprId only_branch(const syntax::Expr& e, TypeId type) const;

 private:
  void inputs();
  void statement(syntax::StmtId id);
  void bind(const syntax::Bind& bind, Span span, std::span<const syntax::StmtId> following);
  TypeId own_sizes(TypeId item, NameId name, std::span<const syntax::StmtId> following);
  TypeId joined_type(const syntax::Call& round, const graph::RepeatInfo& info, int32_t carry) const;
  void loop(const syntax::Loop& loop, Span span, std::span<const syntax::StmtId> following);
  void results(const std::vector<syntax::ExprId>& values);
  void constraints();
  void constraint(const sema::TypedConstraint& fact, const std::set<SymbolId>& unknown);
  std::set<SymbolId> result_names() const;

  // Fills op, callee and inputs of a node or a nested expression.
  template <class Target>
  void application(Target& target, const syntax::Expr& e);
  graph::Operand name(NameId id, syntax::ExprId expr, Span span);
  graph::Path path(const syntax::PathLit& path, Span span);
  graph::NodeId add_node(graph::Node node, const syntax::PathLit& scope, Span span);
  void add_outputs(graph::NodeId node, const std::vector<syntax::Target>& targets,
                   const std::vector<TypeId>& types);
  graph::ValueId add_value(NameId name, TypeId type);
  NameId unique(NameId name);
  TypeId type_of(syntax::ExprId id) const;
  std::vector<TypeId> split(TypeId whole, size_t count) const;
  std::optional<TypeId> type_at_use(NameId name, std::span<const syntax::StmtId> following) const;
  bool is_global(NameId name) const;
  void fail(std::string_view what, Span span);

  Context& c_;
  const syntax::Definition& def_;
  const sema::TypedDefinition& typed_;
  graph::Graph& graph_;
  graph::ModuleId id_;
  const syntax::Ast& ast_;
  TypeTable& types_;
  Interner& names_;
  sema::DimNames dims_;
  std::unordered_map<NameId, graph::ValueId, IdHash> values_;  // what a source name means now
  std::unordered_set<NameId, IdHash> taken_;
  std::unordered_map<NameId, int, IdHash> last_number_;
  int own_sizes_ = 0;  // sizes that only the lowering named
  graph::Module& module() { return graph_[id_]; }
};

}  // namespace axon::lower
