// Table rows read out of packed panels, so that a tied table needs no second copy.
#include <algorithm>
#include <cstring>

#include "runtime/core/number.h"
#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/simd/pack.h"

namespace axon::runtime::simd {
namespace {

Storage stored_as(const View& table) {
  return table.part_count > 0 ? table.parts[0].storage : table.storage;
}

// Element r of each group of 16 that follow one another.
void plain_row(const uint8_t* panel, Storage storage, int64_t r, int64_t k, float* out) {
  const auto size = storage_info(storage).block_bytes;
  for (int64_t i = 0; i < k; ++i) out[i] = load_float(storage, panel + (i * kPanel + r) * size);
}

float scale_at(const BlockForm& form, const uint8_t* scales, int64_t at) {
  if (!form.wide_scales) return load_float(Storage::F16, scales + at * 2);
  return load_float(Storage::F32, scales + at * 4);
}

void block_row(const BlockForm& form, const uint8_t* block, int64_t r, float* out) {
  const uint8_t* scales = block + form.code_bytes();
  const uint8_t* minima = scales + form.scale_bytes();
  const int64_t run = kBlock / form.groups;
  for (int64_t i = 0; i < kBlock; ++i) {
    const int64_t half = i % 16, low = form.bits == 8 ? i : half;
    int code = block[64 * (low / 4) + 4 * r + low % 4];
    if (form.bits == 4) code = i < 16 ? code & 15 : code >> 4;
    const int64_t at = i / run * kPanel + r;
    out[i] = scale_at(form, scales, at) * static_cast<float>(code - form.zero);
    if (form.has_min) out[i] += scale_at(form, minima, at);
  }
}

void table_row(const View& table, int64_t row, int64_t k, float* out) {
  const int64_t r = row % kPanel;
  const Storage storage = table.pack_format == kPanelF32 ? Storage::F32 : stored_as(table);
  const uint8_t* panel = table.packed + row / kPanel * panel_bytes(table.pack_format, storage, k);
  if (table.pack_format != kPanelBlocks) return plain_row(panel, storage, r, k, out);
  const BlockForm form = *block_form(storage);
  for (int64_t b = 0; b < k / kBlock; ++b)
    block_row(form, panel + b * form.bytes(), r, out + b * kBlock);
}

}  // namespace

bool supports_embedding(const KernelArgs& args) {
  const View& y = args.out[0];
  return args.in[1].rank == 2 && y.storage == Storage::F32 && y.contiguous();
}

// An id outside of the table gives a row of zeros, and the call an error.
void embedding(const KernelArgs& args, int part, int parts) {
  const View &ids = args.in[0], &table = args.in[1], &y = args.out[0];
  const int64_t width = y.last();
  const auto scale = static_cast<float>(args.real(param(Operation::Embedding, "scale"), 1.0));
  const View* const operands[] = {&ids};
  const Share share = share_of(ids.count(), 1, part, parts);
  for (int64_t n = share.begin; n < share.end; ++n) {
    const int64_t id = ref::load_int_at(ids, ref::Walk<1>(ids, ids.rank, operands, n).offset(0));
    float* row = reinterpret_cast<float*>(y.out()) + n * width;
    if (!args.inside(id, table.shape[0])) {
      std::fill(row, row + width, 0.0f);
      continue;
    }
    table_row(table, id, width, row);
    if (scale != 1.0f) std::transform(row, row + width, row, [&](float v) { return v * scale; });
  }
}

}  // namespace axon::runtime::simd
