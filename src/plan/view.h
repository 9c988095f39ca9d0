// Strided views over symbolic sizes: which layout operations need no copy.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/core/program.h"
#include "types/dim.h"
#include "types/dtype.h"

namespace axon::plan {

// A tensor of the flat module in some buffer. Strides and offset count elements.
struct View {
  runtime::ValId base;  // never itself a view
  DimId offset;
  std::vector<DimId> dims;
  std::vector<DimId> strides;
  DType dtype = DType::Unknown;
};

class Views {
 public:
  explicit Views(DimTable& dims) : dims_(dims), one_(dims.integer(1)), zero_(dims.integer(0)) {}

  View dense(runtime::ValId base, std::vector<DimId> dims, DType dtype) const;
  std::vector<DimId> dense_strides(const std::vector<DimId>& dims) const;
  bool is_dense(const View& v) const;
  bool fits(const View& v, runtime::Layout layout) const;

  View permuted(const View& v, const std::vector<size_t>& order) const;
  View unsqueezed(const View& v, size_t at) const;
  View expanded(const View& v,
                const std::vector<DimId>& dims) const;  // broadcast, aligned at the right
  View sliced(const View& v, size_t axis, DimId from, DimId length) const;
  // The same elements under other sizes, when strides can say it.
  std::optional<View> reshaped(const View& v, const std::vector<DimId>& dims) const;

  // A size as a factor: `D/2` is rounded before it is multiplied, where a product of dims would
  // round last.
  DimId factor(DimId size) const;

  DimTable& dims() const { return dims_; }

 private:
  bool collapses(const View& v, size_t from, size_t to) const;

  DimTable& dims_;
  DimId one_, zero_;
  mutable std::unordered_map<DimId, DimId, IdHash> factors_;
};

}  // namespace axon::plan
