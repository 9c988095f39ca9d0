// The values of a frame's dim symbols (language.md 6.5).
#include "graph/eval_dims.h"

#include <algorithm>

#include "support/arithmetic.h"
#include "support/check.h"

namespace axon::graph {
namespace {

using Tree = DimTable::Tree;

size_t occurrences(const Tree& tree, SymbolId symbol) {
  if (tree.kind == Tree::Kind::Symbol) return tree.symbol == symbol;
  size_t count = 0;
  for (const Tree& operand : tree.operands) count += occurrences(operand, symbol);
  return count;
}

Arith arith_of(Tree::Kind kind) {
  switch (kind) {
    case Tree::Kind::Add:
      return Arith::Add;
    case Tree::Kind::Sub:
      return Arith::Sub;
    case Tree::Kind::Mul:
      return Arith::Mul;
    case Tree::Kind::Div:
      return Arith::Div;
    case Tree::Kind::Mod:
      return Arith::Mod;
    default:
      AXON_UNREACHABLE("dim tree");
  }
}

// Value of a tree under the symbols bound so far.
std::optional<int64_t> value_of(const Tree& tree, const DimBinding& binding) {
  using Kind = Tree::Kind;
  if (tree.kind == Kind::Integer) return tree.value;
  if (tree.kind == Kind::Symbol) return binding.get(tree.symbol);
  std::optional<int64_t> out;
  for (const Tree& operand : tree.operands) {
    auto v = value_of(operand, binding);
    if (!v) return {};
    if (!out) {
      out = v;
      continue;
    }
    if (tree.kind == Kind::Min || tree.kind == Kind::Max) {
      out = tree.kind == Kind::Min ? std::min(*out, *v) : std::max(*out, *v);
      continue;
    }
    int64_t result = 0;
    if (whole_arithmetic(arith_of(tree.kind), *out, *v, result) != ArithFault::None) return {};
    out = result;
  }
  return out;
}

struct Solution {
  bool solved = false;  // false: the form cannot be solved
  bool exact = true;
  int64_t value = 0;
};

// Solves tree = target for a symbol that occurs once in it.
Solution solve(const Tree& tree, SymbolId symbol, int64_t target, const DimBinding& binding) {
  using Kind = Tree::Kind;
  if (tree.kind == Kind::Symbol) return {true, true, target};
  size_t at = 0;
  while (at < tree.operands.size() && occurrences(tree.operands[at], symbol) == 0) ++at;
  for (size_t i = 0; i < tree.operands.size(); ++i) {
    if (i == at) continue;
    auto v = value_of(tree.operands[i], binding);
    if (!v) return {};
    switch (tree.kind) {
      case Kind::Add:
        target -= *v;
        break;
      case Kind::Sub:
        // a - b - c: the first operand is positive.
        if (at == 0)
          target += *v;
        else
          target = i == 0 ? *v - target : target - *v;
        break;
      case Kind::Mul:
        if (*v == 0) return {};
        if (target % *v != 0) return {true, false, 0};
        target /= *v;
        break;
      case Kind::Div:
        if (at == 0) {
          target *= *v;
        } else {
          if (target == 0) return {};
          if (*v % target != 0) return {true, false, 0};
          target = *v / target;
        }
        break;
      default:
        return {};
    }
  }
  return solve(tree.operands[at], symbol, target, binding);
}

}  // namespace

std::optional<int64_t> DimBinding::get(SymbolId symbol) const {
  auto found = values_.find(symbol);
  if (found != values_.end()) return found->second;
  return dims_.symbol(symbol).value;
}

std::optional<int64_t> DimBinding::value(DimId dim) const {
  return dims_.evaluate(dim, [this](SymbolId symbol) { return get(symbol); });
}

std::vector<std::pair<DimId, size_t>> DimBinding::axes(const TypeData& type, size_t rank) const {
  std::vector<std::pair<DimId, size_t>> out;
  size_t n = type.axes.size();
  bool run = false;
  for (const Axis& axis : type.axes) run = run || axis.is_run();
  if (!type.known_rank || (run ? n > rank + 1 : n != rank)) return out;
  bool behind = false;
  for (size_t i = 0; i < n; ++i) {
    if (type.axes[i].is_run())
      behind = true;
    else
      out.emplace_back(type.axes[i].dim, behind ? rank - (n - i) : i);
  }
  return out;
}

Result<bool> DimBinding::bind_axis(DimId dim, int64_t size, Only only) {
  if (only == Only::Plain && !dims_.as_symbol(dim)) return false;
  SymbolId free;
  for (SymbolId symbol : dims_.symbols(dim)) {
    if (get(symbol)) continue;
    if (free.valid()) return false;
    free = symbol;
  }
  if (!free.valid()) return false;
  if (only == Only::Declared && dims_.symbol(free).kind == SymbolKind::Unknown) return false;
  Tree tree = dims_.tree(dim);
  if (occurrences(tree, free) != 1) return false;
  Solution solution = solve(tree, free, size, *this);
  if (!solution.solved) return false;
  if (!solution.exact || solution.value < 0) {
    return eval_error(Diag::RunDim, {dims_.names().text(dims_.symbol(free).name),
                                     "has no whole value for which `" + dims_.show(dim) + "` is " +
                                         std::to_string(size)});
  }
  set(free, solution.value);
  return true;
}

Result<bool> DimBinding::bind(TypeId type, const EvalValue& value, Only only) {
  if (!type.valid() || value.is_null()) return false;
  const TypeData& data = types_.get(type);
  bool any = false;
  switch (data.kind) {
    case TypeKind::Optional:
      return bind(data.items[0], value, only);
    case TypeKind::List:
      if (value.items.empty()) return false;
      return bind(data.items[0], value.items[0], only);
    case TypeKind::Tuple:
      for (size_t i = 0; i < data.items.size() && i < value.items.size(); ++i) {
        AXON_TRY(bool bound, bind(data.items[i], value.items[i], only));
        any = any || bound;
      }
      return any;
    case TypeKind::Tensor:
      if (!value.is_tensor()) return false;
      for (auto [dim, axis] : axes(data, value.tensor->shape.size())) {
        AXON_TRY(bool bound, bind_axis(dim, value.tensor->shape[axis], only));
        any = any || bound;
      }
      return any;
    default:
      return false;
  }
}

Result<void> DimBinding::check(TypeId type, const EvalValue& value, const std::string& what) const {
  if (!type.valid() || value.is_null()) return {};
  const TypeData& data = types_.get(type);
  switch (data.kind) {
    case TypeKind::Optional:
      return check(data.items[0], value, what);
    case TypeKind::List:
      for (const EvalValue& item : value.items) AXON_TRY_VOID(check(data.items[0], item, what));
      return {};
    case TypeKind::Tuple:
      // What takes apart a value of another number of items says so.
      if (data.items.size() != value.items.size()) return {};
      for (size_t i = 0; i < data.items.size(); ++i) {
        AXON_TRY_VOID(check(data.items[i], value.items[i], what));
      }
      return {};
    case TypeKind::Tensor:
      break;
    default:
      return {};
  }
  if (!value.is_tensor())
    return eval_error(Diag::RunValue, {what + " is " + show(value) + ", needs a tensor"});
  const std::vector<int64_t>& shape = value.tensor->shape;
  std::vector<std::pair<DimId, size_t>> found = axes(data, shape.size());
  if (found.empty() && data.known_rank && !(data.axes.size() == 1 && data.axes[0].is_run())) {
    return eval_error(Diag::RunShape, {what, show_shape(shape), "its type", types_.show(type)});
  }
  for (auto [dim, axis] : found) {
    auto needed = this->value(dim);
    if (needed && *needed != shape[axis]) {
      return eval_error(Diag::RunShape, {"axis " + std::to_string(axis) + " of " + what,
                                         std::to_string(shape[axis]), "`" + dims_.show(dim) + "`",
                                         std::to_string(*needed)});
    }
  }
  return {};
}

Result<void> DimBinding::check_runs(TypeId type, const EvalValue& value, const std::string& what) {
  if (!type.valid() || value.is_null()) return {};
  const TypeData& data = types_.get(type);
  if (data.kind == TypeKind::Optional) return check_runs(data.items[0], value, what);
  for (size_t i = 0; i < value.items.size() && !data.items.empty(); ++i) {
    const size_t item = data.kind == TypeKind::List ? 0 : i;
    if (item < data.items.size()) AXON_TRY_VOID(check_runs(data.items[item], value.items[i], what));
  }
  auto run = std::find_if(data.axes.begin(), data.axes.end(),
                          [](const Axis& axis) { return axis.is_run(); });
  if (run == data.axes.end() || !value.is_tensor()) return {};
  const std::vector<int64_t>& shape = value.tensor->shape;
  const std::vector<int64_t> sizes(shape.begin() + (run - data.axes.begin()),
                                   shape.end() - (data.axes.end() - run - 1));
  const Run& first = runs_.try_emplace(run->run, Run{sizes, what}).first->second;
  if (first.sizes == sizes) return {};
  return eval_error(
      Diag::RunShape,
      {"`.." + std::string(dims_.names().text(dims_.symbol(run->run).name)) + "` of " + what,
       show_shape(sizes), "that of " + first.what, show_shape(first.sizes)});
}

}  // namespace axon::graph
