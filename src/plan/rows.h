// The part of a flat module that works on each token row alone and reaches nothing but the head's
// output: it is computed for the selected rows only (`logit_rows`).
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/uses.h"

namespace axon::plan {

struct RowRegion {
  std::vector<bool> selected;  // by NodeId
  bool contains(graph::NodeId n) const {
    return n.valid() && selected[static_cast<size_t>(n.index)];
  }
  bool empty() const;
};

// `head` is the value whose rows are selected; its first two axes are the rows.
RowRegion find_rows(const graph::Module& module, const TypeTable& types, const Uses& uses,
                    graph::ValueId head);

}  // namespace axon::plan
