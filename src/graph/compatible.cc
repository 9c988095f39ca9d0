// The relation between the type of a value and the type declared where it is used.
#include <algorithm>

#include "graph/verify.h"

namespace axon::graph {
namespace {

class TypeRelation {
 public:
  TypeRelation(const TypeTable& types, Compatibility how)
      : types_(types), strict_(how == Compatibility::Strict) {}

  bool type(TypeId actual, TypeId formal) const {
    if (!actual.valid() || !formal.valid()) return !strict_;
    if (actual == formal) return true;
    const TypeData &a = types_.get(actual), &f = types_.get(formal);
    if (open(a.kind) || open(f.kind)) return true;
    if (f.kind == TypeKind::Optional) {
      return a.kind == TypeKind::Null || type(types_.strip_optional(actual), f.items[0]);
    }
    // A null may travel into a formal that does not declare it (language.md 6.4).
    if (a.kind == TypeKind::Optional) return type(a.items[0], formal);
    if (a.kind == TypeKind::Null) return !strict_;
    if (number(a.kind) && number(f.kind)) return !strict_ || widens(a.kind, f.kind);
    // Pieces of known number are typed as a tuple where the declaration says a list.
    if (a.kind == TypeKind::List && f.kind == TypeKind::Tuple)
      return each(a.items[0], f.items, false);
    if (a.kind == TypeKind::Tuple && f.kind == TypeKind::List)
      return each(f.items[0], a.items, true);
    if (a.kind != f.kind) return false;
    switch (a.kind) {
      case TypeKind::Tensor:
        return tensors(a, f);
      case TypeKind::List:
        return type(a.items[0], f.items[0]);
      case TypeKind::Tuple:
        return tuples(a, f);
      default:
        return true;
    }
  }

 private:
  static bool open(TypeKind kind) { return kind == TypeKind::Any || kind == TypeKind::Variable; }
  static bool number(TypeKind kind) {
    return kind == TypeKind::Int || kind == TypeKind::Dim || kind == TypeKind::Float;
  }
  static bool widens(TypeKind actual, TypeKind formal) {
    return actual != TypeKind::Float || formal == TypeKind::Float;
  }

  bool each(TypeId one, const std::vector<TypeId>& items, bool actual) const {
    for (TypeId item : items) {
      if (!(actual ? type(item, one) : type(one, item))) return false;
    }
    return true;
  }

  bool tuples(const TypeData& a, const TypeData& f) const {
    if (a.items.size() != f.items.size()) return false;
    for (size_t i = 0; i < a.items.size(); ++i) {
      if (!type(a.items[i], f.items[i])) return false;
    }
    return true;
  }

  // Only two integers can contradict each other: after specialisation and renaming, equal symbols
  // in two modules need not mean one size, so a compound proves nothing.
  bool dim(const Axis& a, const Axis& f) const {
    if (a.is_run() || f.is_run()) return true;
    if (strict_) return a.dim == f.dim;
    auto x = types_.dims().as_integer(a.dim), y = types_.dims().as_integer(f.dim);
    return !x || !y || *x == *y;
  }

  static size_t run_position(const TypeData& t) {
    for (size_t i = 0; i < t.axes.size(); ++i) {
      if (t.axes[i].is_run()) return i;
    }
    return t.axes.size();
  }

  bool tensors(const TypeData& a, const TypeData& f) const {
    if (!a.known_rank || !f.known_rank) return true;
    size_t na = a.axes.size(), nf = f.axes.size();
    size_t ra = run_position(a), rf = run_position(f);
    bool run_a = ra < na, run_f = rf < nf;
    if (!run_a && !run_f && na != nf) return false;
    if (run_a && !run_f && nf + 1 < na) return false;
    if (run_f && !run_a && na + 1 < nf) return false;
    size_t prefix = std::min(ra, rf);
    size_t suffix = std::min(run_a ? na - ra - 1 : na, run_f ? nf - rf - 1 : nf);
    for (size_t i = 0; i < prefix; ++i) {
      if (!dim(a.axes[i], f.axes[i])) return false;
    }
    if (!run_a && !run_f) return true;
    for (size_t i = 1; i <= suffix; ++i) {
      if (!dim(a.axes[na - i], f.axes[nf - i])) return false;
    }
    return true;
  }

  const TypeTable& types_;
  bool strict_;
};

}  // namespace

bool compatible(TypeId actual, TypeId formal, const TypeTable& types, Compatibility how) {
  return TypeRelation(types, how).type(actual, formal);
}

}  // namespace axon::graph
