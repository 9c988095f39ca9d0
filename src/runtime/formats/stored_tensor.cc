// Arithmetic on sizes that come from files.
#include "runtime/formats/stored_tensor.h"

namespace axon::formats {

namespace {
constexpr uint64_t kLimit = uint64_t{1} << 63;
}

std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  if (a >= kLimit || b >= kLimit || a + b >= kLimit) return {};
  return a + b;
}

std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  if (a != 0 && b > (kLimit - 1) / a) return {};
  return a * b;
}

std::optional<uint64_t> storage_bytes(Storage storage, const std::vector<int64_t>& shape) {
  const StorageInfo& info = storage_info(storage);
  uint64_t elements = 1;
  for (int64_t dim : shape) {
    auto product = checked_mul(elements, static_cast<uint64_t>(dim));
    if (dim < 0 || !product) return {};
    elements = *product;
  }
  auto block = static_cast<uint64_t>(info.block);
  uint64_t row = shape.empty() ? 1 : static_cast<uint64_t>(shape.back());
  if (row % block != 0) return {};
  return checked_mul(elements / block, static_cast<uint64_t>(info.block_bytes));
}

std::string show_shape(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

}  // namespace axon::formats
