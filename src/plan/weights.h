// Weights of a Program: what a parameter key means over stored tensors.
#pragma once

#include <map>
#include <optional>
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
  // says that it is stored the other way round, `item` takes one item of a bank.
  runtime::WeightId get(std::string_view key, runtime::Weight::Use use, bool transposed,
                        int64_t item = -1);
  size_t rank(std::string_view key) const {  // 0: it does not exist
    std::optional<model::Resolved> found = params_ ? params_->resolve(key) : std::nullopt;
    return found ? found->shape.size() : 0;
  }
  bool exists(std::string_view key) const { return params_ && params_->resolve(key).has_value(); }

 private:
  runtime::Program& program_;
  const model::ParamIndex* params_;
  std::map<std::tuple<std::string, bool, bool, int64_t>, runtime::WeightId> known_;
};

}  // namespace axon::plan
