// Element types of values, and storage forms of checkpoint tensors.
#include "types/dtype.h"

#include <algorithm>

#include "support/check.h"

namespace axon {
namespace {

constexpr StorageInfo kStorage[] = {
    {"F32", 1, 4, false, DType::F32},     {"F16", 1, 2, false, DType::F16},
    {"BF16", 1, 2, false, DType::BF16},   {"F64", 1, 8, false, DType::F32},
    {"I8", 1, 1, false, DType::I32},      {"U8", 1, 1, false, DType::I32},
    {"I16", 1, 2, false, DType::I32},     {"I32", 1, 4, false, DType::I32},
    {"I64", 1, 8, false, DType::I64},     {"BOOL", 1, 1, false, DType::Bool},
    {"Q4_0", 32, 18, true, DType::F32},   {"Q4_1", 32, 20, true, DType::F32},
    {"Q5_0", 32, 22, true, DType::F32},   {"Q5_1", 32, 24, true, DType::F32},
    {"Q8_0", 32, 34, true, DType::F32},   {"Q2_K", 256, 84, true, DType::F32},
    {"Q3_K", 256, 110, true, DType::F32}, {"Q4_K", 256, 144, true, DType::F32},
    {"Q5_K", 256, 176, true, DType::F32}, {"Q6_K", 256, 210, true, DType::F32},
    {"IQ4_NL", 32, 18, true, DType::F32}, {"MXFP4", 32, 17, true, DType::F32},
};
static_assert(std::size(kStorage) == static_cast<size_t>(Storage::Count));

}  // namespace

std::string_view spelling(DType dtype) {
  switch (dtype) {
    case DType::Unknown:
      return "unknown";
    case DType::Bool:
      return "bool";
    case DType::I32:
      return "int32";
    case DType::I64:
      return "int64";
    case DType::F16:
      return "float16";
    case DType::BF16:
      return "bfloat16";
    case DType::F32:
      return "float32";
  }
  AXON_UNREACHABLE("dtype");
}

std::optional<DType> parse_dtype(std::string_view name) {
  if (name == "float32" || name == "fp32" || name == "single") return DType::F32;
  if (name == "float16" || name == "fp16" || name == "half") return DType::F16;
  if (name == "bfloat16" || name == "bf16") return DType::BF16;
  if (name == "int64" || name == "long") return DType::I64;
  if (name == "int32" || name == "int") return DType::I32;
  if (name == "bool" || name == "boolean") return DType::Bool;
  return {};
}

bool is_float(DType d) { return d == DType::F32 || d == DType::F16 || d == DType::BF16; }
bool is_integer(DType d) { return d == DType::I32 || d == DType::I64; }

size_t dtype_size(DType dtype) {
  switch (dtype) {
    case DType::Unknown:
      return 0;
    case DType::Bool:
      return 1;
    case DType::I32:
    case DType::F32:
      return 4;
    case DType::I64:
      return 8;
    case DType::F16:
    case DType::BF16:
      return 2;
  }
  AXON_UNREACHABLE("dtype");
}

DType promote(DType a, DType b) {
  if (a == DType::Unknown || b == DType::Unknown) return DType::Unknown;
  if (a == b) return a;
  if (is_float(a) && is_float(b)) return DType::F32;
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return std::max(a, b);
}

const StorageInfo& storage_info(Storage storage) { return kStorage[static_cast<size_t>(storage)]; }

std::optional<Storage> parse_storage(std::string_view name) {
  for (size_t i = 0; i < std::size(kStorage); ++i) {
    if (kStorage[i].name == name) return static_cast<Storage>(i);
  }
  return {};
}

}  // namespace axon
