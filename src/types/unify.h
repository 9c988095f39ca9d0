// Unification of types and dims (language.md 6.4, 6.6) for one definition's check.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "types/type.h"

namespace axon {

// Why two types do not fit: `left` is what was found, `right` what is needed.
struct Mismatch {
  enum class Kind : uint8_t { Type, Numeric, Null, Rank, Dim, DimConst, Variadic, TupleSize };
  Kind kind = Kind::Type;
  TypeId left, right;         // the innermost types that clash
  DimId left_dim, right_dim;  // Dim, DimConst
  int axis = -1;              // Dim, DimConst: the axis of the tensor, when known
};

// A fact that could not be decided: `left = right`, or `right is left or 1`.
struct DimConstraint {
  enum class Kind : uint8_t { Equal, Broadcast } kind = Kind::Equal;
  DimId left, right;
  int32_t origin = -1;   // the caller's index of the place
  bool guarded = false;  // found in a branch only
  int32_t branch = -1;   // the caller's number of that branch, when there is one such
  friend bool operator==(const DimConstraint&, const DimConstraint&) = default;
};

// Whether a unification accepted an optional where a value is needed.
struct UnifyNotes {
  bool dropped_optional = false;
};

// What a quotient in a dim leaves, and the sign of the term that it is in (0 within an atom).
struct Rest {
  DimId dim;
  int sign = 0;
};

struct AxisPairing;

class Unifier {
  friend struct AxisPairing;

 public:
  explicit Unifier(TypeTable& types) : types_(types), dims_(types.dims()) {}

  TypeTable& types() { return types_; }
  DimTable& dims() { return dims_; }

  // Symbols of the definition's interface: they win over local names when two are made equal.
  void anchor(SymbolId symbol) {
    bool added = anchored_.insert(symbol).second;
    if (added && !branches_.empty()) branches_.back().own.insert(symbol);
  }
  // The place that constraints recorded from now on come from.
  void set_origin(int32_t origin) { origin_ = origin; }

  // What is found until leave_branch() holds only if that branch is taken: sizes of the interface
  // that it makes equal are apart again afterwards, and a constraint says what the branch needs.
  void enter_branch(int32_t number = -1) {
    if (number < 0 && !branches_.empty()) number = branches_.back().number;
    branches_.push_back({{}, {}, number, constraints_.size(), {}});
  }
  void leave_branch();
  void forget_branch();  // leaves one that is not taken: it asks for nothing
  bool bound_in_branch(SymbolId symbol) const { return guarded_.count(symbol) > 0; }

  // What a constant with an unknown value is made of; equality sees through it.
  void define(SymbolId rigid, DimId meaning) { definitions_[rigid] = meaning; }

  DimId resolve(DimId dim);
  TypeId resolve(TypeId type);
  std::vector<Axis> resolve(const std::vector<Axis>& axes);
  // The value of a dim made of integers and constants with known values.
  std::optional<int64_t> value(DimId dim);

  std::optional<Mismatch> unify_dim(DimId left, DimId right);
  std::optional<Mismatch> unify_axes(const std::vector<Axis>& left, const std::vector<Axis>& right,
                                     std::vector<Axis>& result);
  // `actual` is accepted where `required` stands; result is the more informative type. A null or
  // optional actual for a required value follows language.md 6.4.
  std::optional<Mismatch> unify(TypeId actual, TypeId required, TypeId& result, UnifyNotes& notes);
  // The type of a value that is one of the two (branches, list items, carries).
  std::optional<Mismatch> join(TypeId a, TypeId b, TypeId& result);
  // Begins a join that is about one decision: dims that differ in the same way get the same
  // unknown.
  void start_join();
  // In a loop's rounds an axis that already is an unknown of such a join may stay as it is. Those
  // of a loop before are sizes like others.
  void keep_unknowns(bool keep) {
    keep_unknowns_ = keep;
    loop_unknowns_.clear();
  }

  DimId unknown();
  void record(DimConstraint::Kind kind, DimId left, DimId right);
  // An equation of sizes that nothing decides.
  void record_equal(DimId left, DimId right);
  // The type with its unknown sizes as new ones: items of a list may differ in them.
  TypeId renew_unknowns(TypeId type);
  bool mentions_unknown(DimId dim) const;
  DimId with_values(DimId dim);  // constants replaced by what is known of them
  bool only_when_empty(DimId left, DimId right);
  std::vector<Axis> binding_of_run(SymbolId symbol);
  const std::vector<DimConstraint>& constraints() const { return constraints_; }
  // Constraints that are false by now, and constraints that remain open, in resolved form.
  std::vector<DimConstraint> open_constraints(std::vector<DimConstraint>& violated);

  bool bindable(SymbolId symbol) const;
  bool is_bound(SymbolId symbol) const {
    return dim_bindings_.count(symbol) > 0 || run_bindings_.count(symbol) > 0 ||
           type_bindings_.count(symbol) > 0;
  }
  TypeId binding_of_variable(SymbolId symbol);

 private:
  void split_contradictions(std::vector<DimConstraint>& open, std::vector<DimConstraint>& violated);
  // Whether nothing inside is bound: it resolves to itself.
  bool settled(DimId dim) const;
  bool settled(const std::vector<Axis>& axes) const;
  bool settled(TypeId type) const;
  int priority(SymbolId symbol) const;
  bool prefers_left(SymbolId left, SymbolId right) const;
  bool may_bind(SymbolId symbol, DimId dim) const;
  bool solve_one(DimId left, DimId right);
  bool solve_own(DimId left, DimId right);
  void bind(SymbolId symbol, DimId dim);
  bool has_own(DimId dim) const;
  const std::vector<Rest>& rests(DimId dim);
  DimId with_exact(DimId dim);
  bool is_exact(DimId rest);
  std::optional<Mismatch> unify_variable(TypeId variable, TypeId other, bool actual_left,
                                         TypeId& result);
  std::optional<Mismatch> unify_items(const TypeData& actual, const TypeData& required,
                                      TypeId& result, UnifyNotes& notes);
  std::optional<Mismatch> unify_plain(TypeId actual, TypeId required, TypeId& result,
                                      UnifyNotes& notes);
  std::optional<Mismatch> unify_runs(AxisPairing& pairing, size_t l, size_t r,
                                     std::vector<Axis>& result);
  std::optional<Mismatch> join_items(TypeId left, TypeId right, TypeId& result);
  std::optional<Mismatch> join_axes(const TypeData& a, const TypeData& b, TypeId& result);
  bool occurs(SymbolId variable, TypeId type);
  DimId join_dim(DimId a, DimId b);
  DimId choose(DimId left, DimId right);
  DimId expand(DimId dim);

  TypeTable& types_;
  DimTable& dims_;
  std::map<SymbolId, DimId> definitions_;
  std::map<SymbolId, DimId> dim_bindings_;
  std::map<SymbolId, std::vector<Axis>> run_bindings_;
  std::map<SymbolId, TypeId> type_bindings_;
  std::set<SymbolId> anchored_;
  std::vector<DimConstraint> constraints_;
  std::map<std::tuple<DimConstraint::Kind, DimId, DimId>, size_t> recorded_;  // places of them
  std::map<std::pair<DimId, DimId>, DimId> joined_;
  std::set<SymbolId> guarded_;  // bound in a branch
  struct Branch {
    std::vector<SymbolId> bound;  // of the interface
    std::set<SymbolId> own;       // anchored inside
    int32_t number = -1;
    size_t constraints = 0;    // found before it
    std::vector<DimId> exact;  // rests that are 0 inside
  };
  std::vector<Branch> branches_;
  std::map<DimId, std::vector<Rest>> rests_;  // of the quotients in a dim
  std::set<DimId> exact_;                     // rests that are 0
  bool comparing_ = false;
  std::set<SymbolId> loop_unknowns_;
  std::set<SymbolId> kept_;
  bool keep_unknowns_ = false;
  int32_t origin_ = -1;
};

}  // namespace axon
