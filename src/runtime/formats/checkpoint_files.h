// Steps of open_checkpoint that have files of their own.
#pragma once

#include "runtime/formats/checkpoint.h"
#include "runtime/formats/gguf_table.h"

namespace axon::formats {

// A JSON file; nothing when it does not exist.
Result<std::optional<model::ConfigValue>> read_json_file(const std::string& path);
// The same where it must be an object. Errors: FILE-CONFIG.
Result<std::optional<model::ConfigValue>> read_json_object(const std::string& path);

// Drops special ids that stand for none (-1), and those outside of the `count` tokens with a
// warning; `count` is 0 when not known.
void check_special_ids(Checkpoint& checkpoint, int64_t count);

// Opens the safetensors files of a directory: one, or the shards that its index names.
Result<std::unique_ptr<TensorSource>> open_safetensors_directory(const std::string& directory,
                                                                 DataAccess access);
Result<std::unique_ptr<TensorSource>> open_safetensors_file(const std::string& path,
                                                            DataAccess access);

// Fills generation config, chat templates, special tokens and pooling from side files.
Result<void> read_side_files(Checkpoint& checkpoint);

// The config that a GGUF file stands for. `files[0]` is the GGUF file.
Result<model::ConfigValue> gguf_config(const GgufTable& table, const GgufHeader& header,
                                       ModelFile& file);
// Names, transforms and notes for every tensor of a GGUF file.
Result<std::vector<SourceTensor>> gguf_tensors(const GgufTable& table, const GgufHeader& header,
                                               const std::string& path,
                                               std::vector<std::string>& notes);
// Generation config, chat templates and special tokens from GGUF metadata.
// Errors: FILE-FORMAT.
Result<void> read_gguf_text(Checkpoint& checkpoint);

// Sets `value` under a dotted key, making maps on the way.
void set_dotted(model::ConfigValue& root, std::string_view key, model::ConfigValue value);

}  // namespace axon::formats
