// Programs compiled from text and run three ways: by the evaluator, as a straight line, on general
// instructions.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/frontend.h"
#include "graph/evaluate.h"
#include "model/param_source.h"
#include "plan/plan.h"
#include "runtime/gen/model.h"

namespace axon::driver::ways {

// Tensors in memory as a checkpoint, f32.
class MemorySource : public model::ParamSource {
 public:
  explicit MemorySource(std::vector<std::pair<std::string, graph::EvalTensor>> tensors);
  const model::ParamIndex& index() const override { return index_; }
  Result<model::RawTensor> tensor(std::string_view stored_name) override;
  void release(std::string_view) override {}

 private:
  std::vector<std::pair<std::string, graph::EvalTensor>> tensors_;
  model::ParamIndex index_;
};

// A program, its inputs and its parameters.
struct Case {
  std::string name, text;
  bool general = false;  // no straight line says it
  graph::NamedValues inputs;
  std::vector<std::pair<std::string, graph::EvalTensor>> params;
};
// Reads the lines `-- input NAME DTYPE SIZES`, `-- input NAME NUMBER`, `-- param NAME SIZES` and
// `-- general` at the top of a program; contents are random.
Case read_case(const std::string& name, const std::string& text);

// Random contents: floats about 1 in size, integers from 0 to 3, booleans.
graph::EvalTensor random_tensor(DType dtype, std::vector<int64_t> shape, uint64_t& state);

// A deterministic stream of numbers.
inline uint64_t next_random(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ull;
  uint64_t z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Names of result leaves and their values; errors as one entry named `error` with their code.
using Leaves = std::map<std::string, graph::EvalTensor>;
struct Outcome {
  std::string error;  // code and message
  Leaves leaves;
};
Outcome evaluated(const graph::Graph& graph, const TypeTable& types, const Case& c);
// What a run that gives `value` as output `y`, or fails, comes to.
Outcome outcome_of(const graph::EvalValue& value, const std::string& error);
Outcome native(const runtime::Program& program, const Case& c, int threads = 1);
// Empty when both agree. A straight line computes small floats in f32: with `wide` they may be
// that.
std::string difference(const Outcome& a, const Outcome& b, bool wide = false);
// Runs a case all ways that it has and reports what differs.
void compare(const Case& c);
void compare(const graph::Graph& graph, TypeTable& types, const Case& c);

}  // namespace axon::driver::ways
