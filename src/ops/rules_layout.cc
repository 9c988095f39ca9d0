// Typing rules of layout operations.
#include <algorithm>

#include "ops/rule_call.h"
#include "types/rational.h"

namespace axon::ops {

RuleResult rule_Reshape(RuleCall& c) {
  auto shape = c.shape(1);
  if (!shape) return c.result(c.types.tensor());
  if (shape->empty()) return c.fail("the shape has no axis");
  auto total = c.product(c.axes(0));
  DimId rest = c.dims.integer(1);
  std::optional<size_t> open;
  for (size_t i = 0; i < shape->size(); ++i) {
    auto value = c.u.value((*shape)[i]);
    if (value && *value < -1) return c.fail("size " + std::to_string(*value) + " in the shape");
    if (value && *value == -1) {
      if (open) return c.fail("the shape has two -1");
      open = i;
    } else {
      rest = c.dims.value_mul(rest, (*shape)[i]);
    }
  }
  if (open) {
    auto whole = total ? c.u.value(*total) : std::nullopt;
    auto known = c.u.value(rest);
    if (whole && known && *known != 0 && *whole % *known != 0) {
      return c.fail(std::to_string(*whole) + " elements do not divide by " +
                    std::to_string(*known));
    }
    (*shape)[*open] = total ? c.dims.value_div(*total, rest) : c.u.unknown();
  } else if (total) {
    c.require_equal(*total, rest, 1);
  }
  if (c.error)
    return c.fail(c.dims.show(*total) + " elements do not take a shape of " + c.dims.show(rest));
  return c.result(c.types.tensor_of(*shape));
}

RuleResult rule_Permute(RuleCall& c) {
  Axes axes = c.axes(0);
  if (axes.empty()) return c.result(c.types.tensor());
  auto order = c.shape(1);
  if (!order) return c.result(c.forget(axes));
  bool run = std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.is_run(); });
  if (run) {
    Axes out;
    for (size_t i = 0; i < order->size(); ++i) out.push_back({c.u.unknown(), {}});
    return c.result(c.tensor(std::move(out)));
  }
  if (order->size() != axes.size()) {
    return c.fail(std::to_string(order->size()) + " axis numbers for " +
                  std::to_string(axes.size()) + " axes");
  }
  Axes out;
  std::vector<bool> used(axes.size(), false);
  for (DimId number : *order) {
    auto value = c.u.value(number);
    if (!value) return c.result(c.forget(axes));
    auto place = c.position(axes, value);
    if (!place) return c.result(c.types.error());
    if (used[*place]) return c.fail("axis " + std::to_string(*value) + " occurs twice");
    used[*place] = true;
    out.push_back(axes[*place]);
  }
  return c.result(c.tensor(std::move(out)));
}

RuleResult rule_Transpose(RuleCall& c) {
  Axes axes = c.axes(0);
  auto a = c.position(axes, c.integer(1));
  auto b = c.position(axes, c.integer(2));
  if (c.error) return c.result(c.types.error());
  if (!a || !b) return c.result(c.forget(axes));
  std::swap(axes[*a], axes[*b]);
  return c.result(c.tensor(std::move(axes)));
}

RuleResult rule_Unsqueeze(RuleCall& c) {
  Axes axes = c.axes(0);
  if (axes.empty()) return c.result(c.types.tensor());
  auto place = c.position(axes, c.integer(1), 1);
  if (c.error) return c.result(c.types.error());
  if (!place) {
    axes.push_back(axes.back());
    return c.result(c.forget(axes));
  }
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(*place), Axis{c.dims.integer(1), {}});
  return c.result(c.tensor(std::move(axes)));
}

RuleResult rule_Expand(RuleCall& c) {
  Axes axes = c.axes(0);
  auto shape = c.shape(1);
  if (!shape) return c.result(c.types.tensor());
  if (shape->empty()) return c.fail("the shape has no axis");
  bool run = std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.is_run(); });
  bool known = !axes.empty() && !run;
  if (known && axes.size() > shape->size()) {
    return c.fail(std::to_string(axes.size()) + " axes do not expand to " +
                  std::to_string(shape->size()));
  }
  size_t shift = known ? shape->size() - axes.size() : 0;
  for (size_t i = 0; i < shape->size(); ++i) {
    DimId& target = (*shape)[i];
    auto value = c.u.value(target);
    if (value && *value < -1) return c.fail("size " + std::to_string(*value) + " in the shape");
    bool keep = value && *value == -1;
    if (keep && known && i < shift)
      return c.fail("a -1 in the shape stands for no axis of the value");
    if (!known || i < shift) {
      if (keep) target = c.u.unknown();
      continue;
    }
    DimId from = axes[i - shift].dim;
    if (keep) {
      target = from;
      continue;
    }
    if (from == target || c.u.value(from) == 1) continue;
    auto have = c.u.value(from);
    auto want = c.u.value(target);
    if (have && want && *have != *want) {
      return c.fail("size " + std::to_string(*have) + " does not expand to " +
                    std::to_string(*want));
    }
    if (!(have && want)) c.u.record(DimConstraint::Kind::Broadcast, target, from);
  }
  return c.result(c.types.tensor_of(*shape));
}

namespace {

// x and y joined along one axis; the others unify.
RuleResult concat_pair(RuleCall& c) {
  Axes left = c.axes(0);
  Axes right = c.axes(1);
  auto axis = c.is_null(2) ? std::optional<int64_t>(-1) : c.integer(2);
  if (left.empty() || right.empty()) return c.result(c.types.tensor());
  auto a = c.position(left, axis);
  auto b = c.position(right, axis);
  if (c.error) return c.result(c.types.error());
  if (!a || !b) {
    bool runs = left.size() != right.size();
    return c.result(runs ? c.types.tensor() : c.forget(left));
  }
  // Both concatenated axes become one placeholder, so that the rest unifies as whole shapes.
  DimId sum = c.dims.value_add(left[*a].dim, right[*b].dim);
  DimId placeholder = c.dims.of(c.dims.fresh("axis", SymbolKind::Param));
  left[*a].dim = placeholder;
  right[*b].dim = placeholder;
  Axes out;
  if (auto bad = c.u.unify_axes(right, left, out)) {
    bad->left = c.args[1].type;
    bad->right = c.args[0].type;
    return c.fail(*bad, 1);
  }
  for (Axis& item : out) {
    if (!item.is_run() && item.dim == placeholder) item.dim = c.u.resolve(sum);
  }
  return c.result(c.tensor(std::move(out)));
}

}  // namespace

RuleResult rule_Concat(RuleCall& c) {
  if (c.is_tensor(0) && c.is_tensor(1)) return concat_pair(c);
  if (c.kind(0) == TypeKind::List && c.is_null(1)) {
    TypeId item = c.types.get(c.args[0].type).items[0];
    if (c.types.kind(item) != TypeKind::Tensor) return c.result(c.types.tensor());
    Axes axes = c.u.resolve(c.types.get(item).axes);
    auto place = c.position(axes, c.is_null(2) ? std::optional<int64_t>(-1) : c.integer(2));
    if (c.error) return c.result(c.types.error());
    if (!place) return c.result(c.forget(axes));
    axes[*place].dim = c.u.unknown();
    return c.result(c.tensor(std::move(axes)));
  }
  for (size_t i = 0; i < 2; ++i) {
    bool fits = c.is_tensor(i) || c.is_open(i) || c.kind(i) == TypeKind::Tuple;
    if (fits || (i == 0 && c.kind(i) == TypeKind::List)) continue;
    Mismatch mismatch;
    mismatch.kind = c.is_null(i) ? Mismatch::Kind::Null : Mismatch::Kind::Type;
    mismatch.left = c.args[i].type;
    mismatch.right = c.types.tensor();
    if (c.kind(i) == TypeKind::Optional &&
        c.types.is_tensor(c.types.strip_optional(c.args[i].type)))
      continue;
    return c.fail(mismatch, static_cast<int>(i));
  }
  return c.result(c.types.tensor());
}

RuleResult rule_Slice(RuleCall& c) {
  Axes axes = c.axes(0);
  auto place = c.position(axes, c.integer(1));
  if (c.error) return c.result(c.types.error());
  if (!place) return c.result(c.forget(axes));
  auto start = c.dim(2);
  auto end = c.dim(3);
  DimId length = start && end ? c.dims.value_sub(*end, *start) : c.u.unknown();
  auto size = c.u.value(axes[*place].dim);
  auto first = c.integer(2);
  auto last = c.integer(3);
  if (first && *first < 0) return c.fail("slice starts at " + std::to_string(*first));
  if (first && last && *last < *first) {
    return c.fail("slice from " + std::to_string(*first) + " to " + std::to_string(*last));
  }
  if (size && last && *last > *size) {
    return c.fail("slice ends at " + std::to_string(*last) + " of " + std::to_string(*size));
  }
  axes[*place].dim = length;
  return c.result(c.tensor(std::move(axes)));
}

namespace {

RuleResult pieces(RuleCall& c, const Axes& axes, size_t place, const std::vector<DimId>& sizes) {
  std::vector<TypeId> items;
  for (DimId size : sizes) {
    Axes piece = axes;
    piece[place].dim = size;
    items.push_back(c.tensor(std::move(piece)));
  }
  if (items.size() == 1) return c.result(c.types.list(items[0]));
  return c.result(c.types.tuple(std::move(items)));
}

}  // namespace

RuleResult rule_Split(RuleCall& c) {
  Axes axes = c.axes(0);
  auto place = c.position(axes, c.is_null(1) ? std::optional<int64_t>(-1) : c.integer(1));
  if (c.error) return c.result(c.types.error());
  auto sizes = c.shape(2);
  if (sizes && sizes->empty()) return c.fail("no sizes to split into");
  for (DimId size : sizes.value_or(std::vector<DimId>())) {
    auto number = c.dims.as_integer(size);
    if (number && *number < 0) return c.fail("a piece of size " + std::to_string(*number));
  }
  if (!place) {
    if (!sizes || sizes->size() < 2) return c.result(c.types.list(c.forget(axes)));
    std::vector<TypeId> items;
    for (size_t i = 0; i < sizes->size(); ++i) items.push_back(c.forget(axes));
    return c.result(c.types.tuple(std::move(items)));
  }
  if (!sizes) {
    axes[*place].dim = c.u.unknown();
    return c.result(c.types.list(c.tensor(std::move(axes))));
  }
  DimId sum = c.dims.integer(0);
  for (DimId size : *sizes) sum = c.dims.value_add(sum, size);
  c.require_equal(sum, axes[*place].dim, 2);
  if (c.error) return c.result(c.types.error());
  return pieces(c, axes, *place, *sizes);
}

RuleResult rule_Chunk(RuleCall& c) {
  Axes axes = c.axes(0);
  auto place = c.position(axes, c.is_null(1) ? std::optional<int64_t>(-1) : c.integer(1));
  if (c.error) return c.result(c.types.error());
  auto parts = c.dim(2);
  auto count = c.integer(2);
  if (count && *count < 1) return c.fail("cannot cut into " + std::to_string(*count) + " parts");
  bool listed = count && *count >= 2 && *count <= 64;
  if (!place) {
    if (!listed) return c.result(c.types.list(c.forget(axes)));
    std::vector<TypeId> items;
    for (int64_t i = 0; i < *count; ++i) items.push_back(c.forget(axes));
    return c.result(c.types.tuple(std::move(items)));
  }
  DimId extent = axes[*place].dim;
  auto size = c.u.value(extent);
  // A written number of parts says that they are equal.
  if (size && count && *size % *count != 0) {
    return c.fail(std::to_string(*size) + " does not divide into " + std::to_string(*count) +
                  " equal pieces");
  }
  if (!parts || c.u.mentions_unknown(extent)) {
    axes[*place].dim = c.u.unknown();
    return c.result(c.types.list(c.tensor(std::move(axes))));
  }
  DimId piece = c.dims.value_div(extent, *parts);
  DimId whole = c.dims.value_mul(piece, *parts);
  if (whole != extent) c.u.record_equal(whole, extent);  // the division leaves nothing
  if (listed)
    return pieces(c, axes, *place, std::vector<DimId>(static_cast<size_t>(*count), piece));
  axes[*place].dim = piece;
  return c.result(c.types.list(c.tensor(std::move(axes))));
}

RuleResult rule_Repeat(RuleCall& c) {
  Axes axes = c.axes(0);
  auto place = c.position(axes, c.integer(2));
  if (c.error) return c.result(c.types.error());
  if (!place) return c.result(c.forget(axes));
  auto repeats = c.dim(1);
  DimId once = axes[*place].dim;
  axes[*place].dim = repeats ? c.dims.value_mul(once, *repeats) : c.u.unknown();
  return c.result(c.tensor(std::move(axes)));
}

}  // namespace axon::ops
