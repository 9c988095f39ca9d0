// What the fusion patterns share: looking through a flat module, and replacing a node in place.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/analysis/index_function.h"
#include "graph/graph.h"

namespace axon::opt {

class FuseContext {
 public:
  FuseContext(graph::Graph& graph, TypeTable& types,
              function_ref<std::optional<int64_t>(SymbolId)> lower);

  graph::Module& module() { return module_; }
  TypeTable& types() { return types_; }
  DimTable& dims() { return types_.dims(); }

  // The node that makes an operand's value; null for anything else.
  const graph::Node* def(const graph::Operand& operand) const;
  const graph::Node* def(const graph::Operand& operand, Op op) const;  // only of this operation
  // The operand behind casts that change nothing.
  graph::Operand peel(const graph::Operand& operand) const;
  bool is_add(const graph::Node& node) const;
  bool is_mul(const graph::Node& node) const;
  std::optional<double> number(const graph::Operand& operand) const;
  std::optional<int64_t> integer(const graph::Operand& operand) const;
  std::optional<graph::ValueId> value(const graph::Operand& operand) const;
  bool same(const graph::Operand& a, const graph::Operand& b) const;  // the same value
  std::vector<DimId> shape(const graph::Operand& operand) const;
  size_t uses(graph::ValueId value) const { return uses_[static_cast<size_t>(value.index)]; }
  bool used_once(const graph::Operand& operand) const;
  // An axis argument as one from the front; -1 when it is not a literal.
  int axis(const graph::Operand& operand, size_t rank) const;

  // Turns `root` into a fused row with the same output. Spans of `parts` are kept.
  void replace(graph::NodeId root, Op op, std::vector<graph::Operand> inputs,
               std::vector<std::pair<std::string_view, graph::Operand>> attrs,
               std::initializer_list<const graph::Node*> parts);
  void count_uses();

  graph::Operand null() const;
  graph::Operand boolean(bool v) const;
  graph::Operand real(double v) const;
  graph::Operand whole(int64_t v) const;
  graph::Operand dim(DimId v) const;
  graph::Operand text(std::string_view v) const;
  graph::Operand ref(graph::ValueId v) const;

  graph::IndexFunctions& functions() { return functions_; }
  function_ref<std::optional<int64_t>(SymbolId)> lower() const { return lower_; }

 private:
  graph::Graph& graph_;
  graph::Module& module_;
  TypeTable& types_;
  function_ref<std::optional<int64_t>(SymbolId)> lower_;
  graph::IndexFunctions functions_;
  std::vector<uint32_t> uses_;
};

// Each tries its row at one node and says whether it was introduced.
bool fuse_rms_norm(FuseContext& ctx, graph::NodeId root);
bool fuse_rope(FuseContext& ctx, graph::NodeId root);
bool fuse_rope_prefix(FuseContext& ctx, graph::NodeId root);
bool fuse_attention(FuseContext& ctx, graph::NodeId root);
bool fuse_linear_start(FuseContext& ctx, graph::NodeId root);     // every linear becomes a row
bool fuse_linear_epilogue(FuseContext& ctx, graph::NodeId root);  // activation, gate, residual

}  // namespace axon::opt
