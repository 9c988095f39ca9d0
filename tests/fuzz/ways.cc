// Running and comparing.
#include "fuzz/ways.h"

#include <cmath>

#include "runtime/core/number.h"

namespace axon::fuzz {
namespace {

using graph::EvalTensor;
using graph::EvalValue;
using runtime::NamedTensor;

NamedTensor named(const std::string& name, const EvalTensor& t) {
  NamedTensor out{name, t.dtype, t.shape, {}};
  size_t size = dtype_size(t.dtype);
  out.bytes.resize(static_cast<size_t>(t.count()) * size);
  for (int64_t i = 0; i < t.count(); ++i) {
    auto* at = reinterpret_cast<uint8_t*>(out.bytes.data()) + static_cast<size_t>(i) * size;
    Storage storage = runtime::plain_storage(t.dtype);
    if (t.real())
      runtime::store_float(storage, at, t.reals[static_cast<size_t>(i)]);
    else
      runtime::store_int(storage, at, t.ints[static_cast<size_t>(i)]);
  }
  return out;
}

EvalTensor scalar(DType dtype, double value) {
  EvalTensor t = EvalTensor::make(dtype, {});
  t.set(0, value);
  return t;
}

void add_leaves(const std::string& name, const EvalValue& v, Leaves& out) {
  using Kind = EvalValue::Kind;
  if (v.kind == Kind::Tensor) out[name] = *v.tensor;
  if (v.kind == Kind::Bool) out[name] = scalar(DType::Bool, v.boolean);
  if (v.kind == Kind::Int) out[name] = scalar(DType::I64, static_cast<double>(v.integer));
  if (v.kind == Kind::Float) out[name] = scalar(DType::F32, v.number);
  for (size_t i = 0; i < v.items.size(); ++i)
    add_leaves(name + "." + std::to_string(i), v.items[i], out);
}

}  // namespace

std::vector<model::TensorInfo> infos(
    const std::vector<std::pair<std::string, EvalTensor>>& tensors) {
  std::vector<model::TensorInfo> out;
  for (const auto& [name, tensor] : tensors) {
    out.push_back({name, tensor.real() ? Storage::F32 : Storage::I64, tensor.shape});
  }
  return out;
}

MemorySource::MemorySource(std::vector<std::pair<std::string, EvalTensor>> tensors)
    : tensors_(std::move(tensors)), index_(infos(tensors_)) {}

Result<model::RawTensor> MemorySource::tensor(std::string_view stored_name) {
  for (const auto& [name, t] : tensors_) {
    if (name != stored_name) continue;
    const void* data = t.real() ? static_cast<const void*>(t.reals.data()) : t.ints.data();
    size_t bytes = static_cast<size_t>(t.count()) * (t.real() ? sizeof(float) : sizeof(int64_t));
    return model::RawTensor{index_.find(name), static_cast<const uint8_t*>(data), bytes};
  }
  return Error{"RUN-PARAM", "no tensor " + std::string(stored_name)};
}

EvalTensor random_tensor(DType dtype, std::vector<int64_t> shape, uint64_t& state) {
  EvalTensor t = EvalTensor::make(dtype, std::move(shape));
  for (int64_t i = 0; i < t.count(); ++i) {
    uint64_t r = next_random(state);
    if (t.real())
      t.set(i, static_cast<double>(r >> 11) * 0x1p-52 - 1);
    else
      t.set_int(i, static_cast<int64_t>(r % 4));
  }
  return t;
}

Outcome evaluated(const graph::Graph& graph, const TypeTable& types, const Given& given,
                  graph::EvalOptions options) {
  graph::MemoryParams params;
  for (const auto& [name, tensor] : given.params) params.set(name, tensor);
  options.params = &params;
  options.config = given.config;
  auto out = graph::evaluate(graph, types, given.inputs, options);
  Outcome outcome;
  if (!out) {
    outcome.error = out.error().code + " " + out.error().message;
    return outcome;
  }
  for (const auto& [name, value] : *out) add_leaves(name, value, outcome.leaves);
  return outcome;
}

Outcome outcome_of(const EvalValue& value, const std::string& error) {
  Outcome out;
  out.error = error;
  if (error.empty()) add_leaves("y", value, out.leaves);
  return out;
}

Result<runtime::Program> read_back(const runtime::Program& program) {
  AXON_TRY(runtime::Program read, runtime::deserialise(runtime::serialise(program)));
  if (show(read) != show(program)) return Error{"FUZZ-PLAN", "a plan reads back as another"};
  return read;
}

NativeRun::NativeRun(const runtime::Program& program, NamedTensors params,
                     const runtime::ModelOptions& options)
    : source_(std::move(params)) {
  auto load = [&]() -> Result<std::unique_ptr<runtime::Model>> {
    AXON_TRY(runtime::Program read, read_back(program));
    return runtime::Model::load(std::move(read), source_, options);
  };
  auto model = load();
  if (model)
    model_ = std::move(*model);
  else
    error_ = model.error().code + " " + model.error().message;
}

Outcome NativeRun::run(const graph::NamedValues& given) {
  Outcome outcome;
  outcome.error = error_;
  if (!model_) return outcome;
  std::vector<NamedTensor> inputs;
  Leaves leaves;
  for (const auto& [name, value] : given) add_leaves(name, value, leaves);
  for (const auto& [name, tensor] : leaves) inputs.push_back(named(name, tensor));
  auto out = model_->forward("score", inputs);
  if (!out) {
    outcome.error = out.error().code + " " + out.error().message;
    return outcome;
  }
  for (const NamedTensor& t : *out) {
    EvalTensor tensor = EvalTensor::make(t.dtype, t.shape);
    Storage storage = runtime::plain_storage(t.dtype);
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const auto* at = reinterpret_cast<const uint8_t*>(t.bytes.data()) +
                       static_cast<size_t>(i) * dtype_size(t.dtype);
      if (tensor.real())
        tensor.reals[static_cast<size_t>(i)] = runtime::load_float(storage, at);
      else
        tensor.ints[static_cast<size_t>(i)] = runtime::load_int(storage, at);
    }
    outcome.leaves[t.name] = std::move(tensor);
  }
  return outcome;
}

std::string difference(const Outcome& a, const Outcome& b, bool wide, const Tolerance& tolerance) {
  if (a.code() != b.code()) return "error `" + a.error + "` against `" + b.error + "`";
  if (a.leaves.size() != b.leaves.size()) {
    return std::to_string(a.leaves.size()) + " leaves against " + std::to_string(b.leaves.size());
  }
  for (const auto& [name, x] : a.leaves) {
    auto other = b.leaves.find(name);
    if (other == b.leaves.end()) return "no leaf " + name;
    const EvalTensor& y = other->second;
    bool widened = wide && x.real() && y.dtype == DType::F32;
    if ((x.dtype != y.dtype && !widened) || x.shape != y.shape) {
      return name + " is " + show(EvalValue::of(x)) + " against " + show(EvalValue::of(y));
    }
    for (int64_t i = 0; i < x.count(); ++i) {
      double p = x.get(i), q = y.get(i);
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      // A tolerance without bound says not to compare.
      double allowed = tolerance.of(name, i, p);
      if (std::isinf(allowed)) continue;
      if (!(std::fabs(p - q) <= allowed)) {
        return name + "[" + std::to_string(i) + "] is " + std::to_string(p) + " against " +
               std::to_string(q);
      }
    }
  }
  return {};
}

}  // namespace axon::fuzz
