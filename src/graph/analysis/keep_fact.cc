// Reads a keep mask as causality, length, window and padding.
#include "graph/analysis/index_function.h"

namespace axon::graph {
namespace {

constexpr size_t kBatch = 0, kQuery = 2, kKey = 3, kRank = 4;

class Reader {
 public:
  Reader(IndexFunctions& functions, std::vector<DimId> shape, DimTable& dims,
         function_ref<std::optional<int64_t>(SymbolId)> lower)
      : functions_(functions), shape_(std::move(shape)), dims_(dims), lower_(lower) {}

  bool take(FormulaId id) {
    auto decided = functions_.decide(id, shape_);
    if (decided) return *decided;  // a mask that keeps nothing is no fact
    const Formula& f = functions_[id];
    switch (f.kind) {
      case Formula::Kind::And: {
        std::vector<FormulaId> operands = f.operands;
        for (FormulaId operand : operands) {
          if (!take(operand)) return false;
        }
        return true;
      }
      case Formula::Kind::LeZero:
        return take_bound(f.affine);
      case Formula::Kind::Read:
        return take_read(f);
      case Formula::Kind::True:
        return true;
      case Formula::Kind::False:
      case Formula::Kind::EqZero:
      case Formula::Kind::Not:
      case Formula::Kind::Or:
        return false;
    }
    return false;
  }

  std::optional<KeepFact> finish() {
    DimId one = dims_.integer(1);
    if (window_low_.valid()) {  // j ≥ i + low, that is j > i + offset - window
      if (!fact_.causal) return {};
      fact_.window = dims_.value_sub(dims_.value_add(fact_.offset, one), window_low_);
    }
    if (fact_.length.valid() && fact_.causal) {
      // The last query sees up to rows - 1 + offset: a longer length says nothing more.
      DimId seen = dims_.value_add(fact_.offset, shape_[kQuery]);
      if (dims_.proves_le(seen, fact_.length, lower_)) fact_.length = seen;
    } else if (fact_.causal) {
      fact_.length = dims_.value_add(fact_.offset, shape_[kQuery]);
      if (dims_.proves_le(shape_[kKey], fact_.length, lower_)) fact_.length = {};
    }
    bool sees_itself = fact_.causal && dims_.proves_le(dims_.integer(0), fact_.offset, lower_) &&
                       (!fact_.window.valid() || dims_.proves_le(one, fact_.window, lower_));
    bool sees_some =
        !fact_.causal && (!fact_.length.valid() || dims_.proves_le(one, fact_.length, lower_));
    fact_.rows_nonempty = !fact_.key_keep.valid() && (sees_itself || sees_some);
    return fact_;
  }

 private:
  bool take_bound(const Affine& a) {
    for (size_t axis = 0; axis < kRank; ++axis) {
      if (axis != kQuery && axis != kKey && a.coefficient[axis] != 0) return false;
    }
    int64_t query = a.coefficient[kQuery], key = a.coefficient[kKey];
    DimId zero = dims_.integer(0);
    if (key == 1 && query == -1) {  // j ≤ i - constant
      DimId offset = dims_.value_sub(zero, a.constant);
      if (fact_.causal && !dims_.proves_le(fact_.offset, offset, lower_)) {
        if (!dims_.proves_le(offset, fact_.offset, lower_)) return false;
        fact_.offset = offset;
      }
      if (!fact_.causal) fact_.offset = offset;
      fact_.causal = true;
      return true;
    }
    if (key == -1 && query == 1) {  // j ≥ i + constant
      if (window_low_.valid()) return window_low_ == a.constant;
      window_low_ = a.constant;
      return true;
    }
    if (key == 1 && query == 0) {  // j < 1 - constant
      DimId length = dims_.value_sub(dims_.integer(1), a.constant);
      if (fact_.length.valid() && fact_.length != length) return false;
      fact_.length = length;
      return true;
    }
    return false;
  }

  // t[b,j]
  bool take_read(const Formula& f) {
    if (f.coordinates.size() != 2 || fact_.key_keep.valid()) return false;
    DimId zero = dims_.integer(0);
    bool row_unit = dims_.as_integer(shape_[kBatch]) == 1;
    for (size_t c = 0; c < 2; ++c) {
      const Affine& index = f.coordinates[c];
      if (index.constant != zero) return false;
      size_t wanted = c == 0 ? kBatch : kKey;
      for (size_t axis = 0; axis < kRank; ++axis) {
        int64_t expected = axis == wanted && !(c == 0 && row_unit) ? 1 : 0;
        if (index.coefficient[axis] != expected) return false;
      }
    }
    // Only a mask with a column for every key can stand for the keys.
    std::vector<DimId> read = functions_.extents(f.tensor);
    if (read[1] != shape_[kKey]) return false;
    fact_.key_keep = f.tensor;
    return true;
  }

  IndexFunctions& functions_;
  std::vector<DimId> shape_;
  DimTable& dims_;
  function_ref<std::optional<int64_t>(SymbolId)> lower_;
  KeepFact fact_;
  DimId window_low_;
};

}  // namespace

std::optional<KeepFact> keep_fact(IndexFunctions& functions, ValueId mask, DimTable& dims,
                                  function_ref<std::optional<int64_t>(SymbolId)> lower) {
  std::vector<DimId> shape = functions.extents(mask);
  FormulaId formula = functions.boolean(mask);
  if (shape.size() != kRank || !formula.valid()) return {};
  Reader reader(functions, shape, dims, lower);
  if (!reader.take(formula)) return {};
  return reader.finish();
}

}  // namespace axon::graph
