// The tensors of a checkpoint under their published names, read from one or more files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/param_source.h"
#include "runtime/formats/gguf_table.h"
#include "runtime/formats/model_file.h"
#include "runtime/formats/stored_tensor.h"

namespace axon::formats {

// A stored tensor, its published name, and how to get from one to the other.
struct SourceTensor {
  std::string name;
  StoredTensor stored;
  Transform transform;
};

// Safe to use from several threads. A tensor whose transform moves bytes is converted at its first
// request and owned here until release(); every other is the file's own bytes.
class TensorSource : public model::ParamSource {
 public:
  // Path of the file whose mapping holds `address`, or null; may be called from a signal handler.
  virtual const char* file_at(const void* address) const noexcept = 0;
  virtual const std::vector<SourceTensor>& stored() const = 0;  // in the order of index().tensors()
  virtual const std::vector<std::unique_ptr<ModelFile>>& files() const = 0;
};

// Shape of the published tensor. Errors: FILE-FORMAT when the transform does not fit the tensor.
Result<std::vector<int64_t>> published_shape(const SourceTensor& tensor, const std::string& path);

// Names must be distinct. Errors: FILE-FORMAT.
Result<std::unique_ptr<TensorSource>> make_tensor_source(
    std::vector<std::unique_ptr<ModelFile>> files, std::vector<SourceTensor> tensors);

}  // namespace axon::formats
