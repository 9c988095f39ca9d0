// Logical weights over stored tensors: views where strides can say it, dense copies where not.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/param_source.h"
#include "runtime/core/memory.h"
#include "runtime/core/program.h"
#include "runtime/core/view.h"
#include "support/result.h"

namespace axon::runtime {

// A copy that must be made before a weight is read: `to` is dense, of a plain storage.
struct DenseCopy {
  View from;
  View to;
};

// How one weight is held.
struct HeldWeight {
  View view;
  std::vector<DenseCopy> copies;    // in this order
  std::vector<std::string> stored;  // names of the stored tensors, in order of the tree
  int64_t stored_bytes = 0;         // of those tensors, as they are in the file
  int64_t dense_bytes = 0;          // of the copies
};

// Makes the views. The memory of dense copies is reserved here and written by run_copies.
class WeightStore {
 public:
  explicit WeightStore(model::ParamSource& source) : source_(&source) {}

  // `dense`: must be one contiguous, aligned block of `storage`. Otherwise stored bytes are kept,
  // in as many parts as they come. Errors: RUN-PARAM, RUN-PARAM-SHAPE, FILE-*, MEM-ALLOC.
  Result<HeldWeight> hold(const Weight& weight, bool dense, Storage storage);

 private:
  Result<View> build(const WeightNode& node, HeldWeight& held);
  Result<View> build_param(const WeightNode& node, HeldWeight& held);
  Result<View> build_joined(const WeightNode& node, HeldWeight& held);
  Result<View> slice(View view, const WeightNode& node, HeldWeight& held);
  Result<View> select(View view, const WeightNode& node, HeldWeight& held);
  Result<View> transpose(View view, HeldWeight& held);
  Result<View> densify(const View& view, Storage storage, HeldWeight& held);
  const View* keep_parts(std::vector<View> parts);

  model::ParamSource* source_;
  std::deque<std::vector<View>> parts_;
  std::deque<Buffer> buffers_;
};

// The share `part` of `parts` of a copy.
void run_copy(const DenseCopy& copy, int part, int parts);

}  // namespace axon::runtime
