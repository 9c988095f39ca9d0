// Programs on general instructions as models call them: by the names of MAIN's inputs and outputs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bind/host.h"
#include "runtime/general/machine.h"

namespace axon::runtime {

struct NamedTensor;

struct NamedText;

class GeneralModel {
 public:
  // Program, source and pool must outlive it.
  GeneralModel(const Program& program, model::ParamSource& source, const KernelChoice& choice,
               bool pack, ThreadPool& pool)
      : program_(&program), host_(source, choice, pack, pool), machine_(program, host_, pool) {}

  const Routine& main() const { return program_->routines[program_->phases[0].routine]; }
  // A call by names, as Model::forward. `score` asks for no cache. Leaves of lists and tuples are
  // `name.0`, `name.1.2`; numbers are tensors of rank 0; other leaves of results go to `rest`.
  Result<std::vector<NamedTensor>> forward(std::string_view phase,
                                           const std::vector<NamedTensor>& inputs,
                                           const CancelFlag* cancel,
                                           std::vector<NamedText>* rest = nullptr);
  // A call by position. Nothing when cancelled.
  Result<std::optional<std::vector<Datum>>> call(std::vector<Datum> inputs,
                                                 const CancelFlag* cancel) {
    return machine_.run(program_->phases[0].routine, std::move(inputs), cancel);
  }
  // A tensor over memory that outlives the call.
  static Datum borrowed(const View& view);

 private:
  Result<Datum> input(const Pattern& pattern, const std::string& name, bool required,
                      const std::vector<NamedTensor>& given);
  Result<Datum> leaf(const Pattern& pattern, const std::string& name, const NamedTensor& tensor);
  Result<Datum> mask(const Pattern& pattern, const NamedTensor& tensor,
                     const std::vector<NamedTensor>& given);

  const Program* program_;
  BoundHost host_;
  Machine machine_;
};

bool is_cache_name(std::string_view output);  // an output of MAIN that holds the cache

}  // namespace axon::runtime
