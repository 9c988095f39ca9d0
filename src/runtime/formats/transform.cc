// Applies a loader transform to the bytes of a stored tensor.
#include "runtime/formats/transform.h"

#include <bit>
#include <cstring>

namespace axon::formats {
namespace {

// Row of the file that becomes row `row` of the published tensor.
int64_t stored_row(const Transform& transform, int64_t row, int64_t rows) {
  if (transform.kind == Transform::Kind::PermuteRope) return rope_row(row, rows, transform.heads);
  return qkv_row(row, rows, transform.heads, transform.groups);
}

void permute_rows(const SourceTensor& tensor, const uint8_t* from, uint8_t* to) {
  int64_t rows = tensor.stored.shape[0];
  auto row_bytes = static_cast<size_t>(tensor.stored.bytes) / static_cast<size_t>(rows);
  for (int64_t row = 0; row < rows; ++row) {
    auto source = static_cast<size_t>(stored_row(tensor.transform, row, rows));
    std::memcpy(to + static_cast<size_t>(row) * row_bytes, from + source * row_bytes, row_bytes);
  }
}

void transpose(const SourceTensor& tensor, const uint8_t* from, uint8_t* to) {
  auto rows = static_cast<size_t>(tensor.stored.shape[0]);
  auto columns = static_cast<size_t>(tensor.stored.shape[1]);
  auto size = static_cast<size_t>(storage_info(tensor.stored.storage).block_bytes);
  constexpr size_t kTile = 32;  // keeps both sides of a tile in the first-level cache
  for (size_t r0 = 0; r0 < rows; r0 += kTile) {
    for (size_t c0 = 0; c0 < columns; c0 += kTile) {
      for (size_t r = r0; r < rows && r < r0 + kTile; ++r) {
        for (size_t c = c0; c < columns && c < c0 + kTile; ++c) {
          std::memcpy(to + (c * rows + r) * size, from + (r * columns + c) * size, size);
        }
      }
    }
  }
}

float half_to_float(uint16_t half) {
  uint32_t sign = uint32_t{half & 0x8000u} << 16, exponent = half >> 10 & 31,
           mantissa = half & 0x3FF;
  if (exponent == 0) {
    float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | mantissa << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t float_to_half(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7FFFFFFF;
  if (bits > 0x7F800000) return sign | 0x7E00;
  if (bits >= 0x477FF000) return sign | 0x7C00;
  if (bits < 0x38800000) {  // subnormal: the sum rounds to nearest even at the right place
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3F000000);
  }
  bits += 0xFFF + (bits >> 13 & 1) - 0x38000000;
  return sign | static_cast<uint16_t>(bits >> 13);
}

uint16_t float_to_bf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <class T, class Load, class Save>
void add_to_each(const uint8_t* from, uint8_t* to, size_t bytes, double delta, Load load,
                 Save save) {
  for (size_t at = 0; at < bytes; at += sizeof(T)) {
    T raw;
    std::memcpy(&raw, from + at, sizeof raw);
    raw = save(load(raw) + delta);
    std::memcpy(to + at, &raw, sizeof raw);
  }
}

void add(const SourceTensor& tensor, const uint8_t* from, uint8_t* to, double delta) {
  size_t bytes = tensor.stored.bytes;
  switch (tensor.stored.storage) {
    case Storage::F32:
      return add_to_each<float>(
          from, to, bytes, delta, [](float v) { return double{v}; },
          [](double v) { return static_cast<float>(v); });
    case Storage::F64:
      return add_to_each<double>(
          from, to, bytes, delta, [](double v) { return v; }, [](double v) { return v; });
    case Storage::F16:
      return add_to_each<uint16_t>(
          from, to, bytes, delta, [](uint16_t v) { return double{half_to_float(v)}; },
          [](double v) { return float_to_half(static_cast<float>(v)); });
    case Storage::BF16:
      return add_to_each<uint16_t>(
          from, to, bytes, delta,
          [](uint16_t v) { return double{std::bit_cast<float>(uint32_t{v} << 16)}; },
          [](double v) { return float_to_bf16(static_cast<float>(v)); });
    default:
      AXON_UNREACHABLE("add on a storage that published_shape() refuses");
  }
}

}  // namespace

int64_t rope_row(int64_t row, int64_t rows, int64_t heads) {
  int64_t size = rows / heads, half = size / 2;
  int64_t head = row / size, within = row % size;
  return head * size + 2 * (within % half) + within / half;
}

int64_t qkv_row(int64_t row, int64_t rows, int64_t heads, int64_t groups) {
  int64_t size = rows / (heads + 2 * groups), each = heads / groups;
  int64_t group = row / (size * (each + 2)), part = row / size % (each + 2), within = row % size;
  int64_t head = part < each    ? group * each + part
                 : part == each ? heads + group
                                : heads + groups + group;
  return head * size + within;
}

void apply_transform(const SourceTensor& tensor, const uint8_t* from, uint8_t* to) {
  switch (tensor.transform.kind) {
    case Transform::Kind::None:
      std::memcpy(to, from, tensor.stored.bytes);
      return;
    case Transform::Kind::PermuteRope:
    case Transform::Kind::GroupQkv:
      return permute_rows(tensor, from, to);
    case Transform::Kind::Transpose:
      return transpose(tensor, from, to);
    case Transform::Kind::AddOne:
      return add(tensor, from, to, 1);
    case Transform::Kind::SubOne:
      return add(tensor, from, to, -1);
  }
  AXON_UNREACHABLE("transform");
}

}  // namespace axon::formats
