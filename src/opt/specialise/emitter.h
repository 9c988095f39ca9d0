// Appends nodes to a flat module; equal total nodes become one.
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "opt/order.h"

namespace axon::opt {

// Where a node comes from.
struct Origin {
  NameId source;
  NameId scope;  // dotted text
  NameId name;   // wanted for the value
  Span span;
  std::vector<Span> calls;  // around it, where they are wanted
};

class Emitter {
 public:
  Emitter(graph::Graph& graph, TypeTable& types);
  // The flat module is made by the constructor and is the graph's main.
  graph::Module& module() { return graph_[graph_.main]; }

  graph::ValueId input(NameId name, const std::vector<DimId>& dims, DType dtype);
  struct Result {
    std::vector<DimId> dims;
    DType dtype = DType::Unknown;
  };
  // A node of primitive results; the one that is there already if it is equal and total.
  std::vector<graph::ValueId> node(Op op, std::vector<graph::Operand> inputs,
                                   std::vector<graph::Attr> attrs,
                                   const std::vector<Result>& results, const Origin& origin);
  // A core.list; its value has no element type.
  graph::ValueId list(std::vector<graph::Operand> items, TypeId type, const Origin& origin);
  graph::Operand ref(graph::ValueId value);
  // A name given at a smaller depth of calls stays; inputs and phantoms keep theirs.
  void rename(graph::ValueId value, NameId name, int depth);
  const graph::Node* producer(graph::ValueId value);
  graph::Path path(NameId dotted);  // absolute; `{i}` becomes a placeholder

  // While a round of a loop is written, what depends on it is kept apart from what does not; the
  // latter is written before the loop. end_round() gives the dependent nodes.
  void begin_loop() { before_loop_ = module().order.size(); }
  void begin_round();
  std::vector<graph::NodeId> end_round();
  void end_loop();
  void depends_on_round(graph::ValueId value);
  bool depends(graph::ValueId value) const;
  graph::ValueId alias(graph::ValueId value, const Origin& origin);
  // A value like another one that no node makes.
  graph::ValueId phantom(graph::ValueId like);
  bool is_phantom(graph::ValueId value) const { return phantoms_.count(value) != 0; }
  void add_marker(NameId text, DimId dim) { markers_[text] = dim; }
  size_t marker_length(std::string_view text) const;  // of the marker at the begin; 0: it is none
  DimId marker(NameId text) const {
    auto it = markers_.find(text);
    return it == markers_.end() ? DimId{} : it->second;
  }

 private:
  NameId unique_name(NameId base);
  bool depends(const graph::Node& node) const;
  std::vector<graph::ValueId> find(size_t hash, const graph::Node& node, const Origin& origin);
  std::vector<graph::ValueId> append(graph::Node node, size_t hash,
                                     const std::vector<TypeId>& types,
                                     const std::vector<DType>& dtypes, const Origin& origin);

  graph::Graph& graph_;
  TypeTable& types_;
  Interner& names_;
  std::unordered_multimap<size_t, graph::NodeId> by_hash_;
  std::unordered_map<NameId, int, IdHash> taken_;
  std::unordered_map<graph::ValueId, int, IdHash> named_at_;  // depth of calls
  std::unordered_map<NameId, DimId, IdHash> markers_;
  std::unordered_set<graph::ValueId, IdHash> dependent_, phantoms_;
  bool in_round_ = false;
  size_t before_loop_ = 0;
  std::vector<graph::NodeId> round_;
};

}  // namespace axon::opt
