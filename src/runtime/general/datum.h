// What a register of a general program holds: tagged scalars, lists, paths and tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/general.h"
#include "runtime/core/view.h"
#include "source/diag.h"
#include "support/result.h"

namespace axon::runtime {

using Shape = std::vector<int64_t>;

// A view and what keeps its memory alive: null for weights and the caller's inputs.
struct Tensor {
  View view;
  std::shared_ptr<uint8_t> memory;

  DType dtype() const { return storage_info(view.storage).dtype; }
  bool real() const { return is_float(dtype()); }
  Shape shape() const { return Shape(view.shape, view.shape + view.rank); }
  int64_t count() const { return view.count(); }
  // Elements by row-major position.
  int64_t offset(int64_t position) const;
  double get(int64_t position) const;
  int64_t get_int(int64_t position) const;
  void set(int64_t position, double value) const;
  void set_int(int64_t position, int64_t value) const;
};

struct Datum {
  enum class Kind : uint8_t { Unset, Null, Bool, Int, Float, String, Path, List, Tuple, Tensor };
  Kind kind = Kind::Unset;
  bool truth = false;    // Bool
  bool absolute = true;  // Path
  int64_t integer = 0;
  double number = 0;
  std::string text;  // String; Path: its dotted key
  std::shared_ptr<std::vector<Datum>> items;
  std::shared_ptr<Tensor> tensor;

  static Datum null();
  static Datum of(bool value);
  static Datum of(int64_t value);
  static Datum of(double value);
  static Datum of(std::string value);
  static Datum of(std::shared_ptr<Tensor> value);
  static Datum of(const Literal& literal);
  static Datum path(std::string key, bool absolute);
  static Datum list(std::vector<Datum> items);
  static Datum tuple(std::vector<Datum> items);

  bool is_null() const { return kind == Kind::Null; }
  bool is_tensor() const { return kind == Kind::Tensor; }
  bool is_number() const { return kind == Kind::Int || kind == Kind::Float; }
  bool is_scalar() const { return is_number() || kind == Kind::Bool; }
  bool is_sequence() const { return kind == Kind::List || kind == Kind::Tuple; }
  double as_double() const;  // Bool, Int, Float
  size_t size() const { return items ? items->size() : 0; }
  const Datum& operator[](size_t i) const { return (*items)[i]; }
  // The same without memory: shapes and numbers only.
  Datum outline() const;
};

std::string show(const Datum& value);  // for messages: "null", "a tensor [2,3] of float32"
std::string show_shape(const Shape& shape);
// A failure with the registry's code and wording.
Error run_error(Diag id, std::vector<DiagArg> args = {});

}  // namespace axon::runtime
