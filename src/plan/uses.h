// Who uses the values of a flat module, and when for the last time.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "opt/specialise.h"

namespace axon::plan {

// Operations whose result is another view of their first operand.
bool is_view(Op op);

struct Uses {
  // What a round that is not written reads in the place of another value is read by its loop, too.
  explicit Uses(const graph::Module& module, const std::vector<opt::FlatLoop>* loops = nullptr);
  const std::vector<graph::NodeId>& of(graph::ValueId v) const {
    return users_[static_cast<size_t>(v.index)];
  }
  bool is_output(graph::ValueId v) const { return outputs_[static_cast<size_t>(v.index)] > 0; }
  size_t position(graph::NodeId n) const { return position_[static_cast<size_t>(n.index)]; }
  // Position of the last node that may read the value's memory, through views as well; the number
  // of nodes for outputs.
  size_t last(graph::ValueId v) const { return last_[static_cast<size_t>(v.index)]; }

 private:
  void add_rounds(const opt::FlatLoop& loop);

  std::vector<std::vector<graph::NodeId>> users_;
  std::vector<int> outputs_;
  std::vector<size_t> position_, last_;
};

}  // namespace axon::plan
