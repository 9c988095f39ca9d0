// The algebra of strided views.
#include "plan/view.h"

#include <algorithm>

namespace axon::plan {
namespace {

// Some quotient that a product could swallow.
bool has_quotient(const DimTable::Tree& tree) {
  using Kind = DimTable::Tree::Kind;
  if (tree.kind == Kind::Div) return true;
  bool open = tree.kind == Kind::Add || tree.kind == Kind::Sub || tree.kind == Kind::Mul;
  return open && std::any_of(tree.operands.begin(), tree.operands.end(), has_quotient);
}

}  // namespace

DimId Views::factor(DimId size) const {
  if (dims_.as_integer(size) || dims_.as_symbol(size)) return size;
  auto [known, is_new] = factors_.emplace(size, size);
  // Sizes are not negative, and products leave a maximum whole.
  if (is_new && has_quotient(dims_.tree(size))) known->second = dims_.max(size, zero_);
  return known->second;
}

std::vector<DimId> Views::dense_strides(const std::vector<DimId>& dims) const {
  std::vector<DimId> strides(dims.size());
  DimId step = one_;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step = dims_.value_mul(step, factor(dims[i]));
  }
  return strides;
}

View Views::dense(runtime::ValId base, std::vector<DimId> dims, DType dtype) const {
  View v;
  v.base = base;
  v.offset = zero_;
  v.strides = dense_strides(dims);
  v.dims = std::move(dims);
  v.dtype = dtype;
  return v;
}

// Axes [from, to) have strides as if they were one axis; axes of one element do not matter.
bool Views::collapses(const View& v, size_t from, size_t to) const {
  bool have = false;
  DimId expected;
  for (size_t i = to; i-- > from;) {
    if (v.dims[i] == one_) continue;
    if (have && v.strides[i] != expected) return false;
    expected = dims_.value_mul(v.strides[i], factor(v.dims[i]));
    have = true;
  }
  return true;
}

bool Views::is_dense(const View& v) const {
  DimId step = one_;
  for (size_t i = v.dims.size(); i-- > 0;) {
    if (v.dims[i] == one_) continue;
    if (v.strides[i] != step) return false;
    step = dims_.value_mul(step, factor(v.dims[i]));
  }
  return true;
}

bool Views::fits(const View& v, runtime::Layout layout) const {
  bool unit = v.dims.empty() || v.dims.back() == one_ || v.strides.back() == one_;
  switch (layout) {
    case runtime::Layout::Dense:
      return is_dense(v);
    case runtime::Layout::Matrix:
      return unit && (v.dims.size() < 2 || collapses(v, 0, v.dims.size() - 1));
    case runtime::Layout::UnitLast:
      return unit;
    case runtime::Layout::Any:
      return true;
  }
  return false;
}

View Views::permuted(const View& v, const std::vector<size_t>& order) const {
  View out = v;
  for (size_t i = 0; i < order.size(); ++i) {
    out.dims[i] = v.dims[order[i]];
    out.strides[i] = v.strides[order[i]];
  }
  return out;
}

View Views::unsqueezed(const View& v, size_t at) const {
  View out = v;
  out.dims.insert(out.dims.begin() + static_cast<int64_t>(at), one_);
  out.strides.insert(out.strides.begin() + static_cast<int64_t>(at), zero_);
  return out;
}

View Views::expanded(const View& v, const std::vector<DimId>& dims) const {
  View out = v;
  out.dims = dims;
  out.strides.assign(dims.size(), zero_);
  size_t shift = dims.size() - v.dims.size();
  for (size_t i = 0; i < v.dims.size(); ++i) {
    if (v.dims[i] != one_ || dims[shift + i] == one_) out.strides[shift + i] = v.strides[i];
  }
  return out;
}

View Views::sliced(const View& v, size_t axis, DimId from, DimId length) const {
  View out = v;
  out.dims[axis] = length;
  out.offset = dims_.value_add(v.offset, dims_.value_mul(factor(from), v.strides[axis]));
  return out;
}

// Walks both shapes from the right; a group of old axes with the same number of elements as a group
// of new ones must collapse to one axis, whose stride then gives those of the new axes.
std::optional<View> Views::reshaped(const View& v, const std::vector<DimId>& dims) const {
  View out = v;
  out.dims = dims;
  out.strides.assign(dims.size(), one_);
  size_t i = v.dims.size(), j = dims.size();
  while (i > 0 || j > 0) {
    size_t i_end = i, j_end = j;
    DimId old_count = one_, new_count = one_;
    if (i > 0) old_count = v.dims[--i];
    if (j > 0) new_count = dims[--j];
    while (old_count != new_count) {
      // The side that divides the other grows; an unknown order grows the old side while it can.
      bool grow_old =
          i > 0 && (j == 0 || old_count == one_ || dims_.value_div(new_count, old_count) != one_);
      std::optional<int64_t> a = dims_.as_integer(old_count), b = dims_.as_integer(new_count);
      if (a && b)
        grow_old = *a < *b;
      else if (j > 0 && a)
        grow_old = true;
      else if (i > 0 && b)
        grow_old = false;
      if (grow_old ? i == 0 : j == 0) grow_old = !grow_old;
      if (grow_old ? i == 0 : j == 0) return std::nullopt;
      if (grow_old)
        old_count = dims_.value_mul(old_count, v.dims[--i]);
      else
        new_count = dims_.value_mul(new_count, dims[--j]);
    }
    if (!collapses(v, i, i_end)) return std::nullopt;
    DimId step = zero_;
    for (size_t k = i_end; k-- > i;) {
      if (v.dims[k] == one_) continue;
      step = v.strides[k];
      break;
    }
    for (size_t k = j_end; k-- > j;) {
      out.strides[k] = step;
      step = dims_.value_mul(step, factor(dims[k]));
    }
  }
  return out;
}

}  // namespace axon::plan
