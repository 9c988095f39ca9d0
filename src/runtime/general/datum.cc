// Making and showing register values.
#include "runtime/general/datum.h"

#include "runtime/core/number.h"
#include "support/text.h"

namespace axon::runtime {

int64_t Tensor::offset(int64_t position) const {
  int64_t offset = 0;
  for (int a = view.rank - 1; a >= 0; --a) {
    offset += position % view.shape[a] * view.stride[a];
    position /= view.shape[a];
  }
  return offset * storage_info(view.storage).block_bytes;
}
double Tensor::get(int64_t position) const {
  if (!real()) return static_cast<double>(get_int(position));
  return load_float(view.storage, view.data + offset(position));
}
int64_t Tensor::get_int(int64_t position) const {
  return load_int(view.storage, view.data + offset(position));
}
void Tensor::set(int64_t position, double value) const {
  store_float(view.storage, view.out() + offset(position), static_cast<float>(value));
}
void Tensor::set_int(int64_t position, int64_t value) const {
  store_int(view.storage, view.out() + offset(position), value);
}

Datum Datum::null() {
  Datum out;
  out.kind = Kind::Null;
  return out;
}
Datum Datum::of(bool value) {
  Datum out;
  out.kind = Kind::Bool;
  out.truth = value;
  return out;
}
Datum Datum::of(int64_t value) {
  Datum out;
  out.kind = Kind::Int;
  out.integer = value;
  return out;
}
Datum Datum::of(double value) {
  Datum out;
  out.kind = Kind::Float;
  out.number = value;
  return out;
}
Datum Datum::of(std::string value) {
  Datum out;
  out.kind = Kind::String;
  out.text = std::move(value);
  return out;
}
Datum Datum::of(std::shared_ptr<Tensor> value) {
  Datum out;
  out.kind = Kind::Tensor;
  out.tensor = std::move(value);
  return out;
}
Datum Datum::of(const Literal& literal) {
  if (const bool* b = std::get_if<bool>(&literal)) return of(*b);
  if (const int64_t* i = std::get_if<int64_t>(&literal)) return of(*i);
  if (const double* d = std::get_if<double>(&literal)) return of(*d);
  if (const std::string* s = std::get_if<std::string>(&literal)) return of(*s);
  return null();
}
Datum Datum::path(std::string key, bool absolute) {
  Datum out = of(std::move(key));
  out.kind = Kind::Path;
  out.absolute = absolute;
  return out;
}
Datum Datum::list(std::vector<Datum> items) {
  Datum out;
  out.kind = Kind::List;
  out.items = std::make_shared<std::vector<Datum>>(std::move(items));
  return out;
}
Datum Datum::tuple(std::vector<Datum> items) {
  Datum out = list(std::move(items));
  out.kind = Kind::Tuple;
  return out;
}

double Datum::as_double() const {
  if (kind == Kind::Bool) return truth ? 1 : 0;
  return kind == Kind::Int ? static_cast<double>(integer) : number;
}

Datum Datum::outline() const {
  Datum out = *this;
  if (is_tensor()) {
    out.tensor = std::make_shared<Tensor>();
    out.tensor->view = tensor->view;
    out.tensor->view.data = nullptr;
  }
  if (is_sequence()) {
    std::vector<Datum> inner;
    for (const Datum& item : *items) inner.push_back(item.outline());
    out.items = std::make_shared<std::vector<Datum>>(std::move(inner));
  }
  return out;
}

std::string show_shape(const Shape& shape) {
  std::vector<std::string> parts;
  for (int64_t extent : shape) parts.push_back(std::to_string(extent));
  return "[" + join(parts, ",") + "]";
}

std::string show(const Datum& value) {
  switch (value.kind) {
    case Datum::Kind::Unset:
    case Datum::Kind::Null:
      return "null";
    case Datum::Kind::Bool:
      return value.truth ? "true" : "false";
    case Datum::Kind::Int:
      return std::to_string(value.integer);
    case Datum::Kind::Float:
      return show_double(value.number);
    case Datum::Kind::String:
      return "the string `" + value.text + "`";
    case Datum::Kind::Path:
      return "the path `" + value.text + "`";
    case Datum::Kind::List:
      return "a list of " + std::to_string(value.size());
    case Datum::Kind::Tuple:
      return "a tuple of " + std::to_string(value.size());
    case Datum::Kind::Tensor:
      return "a tensor " + show_shape(value.tensor->shape()) + " of " +
             std::string(spelling(value.tensor->dtype()));
  }
  AXON_UNREACHABLE("kind of a register");
}

Error run_error(Diag id, std::vector<DiagArg> args) {
  Error error;
  error.code = diag_info(id).code;
  error.message = format_message(diag_info(id).format, args);
  return error;
}

}  // namespace axon::runtime
