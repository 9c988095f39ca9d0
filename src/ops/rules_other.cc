// Typing rules of parameters, configuration, layers, creation, reductions, products and lists.
#include <algorithm>

#include "ops/rule_call.h"
#include "ops/signature.h"
#include "support/check.h"

namespace axon::ops {
namespace {

bool has_run(const Axes& axes) {
  return std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.is_run(); });
}

Axis fresh_run(RuleCall& c) { return {{}, c.dims.fresh("R", SymbolKind::Run)}; }

// The first argument that is not a path.
size_t first_value(const RuleCall& c) { return op_signature(c.op).path_slots; }

}  // namespace

RuleResult rule_Param(RuleCall& c) { return c.result(c.types.tensor({fresh_run(c)})); }

RuleResult rule_HasRoot(RuleCall& c) {
  TypeKind k = c.types.kind(c.types.strip_optional(c.args[0].type));
  if (k != TypeKind::String && k != TypeKind::Path && !c.is_open(0)) {
    Mismatch mismatch;
    mismatch.kind = c.is_null(0) ? Mismatch::Kind::Null : Mismatch::Kind::Type;
    mismatch.left = c.args[0].type;
    mismatch.right = c.types.string();
    return c.fail(mismatch, 0);
  }
  return c.result(c.types.bool_());
}

RuleResult rule_Declared(RuleCall& c) {
  switch (c.op) {
    case Op::ConfigInt:
      return c.result(c.types.int_());
    case Op::ConfigFloat:
      return c.result(c.types.float_());
    case Op::ConfigBool:
    case Op::ConfigHas:
    case Op::ConfigHasValue:
      return c.result(c.types.bool_());
    case Op::ConfigStr:
      return c.result(c.types.string());
    case Op::ConfigValue:
      return c.result(c.types.any());
    case Op::ConfigList: {
      TypeId given = c.args.size() > 1 ? c.types.strip_optional(c.args[1].type) : TypeId{};
      if (given.valid() && c.types.kind(given) == TypeKind::List) return c.result(given);
      return c.result(c.types.list(c.types.variable(c.dims.fresh("T", SymbolKind::Type))));
    }
    case Op::Shape: {
      Axes axes = c.axes(0);
      Known known;
      if (!axes.empty() && !has_run(axes)) {
        std::vector<Known> items;
        for (const Axis& axis : axes) items.push_back(Known::of(axis.dim));
        known = Known::list(std::move(items));
      }
      return c.result(c.types.list(c.types.dim()), std::move(known));
    }
    case Op::TensorSize: {
      Axes axes = c.axes(0);
      auto place = c.position(axes, c.integer(1));
      if (c.error) return c.result(c.types.error());
      return c.result(c.types.dim(), place ? Known::of(axes[*place].dim) : Known{});
    }
    case Op::DtypeValue:
      return c.result(c.types.float_());
    case Op::ActivationsGegelu: {
      Axes axes = c.axes(0);
      if (axes.empty() || axes.back().is_run()) return c.result(c.types.tensor());
      auto width = c.u.value(axes.back().dim);
      if (width && *width % 2 != 0) return c.fail("width " + std::to_string(*width) + " is odd");
      axes.back().dim = c.dims.value_div(axes.back().dim, c.dims.integer(2));
      return c.result(c.tensor(std::move(axes)));
    }
    case Op::ListInit:
      return c.result(c.types.list(c.types.variable(c.dims.fresh("T", SymbolKind::Type))));
    case Op::ListLength: {
      Known known;
      if (c.is_null(0)) known = Known::of(c.dims.integer(0));
      if (!c.is_null(0) && c.args[0].known.is_list()) {
        known = Known::of(c.dims.integer(static_cast<int64_t>(c.args[0].known.items.size())));
      }
      return c.result(c.types.dim(), std::move(known));
    }
    default:
      AXON_UNREACHABLE("operation without a declared result");
  }
}

RuleResult rule_ConfigDim(RuleCall& c) { return c.result(c.types.dim(), Known::of(c.u.unknown())); }

RuleResult rule_LastAxisDim(RuleCall& c) {
  Axes axes = c.axes(1);
  if (axes.empty()) return c.result(c.types.tensor());
  size_t dim_index = 2;
  if (c.op == Op::ExpertLinear) {
    dim_index = 3;
    Axes rows = c.axes(2);
    Axes leading(axes.begin(), axes.end() - 1);
    Axes joined;
    if (!rows.empty() && !axes.back().is_run()) {
      if (auto bad = c.u.unify_axes(rows, leading, joined)) return c.fail(*bad, 2);
    }
  }
  if (axes.back().is_run()) {  // ..S must end in the input width
    Axes split{fresh_run(c), {c.dims.of(c.dims.fresh("Din", SymbolKind::Variable)), {}}};
    if (auto bad = c.u.unify_axes(axes, split, axes)) return c.fail(*bad, 1);
  }
  axes.back() = {c.dim_or_unknown(dim_index), {}};
  return c.result(c.tensor(std::move(axes)));
}

RuleResult rule_EmbeddingDim(RuleCall& c) {
  Axes axes = c.axes(1);
  if (axes.empty()) return c.result(c.types.tensor());
  axes.push_back({c.dim_or_unknown(2), {}});
  return c.result(c.tensor(std::move(axes)));
}

RuleResult rule_LikeFirst(RuleCall& c) {
  size_t i = first_value(c);
  TypeId type = c.types.strip_optional(c.args[i].type);
  TypeKind k = c.types.kind(type);
  if (c.is_null(i)) {
    c.error = RuleError{RuleError::Kind::Null, static_cast<int>(i), {}, {}};
    c.error->mismatch.right = c.types.tensor();
    return c.result(c.types.error());
  }
  bool scalar = k == TypeKind::Int || k == TypeKind::Dim || k == TypeKind::Float;
  // Bounds of clamp may be tensors, which broadcast with it.
  for (size_t bound = 1; bound < 3 && c.op == Op::Clamp && k == TypeKind::Tensor; ++bound) {
    if (!c.is_tensor(bound)) continue;
    auto next = broadcast(type, c.args[bound].type, c.u);
    if (!next) {
      c.error = RuleError{RuleError::Kind::Broadcast, static_cast<int>(bound), {}, {}};
      c.error->mismatch.left = type;
      c.error->mismatch.right = c.args[bound].type;
      return c.result(c.types.error());
    }
    type = *next;
  }
  if (k == TypeKind::Tensor || c.is_open(i)) return c.result(type);
  if (scalar) return c.result(c.op == Op::Clamp ? type : c.types.float_());
  Mismatch mismatch;
  mismatch.left = type;
  mismatch.right = c.types.tensor();
  return c.fail(mismatch, static_cast<int>(i));
}

RuleResult rule_Arange(RuleCall& c) {
  DimId start = c.is_null(1) ? c.dims.integer(0) : c.dim_or_unknown(1);
  if (!c.is_null(2)) {
    auto end = c.dim(2);
    return c.result(c.types.tensor_of({end ? c.dims.value_sub(*end, start) : c.u.unknown()}));
  }
  Axes axes = c.axes(0);
  if (axes.empty() || has_run(axes)) return c.result(c.types.tensor_of({c.u.unknown()}));
  DimId extent = axes[axes.size() - (axes.size() >= 3 ? 2 : 1)].dim;
  return c.result(c.types.tensor_of({c.dims.value_sub(extent, start)}));
}

RuleResult rule_Shaped(RuleCall& c) {
  auto shape = c.shape(1);
  if (!shape || shape->empty()) return c.result(c.types.tensor());
  for (DimId dim : *shape) {
    auto value = c.u.value(dim);
    if (value && *value < 0) return c.fail("size " + std::to_string(*value) + " in the shape");
  }
  return c.result(c.types.tensor_of(*shape));
}

RuleResult rule_TensorLike(RuleCall& c) {
  TypeId type = c.types.strip_optional(c.args[0].type);
  switch (c.types.kind(type)) {
    case TypeKind::Tensor:
      return c.result(type);
    case TypeKind::List:
    case TypeKind::Tuple: {
      const Known& known = c.args[0].known;
      bool sized = known.is_list();
      DimId n = sized ? c.dims.integer(static_cast<int64_t>(known.items.size())) : c.u.unknown();
      return c.result(c.types.tensor_of({n}));
    }
    case TypeKind::Int:
    case TypeKind::Dim:
    case TypeKind::Float:
    case TypeKind::Bool:
      return c.result(c.args[1].type);
    default:
      return c.result(c.types.tensor());
  }
}

RuleResult rule_Sum(RuleCall& c) {
  Axes axes = c.axes(0);
  auto place = c.position(axes, c.is_null(1) ? std::optional<int64_t>(-1) : c.integer(1));
  if (c.error) return c.result(c.types.error());
  auto keep = c.is_null(2) ? std::optional<bool>(false) : c.boolean(2);
  if (!keep || axes.empty()) return c.result(c.types.tensor());
  if (!place) {
    if (*keep) return c.result(c.forget(axes));
    axes.pop_back();
    return c.result(c.forget(axes));
  }
  if (*keep) {
    axes[*place].dim = c.dims.integer(1);
  } else {
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(*place));
  }
  return c.result(c.tensor(std::move(axes)));
}

RuleResult rule_Topk(RuleCall& c) {
  Axes axes = c.axes(0);
  auto place = c.position(axes, c.is_null(2) ? std::optional<int64_t>(-1) : c.integer(2));
  if (c.error) return c.result(c.types.error());
  TypeId type = c.forget(axes);
  if (place) {
    auto size = c.u.value(axes[*place].dim);
    auto count = c.integer(1);
    if (size && count && *count > *size) {
      return c.fail("takes " + std::to_string(*count) + " of " + std::to_string(*size));
    }
    axes[*place].dim = c.dim_or_unknown(1);
    type = c.tensor(std::move(axes));
  }
  return c.result(c.types.tuple({type, type}));
}

namespace {

// Batch axes of a product: equal as they stand, or broadcast; empty result for an unknown shape.
std::optional<Axes> batch_axes(RuleCall& c, const Axes& left, const Axes& right, bool& known) {
  known = true;
  if (right.empty() || left == right) return left;
  if (left.empty()) return right;
  if (has_run(left) || has_run(right)) {
    known = false;
    return Axes{};
  }
  auto type = broadcast(c.types.tensor(left), c.types.tensor(right), c.u);
  if (!type) return {};
  return c.types.get(*type).axes;
}

}  // namespace

RuleResult rule_Matmul(RuleCall& c) {
  Axes x = c.axes(0);
  Axes y = c.axes(1);
  if (x.empty() || y.empty()) return c.result(c.types.tensor());
  for (const Axes* axes : {&x, &y}) {
    bool run = has_run(*axes);
    if (!run && axes->size() < 2) {
      return c.fail("an operand has one axis, needs two or more");
    }
    if (run && (axes->size() < 3 || (*axes)[axes->size() - 1].is_run() ||
                (*axes)[axes->size() - 2].is_run())) {
      return c.result(c.types.tensor());
    }
  }
  if (auto bad = c.u.unify_dim(y[y.size() - 2].dim, x.back().dim)) {
    bad->left = c.args[1].type;
    bad->right = c.args[0].type;
    return c.fail(*bad, 1);
  }
  Axes left(x.begin(), x.end() - 2);
  Axes right(y.begin(), y.end() - 2);
  bool known = true;
  auto out = batch_axes(c, c.u.resolve(left), c.u.resolve(right), known);
  if (!out) {
    c.error = RuleError{RuleError::Kind::Broadcast, 1, {}, {}};
    c.error->mismatch.left = c.u.resolve(c.args[0].type);
    c.error->mismatch.right = c.u.resolve(c.args[1].type);
    return c.result(c.types.error());
  }
  if (!known) return c.result(c.types.tensor());
  out->push_back(x[x.size() - 2]);
  out->push_back(y.back());
  return c.result(c.types.tensor(c.u.resolve(*out)));
}

RuleResult rule_ListAppend(RuleCall& c) {
  TypeId value = c.args[1].type;
  TypeId list = c.types.strip_optional(c.args[0].type);
  if (c.is_null(0)) return c.result(c.types.list(value));
  if (c.types.kind(list) != TypeKind::List && c.types.kind(list) != TypeKind::Tuple) {
    return c.result(c.types.list(value));
  }
  TypeId item = c.types.get(list).items[0];
  c.u.start_join();
  for (TypeId other : c.types.get(list).items) {
    if (auto bad = c.u.join(item, other, item)) return c.fail(*bad, 0);
  }
  if (auto bad = c.u.join(item, value, item)) return c.fail(*bad, 1);
  return c.result(c.types.list(item));
}

RuleResult rule_ListIndex(RuleCall& c) {
  if (c.is_null(0)) return c.result(c.types.null(), Known::null());
  TypeId list = c.types.strip_optional(c.args[0].type);
  const TypeData data = c.types.get(list);
  if (data.kind != TypeKind::List && data.kind != TypeKind::Tuple) return c.result(c.types.any());
  auto index = c.integer(1);
  TypeId item = data.items[0];
  int64_t size = static_cast<int64_t>(data.items.size());
  if (data.kind == TypeKind::Tuple && index) {
    int64_t place = *index < 0 ? *index + size : *index;
    if (place < 0 || place >= size) {
      return c.fail("index " + std::to_string(*index) + " is outside of " + std::to_string(size) +
                    " items");
    }
    item = data.items[static_cast<size_t>(place)];
  } else if (data.kind == TypeKind::Tuple) {
    c.u.start_join();
    for (TypeId other : data.items) {
      if (auto bad = c.u.join(item, other, item)) return c.fail(*bad, 0);
    }
  }
  Known known;
  const Known& items = c.args[0].known;
  if (items.is_list() && index) {
    int64_t count = static_cast<int64_t>(items.items.size());
    int64_t place = *index < 0 ? *index + count : *index;
    if (place >= 0 && place < count) known = items.items[static_cast<size_t>(place)];
  }
  if (data.kind == TypeKind::List) item = c.u.renew_unknowns(item);
  return c.result(item, std::move(known));
}

RuleResult rule_Require(RuleCall& c) {
  if (c.is_null(0)) return c.result(c.types.error());  // never returns, so it fits everywhere
  return c.result(c.types.strip_optional(c.args[0].type), c.args[0].known);
}

}  // namespace axon::ops
