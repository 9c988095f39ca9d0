// The interpreter behind specialise(): frames of definitions being executed, and the flat module.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opt/specialise.h"
#include "opt/specialise/emitter.h"

namespace axon::opt {

// One execution of a module.
struct Frame {
  graph::ModuleId id;
  std::vector<TreeId> values;                    // by ValueId; invalid: not computed yet
  std::vector<std::pair<SymbolId, DimId>> dims;  // what the module's dimension names mean here
  const Frame* caller = nullptr;
  const graph::Node* call = nullptr;  // in the caller
  NameId scope;                       // of nodes without their own: the caller's
  int depth = 0;                      // calls around it
};

// What a round of a loop found out that depends on the round, or on lists that are carried. Another
// round for which all of it comes out the same does the same.
struct Observation {
  enum class Kind : uint8_t { Number, Compare, Root, Parameter, Length, Item } kind = Kind::Number;
  Op op = Op::CoreBinaryEq;    // Compare
  DimId a, b;                  // Number, Compare; Item: the index
  NameId text;                 // Root, Parameter: with markers
  TreeId tree, item;           // Length, Item: the list; what it held
  int64_t number = 0;          // Number, Length
  bool truth = false;          // Compare, Root; Parameter: it exists
  std::vector<int64_t> shape;  // Parameter
};

// The first round of a class, as later rounds are compared with it.
struct WrittenRound {
  std::vector<TreeId> before, after;  // carries
  std::vector<Observation> seen;
  size_t first_tree = 0;                  // trees from here on were made in the round
  size_t first_read = 0, after_read = 0;  // reads of parameters made in the round
};

class Specialiser {
 public:
  Specialiser(const graph::Graph& graph, TypeTable& types, Forest& forest, const Answers& answers,
              const SpecialiseOptions& options, DiagSink& sink);
  std::optional<Specialised> run(const std::vector<TreeId>& inputs);
  bool gave_up() const { return gave_up_; }

 private:
  using Args = std::vector<TreeId>;

  // modules.cc: structure
  bool run_main(const std::vector<TreeId>& inputs);
  bool bind_main(Frame& frame, const std::vector<TreeId>& inputs);
  bool entry_facts(Frame& frame);
  std::optional<bool> known_guard(Frame& frame, const graph::Fact& guard);
  bool entry_fact(Frame& frame, const graph::Constraint& constraint);
  TreeId run_module(graph::ModuleId id, const Args& args, const graph::Node* call,
                    const Frame* caller);
  bool run_body(Frame& frame);
  bool run_node(Frame& frame, const graph::Node& node);
  void name_value(NameId name, TreeId tree, const Frame& frame);
  TreeId evaluate(Frame& frame, Op op, graph::ModuleId callee,
                  const std::vector<graph::Operand>& inputs, const std::vector<graph::Attr>& attrs,
                  TypeId type);
  TreeId select(Frame& frame, const std::vector<graph::Operand>& inputs);
  bool repeat(Frame& frame, const graph::Node& node);

  // loops.cc: rounds by class
  using TreeMap = std::unordered_map<TreeId, TreeId, IdHash>;
  bool walked_enough(int64_t from_first, int64_t step);
  bool repeat_by_class(const graph::RepeatInfo& info, const Args& inputs,
                       const std::vector<int64_t>& rounds, Args& carries);
  bool write_round(const graph::RepeatInfo& info, const Args& inputs, int64_t round, Args& carries);
  Args round_args(const graph::RepeatInfo& info, const Args& inputs, const Args& carries,
                  TreeId round);
  bool same_class(const WrittenRound& written, int64_t round, const Args& carries, TreeMap& trees,
                  LoopRound& result);
  bool holds(const Observation& seen, int64_t round, TreeMap& trees, LoopRound& result);
  bool pair(TreeId old, TreeId now, bool in_list, TreeMap& trees, LoopRound& result);
  TreeId carried_in(TreeId tree, std::vector<std::pair<graph::ValueId, graph::ValueId>>& carries);
  TreeId carried_out(TreeId tree, size_t& position,
                     std::vector<std::pair<graph::ValueId, graph::ValueId>>& carries);
  TreeId at_round(TreeId tree, const WrittenRound& written, int64_t round, bool in_list,
                  TreeMap& trees, LoopRound& result);
  DimId at(DimId dim, int64_t round);
  NameId at(NameId text, int64_t round);
  bool depends_on_round(DimId dim) const {
    return loop_var_.valid() && dims_.mentions(dim, loop_var_);
  }
  std::optional<int64_t> integer_of(DimId dim);  // of this round, which is noted
  TreeId settled(TreeId tree);                   // integers of the round become numbers
  bool made_in_round(TreeId tree) const;         // and so belongs to this round alone
  bool note_list(TreeId list);                   // its length decides something
  void note_item(TreeId list, DimId index, TreeId item);
  bool has_phantom(const Args& args) const;
  NameId marker(DimId dim);
  std::optional<bool> decide(Op op, DimId a, DimId b);
  TreeId give_up();  // classes do not fit this program
  TreeId global(graph::ModuleId id);
  TreeId operand(Frame& frame, const graph::Operand& operand);
  TreeId result_of(Frame& frame);

  // binding.cc: what names of dims mean, and coercion to declared types
  void bind_dims(Frame& frame, TypeId type, TreeId tree);
  void bind_symbol(Frame& frame, SymbolId symbol, DimId value);
  void bind_param_symbol(Frame& frame, NameId name, TreeId tree);
  DimId lookup(Frame& frame, SymbolId symbol);
  DimId resolve_dim(Frame& frame, DimId dim);  // invalid when a name has no meaning here
  TreeId coerce(TreeId tree, TypeId type);
  bool check_type(Frame& frame, TypeId type, TreeId tree, bool trusted);

  // entry.cc: sizes named by integers and constants, and declared results
  void name_integers(Frame& frame);
  std::vector<DimId> name_constants(Frame& frame, const std::vector<DimId>& sizes);
  bool is_late(DimId dim) const;
  void require_equal(DimId left, DimId right, Span span);
  void check_result(Frame& frame, TypeId type, TreeId id, Span span);

  // paths.cc
  TreeId path(Frame& frame, const graph::Path& path);
  NameId path_text(Frame& frame, const graph::Path& path);
  NameId scope_of(Frame& frame, const graph::Node& node);

  // scalars.cc: operations that leave nothing behind
  TreeId binary(Op op, TreeId a, TreeId b);
  TreeId scalar_binary(Op op, const Tree& a, const Tree& b);
  TreeId integer_binary(Op op, DimId a, DimId b);
  bool is_unknown(DimId dim) const;
  DimId with_facts(DimId dim);
  TreeId whole(DimId dim);  // nothing where it is unknown
  TreeId compare(Op op, const Tree& a, const Tree& b);
  TreeId integer_compare(Op op, DimId a, DimId b);
  TreeId scalar_function(Op op, const Args& args);
  bool condition(TreeId tree, bool& out);
  DimId dim_of(TreeId tree);  // invalid after an error
  bool is_tensor(TreeId id) const { return id.valid() && forest_[id].kind == Tree::Kind::Tensor; }

  // primitives.cc
  bool gather_args(Frame& frame, Op op, const std::vector<graph::Operand>& inputs,
                   const std::vector<graph::Attr>& attrs, Args& args);
  TreeId default_arg(std::string_view text);
  TreeId primitive(Op op, Args args);
  TreeId structural(Op op, const Args& args,
                    bool& handled);  // lists, shapes, null: no tensor result
  TreeId shape_list(TreeId x);

  // params.cc: layers and other reads of the checkpoint
  TreeId param(Frame& frame, NameId key, TypeId type);
  TreeId layer(Op op, const Args& args);
  TreeId linear(const Args& args);
  TreeId expert_linear(const Args& args);
  TreeId embedding(const Args& args);
  TreeId layernorm(const Args& args);
  NameId key_of(TreeId base, TreeId leaf);
  TreeId config_tree(const model::ConfigValue& value);
  TreeId config_read(Op op, const Args& args);
  TreeId has_root(NameId root);
  const model::Resolved* resolve(NameId key);
  graph::Operand path_literal(NameId text);

  // reads.cc: reads of parameters, those that fail included. After one that fails the program goes
  // on with a tensor as it should have been, so that all of them are found.
  using Wants = std::vector<std::optional<int64_t>>;  // a shape; nothing where any size will do
  const model::Resolved* read_param(NameId key, const Wants* wants);  // null after a failure
  const model::Resolved* read_weight(NameId key, const Wants& wants);
  struct Matrix {
    DimId out;                    // width of the layer's result
    std::optional<int64_t> bank;  // how many there are
  };
  Matrix read_matrix(NameId key, bool banked, bool transpose, std::optional<int64_t> out, DimId in);
  bool read_bias(NameId key, const Wants& wants);
  void bind_width(DimId dim, int64_t wanted, NameId key);
  ParamRead& note_read(NameId key, ParamRead::Outcome outcome);
  void repeat_reads(const WrittenRound& written, int64_t round);
  void spoil(NameId key, std::string wants);
  TreeId misfit(const Args& args);
  DimId guess();
  bool is_guess(DimId dim) const { return guess_.valid() && dims_.mentions(dim, guess_); }
  std::optional<int64_t> wanted(TreeId dim);
  bool deliver_reads();
  std::vector<DiagNote> calls() const;

  // tensors.cc: nodes of the flat module
  TreeId tensor_op(Op op, const Args& args);
  std::vector<DimId> declared_shape(Frame& frame, const std::vector<graph::Operand>& inputs,
                                    TypeId type);
  TreeId simplify(Op op, const Args& args);  // a value that exists already, or invalid
  TreeId whole_assignment(const Args& args);
  TreeId unit_scatter(const Args& args);
  bool to_operand(TreeId tree, graph::Operand& out);
  graph::Operand integer_operand(DimId dim);
  Origin origin();
  void add_fact(DimFact fact);  // of the call; nothing where a size is a guess

  // uniform.cc: tensors filled with one number
  std::optional<double> uniform(TreeId tree);
  TreeId filled(const Emitter::Result& result, double value, TreeId ref);
  TreeId as_shape(TreeId tree, const Emitter::Result& want);
  TreeId fold_uniform(Op op, const Args& args, const std::vector<Emitter::Result>& results);
  void note_uniform(Op op, const Args& args, TreeId result);

  TreeId fail(std::string_view why);  // PLAN-UNSUPPORTED here; gives an invalid id
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
  Emitter emitter_;         // into out_
  Frame* frame_ = nullptr;  // being executed
  const graph::Node* node_ = nullptr;
  std::vector<DimId> declared_;  // axes that the type of the operation's result has, see there
  std::vector<TreeId> globals_;  // by ModuleId; invalid: not evaluated yet
  std::unordered_map<NameId, std::optional<model::Resolved>, IdHash> resolved_;
  std::unordered_map<graph::ValueId, double, IdHash> uniform_;
  std::unordered_map<graph::ValueId, DimId, IdHash> places_;   // filled with an integer of the call
  std::unordered_map<graph::ValueId, NameId, IdHash> params_;  // values that are parameters
  std::vector<ParamRead> reads_;
  std::vector<NameId> read_keys_;             // of reads_, with markers
  std::vector<WrittenRound> written_;         // by class of the current loop
  std::vector<Observation>* seen_ = nullptr;  // of the round being written
  std::vector<graph::ValueId> kept_;          // how carried tensors leave loops
  SymbolId loop_var_;
  NameId loop_name_;
  int64_t round_ = 0;
  size_t first_carry_ = 0, first_tree_ = 0;  // trees of the round's carries, and of the round
  std::vector<std::pair<size_t, size_t>> global_trees_;  // of globals first asked for in a round
  bool failed_ = false, gave_up_ = false;
  SymbolId guess_;       // sizes that nothing says
  bool unsure_ = false;  // what follows may come from a read that failed
  bool broken_ = false;  // some read failed
};

}  // namespace axon::opt
