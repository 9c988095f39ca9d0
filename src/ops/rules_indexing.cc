// Typing rules of gathering, scattering and convolution.
#include <algorithm>

#include "ops/rule_call.h"

namespace axon::ops {
namespace {

bool is_known(const Axes& axes) {
  return !axes.empty() &&
         std::none_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.is_run(); });
}

Axes axes_of(RuleCall& c, size_t i) {
  TypeId type = i < c.args.size() ? c.types.strip_optional(c.args[i].type) : TypeId{};
  if (!type.valid() || c.types.kind(type) != TypeKind::Tensor) return {};
  return c.u.resolve(c.types.get(type).axes);
}

bool refuse(RuleCall& c, std::string text) {
  c.error = RuleError{};
  c.error->text = std::move(text);
  return false;
}

bool refuse(RuleCall& c, const Mismatch& mismatch, int argument) {
  c.error = RuleError{RuleError::Kind::Mismatch, argument, mismatch, {}};
  return false;
}

// The operands must have one shape; says so of argument `i`.
bool same_shape(RuleCall& c, const Axes& found, const Axes& needed, int i) {
  Axes joined;
  auto bad = c.u.unify_axes(found, needed, joined);
  return !bad || refuse(c, *bad, i);
}

// The index has the axes of x, and off the axis it is not the longer one.
bool indexes(RuleCall& c, const Axes& x, const Axes& index, std::optional<size_t> place) {
  if (c.error) return false;
  if (!is_known(x) || !is_known(index)) return true;
  if (index.size() != x.size()) {
    Mismatch mismatch;
    mismatch.kind = Mismatch::Kind::Rank;
    mismatch.left = c.args[1].type;
    mismatch.right = c.args[0].type;
    return refuse(c, mismatch, 1);
  }
  for (size_t d = 0; d < x.size() && place; ++d) {
    if (d == *place) continue;
    auto count = c.u.value(index[d].dim), room = c.u.value(x[d].dim);
    if (!count || !room || *count <= *room) continue;
    return refuse(c, "axis " + std::to_string(d) + " of its index has " + std::to_string(*count) +
                         " places, that of the tensor " + std::to_string(*room));
  }
  return true;
}

std::optional<size_t> place_of(RuleCall& c, const Axes& x, size_t argument, int64_t otherwise) {
  return c.position(x, c.is_null(argument) ? std::optional(otherwise) : c.integer(argument));
}

}  // namespace

// x, index, dim
RuleResult rule_Gather(RuleCall& c) {
  const Axes x = axes_of(c, 0);
  if (!indexes(c, x, axes_of(c, 1), place_of(c, x, 2, -1))) return c.result(c.types.error());
  return c.result(c.args[1].type);
}

// x, index, src, dim, …
RuleResult rule_Scatter(RuleCall& c) {
  const Axes x = axes_of(c, 0), index = axes_of(c, 1), src = axes_of(c, 2);
  if (!indexes(c, x, index, place_of(c, x, 3, -1))) return c.result(c.types.error());
  if (is_known(index) && is_known(src) && !same_shape(c, src, index, 2))
    return c.result(c.types.error());
  return c.result(c.args[0].type);
}

// x, index, src, dim
RuleResult rule_IndexAdd(RuleCall& c) {
  const Axes x = axes_of(c, 0), index = axes_of(c, 1), src = axes_of(c, 2);
  std::optional<size_t> place = place_of(c, x, 3, 0);
  if (c.error) return c.result(c.types.error());
  if (is_known(index) && index.size() != 1) return c.fail("its index has one axis");
  if (place && is_known(x) && is_known(index) && is_known(src)) {
    Axes needed = x;
    needed[*place] = index[0];
    if (!same_shape(c, src, needed, 2)) return c.result(c.types.error());
  }
  return c.result(c.args[0].type);
}

// x[B,C,S], weight[O,I,K], bias, stride, padding_left, padding_right, dilation, groups
RuleResult rule_Conv1d(RuleCall& c) {
  const Axes x = c.axes(0), weight = c.axes(1), bias = axes_of(c, 2);
  auto fits = [](const Axes& axes) { return !is_known(axes) || axes.size() == 3; };
  if (!fits(x) || !fits(weight)) return c.fail("operands need three axes");
  static constexpr std::pair<size_t, const char*> kPositive[] = {
      {3, "stride"}, {6, "dilation"}, {7, "groups"}};
  for (auto [i, name] : kPositive) {
    auto value = c.integer(i);
    if (value && *value < 1)
      return c.fail("`" + std::string(name) + "` is " + std::to_string(*value) +
                    ", needs 1 or more");
  }
  if (!is_known(x) || !is_known(weight))
    return c.result(c.types.tensor_of({c.u.unknown(), c.u.unknown(), c.u.unknown()}));
  if (auto groups = c.dim(7)) {
    const DimId outputs = weight[0].dim;
    auto count = c.u.value(outputs), parts = c.u.value(*groups);
    if (count && parts && *count % *parts != 0)
      return c.fail(std::to_string(*parts) + " groups do not divide " + std::to_string(*count) +
                    " output channels");
    c.require_equal(x[1].dim, c.dims.value_mul(weight[1].dim, *groups), 1);
    if (!c.error) c.require_equal(c.dims.mod(outputs, *groups), c.dims.integer(0), 1);
  }
  if (c.error) return c.result(c.types.error());
  if (is_known(bias) && !same_shape(c, bias, {{weight[0].dim, {}}}, 2))
    return c.result(c.types.error());
  DimId length = c.u.unknown();
  auto left = c.dim(4);
  auto right = c.dim(5);
  if (c.integer(3) == 1 && c.integer(6) == 1 && left && right) {
    DimId padded = c.dims.value_add(x[2].dim, c.dims.value_add(*left, *right));
    length = c.dims.value_add(c.dims.value_sub(padded, weight[2].dim), c.dims.integer(1));
  }
  return c.result(c.types.tensor_of({x[0].dim, weight[0].dim, length}));
}

}  // namespace axon::ops
