// Packs float weights as panels [k][16] in their own element type.
#include "runtime/kernels/simd/pack.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/ref/loops.h"

namespace axon::runtime::simd {
namespace {

bool is_matrix(const View& w) { return w.rank == 2 && w.shape[0] > 0 && w.shape[1] > 0; }

// The storage of all parts, when they agree.
std::optional<Storage> common_storage(const View& w) {
  if (w.part_count == 0) return w.storage;
  for (int32_t p = 0; p < w.part_count; ++p) {
    if (w.parts[p].storage != w.parts[0].storage) return {};
  }
  return w.parts[0].storage;
}

int64_t panels_of(const View& w) { return (w.shape[0] + kPanel - 1) / kPanel; }

// A row's elements in 16-bit storage, whatever the strides.
void read_row16(const View& w, int64_t row, uint16_t* out) {
  const View* from = &w;
  if (w.part_count > 0 && w.join == View::PartJoin::Concat && w.join_axis == 0) {
    from = w.parts;
    for (; row >= from->shape[0]; ++from) row -= from->shape[0];
  }
  const int64_t start = row * from->stride[0], step = from->stride[1], k = from->shape[1];
  for (int64_t i = 0; i < k; ++i) std::memcpy(out + i, from->data + (start + i * step) * 2, 2);
}

bool accepts16(const View& w, Storage storage) {
  if (!is_matrix(w) || common_storage(w) != storage) return false;
  return w.part_count == 0 || (w.join == View::PartJoin::Concat && w.join_axis == 0);
}

void pack16(const View& w, uint8_t* packed, int part, int parts) {
  const int64_t k = w.shape[1];
  std::vector<uint16_t> row(static_cast<size_t>(k));
  const Share share = share_of(panels_of(w), 1, part, parts);
  for (int64_t p = share.begin; p < share.end; ++p) {
    auto* panel = reinterpret_cast<uint16_t*>(packed + p * k * kPanel * 2);
    for (int64_t r = 0; r < kPanel; ++r) {
      const bool inside = p * kPanel + r < w.shape[0];
      if (inside) read_row16(w, p * kPanel + r, row.data());
      for (int64_t i = 0; i < k; ++i)
        panel[i * kPanel + r] = inside ? row[static_cast<size_t>(i)] : uint16_t{0};
    }
  }
}

}  // namespace

int64_t panel_bytes(int32_t format, Storage storage, int64_t k) {
  switch (format) {
    case kPanelF32:
      return k * kPanel * 4;
    case kPanelF16:
    case kPanelBF16:
      return k * kPanel * 2;
    default:
      return k / kBlock * block_form(storage)->bytes();
  }
}

bool accepts_f32(const View& w, const NumericPolicy&) {
  auto storage = common_storage(w);
  return is_matrix(w) && (!storage || !storage_info(*storage).quantised);
}
bool accepts_f16(const View& w, const NumericPolicy&) { return accepts16(w, Storage::F16); }
bool accepts_bf16(const View& w, const NumericPolicy&) { return accepts16(w, Storage::BF16); }

int64_t bytes_f32(const View& w) {
  return panels_of(w) * panel_bytes(kPanelF32, w.storage, w.shape[1]);
}
int64_t bytes_f16(const View& w) {
  return panels_of(w) * panel_bytes(kPanelF16, w.storage, w.shape[1]);
}
int64_t bytes_bf16(const View& w) {
  return panels_of(w) * panel_bytes(kPanelBF16, w.storage, w.shape[1]);
}

void pack_f32(const View& w, uint8_t* packed, int part, int parts) {
  const int64_t k = w.shape[1];
  std::vector<float> row(static_cast<size_t>(k));
  const Share share = share_of(panels_of(w), 1, part, parts);
  for (int64_t p = share.begin; p < share.end; ++p) {
    auto* panel = reinterpret_cast<float*>(packed + p * k * kPanel * 4);
    for (int64_t r = 0; r < kPanel; ++r) {
      const bool inside = p * kPanel + r < w.shape[0];
      if (inside) read_weight_row(w, p * kPanel + r, 0, k, row.data());
      for (int64_t i = 0; i < k; ++i)
        panel[i * kPanel + r] = inside ? row[static_cast<size_t>(i)] : 0.0f;
    }
  }
}

void pack_f16(const View& w, uint8_t* packed, int part, int parts) {
  pack16(w, packed, part, parts);
}
void pack_bf16(const View& w, uint8_t* packed, int part, int parts) {
  pack16(w, packed, part, parts);
}

}  // namespace axon::runtime::simd
