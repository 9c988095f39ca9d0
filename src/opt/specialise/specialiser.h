// The interpreter behind specialise(): frames of definitions being executed, and the flat module.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "opt/specialise.h"
#include "opt/specialise/emitter.h"

namespace axon::opt {

// One execution of a module.
struct Frame {
  graph::ModuleId id;
  std::vector<TreeId> values;                           // by ValueId; invalid: not computed yet
  std::vector<std::pair<SymbolId, DimId>> dims;         // what the module's dimension names mean here
  const Frame* caller = nullptr;
  const graph::Node* call = nullptr;                    // in the caller
  NameId scope;                                         // of nodes without their own: the caller's
};

class Specialiser {
 public:
  Specialiser(const graph::Graph& graph, TypeTable& types, Forest& forest, const Answers& answers,
              const SpecialiseOptions& options, DiagSink& sink);
  std::optional<Specialised> run(const std::vector<TreeId>& inputs);

 private:
  using Args = std::vector<TreeId>;

  // modules.cc: structure
  bool bind_main(Frame& frame, const std::vector<TreeId>& inputs);
  TreeId run_module(graph::ModuleId id, const Args& args, const graph::Node* call, const Frame* caller);
  bool run_body(Frame& frame);
  bool run_node(Frame& frame, const graph::Node& node);
  TreeId evaluate(Frame& frame, Op op, graph::ModuleId callee, const std::vector<graph::Operand>& inputs,
                  const std::vector<graph::Attr>& attrs, TypeId type);
  TreeId select(Frame& frame, const std::vector<graph::Operand>& inputs);
  bool repeat(Frame& frame, const graph::Node& node);
  TreeId global(graph::ModuleId id);
  TreeId operand(Frame& frame, const graph::Operand& operand);
  TreeId result_of(Frame& frame);

  // binding.cc: what names of dims mean, and coercion to declared types
  void bind_dims(Frame& frame, TypeId type, TreeId tree);
  void bind_symbol(Frame& frame, SymbolId symbol, DimId value);
  void bind_param_symbol(Frame& frame, NameId name, TreeId tree);
  DimId lookup(Frame& frame, SymbolId symbol);
  DimId resolve_dim(Frame& frame, DimId dim);           // invalid when a name has no meaning here
  TreeId coerce(TreeId tree, TypeId type);
  bool check_type(Frame& frame, TypeId type, TreeId tree);

  // paths.cc
  TreeId path(Frame& frame, const graph::Path& path);
  NameId path_text(Frame& frame, const graph::Path& path);
  NameId scope_of(Frame& frame, const graph::Node& node);

  // scalars.cc: operations that leave nothing behind
  TreeId binary(Op op, TreeId a, TreeId b);
  TreeId scalar_binary(Op op, const Tree& a, const Tree& b);
  TreeId integer_binary(Op op, DimId a, DimId b);
  TreeId compare(Op op, const Tree& a, const Tree& b);
  TreeId integer_compare(Op op, DimId a, DimId b);
  TreeId scalar_function(Op op, const Args& args);
  bool condition(TreeId tree, bool& out);
  DimId dim_of(TreeId tree);                            // invalid after an error
  bool is_tensor(TreeId id) const { return id.valid() && forest_[id].kind == Tree::Kind::Tensor; }

  // primitives.cc
  bool gather_args(Frame& frame, Op op, const std::vector<graph::Operand>& inputs,
                   const std::vector<graph::Attr>& attrs, Args& args);
  TreeId default_arg(std::string_view text);
  TreeId primitive(Op op, Args args);
  TreeId structural(Op op, const Args& args, bool& handled);   // lists, shapes, null: no tensor result
  TreeId shape_list(TreeId x);

  // params.cc: what reads the checkpoint
  TreeId param(NameId key);
  TreeId layer(Op op, const Args& args);
  TreeId linear(Op op, const Args& args);
  TreeId embedding(const Args& args);
  TreeId layernorm(const Args& args);
  NameId key_of(TreeId base, TreeId leaf);
  const model::Resolved* resolve(NameId key);
  const model::Resolved* require_param(NameId key, size_t least_rank);
  graph::Operand path_literal(NameId text);

  // tensors.cc: nodes of the flat module
  TreeId tensor_op(Op op, const Args& args);
  TreeId simplify(Op op, const Args& args);             // a value that exists already, or invalid
  TreeId whole_assignment(const Args& args);
  bool to_operand(TreeId tree, graph::Operand& out);
  graph::Operand integer_operand(DimId dim);
  Origin origin();
  void add_fact(DimFact fact);

  // uniform.cc: tensors filled with one number
  std::optional<double> uniform(TreeId tree);
  TreeId filled(const Emitter::Result& result, double value, TreeId ref);
  TreeId as_shape(TreeId tree, const Emitter::Result& want);
  TreeId fold_uniform(Op op, const Args& args, const std::vector<Emitter::Result>& results);
  void note_uniform(Op op, const Args& args, TreeId result);

  TreeId fail(std::string_view why);                    // PLAN-UNSUPPORTED here; gives an invalid id
  TreeId report(Diag id, std::vector<DiagArg> args);

  const graph::Graph& graph_;
  TypeTable& types_;
  DimTable& dims_;
  Interner& names_;
  Forest& forest_;
  const Answers& answers_;
  const SpecialiseOptions& options_;
  DiagSink& sink_;
  Specialised out_;
  Emitter emitter_;                                     // into out_
  Frame* frame_ = nullptr;                              // being executed
  const graph::Node* node_ = nullptr;
  std::vector<TreeId> globals_;                         // by ModuleId; invalid: not evaluated yet
  std::unordered_map<NameId, model::Resolved, IdHash> resolved_;
  std::unordered_map<graph::ValueId, double, IdHash> uniform_;
  bool failed_ = false;
};

}  // namespace axon::opt
