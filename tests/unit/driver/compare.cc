// Running and comparing.
#include "compare.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "graph/text.h"
#include "runtime/core/number.h"
#include "support/text.h"

namespace axon::driver::ways {
namespace {

using graph::EvalTensor;
using graph::EvalValue;
using runtime::NamedTensor;

std::vector<model::TensorInfo> infos(
    const std::vector<std::pair<std::string, EvalTensor>>& tensors) {
  std::vector<model::TensorInfo> out;
  for (const auto& [name, tensor] : tensors) {
    out.push_back({name, tensor.real() ? Storage::F32 : Storage::I64, tensor.shape});
  }
  return out;
}

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

Case read_case(const std::string& name, const std::string& text) {
  Case out{name, text, false, {}, {}};
  uint64_t state = 7;
  auto sizes = [](std::string_view words) {
    std::vector<int64_t> shape;
    if (words == "scalar") return shape;
    for (std::string_view extent : split(words, ',')) shape.push_back(parse_int(extent).value());
    return shape;
  };
  for (std::string_view line : split(text, '\n')) {
    if (!starts_with(line, "-- ")) continue;
    auto words = split(line.substr(3), ' ');
    if (words[0] == "general" && words.size() == 1) out.general = true;
    if (words[0] == "param" && words.size() == 3)
      out.params.emplace_back(words[1], random_tensor(DType::F32, sizes(words[2]), state));
    if (words[0] != "input" || words.size() < 3) continue;
    std::string input(words[1]);
    if (auto dtype = parse_dtype(words[2]); dtype && words.size() == 4)
      out.inputs.emplace_back(input, EvalValue::of(random_tensor(*dtype, sizes(words[3]), state)));
    else if (words[2] == "true" || words[2] == "false")
      out.inputs.emplace_back(input, EvalValue::of(words[2] == "true"));
    else if (auto integer = parse_int(words[2]))
      out.inputs.emplace_back(input, EvalValue::of(*integer));
    else
      out.inputs.emplace_back(input, EvalValue::of(parse_double(words[2]).value()));
  }
  return out;
}

Outcome evaluated(const graph::Graph& graph, const TypeTable& types, const Case& c) {
  graph::MemoryParams params;
  for (const auto& [name, tensor] : c.params) params.set(name, tensor);
  graph::EvalOptions options;
  options.params = &params;
  auto out = graph::evaluate(graph, types, c.inputs, options);
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

Outcome native(const runtime::Program& program, const Case& c, int threads) {
  Outcome outcome;
  auto read = runtime::deserialise(runtime::serialise(program));
  EXPECT_TRUE(read.ok()) << (read ? "" : read.error().message);
  if (!read) return outcome;
  EXPECT_EQ(show(*read), show(program));
  MemorySource source(c.params);
  runtime::ModelOptions options;
  options.threads = threads;
  auto model = runtime::Model::load(std::move(*read), source, options);
  if (!model) {
    outcome.error = model.error().code + " " + model.error().message;
    return outcome;
  }
  std::vector<NamedTensor> inputs;
  Leaves leaves;
  for (const auto& [name, value] : c.inputs) add_leaves(name, value, leaves);
  for (const auto& [name, tensor] : leaves) inputs.push_back(named(name, tensor));
  auto out = (*model)->forward("score", inputs);
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

std::string difference(const Outcome& a, const Outcome& b, bool wide) {
  auto code = [](const std::string& error) { return error.substr(0, error.find(' ')); };
  if (code(a.error) != code(b.error)) return "error `" + a.error + "` against `" + b.error + "`";
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
    double tolerance = x.dtype == DType::F16 ? 2e-3 : x.dtype == DType::BF16 ? 1.6e-2 : 2e-5;
    for (int64_t i = 0; i < x.count(); ++i) {
      double p = x.get(i), q = y.get(i);
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      bool close = x.real() && std::fabs(p - q) <= tolerance * (1 + std::fabs(p));
      if (!close) {
        return name + "[" + std::to_string(i) + "] is " + std::to_string(p) + " against " +
               std::to_string(q);
      }
    }
  }
  return {};
}

void compare(const graph::Graph& graph, TypeTable& types, const Case& c) {
  SCOPED_TRACE(c.name);
  Outcome expected = evaluated(graph, types, c);
  model::ParamIndex params(infos(c.params));
  opt::Answers answers{&params, nullptr};
  for (int way = 0; way < 3; ++way) {  // general; straight without and with fusions
    DiagSink sink;
    plan::PlanOptions options;
    options.general = way == 0    ? plan::PlanOptions::General::Always
                      : c.general ? plan::PlanOptions::General::Fallback
                                  : plan::PlanOptions::General::Never;
    options.optimise = way == 2;
    auto program = plan::plan(graph, types, answers, options, sink);
    std::string why;
    for (const Diagnostic& d : sink.all()) {
      why += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
    }
    if (!program) {
      // What is certain to fail may be found out when planning.
      EXPECT_EQ(why.substr(0, why.find(' ')), expected.error.substr(0, expected.error.find(' ')))
          << why;
      continue;
    }
    EXPECT_EQ(program->general_instructions() > 0, way == 0 || c.general) << "way " << way;
    for (int threads : {1, 2}) {
      EXPECT_EQ(difference(expected, native(*program, c, threads), way != 0), "")
          << "way " << way << "\n"
          << (std::getenv("AXON_SHOW") ? graph::write_graph(graph, types) + show(*program) : "");
    }
  }
}

void compare(const Case& c) {
  SCOPED_TRACE(c.name);
  FrontendOptions options;
  options.path = c.name;
  options.text = c.text;
  Frontend front = run_frontend(options);
  for (const Diagnostic& d : front.session->sink.all())
    if (front.session->sink.severity(d) == Severity::Error)
      ADD_FAILURE() << diag_info(d.id).code << " " << message_of(d);
  if (!front.graph) return;
  compare(*front.graph, front.session->types, c);
}

}  // namespace axon::driver::ways
