// The reference evaluator: what every Graph means. Slow and obvious; everything else is measured
// against it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/eval_value.h"
#include "graph/graph.h"
#include "model/config_value.h"
#include "model/param_source.h"

namespace axon::graph {

// Where parameters come from, by resolved key.
class EvalParams {
 public:
  virtual ~EvalParams() = default;
  // The tensor, or nothing when the checkpoint lacks it.
  virtual Result<std::optional<EvalTensor>> find(std::string_view key) = 0;
  virtual bool has_root(std::string_view root) = 0;
};

// A few tensors in memory.
class MemoryParams : public EvalParams {
 public:
  void set(std::string key, EvalTensor tensor);
  Result<std::optional<EvalTensor>> find(std::string_view key) override;
  bool has_root(std::string_view root) override;

 private:
  std::vector<std::pair<std::string, EvalTensor>> tensors_;
};

// Tensors of a checkpoint in plain storage, with the key resolution of stdlib.md 16.
// Block-quantised storage gives RUN-PARAM-DTYPE: decoding it is the runtime's matter.
class CheckpointParams : public EvalParams {
 public:
  // Floating tensors are converted to `compute`; integers keep their type.
  explicit CheckpointParams(model::ParamSource& source, DType compute = DType::F32)
      : source_(source), compute_(compute) {}
  Result<std::optional<EvalTensor>> find(std::string_view key) override;
  bool has_root(std::string_view root) override;

 private:
  Result<EvalTensor> load(const model::Resolved& resolved);
  Result<EvalTensor> load_exact(const model::Resolved& resolved);
  model::ParamSource& source_;
  DType compute_;
};

// Sees what operations on tensors take and give, and may change it: for measuring what rounding
// does.
class EvalObserver {
 public:
  virtual ~EvalObserver() = default;
  virtual void operands(Op op, std::vector<EvalValue>& values) = 0;
  virtual void result(Op op, EvalValue& value) = 0;
};

struct EvalOptions {
  EvalParams* params = nullptr;                // null: every parameter is missing
  const model::ConfigValue* config = nullptr;  // null: every key is missing
  // Check dims that occur again after they were bound, in every module. MAIN's entry always is.
  bool check_dims = true;
  // Compare every result with its type; one that contradicts it is RUN-SHAPE.
  bool check_types = false;
  EvalObserver* observer = nullptr;  // may be null
};

using NamedValues = std::vector<std::pair<std::string, EvalValue>>;

// Runs MAIN on inputs given by name; unknown names are ignored, missing optional inputs get their
// default or null (language.md 14.2). Outputs come in order, under the graph's names for them.
// Errors: RUN-*, with the failing node in `hint`.
Result<NamedValues> evaluate(const Graph& graph, const TypeTable& types, const NamedValues& inputs,
                             const EvalOptions& options);

// Runs any module on its inputs in order, as a call would. One value per output.
Result<std::vector<EvalValue>> evaluate_module(const Graph& graph, ModuleId module,
                                               const TypeTable& types,
                                               std::vector<EvalValue> inputs,
                                               const EvalOptions& options);

// One primitive or core.binary operation on values, operands in the order of its signature; missing
// trailing ones take their defaults.
Result<EvalValue> evaluate_op(Op op, std::vector<EvalValue> operands, const EvalOptions& options);

}  // namespace axon::graph
