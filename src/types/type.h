// Types (language.md 6.1), interned: equal id means equal type.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "types/dim.h"

namespace axon {

AXON_ID(TypeId);

enum class TypeKind : uint8_t {
  Error,
  Any,
  Null,
  Int,
  Dim,
  Float,
  Bool,
  String,
  Path,
  Variable,
  Tensor,
  List,
  Tuple,
  Optional
};

// One axis of a shape: a dim, or the run `..S`.
struct Axis {
  DimId dim;     // invalid for a run
  SymbolId run;  // valid for a run
  bool is_run() const { return run.valid(); }
  friend bool operator==(const Axis&, const Axis&) = default;
};

struct TypeData {
  TypeKind kind = TypeKind::Error;
  SymbolId variable;          // Variable
  bool known_rank = false;    // Tensor: false is the bare `Tensor`
  std::vector<Axis> axes;     // Tensor; at most one run
  std::vector<TypeId> items;  // List: 1, Tuple: n ≥ 2, Optional: 1 (never Optional itself)
  friend bool operator==(const TypeData&, const TypeData&) = default;
};

class TypeTable {
 public:
  explicit TypeTable(DimTable& dims);
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;
  ~TypeTable();

  TypeId error() const;
  TypeId any() const;
  TypeId null() const;
  TypeId int_() const;
  TypeId dim() const;
  TypeId float_() const;
  TypeId bool_() const;
  TypeId string() const;
  TypeId path() const;
  TypeId variable(SymbolId symbol);
  TypeId tensor();                        // unknown rank and shape
  TypeId tensor(std::vector<Axis> axes);  // an empty list is the bare Tensor
  TypeId tensor_of(const std::vector<DimId>& dims);
  TypeId list(TypeId item);
  TypeId tuple(std::vector<TypeId> items);
  TypeId optional(TypeId inner);  // collapses ??T, ?Null is Null, ?Any is Any

  const TypeData& get(TypeId id) const;
  TypeKind kind(TypeId id) const { return get(id).kind; }
  bool is_tensor(TypeId id) const { return kind(id) == TypeKind::Tensor; }
  TypeId strip_optional(TypeId id) const;
  // Tensor with known rank and no run: its dims; otherwise empty.
  std::vector<DimId> dims_of(TypeId id) const;
  // Replaces dims (symbols), runs and type variables; invalid results leave as is.
  TypeId substitute(TypeId id, function_ref<DimId(SymbolId)> dim_map,
                    function_ref<std::vector<Axis>(SymbolId, bool&)> run_map,
                    function_ref<TypeId(SymbolId)> var_map);
  // Text as a user writes it: `?Tensor[B,S,D]`.
  std::string show(TypeId id) const;
  DimTable& dims() { return dims_; }
  const DimTable& dims() const { return dims_; }

 private:
  struct Impl;
  DimTable& dims_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace axon
