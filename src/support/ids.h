// 32-bit typed ids: cheap names of things owned by a store. Ids of different types do not mix.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#define AXON_ID(Name)                                     \
  struct Name {                                           \
    int32_t index = -1;                                   \
    bool valid() const { return index >= 0; }             \
    explicit operator bool() const { return index >= 0; } \
    friend bool operator==(Name, Name) = default;         \
    friend auto operator<=>(Name, Name) = default;        \
  }

namespace axon {

// Hash for any id type: unordered_map<NameId, X, IdHash>.
struct IdHash {
  template <class Id>
  size_t operator()(Id id) const {
    return static_cast<size_t>(static_cast<uint32_t>(id.index)) * 0x9E3779B97F4A7C15ull >> 7;
  }
};

inline size_t hash_mix(size_t seed, size_t value) {
  return (seed ^ (value + 0x9E3779B97F4A7C15ull + (seed << 6) + (seed >> 2))) * 0x100000001B3ull;
}

}  // namespace axon
