// Conversions of the small floating formats, and one element read or written in any plain storage.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "types/dtype.h"

namespace axon::runtime {

template <class T>
inline T load_as(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
inline void store_as(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

inline float bf16_to_float(uint16_t h) {
  return std::bit_cast<float>(static_cast<uint32_t>(h) << 16);
}
// Rounds to nearest, ties to even; a NaN stays a NaN.
inline uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
inline float f16_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  const uint32_t mantissa = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -small : small;
}
// Rounds to nearest, ties to even; too large becomes infinite.
inline uint16_t float_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;
  if (magnitude >= 0x38800000u) {
    const uint32_t rebased = magnitude - (112u << 23);
    return static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
  }
  // Subnormal: the sum rounds at the place of the last mantissa bit.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
}

inline float load_float(Storage storage, const uint8_t* at) {
  switch (storage) {
    case Storage::F32:
      return load_as<float>(at);
    case Storage::F16:
      return f16_to_float(load_as<uint16_t>(at));
    case Storage::BF16:
      return bf16_to_float(load_as<uint16_t>(at));
    case Storage::F64:
      return static_cast<float>(load_as<double>(at));
    case Storage::I8:
      return static_cast<float>(load_as<int8_t>(at));
    case Storage::U8:
      return static_cast<float>(*at);
    case Storage::I16:
      return static_cast<float>(load_as<int16_t>(at));
    case Storage::I32:
      return static_cast<float>(load_as<int32_t>(at));
    case Storage::I64:
      return static_cast<float>(load_as<int64_t>(at));
    case Storage::Bool:
      return *at != 0 ? 1.0f : 0.0f;
    default:
      return 0.0f;  // block formats have no single elements
  }
}
// Floats are cut towards zero.
inline int64_t load_int(Storage storage, const uint8_t* at) {
  switch (storage) {
    case Storage::I8:
      return load_as<int8_t>(at);
    case Storage::U8:
      return *at;
    case Storage::I16:
      return load_as<int16_t>(at);
    case Storage::I32:
      return load_as<int32_t>(at);
    case Storage::I64:
      return load_as<int64_t>(at);
    case Storage::Bool:
      return *at != 0 ? 1 : 0;
    default: {
      const float value = load_float(storage, at);
      if (!(value > -9.2e18f)) return INT64_MIN;
      if (value >= 9.2e18f) return INT64_MAX;
      return static_cast<int64_t>(value);
    }
  }
}
inline void store_int(Storage storage, uint8_t* at, int64_t value);
inline void store_float(Storage storage, uint8_t* at, float value) {
  switch (storage) {
    case Storage::F32:
      store_as(at, value);
      return;
    case Storage::F16:
      store_as(at, float_to_f16(value));
      return;
    case Storage::BF16:
      store_as(at, float_to_bf16(value));
      return;
    case Storage::F64:
      store_as(at, static_cast<double>(value));
      return;
    case Storage::Bool:
      *at = value != 0.0f ? 1 : 0;
      return;
    default: {
      const float cut = std::isnan(value) ? 0.0f : value;
      store_int(storage, at, load_int(Storage::F32, reinterpret_cast<const uint8_t*>(&cut)));
    }
  }
}
inline void store_int(Storage storage, uint8_t* at, int64_t value) {
  switch (storage) {
    case Storage::I8:
      store_as(at, static_cast<int8_t>(value));
      return;
    case Storage::U8:
      *at = static_cast<uint8_t>(value);
      return;
    case Storage::I16:
      store_as(at, static_cast<int16_t>(value));
      return;
    case Storage::I32:
      store_as(at, static_cast<int32_t>(value));
      return;
    case Storage::I64:
      store_as(at, value);
      return;
    case Storage::Bool:
      *at = value != 0 ? 1 : 0;
      return;
    default:
      store_float(storage, at, static_cast<float>(value));
      return;
  }
}

}  // namespace axon::runtime
