// A structured Graph as general instructions: one routine for each definition that MAIN reaches.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/eval_value.h"
#include "graph/graph.h"
#include "plan/context.h"

namespace axon::plan {

class General {
 public:
  // `config` answers reads that are left in the graph; it may be null.
  General(Context& context, const graph::Graph& graph, const model::ConfigValue* config)
      : context_(context), graph_(graph), config_(config) {}
  // The routine of MAIN, and all others in the program. Invalid after an error, which is in the
  // sink.
  runtime::RoutineId run();

 private:
  using IntId = runtime::IntId;
  using Register = runtime::Register;
  using Node = graph::Node;

  // general.cc: routines
  bool compile(graph::ModuleId id);
  void reach(graph::ModuleId id);
  std::vector<SymbolId> constants_of(const graph::Module& module) const;
  std::vector<DimId> dims_read(const graph::Module& module) const;
  void make_inputs();
  bool make_defaults();
  bool compute_default(const graph::Operand& value, runtime::RoutineInput& in);
  void make_sources();
  void make_checks();
  bool make_fact(const graph::Fact& fact, runtime::RoutineFact& out);
  bool fact_side(const graph::Operand& operand, IntId& dim, Register& value, std::string& text);
  void note_dead();
  runtime::PatternId pattern(TypeId type);
  runtime::Pattern pattern_of(TypeId type, bool declared);
  runtime::PatternId declared(TypeId type);  // invalid: nothing to look at when the value is made
  bool declares(TypeId type) const;
  bool is_declared(DimId dim) const;
  runtime::PatternId widening(TypeId type);  // invalid: it widens nothing
  bool widens(TypeId type) const;
  IntId expr(DimId dim);
  bool fail(std::string_view what, std::string_view why);

  // general_code.cc: instructions
  bool node(const Node& node);
  bool apply(Op op, graph::ModuleId callee, const std::vector<graph::Operand>& inputs,
             const std::vector<graph::Attr>& attrs, TypeId type, std::vector<Register> outputs);
  bool primitive(Op op, const std::vector<graph::Operand>& inputs,
                 const std::vector<graph::Attr>& attrs, runtime::GeneralInstr instr);
  bool select(const std::vector<graph::Operand>& inputs, TypeId type,
              std::vector<Register> outputs);
  bool repeat(const Node& node);
  void look_at(Register value, TypeId type);
  bool operand(const graph::Operand& operand, Register& out);  // in some register
  bool operand_into(const graph::Operand& operand, Register out);
  bool path(const graph::Path& path, Register out);
  void global(graph::ModuleId id, Register out);
  void dim(DimId dim, Register out);
  // general_config.cc: reads of the configuration
  bool about_config(graph::ModuleId id);
  std::optional<graph::EvalValue> known(const graph::Operand& operand);
  std::optional<graph::EvalValue> asked(graph::ModuleId id, std::vector<graph::EvalValue> inputs);
  bool answer(graph::ModuleId id, const std::vector<graph::Operand>& operands, Register out);
  bool answer_read(Op op, const std::vector<graph::Operand>& inputs,
                   const std::vector<graph::Attr>& attrs, Register out);
  bool write(const graph::EvalValue& value, Register out);

  Register temporary() { return routine_.registers++; }
  runtime::GeneralInstr& emit(runtime::GeneralInstr instr);

  Context& context_;
  const graph::Graph& graph_;
  const model::ConfigValue* config_;
  std::unordered_map<graph::ModuleId, bool, IdHash> about_config_;
  std::vector<bool> reached_;  // by ModuleId
  std::vector<graph::ModuleId> order_;
  std::vector<runtime::RoutineId> routines_;  // by ModuleId
  std::unordered_map<TypeId, runtime::PatternId, IdHash> patterns_, declared_;
  graph::ModuleId id_;  // the module that is being compiled
  const graph::Module* module_ = nullptr;
  runtime::Routine routine_;
  std::unordered_set<SymbolId, IdHash> used_;  // symbols that the module reads as numbers
  Span span_;
};

}  // namespace axon::plan
