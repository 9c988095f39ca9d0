// Named tensors in and out of files.
#pragma once

#include <string>
#include <vector>

#include "runtime/gen/model.h"

namespace axon::cli {

// All tensors of a safetensors file, integers as int64 and floats as f32. Errors: FILE-*.
Result<std::vector<runtime::NamedTensor>> read_tensors(const std::string& path);
// Errors: FILE-WRITE.
Result<void> write_tensors(const std::string& path,
                           const std::vector<runtime::NamedTensor>& tensors);
// One f32 array in NumPy's format. Errors: FILE-WRITE.
Result<void> write_npy(const std::string& path, const std::vector<float>& values,
                       const std::vector<int64_t>& shape);

}  // namespace axon::cli
