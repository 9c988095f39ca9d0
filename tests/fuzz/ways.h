// Programs run the ways that there are: by the evaluator, and natively from a plan.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/evaluate.h"
#include "model/config_value.h"
#include "model/param_source.h"
#include "runtime/gen/model.h"

namespace axon::fuzz {

using NamedTensors = std::vector<std::pair<std::string, graph::EvalTensor>>;

// Tensors in memory as a checkpoint, f32.
class MemorySource : public model::ParamSource {
 public:
  explicit MemorySource(NamedTensors tensors);
  const model::ParamIndex& index() const override { return index_; }
  Result<model::RawTensor> tensor(std::string_view stored_name) override;
  void release(std::string_view) override {}

 private:
  NamedTensors tensors_;
  model::ParamIndex index_;
};
std::vector<model::TensorInfo> infos(const NamedTensors& tensors);

// Random contents: floats about 1 in size, integers from 0 to 3, booleans.
graph::EvalTensor random_tensor(DType dtype, std::vector<int64_t> shape, uint64_t& state);

// A deterministic stream of numbers.
inline uint64_t next_random(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ull;
  uint64_t z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Names of result leaves and their values.
using Leaves = std::map<std::string, graph::EvalTensor>;
struct Outcome {
  std::string error;  // code and message
  Leaves leaves;
  std::string code() const { return error.substr(0, error.find(' ')); }
};
struct Given {
  graph::NamedValues inputs;
  NamedTensors params;
  const model::ConfigValue* config = nullptr;
  bool refused = false;  // by the entry of the program
};
Outcome evaluated(const graph::Graph& graph, const TypeTable& types, const Given& given,
                  graph::EvalOptions options = {});
// What a run that gives `value` as output `y`, or fails, comes to.
Outcome outcome_of(const graph::EvalValue& value, const std::string& error);

// The program as it comes back from its serialised form, which must be the same.
Result<runtime::Program> read_back(const runtime::Program& program);

// A program and its weights, ready to run.
class NativeRun {
 public:
  NativeRun(const runtime::Program& program, NamedTensors params,
            const runtime::ModelOptions& options);
  Outcome run(const graph::NamedValues& inputs);

 private:
  MemorySource source_;
  std::string error_;  // of loading
  std::unique_ptr<runtime::Model> model_;
};

// How far apart element `i` of leaf `name` may be, given its first value.
class Tolerance {
 public:
  virtual ~Tolerance() = default;
  virtual double of(const std::string& name, int64_t i, double value) const = 0;
};
// Empty when both agree. A straight line computes small floats in f32: with `wide` they may be
// that.
std::string difference(const Outcome& a, const Outcome& b, bool wide, const Tolerance& tolerance);

}  // namespace axon::fuzz
