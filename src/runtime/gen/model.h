// A model ready to run: bound weights, workers, working memory, an executor per phase.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bind/math.h"
#include "runtime/bind/model.h"
#include "runtime/core/executor.h"
#include "runtime/gen/general.h"
#include "support/result.h"
#include "support/thread_pool.h"

namespace axon::runtime {

struct ModelOptions {
  int threads = 0;  // 0: default_threads()
  std::string isa;  // `--isa`, empty: the best
  bool pack = true;
  MathOptions math;
  DType store = DType::Unknown;  // of key/value stores; Unknown: as the preset has it
  bool check_memory = true;
};

// A named tensor given to or returned by forward(); bytes are row-major.
struct NamedTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::string bytes;
};

// A text, null or empty list of a result, as it is shown.
struct NamedText {
  std::string name;
  std::string text;
};

class Model {
 public:
  // The source must outlive the model. `pool`: workers that are there already, else
  // `options.threads` are started. Errors: those of BoundModel::bind, USE-ISA.
  static Result<std::unique_ptr<Model>> load(Program program, model::ParamSource& source,
                                             const ModelOptions& options,
                                             std::unique_ptr<ThreadPool> pool = nullptr);

  const Program& program() const { return bound_->program(); }
  const BoundModel& weights() const { return *bound_; }
  const ModelOptions& options() const { return options_; }
  ThreadPool& pool() { return *pool_; }
  // Index of a phase, -1: the program has none of that name and kind.
  int phase_index(std::string_view name, bool masked) const;
  // Whether an encoder runs before the tokens that a session is fed.
  bool encodes() const {
    return phase_index("encode", false) >= 0 || phase_index("encode", true) >= 0;
  }
  Executor& executor(int phase);                      // made on first use
  GeneralModel* general() { return general_.get(); }  // null: phases are straight lines
  // Runs a phase, weights packed first where they are not yet.
  Result<RunStatus> run(int phase, const Bindings& bindings, const View* inputs, const View* states,
                        const CancelFlag* cancel = nullptr);

  // One call of a phase without states (score, or any single call). Inputs by name: scalars are
  // tensors of rank 0; a padding mask may be given plainly where the program takes a store and a
  // length. The variant with a mask is taken when a mask is given, or when there is no other.
  // Integers and booleans are converted as the phase needs them.
  // Errors: RUN-INPUT, RUN-RANK, RUN-SHAPE and those of the executor.
  // What of the result is no tensor and no number goes to `rest`.
  Result<std::vector<NamedTensor>> forward(std::string_view phase,
                                           const std::vector<NamedTensor>& inputs,
                                           const CancelFlag* cancel = nullptr,
                                           std::vector<NamedText>* rest = nullptr);

  // Whether that call is of these inputs and of no other optional ones, as they are; else the
  // program has to be planned for them.
  bool takes_exactly(std::string_view phase, const std::vector<NamedTensor>& inputs) const;

  // What sessions of so many rows, positions and tokens a call will take at most, weights included;
  // `source`: tokens of the encoder.
  Result<MemoryAnswer> memory(int64_t rows, int64_t capacity, int64_t chunk, int64_t source = 0);

 private:
  Model() = default;
  int choose_phase(std::string_view name, const std::vector<NamedTensor>& inputs) const;
  ModelOptions options_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<BoundModel> bound_;
  Arena arena_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::unique_ptr<GeneralModel> general_;
};

// Sets the shape symbols that are an axis of `shape` by themselves; false when one is set
// otherwise.
bool bind_shape(const Program& program, const std::vector<IntId>& shape, const int64_t* actual,
                Bindings& bindings);
// Sets the shape symbols of the encoder's inputs.
void bind_source(const Program& program, int64_t rows, int64_t source, Bindings& bindings);
bool has_symbol(const Bindings& bindings, SymId symbol);

}  // namespace axon::runtime
