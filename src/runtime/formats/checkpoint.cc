// A checkpoint from any of its published layouts, read through headers only.
#include "runtime/formats/checkpoint.h"

#include <cstdlib>

#include "runtime/formats/checkpoint_files.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::formats {
namespace {

using model::ConfigValue;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Where Hugging Face's tools keep downloads, by their variables in their order.
std::string default_hub_cache() {
  if (std::string hub = environment("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (std::string hub = environment("HUGGINGFACE_HUB_CACHE"); !hub.empty()) return hub;
  if (std::string home = environment("HF_HOME"); !home.empty()) return path_join(home, "hub");
  if (std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) {
    return path_join(cache, "huggingface/hub");
  }
  return path_join(environment("HOME"), ".cache/huggingface/hub");
}

bool is_hub_id(std::string_view id) {
  size_t slashes = 0;
  for (char c : id) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_' || c == '.';
    slashes += c == '/';
    if (!plain && c != '/') return false;
  }
  return slashes <= 1 && !id.empty() && id.front() != '/' && id.back() != '/' && id.front() != '.';
}

std::vector<std::string> architectures_of(const ConfigValue& config) {
  std::vector<std::string> out;
  const ConfigValue* list = config.member("architectures");
  if (!list || list->kind != ConfigValue::Kind::List) return out;
  for (const ConfigValue& item : list->items) {
    if (item.kind == ConfigValue::Kind::String) out.push_back(item.text);
  }
  return out;
}

Result<void> read_config(Checkpoint& checkpoint, bool text_only) {
  std::string path = path_join(checkpoint.directory, "config.json");
  AXON_TRY(std::optional<ConfigValue> config, read_json_object(path));
  if (!config && text_only) return {};
  if (!config) {
    return Error{"FILE-MODEL", "`" + checkpoint.directory + "` has no config.json", path, -1,
                 "a model is a directory with config.json and .safetensors files, or a .gguf file"};
  }
  checkpoint.config = std::move(*config);
  checkpoint.architectures = architectures_of(checkpoint.config);
  return {};
}

Result<Checkpoint> open_gguf(std::unique_ptr<ModelFile> file, bool text_only) {
  Checkpoint out;
  out.kind = CheckpointKind::Gguf;
  out.path = file->path();
  out.directory = parent_path(out.path);
  AXON_TRY(GgufHeader header, read_gguf_header(*file));
  if (text_only) {
    out.gguf = std::move(header);
    AXON_TRY_VOID(read_gguf_text(out));
    return out;
  }
  const ConfigValue* parts = header.metadata.member("split.count");
  if (parts && parts->kind == ConfigValue::Kind::Int && parts->integer > 1) {
    return Error{"FILE-SHARD",
                 "`" + out.path + "` is one of " + parts->show() + " parts of a model", out.path,
                 -1, "join the parts into one file; Axon reads GGUF models in one piece"};
  }
  const ConfigValue* arch = header.metadata.member("general.architecture");
  if (!arch || arch->kind != ConfigValue::Kind::String) {
    return Error{"FILE-FORMAT",
                 "`" + out.path + "`: metadata lacks `general.architecture`",
                 out.path,
                 -1,
                 {}};
  }
  auto table = find_gguf_table(arch->text);
  if (!table) {
    table.error().file = out.path;
    return std::move(table.error());
  }
  AXON_TRY(out.config, gguf_config(*table, header, *file));
  out.architectures = architectures_of(out.config);
  AXON_TRY(std::vector<SourceTensor> tensors, gguf_tensors(*table, header, out.path, out.notes));
  std::vector<std::unique_ptr<ModelFile>> files;
  files.push_back(std::move(file));
  AXON_TRY(out.params, make_tensor_source(std::move(files), std::move(tensors)));
  out.gguf = std::move(header);
  AXON_TRY_VOID(read_gguf_text(out));
  return out;
}

// The only GGUF file of a directory without config.json, or nothing.
std::optional<std::string> lone_gguf(const std::string& path) {
  std::optional<std::string> found;
  if (file_exists(path_join(path, "config.json"))) return found;
  for (const std::string& name : list_directory(path)) {
    if (!ends_with(name, ".gguf")) continue;
    if (found) return std::nullopt;
    found = path_join(path, name);
  }
  return found;
}

Result<Checkpoint> open_directory(const std::string& path, const CheckpointOptions& options) {
  if (auto gguf = lone_gguf(path)) {
    AXON_TRY(std::unique_ptr<ModelFile> file, ModelFile::open(*gguf, options.access));
    return open_gguf(std::move(file), options.text_only);
  }
  Checkpoint out;
  out.kind = CheckpointKind::Directory;
  out.path = out.directory = path;
  AXON_TRY_VOID(read_config(out, options.text_only));
  if (!options.text_only) {
    AXON_TRY(out.params, open_safetensors_directory(path, options.access));
  }
  AXON_TRY_VOID(read_side_files(out));
  return out;
}

Result<Checkpoint> open_file(const std::string& path, const CheckpointOptions& options) {
  AXON_TRY(std::unique_ptr<ModelFile> file, ModelFile::open(path, options.access));
  if (ends_with(path, ".gguf") || looks_like_gguf(*file))
    return open_gguf(std::move(file), options.text_only);
  if (!ends_with(path, ".safetensors")) {
    return Error{
        "FILE-MODEL", "`" + path + "` is neither a .gguf nor a .safetensors file", path, 0, {}};
  }
  Checkpoint out;
  out.kind = CheckpointKind::Safetensors;
  out.path = path;
  out.directory = parent_path(path);
  AXON_TRY_VOID(read_config(out, options.text_only));
  if (!options.text_only) {
    AXON_TRY(out.params, open_safetensors_file(path, options.access));
  }
  AXON_TRY_VOID(read_side_files(out));
  return out;
}

}  // namespace

Result<std::string> find_in_hub_cache(const std::string& id, const std::string& hub_cache) {
  std::string cache = hub_cache.empty() ? default_hub_cache() : hub_cache;
  std::string folder = "models--";
  for (char c : id) folder += c == '/' ? std::string("--") : std::string(1, c);
  std::string entry = path_join(cache, folder);
  auto revision = read_file(path_join(entry, "refs/main"));
  if (revision) {
    std::string snapshot = path_join(entry, "snapshots/" + std::string(trim(*revision)));
    if (is_directory(snapshot)) return snapshot;
  }
  return Error{"FILE-MODEL",
               "`" + id + "` is neither a file or directory nor a model in `" + cache + "`",
               {},
               -1,
               {}};
}

Result<Checkpoint> open_checkpoint(const std::string& model, const CheckpointOptions& options) {
  if (is_directory(model)) return open_directory(model, options);
  if (file_exists(model)) return open_file(model, options);
  if (is_hub_id(model)) {
    AXON_TRY(std::string directory, find_in_hub_cache(model, options.hub_cache));
    return open_directory(directory, options);
  }
  return Error{"FILE-MODEL", "`" + model + "` does not exist", model, -1, {}};
}

}  // namespace axon::formats
