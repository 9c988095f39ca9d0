// What every layer knows of a checkpoint's tensors, and the one key resolution (stdlib.md 16).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "types/dtype.h"

namespace axon::model {

// One stored tensor. `storage` is how its bytes are laid out; as a value every float storage reads
// as the compute dtype.
struct TensorInfo {
  std::string name;
  Storage storage = Storage::F32;
  std::vector<int64_t> shape;
};

// How a requested key is served from stored tensors.
struct Resolved {
  enum class Kind : uint8_t { Exact, Stack, ConcatRows, Slice } kind = Kind::Exact;
  std::vector<int64_t> shape;
  Storage storage = Storage::F32;  // of the parts; Mixed sources are not resolved
  std::vector<Resolved> parts;  // Stack: items of the new axis 0; ConcatRows: gate then up on axis
                                // -2; Slice: one bank
  std::string name;             // Exact: the stored name
  int64_t index = -1;           // Slice: row of the bank
};

class ParamIndex {
 public:
  // Names must be distinct.
  explicit ParamIndex(std::vector<TensorInfo> tensors = {});
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;
  // Rules 1-4 of stdlib.md 16; nothing when the key is absent.
  std::optional<Resolved> resolve(std::string_view key) const;
  // True iff root is empty, equals a key, or a key starts with root + ".".
  bool has_root(std::string_view root) const;
  // Up to three stored names that look like `key`.
  std::vector<std::string> near_misses(std::string_view key) const;

 private:
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<std::string> sorted_names_;
};

}  // namespace axon::model
