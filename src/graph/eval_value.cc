// The values of the reference evaluator.
#include "graph/eval_value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "support/text.h"

namespace axon::graph {
namespace {

float round_f16(float value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = std::max(std::ilogb(value), -14);  // subnormals share one spacing
  float spacing = std::ldexp(1.0f, exponent - 10);
  float rounded = std::nearbyint(value / spacing) * spacing;
  if (std::fabs(rounded) > 65504.0f)
    return std::copysign(std::numeric_limits<float>::infinity(), value);
  return rounded;
}

float round_bf16(float value) {
  if (!std::isfinite(value)) return value;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bits += 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xffff0000u);
}

int64_t truncate(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kLimit = 9223372036854775808.0;
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  if (value < -kLimit) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

float round_to(DType dtype, double value) {
  float narrow = static_cast<float>(value);
  if (dtype == DType::F16) return round_f16(narrow);
  if (dtype == DType::BF16) return round_bf16(narrow);
  return narrow;
}

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t extent : shape) {
    if (extent == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(count, extent, &count);
  }
  return overflow ? INT64_MAX : count;
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

std::string show_shape(const std::vector<int64_t>& shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape) parts.push_back(std::to_string(extent));
  return "[" + join(parts, ",") + "]";
}

EvalTensor EvalTensor::make(DType dtype, std::vector<int64_t> shape) {
  EvalTensor out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  size_t count = static_cast<size_t>(out.count());
  if (out.real())
    out.reals.assign(count, 0.0f);
  else
    out.ints.assign(count, 0);
  return out;
}

int64_t EvalTensor::count() const { return count_of(shape); }

int64_t EvalTensor::get_int(int64_t i) const {
  size_t at = static_cast<size_t>(i);
  return real() ? truncate(reals[at]) : ints[at];
}

void EvalTensor::set(int64_t i, double value) {
  size_t at = static_cast<size_t>(i);
  if (real())
    reals[at] = round_to(dtype, value);
  else if (dtype == DType::Bool)
    ints[at] = value != 0;
  else
    set_int(i, truncate(value));
}

void EvalTensor::set_int(int64_t i, int64_t value) {
  size_t at = static_cast<size_t>(i);
  if (real())
    reals[at] = round_to(dtype, static_cast<double>(value));
  else if (dtype == DType::Bool)
    ints[at] = value != 0;
  else if (dtype == DType::I32)
    ints[at] = static_cast<int32_t>(static_cast<uint64_t>(value));
  else
    ints[at] = value;
}

void EvalTensor::copy(int64_t i, const EvalTensor& from, int64_t j) {
  if (from.real())
    set(i, from.get(j));
  else
    set_int(i, from.ints[static_cast<size_t>(j)]);
}

EvalTensor convert(const EvalTensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  EvalTensor out = EvalTensor::make(dtype, tensor.shape);
  for (int64_t i = 0; i < out.count(); ++i) out.copy(i, tensor, i);
  return out;
}

EvalValue EvalValue::of(bool value) {
  EvalValue out;
  out.kind = Kind::Bool;
  out.boolean = value;
  return out;
}
EvalValue EvalValue::of(int64_t value) {
  EvalValue out;
  out.kind = Kind::Int;
  out.integer = value;
  return out;
}
EvalValue EvalValue::of(double value) {
  EvalValue out;
  out.kind = Kind::Float;
  out.number = value;
  return out;
}
EvalValue EvalValue::of(std::string value) {
  EvalValue out;
  out.kind = Kind::String;
  out.text = std::move(value);
  return out;
}
EvalValue EvalValue::of(EvalTensor value) {
  EvalValue out;
  out.kind = Kind::Tensor;
  out.tensor = std::make_shared<const EvalTensor>(std::move(value));
  return out;
}
EvalValue EvalValue::path(std::string key, bool absolute) {
  EvalValue out;
  out.kind = Kind::Path;
  out.text = std::move(key);
  out.absolute = absolute;
  return out;
}
EvalValue EvalValue::list(std::vector<EvalValue> items) {
  EvalValue out;
  out.kind = Kind::List;
  out.items = std::move(items);
  return out;
}
EvalValue EvalValue::tuple(std::vector<EvalValue> items) {
  EvalValue out = list(std::move(items));
  out.kind = Kind::Tuple;
  return out;
}

double EvalValue::as_double() const {
  if (kind == Kind::Bool) return boolean ? 1 : 0;
  return kind == Kind::Int ? static_cast<double>(integer) : number;
}

std::string show(const EvalValue& value) {
  switch (value.kind) {
    case EvalValue::Kind::Null:
      return "null";
    case EvalValue::Kind::Bool:
      return value.boolean ? "true" : "false";
    case EvalValue::Kind::Int:
      return std::to_string(value.integer);
    case EvalValue::Kind::Float:
      return show_double(value.number);
    case EvalValue::Kind::String:
      return "the string `" + value.text + "`";
    case EvalValue::Kind::Path:
      return "the path `" + value.text + "`";
    case EvalValue::Kind::List:
      return "a list of " + std::to_string(value.items.size());
    case EvalValue::Kind::Tuple:
      return "a tuple of " + std::to_string(value.items.size());
    case EvalValue::Kind::Tensor:
      return "a tensor " + show_shape(value.tensor->shape) + " of " +
             std::string(spelling(value.tensor->dtype));
  }
  AXON_UNREACHABLE("value kind");
}

Error eval_error(Diag id, std::vector<DiagArg> args) {
  Error error;
  error.code = diag_info(id).code;
  error.message = format_message(diag_info(id).format, args);
  return error;
}

}  // namespace axon::graph
