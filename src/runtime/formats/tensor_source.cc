// The tensors of a checkpoint under their published names, read from one or more files.
#include "runtime/formats/tensor_source.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "runtime/core/memory.h"
#include "runtime/formats/transform.h"

namespace axon::formats {
namespace {

class FileTensorSource final : public TensorSource {
 public:
  FileTensorSource(std::vector<std::unique_ptr<ModelFile>> files, std::vector<SourceTensor> tensors,
                   std::vector<model::TensorInfo> infos)
      : files_(std::move(files)),
        tensors_(std::move(tensors)),
        index_(std::move(infos)),
        converted_(tensors_.size()) {}

  const model::ParamIndex& index() const override { return index_; }
  const std::vector<SourceTensor>& stored() const override { return tensors_; }
  const std::vector<std::unique_ptr<ModelFile>>& files() const override { return files_; }

  Result<model::RawTensor> tensor(std::string_view name) override {
    const model::TensorInfo* info = index_.find(name);
    if (!info) {
      std::vector<std::string> near = index_.near_misses(name);
      return Error{"RUN-PARAM",
                   "checkpoint has no tensor `" + std::string(name) + "`",
                   {},
                   -1,
                   near.empty() ? "" : "the closest is `" + near[0] + "`"};
    }
    size_t at = place(*info);
    const SourceTensor& tensor = tensors_[at];
    auto bytes = static_cast<size_t>(tensor.stored.bytes);
    if (tensor.transform.kind != Transform::Kind::None) {
      AXON_TRY(const uint8_t* data, convert(at));
      return model::RawTensor{info, data, bytes};
    }
    AXON_TRY(const uint8_t* data, files_[tensor.stored.file]->data(tensor.stored.offset, bytes));
    return model::RawTensor{info, data, bytes};
  }

  void release(std::string_view name) override {
    const model::TensorInfo* info = index_.find(name);
    if (!info) return;
    size_t at = place(*info);
    const StoredTensor& stored = tensors_[at].stored;
    {
      std::lock_guard lock(mutex_);
      converted_[at] = {};
    }
    files_[stored.file]->release(stored.offset, static_cast<size_t>(stored.bytes));
  }

  const char* file_at(const void* address) const noexcept override {
    for (const auto& file : files_) {
      if (file->maps(address)) return file->path().c_str();
    }
    return nullptr;
  }

 private:
  size_t place(const model::TensorInfo& info) const {
    return static_cast<size_t>(&info - index_.tensors().data());
  }

  // The lock is held while bytes move: a second reader must not release the source underneath.
  Result<const uint8_t*> convert(size_t at) {
    std::lock_guard lock(mutex_);
    if (converted_[at].data() != nullptr) return converted_[at].data();
    const StoredTensor& stored = tensors_[at].stored;
    ModelFile& file = *files_[stored.file];
    auto bytes = static_cast<size_t>(stored.bytes);
    auto allocated = runtime::Buffer::allocate(std::max<size_t>(bytes, 1));
    if (!allocated) {
      return Error{
          "MEM-ALLOC",
          "no memory for " + std::to_string(bytes) + " bytes of tensor `" + tensors_[at].name + "`",
          file.path(),
          -1,
          {}};
    }
    runtime::Buffer out = std::move(*allocated);
    AXON_TRY(const uint8_t* from, file.data(stored.offset, bytes));
    apply_transform(tensors_[at], from, out.data());
    file.release(stored.offset, bytes);
    converted_[at] = std::move(out);
    return converted_[at].data();
  }

  std::vector<std::unique_ptr<ModelFile>> files_;
  std::vector<SourceTensor> tensors_;
  model::ParamIndex index_;
  std::mutex mutex_;
  // By tensor, empty until asked for: pages of their own, which go back at once.
  std::vector<runtime::Buffer> converted_;
};

Error misfit(const SourceTensor& tensor, const std::string& path, const std::string& what) {
  return Error{"FILE-FORMAT",
               "`" + path + "`: tensor `" + tensor.stored.name + "` " + what,
               path,
               static_cast<int64_t>(tensor.stored.offset),
               {}};
}

}  // namespace

Result<std::vector<int64_t>> published_shape(const SourceTensor& tensor, const std::string& path) {
  std::vector<int64_t> shape = tensor.stored.shape;
  std::string storage(storage_info(tensor.stored.storage).name);
  switch (tensor.transform.kind) {
    case Transform::Kind::None:
      return shape;
    case Transform::Kind::PermuteRope: {
      int64_t heads = tensor.transform.heads;
      // One axis of quantised blocks holds several rows a block and cannot be permuted.
      bool whole_rows =
          shape.size() > 1 || (shape.size() == 1 && storage_info(tensor.stored.storage).block == 1);
      if (!whole_rows || heads < 1 || shape[0] % heads != 0 || shape[0] / heads % 2 != 0) {
        return misfit(tensor, path,
                      "with shape " + show_shape(shape) + " does not divide into " +
                          std::to_string(heads) + " heads of even size");
      }
      return shape;
    }
    case Transform::Kind::GroupQkv: {
      int64_t heads = tensor.transform.heads, groups = tensor.transform.groups;
      bool whole_rows =
          shape.size() > 1 || (shape.size() == 1 && storage_info(tensor.stored.storage).block == 1);
      if (!whole_rows || heads % groups != 0 || shape[0] % (heads + 2 * groups) != 0) {
        return misfit(tensor, path,
                      "with shape " + show_shape(shape) + " does not divide into " +
                          std::to_string(heads) + " heads of queries and " +
                          std::to_string(groups) + " of keys and values");
      }
      return shape;
    }
    case Transform::Kind::Transpose:
      if (shape.size() != 2)
        return misfit(tensor, path, "is not a matrix, but the format stores one transposed");
      if (storage_info(tensor.stored.storage).block != 1) {
        return misfit(tensor, path,
                      "is stored transposed in " + storage +
                          " blocks, which Axon does not read; use a file of f32, f16 or bf16");
      }
      std::swap(shape[0], shape[1]);
      return shape;
    case Transform::Kind::AddOne:
    case Transform::Kind::SubOne:
      switch (tensor.stored.storage) {
        case Storage::F32:
        case Storage::F64:
        case Storage::F16:
        case Storage::BF16:
          return shape;
        default:
          return misfit(tensor, path, "is stored as " + storage + ", a float type was expected");
      }
  }
  AXON_UNREACHABLE("transform");
}

Result<std::unique_ptr<TensorSource>> make_tensor_source(
    std::vector<std::unique_ptr<ModelFile>> files, std::vector<SourceTensor> tensors) {
  std::vector<model::TensorInfo> infos;
  std::unordered_set<std::string> names;
  infos.reserve(tensors.size());
  for (const SourceTensor& tensor : tensors) {
    const std::string& path = files[tensor.stored.file]->path();
    if (!names.insert(tensor.name).second) {
      return misfit(tensor, path, "and another stand for the same parameter `" + tensor.name + "`");
    }
    AXON_TRY(std::vector<int64_t> shape, published_shape(tensor, path));
    infos.push_back({tensor.name, tensor.stored.storage, std::move(shape)});
  }
  return std::unique_ptr<TensorSource>(
      std::make_unique<FileTensorSource>(std::move(files), std::move(tensors), std::move(infos)));
}

}  // namespace axon::formats
