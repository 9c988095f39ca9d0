// Weights of a Program: what a parameter key means over stored tensors.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "model/param_index.h"
#include "runtime/core/program.h"

namespace axon::plan {

class Weights {
 public:
  Weights(runtime::Program& program, const model::ParamIndex* params)
      : program_(program), params_(params) {}
  // The weight of a key that exists, each once per way of use. A matrix is [out,in]; `transposed`
  // says that it is stored the other way round.
  runtime::WeightId get(std::string_view key, runtime::Weight::Use use, bool transposed);
  bool exists(std::string_view key) const { return params_ && params_->resolve(key).has_value(); }

 private:
  runtime::Program& program_;
  const model::ParamIndex* params_;
  std::map<std::tuple<std::string, int, bool>, runtime::WeightId> known_;
};

}  // namespace axon::plan
