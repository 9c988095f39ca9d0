// The bytes of a checkpoint's tensors; implemented by runtime/formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/config_value.h"
#include "model/param_index.h"
#include "support/result.h"

namespace axon::model {

// Raw stored bytes of a tensor, row-major over its shape; legal to read at any alignment.
struct RawTensor {
  const TensorInfo* info = nullptr;
  const uint8_t* data = nullptr;
  size_t bytes = 0;
};

class ParamSource {
 public:
  virtual ~ParamSource() = default;
  virtual const ParamIndex& index() const = 0;
  // Maps or reads the tensor's bytes. Errors: FILE-READ, FILE-TRUNCATED, RUN-PARAM.
  virtual Result<RawTensor> tensor(std::string_view stored_name) = 0;
  // Tells the system that the pages of a tensor are not needed any more (they were packed).
  virtual void release(std::string_view stored_name) = 0;
};

}  // namespace axon::model
