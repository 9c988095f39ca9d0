// Dims and element types of what tensor operations give, from what is known of their arguments.
#include "opt/specialise/infer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/signature.h"

namespace axon::opt {

const Tree& Inference::tree(size_t i) const { return forest_[args_[i]]; }
bool Inference::given(size_t i) const {
  return i < args_.size() && tree(i).kind != Tree::Kind::Null;
}

std::optional<int64_t> Inference::integer(size_t i) const {
  if (!given(i) || tree(i).kind != Tree::Kind::Int) return std::nullopt;
  return dims_.as_integer(tree(i).dim);
}

bool Inference::axis(size_t i, size_t rank, size_t& out) {
  std::optional<int64_t> value = given(i) ? integer(i) : -1;
  auto n = static_cast<int64_t>(rank);
  if (!value || *value < -n || *value >= n) {
    error = fmt::format("an axis is not within {} axes", rank);
    return false;
  }
  out = static_cast<size_t>(*value < 0 ? *value + n : *value);
  return true;
}

bool Inference::dim(size_t i, DimId& out) {
  if (!given(i) || tree(i).kind != Tree::Kind::Int) {
    error = fmt::format("{} stands where a size is needed",
                        spelling(given(i) ? tree(i).kind : Tree::Kind::Null));
    return false;
  }
  out = tree(i).dim;
  return true;
}

// A size, or a number of copies.
bool Inference::not_below_zero(DimId size) {
  if (const std::optional<int64_t> number = dims_.as_integer(size); number && *number < 0)
    return no("a size is negative");
  fits(dims_.integer(0), size);
  return true;
}

bool Inference::sizes(size_t i, std::vector<DimId>& out, bool rest) {
  bool list = given(i) && (tree(i).kind == Tree::Kind::List || tree(i).kind == Tree::Kind::Tuple);
  if (!list) {
    error = "a list of sizes is not known";
    return false;
  }
  for (TreeId item : tree(i).items) {
    if (forest_[item].kind != Tree::Kind::Int) {
      error = "a size is no integer";
      return false;
    }
    out.push_back(forest_[item].dim);
    if (rest && dims_.as_integer(out.back()) == -1) continue;
    if (!not_below_zero(out.back())) return false;
  }
  return true;
}

bool Inference::equal(DimId a, DimId b) {
  if (a == b) return true;
  if (dims_.as_integer(a) && dims_.as_integer(b)) {
    error = fmt::format("sizes `{}` and `{}` differ", dims_.show(a), dims_.show(b));
    return false;
  }
  facts.push_back({DimFact::Relation::Eq, a, b, {}});
  return true;
}

// Memory depends on it, so that nothing is taken for granted: a tensor may be empty.
bool Inference::surely_le(DimId a, DimId b) {
  if (a == b) return true;
  auto least = [&](SymbolId symbol) -> std::optional<int64_t> {
    std::optional<int64_t> known = options_.least(dims_, symbol);
    return known ? std::optional(std::min<int64_t>(*known, 0)) : known;
  };
  return dims_.proves_le(a, b, least);
}

void Inference::at_most(DimId a, DimId b) {
  if (surely_le(a, b)) return;
  facts.push_back({DimFact::Relation::Le, a, b, {}});
}

void Inference::fits(DimId a, DimId b) {
  if (surely_le(a, b)) return;
  facts.push_back({DimFact::Relation::Fits, a, b, {}});
}

bool Inference::proves_le(DimId a, DimId b) {
  return dims_.proves_le(a, b, [&](SymbolId symbol) { return options_.least(dims_, symbol); });
}

// A size of the call faces a number: where the result is declared to have the size of the call, it
// is that number, since a 1 would become it.
bool Inference::settled_by_type(DimId& into, DimId other, size_t from_end) {
  if (from_end > declared.size()) return false;
  const DimId want = declared[declared.size() - from_end];
  const DimId number = dims_.as_integer(into) ? into : other;
  if (!want.valid() || dims_.as_integer(want) || !dims_.as_integer(number)) return false;
  if (want != (number == into ? other : into)) return false;
  facts.push_back({DimFact::Relation::Eq, want, number, {}});
  into = want;
  return true;
}

// `whole`: the axes are all that the result has.
bool Inference::broadcast(std::vector<DimId>& into, const std::vector<DimId>& other, bool whole) {
  std::vector<DimId> a = into, b = other;
  if (a.size() < b.size()) std::swap(a, b);
  DimId one = dims_.integer(1);
  size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    DimId& x = a[shift + i];
    if (x == b[i] || b[i] == one) continue;
    if (x == one) {
      x = b[i];
      continue;
    }
    if (whole && settled_by_type(x, b[i], b.size() - i)) continue;
    error = fmt::format("sizes `{}` and `{}` do not broadcast", dims_.show(x), dims_.show(b[i]));
    return false;
  }
  into = std::move(a);
  return true;
}

bool Inference::broadcast_args(size_t from, size_t to, std::vector<DimId>& out) {
  for (size_t i = from; i < to && i < args_.size(); ++i) {
    if (tree(i).kind == Tree::Kind::Tensor && !broadcast(out, tree(i).dims, true)) return false;
  }
  return true;
}

// ---- element types -------------------------------------------------------------------------

// Promotion where scalars adopt the tensor's type, except a float with integers.
DType Inference::promoted(size_t from, size_t to) const {
  DType result = DType::Unknown;
  bool any_float = false, any_int = false;
  for (size_t i = from; i < to && i < args_.size(); ++i) {
    const Tree& t = tree(i);
    if (t.kind == Tree::Kind::Tensor)
      result = result == DType::Unknown ? t.dtype : promote(result, t.dtype);
    any_float |= t.kind == Tree::Kind::Float;
    any_int |= t.kind == Tree::Kind::Int;
  }
  if (result == DType::Unknown)
    return any_float ? options_.compute : any_int ? DType::I64 : DType::Bool;
  if (any_float && !is_float(result)) return DType::F32;
  if (any_int && result == DType::Bool) return DType::I64;
  return result;
}

bool Inference::named(size_t i, DType fallback, DType& out) {
  out = fallback;
  if (!given(i)) return true;
  if (tree(i).kind != Tree::Kind::String) {
    error = "an element type is no string";
    return false;
  }
  std::string_view name = dims_.names().text(tree(i).text);
  if (name.empty() || name == "none" || name == "default") return true;
  std::optional<DType> parsed = parse_dtype(name);
  if (!parsed) {
    error = fmt::format("`{}` is not an element type", name);
    return false;
  }
  // Float types that the program names act on the compute type.
  out = is_float(*parsed) ? promote(*parsed, options_.compute) : *parsed;
  return true;
}

// ---- layout --------------------------------------------------------------------------------

bool Inference::reshape() {
  std::vector<DimId> shape;
  if (!sizes(1, shape, true)) return false;
  DimId total = product(x().dims), rest = dims_.integer(1), minus = dims_.integer(-1);
  size_t open = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == minus)
      open = i;
    else
      rest = dims_.value_mul(rest, shape[i]);
  }
  if (open < shape.size()) {
    shape[open] = dims_.value_div(total, rest);
    if (!dims_.as_integer(rest) || *dims_.as_integer(rest) != 0) {
      const DimId left = dims_.mod(total, rest);
      if (left != dims_.integer(0) && !equal(left, dims_.integer(0))) return false;
    }
  } else if (!equal(total, rest))
    return false;
  return give(shape, x().dtype);
}

DimId Inference::product(const std::vector<DimId>& shape) {
  DimId result = dims_.integer(1);
  for (DimId d : shape) result = dims_.value_mul(result, d);
  return result;
}

bool Inference::permute() {
  std::vector<DimId> order, shape;
  if (!sizes(1, order, true) || order.size() != x().dims.size())
    return no("the order of axes is not known");
  for (DimId d : order) {
    std::optional<int64_t> a = dims_.as_integer(d);
    auto n = static_cast<int64_t>(order.size());
    if (!a || *a < -n || *a >= n) return no("the order of axes is not known");
    shape.push_back(x().dims[static_cast<size_t>(*a < 0 ? *a + n : *a)]);
  }
  return give(shape, x().dtype);
}

bool Inference::transpose() {
  size_t a = 0, b = 0;
  if (!axis(1, x().dims.size(), a) || !axis(2, x().dims.size(), b)) return false;
  std::vector<DimId> shape = x().dims;
  std::swap(shape[a], shape[b]);
  return give(shape, x().dtype);
}

bool Inference::unsqueeze() {
  size_t at = 0;
  if (!axis(1, x().dims.size() + 1, at)) return false;
  std::vector<DimId> shape = x().dims;
  shape.insert(shape.begin() + static_cast<int64_t>(at), dims_.integer(1));
  return give(shape, x().dtype);
}

bool Inference::expand() {
  std::vector<DimId> shape;
  if (!sizes(1, shape, true)) return false;
  if (shape.size() < x().dims.size()) return no("fewer axes than the value has");
  size_t shift = shape.size() - x().dims.size();
  DimId one = dims_.integer(1), minus = dims_.integer(-1);
  for (size_t i = 0; i < x().dims.size(); ++i) {
    DimId& to = shape[shift + i];
    if (to == minus)
      to = x().dims[i];
    else if (x().dims[i] != one && !equal(x().dims[i], to))
      return false;
  }
  return give(shape, x().dtype);
}

bool Inference::concat() {
  std::vector<TreeId> parts;
  for (size_t i = 0; i < args_.size(); ++i) {
    if (tree(i).kind == Tree::Kind::Tensor) parts.push_back(args_[i]);
    if (tree(i).kind != Tree::Kind::List) continue;
    for (TreeId item : tree(i).items) parts.push_back(item);
  }
  const Tree& first = forest_[parts[0]];
  size_t at = 0;
  if (!axis(args_.size() - 1, first.dims.size(), at)) return false;
  std::vector<DimId> shape = first.dims;
  DType dtype = first.dtype;
  for (size_t i = 1; i < parts.size(); ++i) {
    const Tree& part = forest_[parts[i]];
    if (part.kind != Tree::Kind::Tensor || part.dims.size() != shape.size())
      return no("pieces have different ranks");
    for (size_t k = 0; k < shape.size(); ++k) {
      if (k == at)
        shape[k] = dims_.value_add(shape[k], part.dims[k]);
      else if (!equal(shape[k], part.dims[k]))
        return false;
    }
    dtype = promote(dtype, part.dtype);
  }
  return give(shape, dtype);
}

bool Inference::slice() {
  size_t at = 0;
  DimId from, to;
  if (!axis(1, x().dims.size(), at) || !dim(2, from) || !dim(3, to)) return false;
  at_most(dims_.integer(0), from);
  at_most(from, to);
  at_most(to, x().dims[at]);
  std::vector<DimId> shape = x().dims;
  shape[at] = dims_.value_sub(to, from);
  return give(shape, x().dtype);
}

bool Inference::split() {
  size_t at = 0;
  std::vector<DimId> pieces;
  if (!axis(1, x().dims.size(), at) || !sizes(2, pieces)) return false;
  DimId total = dims_.integer(0);
  for (DimId piece : pieces) {
    std::vector<DimId> shape = x().dims;
    shape[at] = piece;
    total = dims_.value_add(total, piece);
    give(shape, x().dtype);
  }
  several = true;
  return equal(total, x().dims[at]);
}

bool Inference::chunk() {
  size_t at = 0;
  if (!axis(1, x().dims.size(), at)) return false;
  std::optional<int64_t> parts = integer(2), extent = dims_.as_integer(x().dims[at]);
  if (!parts || *parts < 1) return no("the number of pieces is not known");
  several = true;
  std::vector<DimId> shape = x().dims;
  if (!extent) {
    DimId n = dims_.integer(*parts);
    shape[at] = dims_.value_div(x().dims[at], n);
    // Pieces of an extent that cannot be divided differ in size.
    const DimId left = dims_.mod(x().dims[at], n), zero = dims_.integer(0);
    if (left != zero) needed.push_back({DimFact::Relation::Eq, left, zero, {}});
    for (int64_t i = 0; i < *parts; ++i) give(shape, x().dtype);
    return true;
  }
  // Uneven ones have no common type.
  int64_t size = (*extent + *parts - 1) / *parts;
  if (size > 0 && *extent % size != 0) return no("its pieces have different sizes");
  for (int64_t from = 0; from < *extent; from += size) {
    shape[at] = dims_.integer(size);
    give(shape, x().dtype);
  }
  return true;
}

bool Inference::repeat() {
  size_t at = 0;
  DimId times;
  if (!axis(2, x().dims.size(), at) || !dim(1, times)) return false;
  if (!not_below_zero(times)) return false;
  std::vector<DimId> shape = x().dims;
  shape[at] = dims_.value_mul(shape[at], times);
  return give(shape, x().dtype);
}

// ---- creation, reductions, products ---------------------------------------------------------

bool Inference::arange() {
  DimId from = dims_.integer(0), to;
  if (given(1) && !dim(1, from)) return false;
  const std::vector<DimId>& shape = x().dims;
  if (given(2)) {
    if (!dim(2, to)) return false;
  } else if (shape.empty()) {
    return no("the end of the range is not known");
  } else {
    to = shape.size() >= 3 ? shape[shape.size() - 2] : shape.back();
  }
  const DimId count = dims_.value_sub(to, from);
  return not_below_zero(count) && give({count}, DType::I64);
}

bool Inference::shaped(size_t shape_at, size_t dtype_at) {
  std::vector<DimId> shape;
  DType dtype = DType::Unknown;
  if (!sizes(shape_at, shape) || !named(dtype_at, x().dtype, dtype)) return false;
  return give(shape, dtype);
}

bool Inference::tensor_like() {
  const Tree& ref = tree(1);
  DType dtype = DType::Unknown;
  if (!named(2, ref.dtype, dtype)) return false;
  if (x().kind == Tree::Kind::Tensor) return give(x().dims, dtype);
  if (x().kind == Tree::Kind::List)
    return give({dims_.integer(static_cast<int64_t>(x().items.size()))}, dtype);
  return give(ref.dims, dtype);
}

bool Inference::reduce(size_t dim_at, size_t keep_at) {
  size_t at = 0;
  if (!axis(dim_at, x().dims.size(), at)) return false;
  std::vector<DimId> shape = x().dims;
  if (given(keep_at) && tree(keep_at).boolean)
    shape[at] = dims_.integer(1);
  else
    shape.erase(shape.begin() + static_cast<int64_t>(at));
  return give(shape, is_float(x().dtype) ? x().dtype : DType::I64);
}

bool Inference::topk() {
  size_t at = 0;
  DimId k;
  if (!axis(2, x().dims.size(), at) || !dim(1, k)) return false;
  std::vector<DimId> shape = x().dims;
  at_most(dims_.integer(0), k);
  at_most(k, shape[at]);
  shape[at] = k;
  give(shape, x().dtype);
  return give(shape, DType::I64);
}

bool Inference::matmul() {
  const Tree& y = tree(1);
  size_t m = x().dims.size(), n = y.dims.size();
  if (m < 2 || n < 2) return no("a factor has fewer than two axes");
  if (!equal(x().dims[m - 1], y.dims[n - 2])) return false;
  std::vector<DimId> shape(x().dims.begin(), x().dims.end() - 2);
  if (!broadcast(shape, std::vector<DimId>(y.dims.begin(), y.dims.end() - 2))) return false;
  shape.push_back(x().dims[m - 2]);
  shape.push_back(y.dims[n - 1]);
  bool floats = is_float(x().dtype) && is_float(y.dtype);
  return give(shape, floats ? y.dtype : promote(x().dtype, y.dtype));
}

// Kernels take the sizes of operands for granted: an index has the axes of x, and off the axis none
// that is longer.
bool Inference::indexed(size_t axis_at) {
  size_t place = 0;
  if (tree(1).kind != Tree::Kind::Tensor || !axis(axis_at, x().dims.size(), place)) return false;
  const std::vector<DimId>& index = tree(1).dims;
  if (index.size() != x().dims.size()) return no("its index has other axes");
  for (size_t d = 0; d < index.size(); ++d) {
    if (d != place) fits(index[d], x().dims[d]);
  }
  return true;
}

// Whether argument `i`, if it is a tensor, can have this shape.
bool Inference::same_shape(size_t i, const std::vector<DimId>& shape) {
  if (!given(i) || tree(i).kind != Tree::Kind::Tensor) return true;
  const std::vector<DimId>& found = tree(i).dims;
  if (found.size() != shape.size()) return no("its source has other axes");
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!equal(found[d], shape[d])) return false;
  }
  return true;
}

// x, index, src, dim
bool Inference::index_add() {
  size_t place = 0;
  if (tree(1).kind != Tree::Kind::Tensor || !axis(3, x().dims.size(), place)) return false;
  if (tree(1).dims.size() != 1) return no("its index has other than one axis");
  std::vector<DimId> shape = x().dims;
  shape[place] = tree(1).dims[0];
  return same_shape(2, shape) && give(x().dims, x().dtype);
}

bool Inference::conv1d() {
  const Tree& w = tree(1);
  if (x().dims.size() != 3 || w.dims.size() != 3) return no("convolution of other than three axes");
  std::optional<int64_t> stride = integer(3), dilation = integer(6);
  DimId left, right, groups;
  if (!stride || !dilation || !dim(4, left) || !dim(5, right) || !dim(7, groups))
    return no("stride or padding is not known");
  if (*stride < 1 || *dilation < 1) return no("stride and dilation are 1 or more");
  const DimId zero = dims_.integer(0);
  at_most(dims_.integer(1), groups);
  at_most(zero, left);
  at_most(zero, right);
  if (!equal(x().dims[1], dims_.value_mul(w.dims[1], groups)) ||
      !equal(dims_.mod(w.dims[0], groups), zero) || !same_shape(2, {w.dims[0]}))
    return false;
  DimId reach =
      dims_.value_mul(dims_.value_sub(w.dims[2], dims_.integer(1)), dims_.integer(*dilation));
  DimId length = dims_.value_sub(dims_.value_add(x().dims[2], dims_.value_add(left, right)), reach);
  if (*stride != 1) {
    length = dims_.value_add(
        dims_.value_div(dims_.value_sub(length, dims_.integer(1)), dims_.integer(*stride)),
        dims_.integer(1));
  }
  return not_below_zero(length) && give({x().dims[0], w.dims[0], length}, x().dtype);
}

bool Inference::assign(bool unit) {
  size_t at = 0;
  DimId from, to;
  if (!axis(2, x().dims.size(), at) || !dim(3, from)) return false;
  const Tree& part = tree(1);
  const bool ranked = part.kind == Tree::Kind::Tensor && part.dims.size() == x().dims.size();
  if (unit)
    to = dims_.value_add(from, dims_.integer(1));
  else if (!dim(4, to))
    return false;
  at_most(dims_.integer(0), from);
  at_most(from, to);
  at_most(to, x().dims[at]);
  if (!unit && ranked && !equal(dims_.value_sub(to, from), part.dims[at])) return false;
  if (part.kind == Tree::Kind::Tensor) {  // stretched over the range
    std::vector<DimId> range = x().dims;
    range[at] = dims_.value_sub(to, from);
    if (part.dims.size() > range.size()) return no("its source has more axes");
    const size_t shift = range.size() - part.dims.size();
    for (size_t d = 0; d < part.dims.size(); ++d) {
      if (part.dims[d] != dims_.integer(1) && !equal(part.dims[d], range[shift + d])) return false;
    }
  }
  return give(x().dims, x().dtype);
}

bool Inference::elementwise(size_t from, size_t to, DType dtype) {
  std::vector<DimId> shape;
  return broadcast_args(from, to, shape) && give(shape, dtype);
}

bool Inference::like_first(size_t dtype_at, bool float_result) {
  DType dtype = DType::Unknown;
  if (!named(dtype_at, x().dtype, dtype)) return false;
  if (float_result && !is_float(dtype)) dtype = DType::F32;
  return give(x().dims, dtype);
}

bool Inference::run(Op op) {
  constexpr size_t kNone = 99;
  switch (op) {
    case Op::CoreBinaryAdd:
    case Op::CoreBinarySub:
    case Op::CoreBinaryMul:
    case Op::CoreBinaryMod:
    case Op::Pow:
      return elementwise(0, 2, promoted(0, 2));
    case Op::CoreBinaryDiv:
      return elementwise(0, 2, is_float(promoted(0, 2)) ? promoted(0, 2) : DType::F32);
    case Op::CoreBinaryEq:
    case Op::CoreBinaryNe:
    case Op::CoreBinaryLt:
    case Op::CoreBinaryLe:
    case Op::CoreBinaryGt:
    case Op::CoreBinaryGe:
    case Op::CoreBinaryAnd:
    case Op::CoreBinaryOr:
      return elementwise(0, 2, DType::Bool);
    case Op::Where:
      return elementwise(0, 3, promoted(1, 3));
    case Op::Clamp:
      return elementwise(0, 3, x().dtype);
    case Op::Exp:
    case Op::Log:
    case Op::Sin:
    case Op::Cos:
    case Op::Acos:
    case Op::Sqrt:
      return like_first(kNone, true);
    case Op::Cast:
    case Op::Softmax:
      return op == Op::Cast ? like_first(1, false) : like_first(2, false);
    case Op::CastLike:
      return give(x().dims, tree(1).dtype);
    case Op::EmptyLike:
      return like_first(1, false);
    case Op::Fill:
      return like_first(2, false);
    case Op::Argsort:
      return give(x().dims, DType::I64);
    case Op::Cumsum:
      return give(x().dims, is_float(x().dtype) ? x().dtype : DType::I64);
    case Op::Floor:
    case Op::Round:
    case Op::ZerosLike:
    case Op::Rmsnorm:
    case Op::L2norm:
    case Op::ActivationsGelu:
    case Op::ActivationsTanh:
    case Op::ActivationsSigmoid:
    case Op::ActivationsGeluNew:
    case Op::ActivationsGeluPytorchTanh:
    case Op::ActivationsSilu:
    case Op::ActivationsRelu:
    case Op::ActivationsRelu2:
    case Op::ActivationsXielu:
    case Op::ActivationsSwiglu:
      return give(x().dims, x().dtype);
    case Op::ActivationsGegelu: {
      std::vector<DimId> shape = x().dims;
      if (shape.empty()) return no("no axis to halve");
      const DimId left = dims_.mod(shape.back(), dims_.integer(2)), zero = dims_.integer(0);
      if (left != zero && !equal(left, zero)) return false;
      shape.back() = dims_.value_div(shape.back(), dims_.integer(2));
      return give(shape, x().dtype);
    }
    case Op::Reshape:
      return reshape();
    case Op::Permute:
      return permute();
    case Op::Transpose:
      return transpose();
    case Op::Unsqueeze:
      return unsqueeze();
    case Op::Expand:
      return expand();
    case Op::Concat:
      return concat();
    case Op::Slice:
      return slice();
    case Op::Split:
      return split();
    case Op::Chunk:
      return chunk();
    case Op::Repeat_:
      return repeat();
    case Op::Arange:
      return arange();
    case Op::Zeros:
    case Op::Empty:
      return shaped(1, 2);
    case Op::Full:
      return shaped(1, 3);
    case Op::RandomNormal:
    case Op::RandomUniform:
      if (!shaped(1, kNone)) return false;
      if (!is_float(results[0].dtype)) results[0].dtype = DType::F32;
      return true;
    case Op::TensorLike:
      return tensor_like();
    case Op::Sum:
      return reduce(1, 2);
    case Op::Topk:
      return topk();
    case Op::Matmul:
      return matmul();
    case Op::Gather:
      return indexed(2) && give(tree(1).dims, x().dtype);
    case Op::Scatter:
    case Op::ScatterReduce:
      return indexed(3) && same_shape(2, tree(1).dims) && give(x().dims, x().dtype);
    case Op::IndexAdd:
      return index_add();
    case Op::AssignSlice:
      return assign(false);
    case Op::AssignUnitSlice:
      return assign(true);
    case Op::Conv1d:
      return conv1d();
    default:
      return no("sizes of its result depend on values");
  }
}

}  // namespace axon::opt
