// A tensor as a file stores it, and arithmetic on sizes that come from files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "types/dtype.h"

namespace axon::formats {

struct StoredTensor {
  std::string name;  // as in the file
  Storage storage = Storage::F32;
  std::vector<int64_t> shape;  // row-major
  size_t file = 0;             // index into the files of the checkpoint
  uint64_t offset = 0;         // of its first byte in that file
  uint64_t bytes = 0;
};

// Sums and products of file contents: nothing when they do not fit 63 bits.
std::optional<uint64_t> checked_add(uint64_t a, uint64_t b);
std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b);
// Bytes of a tensor. Nothing on overflow, or when rows are not whole blocks.
std::optional<uint64_t> storage_bytes(Storage storage, const std::vector<int64_t>& shape);
std::string show_shape(const std::vector<int64_t>& shape);  // `[2, 3]`

}  // namespace axon::formats
