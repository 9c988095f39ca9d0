// Planning of one phase: a flat module becomes instructions over placed values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plan/arena.h"
#include "plan/context.h"
#include "plan/rows.h"
#include "plan/uses.h"
#include "plan/view.h"

namespace axon::plan {

// A tensor leaf of the cache tree in one phase.
struct StateLeaf {
  runtime::StateId state;
  graph::ValueId before;  // the flat module's input; invalid where the phase starts without
  graph::ValueId after;   // what it is at the end
};

struct LowerRequest {
  const graph::Module* module = nullptr;
  const std::vector<opt::FlatLoop>* loops = nullptr;
  std::vector<std::pair<graph::ValueId, int32_t>> inputs;  // value, index in Phase::inputs
  std::vector<StateLeaf> states;
  std::vector<std::pair<std::string, graph::ValueId>> outputs;
  graph::ValueId head;      // rows of it are selected; invalid: none
  int32_t rows_input = -1;  // index of `logit_rows`
  DimId rows;               // its number
};

class Lowering {
 public:
  Lowering(Context& context, const LowerRequest& request, runtime::Phase& phase);
  bool run();

 private:
  friend struct Mapping;
  using Node = graph::Node;
  // A view that has a value of its own, or a dense copy.
  struct NamedView {
    View view;
    runtime::ValId value;
    View dense;
  };

  // lower.cc
  bool lower_node(graph::NodeId id);
  void place_inputs();
  void find_resident();
  bool finish();
  bool fail(std::string_view why);

  // values.cc: operands, results, instructions
  std::vector<DimId> dims_of(graph::ValueId value) const;
  std::vector<DimId> result_dims(const Node& node, size_t output = 0) const;
  DType dtype_of(graph::ValueId value) const { return module_.values[value].dtype; }
  bool is_tensor(const graph::Operand& operand) const;
  View view_of(const graph::Operand& operand);  // of a tensor operand of the current node
  View selected(const View& view);              // its selected rows
  runtime::ValId value_of(const View& view);    // names a view as a value
  runtime::ValId use(const View& view, runtime::Layout layout);
  runtime::ValId in(const graph::Operand& operand, runtime::Operation operation);
  View buffer(std::vector<DimId> dims, DType dtype, std::string_view name = {});
  View dense(const View& view);        // itself, or a copy
  NamedView* named(const View& view);  // null when it is not there
  NamedView& name(const View& view);
  void forget_copies(runtime::ValId base);  // the memory is about to change
  View converted(const View& view, DType dtype);
  View constant(double value, DType dtype);  // rank 0
  View scalar_view(const graph::Operand& operand, DType dtype);
  void set(const Node& node, size_t output, View view);
  View result(const Node& node, size_t output = 0);  // a new buffer for an output, already set
  runtime::Instr& emit(runtime::Operation operation, std::vector<runtime::ValId> inputs,
                       std::vector<runtime::ValId> outputs);
  void copy(const View& from, const View& to);
  void touch(runtime::ValId value);
  static void param(runtime::Instr& instr, std::string_view name, runtime::ParamValue value);
  std::string source_of(const Node& node) const;
  std::string scope_of(const Node& node) const;

  // literals of operands
  std::optional<DimId> integer(const graph::Operand& operand) const;
  std::optional<int64_t> constant_integer(const graph::Operand& operand) const;
  std::optional<size_t> axis(const graph::Operand& operand, size_t rank) const;  // null: the last
  bool flag(const graph::Operand& operand) const;
  std::vector<graph::Operand> list(const graph::Operand& operand) const;
  std::vector<DimId> size_list(const graph::Operand& operand) const;
  const graph::Operand* attr(const Node& node, std::string_view name) const;
  std::string key_of(const graph::Operand& operand) const;
  bool scalar_param(const graph::Operand& operand, runtime::ParamValue& out) const;

  // layout.cc
  bool reshape(const Node& node);
  bool permute(const Node& node);
  bool transpose(const Node& node);
  bool unsqueeze(const Node& node);
  bool expand(const Node& node);
  bool slice(const Node& node);
  bool pieces(const Node& node);
  bool repeat(const Node& node);
  bool concat(const Node& node);
  bool list_node(const Node& node);

  // elementwise.cc
  bool unary(const Node& node);
  bool binary(const Node& node);
  bool where(const Node& node);
  bool clamp(const Node& node);
  bool cast(const Node& node);
  bool fill(const Node& node);
  bool tensor_like(const Node& node);
  bool arange(const Node& node);
  bool random(const Node& node);
  bool gegelu(const Node& node);
  bool xielu(const Node& node);
  bool clamp_by_tensors(const Node& node);
  bool swiglu(const Node& node);

  // stamps.cc: rounds of loops that are copies of a written one
  void find_rounds();
  bool enter_round(int written);
  bool leave_round();
  bool stamp(const opt::FlatLoop& loop, const opt::LoopRound& round, size_t written);
  bool map_values(const opt::FlatLoop& loop, const opt::LoopRound& round, size_t written);
  runtime::ValId mapped(runtime::ValId value);
  bool loop_alias(const Node& node);
  bool carry_in(const Node& node, View& carry);
  bool carry_out(const Node& node, View& carry);
  bool store_round_states(size_t written);
  bool is_whole_buffer(const View& view) const;
  bool read_after(runtime::ValId base, size_t position) const;
  DimId in_round(DimId dim) const;
  std::string text_of(const graph::Path& path) const;

  // layers.cc
  runtime::ValId weight(const graph::Operand& path, runtime::Weight::Use use,
                        bool transposed = false, std::string_view suffix = {}, int64_t item = -1);
  runtime::ValId weight_value(runtime::WeightId id, std::string_view key);
  bool params_param(const Node& node);
  bool linear(const Node& node);
  bool expert_linear(const Node& node);
  bool embedding(const Node& node);
  bool layernorm(const Node& node);
  bool rmsnorm(const Node& node);
  bool matmul(const Node& node);
  bool conv1d(const Node& node);

  // reduce.cc
  bool sum(const Node& node);
  bool along_axis(const Node& node);
  bool topk(const Node& node);
  bool gather(const Node& node);
  bool scatter(const Node& node);

  // stores.cc
  bool assign_slice(const Node& node);
  bool needs_zeros(graph::ValueId store, DimId end) const;
  View state_view(runtime::StateId state);

  // fused.cc
  bool fused_linear(const Node& node);
  bool fused_norm(const Node& node);
  bool fused_rope(const Node& node);
  bool fused_attention(const Node& node);
  runtime::ValId weight_or_value(const graph::Operand& operand, runtime::Weight::Use use,
                                 bool transposed);

  Context& context_;
  const LowerRequest& request_;
  runtime::Phase& phase_;
  const graph::Module& module_;
  DimTable& dims_;
  TypeTable& types_;
  Uses uses_;
  Views views_;
  RowRegion rows_;
  std::vector<View> view_;  // by ValueId; base invalid: not computed
  std::unordered_map<graph::ValueId, runtime::StateId, IdHash> resident_;
  std::unordered_map<runtime::StateId, View, IdHash> state_views_;
  std::unordered_map<graph::ValueId, size_t, IdHash> leaf_after_;  // index in request_.states
  std::unordered_map<runtime::StateId, size_t, IdHash> state_leaf_;
  std::unordered_map<runtime::WeightId, runtime::ValId, IdHash> weight_values_;
  std::unordered_map<runtime::ConstId, runtime::ValId, IdHash> constant_values_;
  std::unordered_map<graph::ValueId, View, IdHash> selected_;
  std::unordered_multimap<size_t, NamedView> named_;  // views that have a value or a copy
  std::vector<Buffer> buffers_;
  std::unordered_map<runtime::ValId, size_t, IdHash> buffer_of_;

  // A class of a loop: where the code of its written round stands, and the weights that it names.
  struct WeightUse {
    runtime::ValId value;
    const graph::Path* path;
    std::string suffix;
    runtime::Weight::Use use;
    bool transposed;
    int64_t item;
  };
  struct Written {
    size_t loop = 0, cls = 0;
    bool lowered = false;
    size_t begin = 0, end = 0;  // instructions
    std::vector<WeightUse> weights;
  };
  struct AliasPlace {
    size_t loop = 0, position = 0;
    bool out = false;
  };
  std::vector<Written> written_;
  std::vector<int> written_of_;  // by NodeId; -1: outside of loops
  std::unordered_map<graph::ValueId, AliasPlace, IdHash> aliases_;
  std::map<std::pair<size_t, size_t>, View> carries_;  // buffers, by loop and position
  std::vector<std::pair<runtime::ValId, runtime::ValId>>
      merged_;                                           // values that lie in a carry's buffer
  std::vector<size_t> outer_reads_;                      // buffers that live as long as the loop
  std::unordered_set<size_t> first_round_only_;          // instructions that other rounds leave out
  std::unordered_set<runtime::StateId, IdHash> stored_;  // states written within rounds
  std::unordered_map<runtime::ValId, runtime::ValId, IdHash> map_;  // of the round being stamped
  std::unordered_map<size_t, const graph::Path*> scope_paths_;      // of instructions within rounds
  int current_ = -1;
  SymbolId round_var_;
  int64_t round_ = 0;
  const Node* node_ = nullptr;
  graph::NodeId node_id_;
};

}  // namespace axon::plan
