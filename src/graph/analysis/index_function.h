// Index functions (language.md 12.6): integer tensors as affine functions of their own indices,
// boolean tensors as formulas over them. Works on flat modules, from primitives alone.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace axon::graph {

// Σ coefficient[a] · index(a) + constant, over the axes of the value it describes.
struct Affine {
  std::vector<int64_t> coefficient;  // one per axis
  DimId constant;
  friend bool operator==(const Affine&, const Affine&) = default;
};

AXON_ID(FormulaId);

// A boolean function of the indices.
struct Formula {
  enum class Kind : uint8_t {
    True,
    False,
    LeZero,  // affine ≤ 0
    EqZero,  // affine = 0
    Read,    // the boolean tensor `tensor` at affine coordinates
    Not,
    And,
    Or
  } kind = Kind::True;
  Affine affine;                    // LeZero, EqZero
  ValueId tensor;                   // Read
  std::vector<Affine> coordinates;  // Read: one per axis of `tensor`
  std::vector<FormulaId> operands;  // Not: 1; And, Or: 2 or more
};

// Answers for one module; results are kept, the module must not change meanwhile.
class IndexFunctions {
 public:
  // `lower`: least values of symbols, as proves_le takes them.
  IndexFunctions(const Module& module, TypeTable& types,
                 function_ref<std::optional<int64_t>(SymbolId)> lower);

  // The value as an affine function of its indices, or nothing.
  const std::optional<Affine>& integer(ValueId value);
  // The value as a formula; for a boolean tensor that is no formula, a Read of itself. Invalid for
  // values that are not boolean tensors of known rank.
  FormulaId boolean(ValueId value);
  const Formula& operator[](FormulaId id) const { return formulas_[id]; }

  // The extents of a value's axes; empty for unknown rank.
  std::vector<DimId> extents(ValueId value) const;
  // Whether a formula is decided for all indices within the extents: true, false, or neither.
  std::optional<bool> decide(FormulaId id, const std::vector<DimId>& extents) const;

 private:
  // How the axes of a moved value read the axes of its source: source index(a) = index(axis[a]) +
  // shift[a].
  struct AxisMap {
    ValueId source;
    std::vector<int> axis;     // by source axis; -1: always index 0
    std::vector<DimId> shift;  // invalid: none
    size_t rank = 0;           // of the result
  };
  std::optional<Affine> integer_of(const Node& node, ValueId value);
  std::optional<Affine> integer_operand(const Operand& operand, size_t rank,
                                        const std::vector<DimId>& extents);
  std::optional<Affine> product(const Node& node, size_t rank, const std::vector<DimId>& extents);
  FormulaId boolean_of(const Node& node, ValueId value);
  FormulaId boolean_operand(const Operand& operand, const std::vector<DimId>& extents);
  FormulaId comparison(const Node& node, const std::vector<DimId>& extents);
  FormulaId select(const Node& node, const std::vector<DimId>& extents);
  FormulaId read_of(ValueId value);
  FormulaId make(Formula formula);
  FormulaId constant(bool value);
  FormulaId negate(FormulaId id);
  FormulaId join(Formula::Kind kind, FormulaId a, FormulaId b);
  FormulaId less_equal(const Affine& a, const Affine& b, int64_t shift);
  std::optional<AxisMap> axis_map(const Node& node, ValueId value);
  Affine moved(const Affine& affine, const AxisMap& map);
  FormulaId moved(FormulaId id, const AxisMap& map);
  // The map that broadcasting from one shape to another is.
  AxisMap broadcast_map(const std::vector<DimId>& from, const std::vector<DimId>& to) const;
  // An index of `from` as seen by a value of the broadcast shape `to`.
  Affine broadcast(const Affine& affine, const std::vector<DimId>& from,
                   const std::vector<DimId>& to);
  std::optional<int64_t> literal_int(const Operand& operand) const;
  std::optional<std::vector<int64_t>> literal_ints(const Operand& operand) const;
  DimId bound(const Affine& affine, const std::vector<DimId>& extents, bool upper) const;

  const Module& module_;
  TypeTable& types_;
  DimTable& dims_;
  function_ref<std::optional<int64_t>(SymbolId)> lower_;
  Store<FormulaId, Formula> formulas_;
  std::unordered_map<ValueId, std::optional<Affine>, IdHash> integers_;
  std::unordered_map<ValueId, FormulaId, IdHash> booleans_;
};

// What a keep mask of shape [B,H,Q,K] says (language.md 12.6), each part optional: key j is kept
// for query i iff j ≤ i + offset, j < length, j > i + offset - window, key_keep[b,j].
struct KeepFact {
  bool causal = false;
  DimId offset;      // causal; also the reference of `window`
  DimId length;      // invalid: all keys
  DimId window;      // invalid: none
  ValueId key_keep;  // a boolean [B,K] value; invalid: none
  // Every row of every query keeps at least one key.
  bool rows_nonempty = false;
};
// Nothing when the mask is no such conjunction.
std::optional<KeepFact> keep_fact(IndexFunctions& functions, ValueId mask, DimTable& dims,
                                  function_ref<std::optional<int64_t>(SymbolId)> lower);

}  // namespace axon::graph
