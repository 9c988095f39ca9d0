// Binding and checking of sizes.
#include "runtime/general/sizes.h"

#include <algorithm>

#include "runtime/core/int_apply.h"

namespace axon::runtime {
namespace {

using Kind = IntExpr::Kind;

enum class Solved : uint8_t { No, Inexact, Yes };

}  // namespace

std::optional<int64_t> Sizes::get(SymId symbol) const {
  for (const auto& [known, value] : values_) {
    if (known == symbol) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> Sizes::value(IntId expr) const {
  const IntExpr& e = program_->ints[expr];
  if (e.kind == Kind::Const) return e.value;
  if (e.kind == Kind::Sym) return get(e.sym);
  std::optional<int64_t> a = value(e.a), b = value(e.b);
  int64_t out = 0;
  if (!a || !b || !apply(e.kind, *a, *b, out)) return std::nullopt;
  return out;
}

SymId Sizes::unbound(IntId expr) const {
  const IntExpr& e = program_->ints[expr];
  if (e.kind == Kind::Const) return {};
  if (e.kind == Kind::Sym) return get(e.sym) ? SymId{} : e.sym;
  SymId left = unbound(e.a);
  return left.valid() ? left : unbound(e.b);
}

bool Sizes::mentions(IntId expr, SymId symbol) const {
  const IntExpr& e = program_->ints[expr];
  if (e.kind == Kind::Const) return false;
  if (e.kind == Kind::Sym) return e.sym == symbol;
  return mentions(e.a, symbol) || mentions(e.b, symbol);
}

bool Sizes::mentions(const Pattern& pattern, SymId symbol) const {
  return std::any_of(pattern.axes.begin(), pattern.axes.end(),
                     [&](IntId axis) { return axis.valid() && mentions(axis, symbol); }) ||
         std::any_of(pattern.items.begin(), pattern.items.end(),
                     [&](const Pattern& item) { return mentions(item, symbol); });
}

// False when two different symbols have no value.
bool Sizes::count_free(IntId expr, SymId& free, int& occurrences) const {
  const IntExpr& e = program_->ints[expr];
  if (e.kind == Kind::Const) return true;
  if (e.kind == Kind::Sym) {
    if (get(e.sym)) return true;
    if (free.valid() && free != e.sym) return false;
    free = e.sym;
    ++occurrences;
    return true;
  }
  return count_free(e.a, free, occurrences) && count_free(e.b, free, occurrences);
}

Result<bool> Sizes::bind_axis(const Pattern& pattern, IntId expr, int64_t size) {
  SymId free;
  int occurrences = 0;
  if (!count_free(expr, free, occurrences) || occurrences != 1) return false;
  int64_t target = size;
  Solved solved = Solved::Yes;
  for (IntId at = expr; solved == Solved::Yes;) {
    const IntExpr& e = program_->ints[at];
    if (e.kind == Kind::Sym) break;
    const bool left = unbound(e.a).valid();
    const std::optional<int64_t> other = value(left ? e.b : e.a);
    at = left ? e.a : e.b;
    if (!other) return false;
    const int64_t v = *other;
    if (e.kind == Kind::Add) {
      target -= v;
    } else if (e.kind == Kind::Sub) {
      target = left ? target + v : v - target;
    } else if (e.kind == Kind::Mul) {
      if (v == 0) return false;
      if (target % v != 0) solved = Solved::Inexact;
      target /= v;
    } else if (e.kind == Kind::FloorDiv && left) {
      target *= v;
    } else if (e.kind == Kind::FloorDiv && target != 0) {
      if (v % target != 0) solved = Solved::Inexact;
      target = v / target;
    } else {
      return false;
    }
  }
  if (solved == Solved::Inexact || target < 0) {
    return run_error(Diag::RunDim, {program_->symbols[free].name,
                                    "has no whole value for which an axis of `" + pattern.text +
                                        "` is " + std::to_string(size)});
  }
  set(free, target);
  return true;
}

// The sizes beside the axes that they are of, runs left out; nothing when ranks differ.
std::vector<std::pair<IntId, int>> Sizes::axes(const Pattern& pattern, int rank) const {
  std::vector<std::pair<IntId, int>> out;
  const int n = static_cast<int>(pattern.axes.size());
  const bool run = std::any_of(pattern.axes.begin(), pattern.axes.end(),
                               [](IntId axis) { return !axis.valid(); });
  if (!pattern.ranked || (run ? n > rank + 1 : n != rank)) return out;
  bool behind = false;
  for (int i = 0; i < n; ++i) {
    const IntId axis = pattern.axes[static_cast<size_t>(i)];
    if (axis.valid())
      out.emplace_back(axis, behind ? rank - (n - i) : i);
    else
      behind = true;
  }
  return out;
}

Result<bool> Sizes::bind(const Pattern& pattern, const Datum& value, bool plain) {
  bool any = false;
  if (pattern.kind == Pattern::Kind::Tensor && value.is_tensor()) {
    const View& view = value.tensor->view;
    for (auto [expr, axis] : axes(pattern, view.rank)) {
      if (plain && program_->ints[expr].kind != Kind::Sym) continue;
      AXON_TRY(const bool bound, bind_axis(pattern, expr, view.shape[axis]));
      any = any || bound;
    }
  }
  if (pattern.kind == Pattern::Kind::List && value.size() > 0) {
    return bind(pattern.items[0], value[0], plain);
  }
  if (pattern.kind == Pattern::Kind::Tuple) {
    for (size_t i = 0; i < pattern.items.size() && i < value.size(); ++i) {
      AXON_TRY(const bool bound, bind(pattern.items[i], value[i], plain));
      any = any || bound;
    }
  }
  return any;
}

Result<void> Sizes::check(const Pattern& pattern, const Datum& value,
                          const std::string& what) const {
  if (value.is_null()) return {};
  if (pattern.kind == Pattern::Kind::List) {
    for (size_t i = 0; i < value.size(); ++i)
      AXON_TRY_VOID(check(pattern.items[0], value[i], what));
  }
  // What takes apart a value of another number of items says so.
  if (pattern.kind == Pattern::Kind::Tuple && pattern.items.size() == value.size()) {
    for (size_t i = 0; i < value.size(); ++i)
      AXON_TRY_VOID(check(pattern.items[i], value[i], what));
  }
  if (pattern.kind != Pattern::Kind::Tensor) return {};
  if (!value.is_tensor())
    return run_error(Diag::RunValue, {what + " is " + show(value) + ", needs a tensor"});
  const View& view = value.tensor->view;
  const auto found = axes(pattern, view.rank);
  const bool only_run = pattern.axes.size() == 1 && !pattern.axes[0].valid();
  if (found.empty() && pattern.ranked && !only_run) {
    return run_error(Diag::RunShape,
                     {what, show_shape(value.tensor->shape()), "its type", pattern.text});
  }
  for (auto [expr, axis] : found) {
    const IntExpr& e = program_->ints[expr];
    if (e.kind == Kind::Const && e.value < 0) continue;  // left open
    const std::optional<int64_t> needed = this->value(expr);
    if (needed && *needed != view.shape[axis]) {
      return run_error(
          Diag::RunShape,
          {"axis " + std::to_string(axis) + " of " + what, std::to_string(view.shape[axis]),
           "its type `" + pattern.text + "`", std::to_string(*needed)});
    }
  }
  return {};
}

Result<void> Sizes::check_runs(const Pattern& pattern, const Datum& value,
                               const std::string& what) {
  if (value.is_null()) return {};
  if (pattern.kind == Pattern::Kind::List) {
    for (size_t i = 0; i < value.size(); ++i)
      AXON_TRY_VOID(check_runs(pattern.items[0], value[i], what));
  }
  if (pattern.kind == Pattern::Kind::Tuple) {
    for (size_t i = 0; i < value.size() && i < pattern.items.size(); ++i)
      AXON_TRY_VOID(check_runs(pattern.items[i], value[i], what));
  }
  auto run = std::find_if(pattern.axes.begin(), pattern.axes.end(),
                          [](IntId axis) { return !axis.valid(); });
  if (run == pattern.axes.end() || !value.is_tensor()) return {};
  const Shape shape = value.tensor->shape();
  const Shape sizes(shape.begin() + (run - pattern.axes.begin()),
                    shape.end() - (pattern.axes.end() - run - 1));
  auto first = std::find_if(runs_.begin(), runs_.end(),
                            [&](const Run& known) { return known.name == pattern.run; });
  if (first == runs_.end()) {
    runs_.push_back({pattern.run, sizes, what});
    return {};
  }
  if (first->sizes == sizes) return {};
  return run_error(Diag::RunShape, {"`.." + pattern.run + "` of " + what, show_shape(sizes),
                                    "that of " + first->what, show_shape(first->sizes)});
}

}  // namespace axon::runtime
