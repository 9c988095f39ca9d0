// Element types of values, and storage forms of checkpoint tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace axon {

// Element types of values (primitives.md 1). Unknown: not inferred yet.
enum class DType : uint8_t { Unknown, Bool, I32, I64, F16, BF16, F32 };

std::string_view spelling(DType dtype);                   // "float32", …
std::optional<DType> parse_dtype(std::string_view name);  // names of language.md 6.11
bool is_float(DType dtype);
bool is_integer(DType dtype);  // I32, I64 (not Bool)
size_t dtype_size(DType dtype);
// Promotion of two tensors (language.md 6.11): bool < int < float, the wider of two floats,
// float16 with bfloat16 gives float32.
DType promote(DType a, DType b);

// How a stored tensor's bytes are laid out. Block formats are GGUF's.
enum class Storage : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  U8,
  I16,
  I32,
  I64,
  Bool,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  MXFP4,
  Count
};
struct StorageInfo {
  std::string_view name;  // "Q4_1"
  int block = 1;          // elements per block along the last axis
  int block_bytes = 4;    // bytes per block
  bool quantised = false;
  DType dtype = DType::F32;  // of the values it stores
};
const StorageInfo& storage_info(Storage storage);
std::optional<Storage> parse_storage(std::string_view name);

}  // namespace axon
