// Dims and element types of what tensor operations give, from what is known of their arguments.
#pragma once

#include <string>
#include <vector>

#include "opt/specialise.h"
#include "opt/specialise/emitter.h"

namespace axon::opt {

// One use for one operation: run() fills `results`, or `error`. Arguments are complete (defaults
// filled in). Sizes that must agree and could not be proven to are left in `facts`.
class Inference {
 public:
  Inference(const Forest& forest, DimTable& dims, const SpecialiseOptions& options,
            const std::vector<TreeId>& args)
      : forest_(forest), dims_(dims), options_(options), args_(args) {}
  bool run(Op op);

  std::vector<Emitter::Result> results;
  bool several = false;  // the result is a list (split, chunk)
  std::vector<DimFact> facts;
  std::vector<DimFact> needed;  // that must be known: without them the results are others
  std::string error;
  // Axes of an elementwise result by its type; empty, or invalid where not known.
  std::vector<DimId> declared;

 private:
  const Tree& tree(size_t i) const;
  const Tree& x() const { return tree(0); }
  bool given(size_t i) const;
  std::optional<int64_t> integer(size_t i) const;
  bool axis(size_t i, size_t rank, size_t& out);
  bool dim(size_t i, DimId& out);
  // `rest`: -1 stands for what is left.
  bool sizes(size_t i, std::vector<DimId>& out, bool rest = false);
  bool not_below_zero(DimId size);
  bool named(size_t i, DType fallback, DType& out);
  bool no(std::string_view why) {
    error = why;
    return false;
  }
  bool give(std::vector<DimId> dims, DType dtype) {
    results.push_back({std::move(dims), dtype});
    return true;
  }
  bool equal(DimId a, DimId b);
  bool surely_le(DimId a, DimId b);
  void at_most(DimId a, DimId b);  // of places
  void fits(DimId a, DimId b);     // of sizes
  bool proves_le(DimId a, DimId b);
  bool broadcast(std::vector<DimId>& into, const std::vector<DimId>& other, bool whole = false);
  bool settled_by_type(DimId& into, DimId other, size_t from_end);
  bool broadcast_args(size_t from, size_t to, std::vector<DimId>& out);
  DType promoted(size_t from, size_t to) const;
  DimId product(const std::vector<DimId>& shape);

  bool elementwise(size_t from, size_t to, DType dtype);
  bool like_first(size_t dtype_at, bool float_result);
  bool indexed(size_t axis_at);
  bool same_shape(size_t i, const std::vector<DimId>& shape);
  bool index_add();
  bool reshape();
  bool permute();
  bool transpose();
  bool unsqueeze();
  bool expand();
  bool concat();
  bool slice();
  bool split();
  bool chunk();
  bool repeat();
  bool arange();
  bool shaped(size_t shape_at, size_t dtype_at);
  bool tensor_like();
  bool reduce(size_t dim_at, size_t keep_at);
  bool topk();
  bool matmul();
  bool conv1d();
  bool assign(bool unit);

  const Forest& forest_;
  DimTable& dims_;
  const SpecialiseOptions& options_;
  const std::vector<TreeId>& args_;
};

}  // namespace axon::opt
