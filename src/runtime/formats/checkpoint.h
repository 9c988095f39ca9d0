// A checkpoint from any of its published layouts, read through headers only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/config_value.h"
#include "runtime/formats/gguf.h"
#include "runtime/formats/tensor_source.h"

namespace axon::formats {

// Defaults of generation (generation_config.json, or what GGUF metadata says).
struct GenerationConfig {
  std::vector<int64_t> eos_ids;  // every id that ends a text
  std::optional<int64_t> bos_id, pad_id, decoder_start_id, max_new_tokens, top_k;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  bool do_sample = false;
};

struct ChatTemplate {
  std::string name;  // "default", "tool_use", …
  std::string text;
};

// How hidden states become one vector, from the files of sentence-transformers; Null where absent.
struct SentencePooling {
  model::ConfigValue pooling;  // the config of the pooling module
  bool normalize = false;
};

struct CheckpointOptions {
  DataAccess access = DataAccess::Map;
  // Folder that holds `models--ORG--NAME` entries; empty: found by Hugging Face's variables.
  std::string hub_cache;
  // Only what turns text into ids and back is wanted: config and weights may be missing, and
  // `params` stays null.
  bool text_only = false;
};

enum class CheckpointKind : uint8_t { Directory, Gguf, Safetensors };

struct Checkpoint {
  CheckpointKind kind = CheckpointKind::Directory;
  std::string path;           // of the directory or file that was opened
  std::string directory;      // where its side files lie
  model::ConfigValue config;  // with Hugging Face's keys
  std::vector<std::string> architectures;
  std::unique_ptr<TensorSource> params;
  GenerationConfig generation;
  std::vector<ChatTemplate> chat_templates;                         // "default" first
  std::vector<std::pair<std::string, std::string>> special_tokens;  // bos_token → its text, …
  SentencePooling sentence;
  std::vector<std::string> notes;     // what a reader of `inspect` should know
  std::vector<std::string> warnings;  // what whoever uses the checkpoint should know
  std::optional<GgufHeader> gguf;     // of a .gguf file
};

// `model`: a directory with config.json and safetensors or with one .gguf file alone, a .gguf file,
// a .safetensors file with a config beside it, or a hub id (`org/name`) that the Hugging Face cache
// holds. Reads no tensor data. Errors: FILE-*, with file and byte offset.
Result<Checkpoint> open_checkpoint(const std::string& model, const CheckpointOptions& options = {});

// The directory of a hub id in the cache. Errors: FILE-MODEL, which says where it looked.
Result<std::string> find_in_hub_cache(const std::string& id, const std::string& hub_cache = {});

}  // namespace axon::formats
