// Reads the header of a GGUF file (versions 2 and 3): metadata, and where each tensor lies.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config_value.h"
#include "runtime/formats/model_file.h"
#include "runtime/formats/stored_tensor.h"

namespace axon::formats {

// Element types of metadata, with the numbers of the format.
enum class GgufType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

// An array in the metadata. Vocabularies have 10^5 items, so arrays stay in their encoded form.
struct GgufArray {
  std::string key;
  GgufType type = GgufType::U8;  // of the items
  uint64_t count = 0;
  std::string_view encoded;  // into GgufHeader::bytes
};

struct GgufHeader {
  uint32_t version = 0;
  uint64_t alignment = 32;
  // Keys as in the file (dots included), scalars and arrays of at most kSmallArray items.
  model::ConfigValue metadata;
  std::vector<GgufArray> arrays;      // all arrays, in file order
  std::vector<StoredTensor> tensors;  // shapes row-major: the file's last dimension comes first
  std::unique_ptr<std::string> bytes;

  const GgufArray* array(std::string_view key) const;
};

constexpr uint64_t kSmallArray = 256;

// Items of an array. Nothing when the items have another kind (integers of any width are one kind).
std::optional<std::vector<std::string_view>> string_items(const GgufArray& array);
std::optional<std::vector<int64_t>> integer_items(const GgufArray& array);

// Whether the file starts with GGUF's magic number.
bool looks_like_gguf(const ModelFile& file);
// Every tensor lies inside the file. Errors: FILE-READ, FILE-TRUNCATED, FILE-FORMAT, with offset.
Result<GgufHeader> read_gguf_header(const ModelFile& file);

}  // namespace axon::formats
