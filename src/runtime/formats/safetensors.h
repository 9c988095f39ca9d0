// Reads the header of a safetensors file: names, element types, shapes and byte ranges.
#pragma once

#include <vector>

#include "model/config_value.h"
#include "runtime/formats/model_file.h"
#include "runtime/formats/stored_tensor.h"

namespace axon::formats {

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in header order; `file` is 0
  model::ConfigValue metadata;        // `__metadata__`, or Null
};

// Every range lies inside the file and has the size that its shape asks for.
// Errors: FILE-READ, FILE-TRUNCATED, FILE-FORMAT, FILE-JSON, each with a byte offset.
Result<SafetensorsHeader> read_safetensors_header(const ModelFile& file);

}  // namespace axon::formats
