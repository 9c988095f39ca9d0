// The values of the reference evaluator: tagged scalars, lists, paths and dense tensors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "source/diag.h"
#include "support/result.h"
#include "types/dtype.h"

namespace axon::graph {

// Dense, row-major. Element types keep their meaning: floats are stored as float values that the
// type can represent, everything else as integers in range (bool: 0 or 1).
struct EvalTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;  // may be empty: one element
  std::vector<float> reals;    // float types
  std::vector<int64_t> ints;   // bool and integer types

  static EvalTensor make(DType dtype, std::vector<int64_t> shape);  // filled with zeros
  int64_t count() const;
  bool real() const { return is_float(dtype); }
  double get(int64_t i) const {
    return real() ? reals[static_cast<size_t>(i)]
                  : static_cast<double>(ints[static_cast<size_t>(i)]);
  }
  int64_t get_int(int64_t i) const;        // floats truncate toward zero
  void set(int64_t i, double value);       // rounds, truncates or tests for zero by dtype
  void set_int(int64_t i, int64_t value);  // wraps at the type's width
  void copy(int64_t i, const EvalTensor& from, int64_t j);  // converts
  friend bool operator==(const EvalTensor&, const EvalTensor&) = default;
};

// The nearest value of a float type, halves to even; float first, as kernels compute in float.
float round_to(DType dtype, double value);
EvalTensor convert(const EvalTensor& tensor, DType dtype);
std::vector<int64_t> strides_of(const std::vector<int64_t>& shape);
int64_t count_of(const std::vector<int64_t>& shape);
std::string show_shape(const std::vector<int64_t>& shape);  // `[2,3]`

struct EvalValue {
  enum class Kind : uint8_t { Null, Bool, Int, Float, String, Path, List, Tuple, Tensor };
  Kind kind = Kind::Null;
  bool boolean = false;
  bool absolute = true;  // Path
  int64_t integer = 0;
  double number = 0;
  std::string text;              // String; Path: its dotted key
  std::vector<EvalValue> items;  // List, Tuple
  std::shared_ptr<const EvalTensor> tensor;

  static EvalValue null() { return {}; }
  static EvalValue of(bool value);
  static EvalValue of(int64_t value);
  static EvalValue of(double value);
  static EvalValue of(std::string value);
  static EvalValue of(EvalTensor value);
  static EvalValue path(std::string key, bool absolute = true);
  static EvalValue list(std::vector<EvalValue> items);
  static EvalValue tuple(std::vector<EvalValue> items);

  bool is_null() const { return kind == Kind::Null; }
  bool is_tensor() const { return kind == Kind::Tensor; }
  bool is_number() const { return kind == Kind::Int || kind == Kind::Float; }
  bool is_scalar() const { return is_number() || kind == Kind::Bool; }
  double as_double() const;  // Bool, Int, Float
};

// For messages: "null", "a tensor [2,3] of float32", "3".
std::string show(const EvalValue& value);

// A failure of evaluation with the registry's code and wording.
Error eval_error(Diag id, std::vector<DiagArg> args = {});

}  // namespace axon::graph
