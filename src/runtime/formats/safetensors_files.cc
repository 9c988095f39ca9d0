// The safetensors files of a checkpoint directory: one, or the shards that an index names.
#include <algorithm>
#include <map>

#include "runtime/formats/checkpoint_files.h"
#include "runtime/formats/json.h"
#include "runtime/formats/safetensors.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

// LayerNorm parameters of early checkpoints carry TensorFlow's names; Hugging Face renames them
// when it loads, and programs are written against the new ones.
std::string published_name(const std::string& stored) {
  for (auto [old_end, new_end] : {std::pair{".LayerNorm.gamma", ".LayerNorm.weight"},
                                  std::pair{".LayerNorm.beta", ".LayerNorm.bias"}}) {
    if (ends_with(stored, old_end)) {
      return stored.substr(0, stored.size() - std::string_view(old_end).size()) + new_end;
    }
  }
  return stored;
}

Error shard_error(const std::string& path, const std::string& what) {
  return Error{"FILE-SHARD", what, path, -1, "the download may be incomplete"};
}

class ShardReader {
 public:
  ShardReader(std::string directory, std::string index_path, DataAccess access)
      : directory_(std::move(directory)), index_path_(std::move(index_path)), access_(access) {}

  Result<std::unique_ptr<TensorSource>> run(const ConfigValue& index) {
    const ConfigValue* map =
        index.kind == ConfigValue::Kind::Map ? index.member("weight_map") : nullptr;
    if (!map || map->kind != ConfigValue::Kind::Map) {
      return Error{"FILE-FORMAT", "`" + index_path_ + "` has no `weight_map`", index_path_, 0, {}};
    }
    std::map<std::string, std::vector<std::string>> names;  // by shard
    for (const auto& [name, shard] : map->members) {
      bool plain =
          shard.kind == ConfigValue::Kind::String && shard.text.find('/') == std::string::npos;
      if (!plain) {
        return Error{"FILE-FORMAT",
                     "`" + index_path_ + "`: the shard of `" + name + "` is not a file name",
                     index_path_,
                     -1,
                     {}};
      }
      names[shard.text].push_back(name);
    }
    for (auto& [shard, wanted] : names) AXON_TRY_VOID(read_shard(shard, wanted));
    return make_tensor_source(std::move(files_), std::move(tensors_));
  }

 private:
  Result<void> read_shard(const std::string& shard, std::vector<std::string>& wanted) {
    std::string path = path_join(directory_, shard);
    if (!file_exists(path)) {
      return shard_error(path, "shard `" + path + "` is missing; `" + wanted[0] + "` lies in it");
    }
    AXON_TRY(std::unique_ptr<ModelFile> file, ModelFile::open(path, access_));
    AXON_TRY(SafetensorsHeader header, read_safetensors_header(*file));
    std::sort(wanted.begin(), wanted.end());
    size_t found = 0;
    for (StoredTensor& tensor : header.tensors) {
      if (!std::binary_search(wanted.begin(), wanted.end(), tensor.name)) continue;
      tensor.file = files_.size();
      ++found;
      std::string name = published_name(tensor.name);
      tensors_.push_back({std::move(name), std::move(tensor), {}});
    }
    if (found < wanted.size()) return missing_in(path, header, wanted, found);
    files_.push_back(std::move(file));
    return {};
  }

  Error missing_in(const std::string& path, const SafetensorsHeader&,
                   const std::vector<std::string>& wanted, size_t found) const {
    for (const std::string& name : wanted) {
      bool there = std::any_of(tensors_.end() - static_cast<std::ptrdiff_t>(found), tensors_.end(),
                               [&](const SourceTensor& t) { return t.stored.name == name; });
      if (!there)
        return shard_error(
            path, "shard `" + path + "` has no tensor `" + name + "`, which the index puts there");
    }
    AXON_UNREACHABLE("a wanted tensor is missing");
  }

  std::string directory_, index_path_;
  DataAccess access_;
  std::vector<std::unique_ptr<ModelFile>> files_;
  std::vector<SourceTensor> tensors_;
};

}  // namespace

Result<std::unique_ptr<TensorSource>> open_safetensors_file(const std::string& path,
                                                            DataAccess access) {
  AXON_TRY(std::unique_ptr<ModelFile> file, ModelFile::open(path, access));
  AXON_TRY(SafetensorsHeader header, read_safetensors_header(*file));
  std::vector<SourceTensor> tensors;
  for (StoredTensor& tensor : header.tensors) {
    std::string name = published_name(tensor.name);
    tensors.push_back({std::move(name), std::move(tensor), {}});
  }
  std::vector<std::unique_ptr<ModelFile>> files;
  files.push_back(std::move(file));
  return make_tensor_source(std::move(files), std::move(tensors));
}

Result<std::unique_ptr<TensorSource>> open_safetensors_directory(const std::string& directory,
                                                                 DataAccess access) {
  std::string single = path_join(directory, kSingle);
  if (file_exists(single)) return open_safetensors_file(single, access);
  std::string index_path = path_join(directory, kIndex);
  AXON_TRY(std::optional<ConfigValue> index, read_json_file(index_path));
  if (index) return ShardReader(directory, index_path, access).run(*index);
  bool pickled = file_exists(path_join(directory, "pytorch_model.bin")) ||
                 file_exists(path_join(directory, "pytorch_model.bin.index.json"));
  return Error{
      "FILE-MODEL",
      "`" + directory + "` has neither " + std::string(kSingle) + " nor " + std::string(kIndex),
      directory, -1,
      pickled ? "its weights are pickled (pytorch_model.bin); save them as safetensors" : ""};
}

}  // namespace axon::formats
