// Linear layers over packed panels, and the quantisation of activations.
#include <algorithm>
#include <cstring>

#include "runtime/core/number.h"
#include "runtime/core/quant_rows.h"
#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/simd/entry.h"
#include "runtime/kernels/simd/pack.h"

namespace axon::runtime::simd {

bool fold_rows(const View& view, Rows& out) {
  if (view.rank < 1 || (view.last() != 1 && view.stride[view.rank - 1] != 1)) return false;
  out = {1, view.last(), view.last()};
  bool first = true;
  for (int a = view.rank - 2; a >= 0; --a) {
    if (view.shape[a] == 1) continue;
    if (first)
      out.stride = view.stride[a];
    else if (view.stride[a] != out.stride * out.count)
      return false;
    first = false;
    out.count *= view.shape[a];
  }
  return true;
}

bool is_f32_rows(const View& view, Rows& out) {
  return view.storage == Storage::F32 && !view.quantised_rows && view.part_count == 0 &&
         fold_rows(view, out);
}

namespace {

constexpr Operation kLinear = Operation::Linear;
constexpr int64_t kGroupPanels = 8;  // panels between epilogues: their columns stay in cache

Storage stored(const View& w) { return w.part_count > 0 ? w.parts[0].storage : w.storage; }

bool optional_rows(const View& view) {
  Rows rows;
  return !view.present() || is_f32_rows(view, rows);
}

bool supports_ends(const KernelArgs& args) {
  Rows rows;
  const View& bias = args.in[2];
  return is_f32_rows(args.out[0], rows) && optional_rows(args.in[3]) && optional_rows(args.in[4]) &&
         (!bias.present() ||
          (bias.rank == 1 && bias.part_count == 0 && !storage_info(bias.storage).quantised));
}

struct Outputs {
  float* y;
  Rows rows;
  int64_t columns;
  EpilogueJob job;
  bool needed;
};

// The bias of all columns goes to `bias` (one float a column).
Outputs prepare(const KernelArgs& args, float* bias) {
  Outputs out{};
  const View& y = args.out[0];
  fold_rows(y, out.rows);
  out.y = reinterpret_cast<float*>(y.out());
  out.columns = y.last();
  if (args.in[2].present()) {
    for (int64_t c = 0; c < out.columns; ++c)
      bias[c] = ref::load_at(args.in[2], c * args.in[2].stride[0]);
    out.job.bias = bias;
  }
  Rows side;
  if (args.in[3].present() && fold_rows(args.in[3], side)) {
    out.job.gate = reinterpret_cast<const float*>(args.in[3].data);
    out.job.gate_stride = side.stride;
  }
  if (args.in[4].present() && fold_rows(args.in[4], side)) {
    out.job.residual = reinterpret_cast<const float*>(args.in[4].data);
    out.job.residual_stride = side.stride;
  }
  out.job.activation = static_cast<int>(args.integer(param(kLinear, "activation")));
  out.job.scale = static_cast<float>(args.real(param(kLinear, "scale"), 1.0));
  out.job.rows = out.rows.count;
  out.job.y_stride = out.rows.stride;
  out.needed = out.job.bias || out.job.gate || out.job.residual || out.job.activation ||
               out.job.scale != 1.0f;
  return out;
}

void finish(const Api& api, const Outputs& out, int64_t first, int64_t last) {
  if (!out.needed) return;
  EpilogueJob job = out.job;
  const int64_t begin = first * kPanel;
  job.columns = std::min(last * kPanel, out.columns) - begin;
  job.y = out.y + begin;
  if (job.bias) job.bias += begin;
  if (job.gate) job.gate += begin;
  if (job.residual) job.residual += begin;
  api.epilogue(job);
}

int64_t aligned_floats(int64_t n) { return (n + 15) / 16 * 16; }

// A panel as f32 [k][16]: in place, or expanded into `buffer`.
const float* panel_f32(const Api& api, const View& w, int64_t panel, float* buffer) {
  const int64_t k = w.shape[1];
  const uint8_t* at = w.packed + panel * panel_bytes(w.pack_format, stored(w), k);
  switch (w.pack_format) {
    case kPanelF32:
      return reinterpret_cast<const float*>(at);
    case kPanelF16:
      api.expand_half(reinterpret_cast<const uint16_t*>(at), k, buffer);
      break;
    case kPanelBF16:
      api.expand_bfloat(reinterpret_cast<const uint16_t*>(at), k, buffer);
      break;
    default:
      api.expand_blocks(at, *block_form(stored(w)), k, buffer);
      break;
  }
  return buffer;
}

}  // namespace

template <class T>
bool Entry<T>::supports_linear(const KernelArgs& args) {
  Rows x;
  return is_f32_rows(args.in[0], x) && supports_ends(args);
}

template <class T>
int64_t Entry<T>::linear_workspace(const KernelArgs& args, int) {
  return (aligned_floats(args.out[0].last()) + 2 * kPanel * args.in[0].last()) * 4;
}

template <class T>
void Entry<T>::linear(const KernelArgs& args, int part, int parts) {
  const Api& api = T::api();
  const View& w = args.in[1];
  float* scratch = reinterpret_cast<float*>(args.scratch(part));
  const Outputs out = prepare(args, scratch);
  float* expanded = scratch + aligned_floats(out.columns);
  Rows x;
  fold_rows(args.in[0], x);
  const int64_t k = x.width, panels = (out.columns + kPanel - 1) / kPanel;
  const Share share = share_of(panels, 2, part, parts);
  for (int64_t group = share.begin; group < share.end; group += kGroupPanels) {
    const int64_t group_end = std::min(group + kGroupPanels, share.end);
    for (int64_t p = group; p < group_end; p += 2) {
      GemmJob job;
      job.x = reinterpret_cast<const float*>(args.in[0].data);
      job.x_stride = x.stride;
      job.rows = x.count;
      job.k = k;
      job.panels[0] = panel_f32(api, w, p, expanded);
      if (p + 1 < group_end) job.panels[1] = panel_f32(api, w, p + 1, expanded + kPanel * k);
      job.out = out.y + p * kPanel;
      job.out_stride = out.rows.stride;
      job.columns = std::min(out.columns - p * kPanel, (p + 1 < group_end ? 2 : 1) * kPanel);
      api.gemm(job);
    }
    finish(api, out, group, group_end);
  }
}

template <class T>
bool Entry<T>::supports_block_linear(const KernelArgs& args) {
  return args.in[0].quantised_rows && T::api().block_gemm != nullptr && supports_ends(args) &&
         args.in[0].last() % kBlock == 0;
}

template <class T>
int64_t Entry<T>::block_linear_workspace(const KernelArgs& args, int) {
  return aligned_floats(args.out[0].last()) * 4;
}

template <class T>
void Entry<T>::block_linear(const KernelArgs& args, int part, int parts) {
  const Api& api = T::api();
  const View& w = args.in[1];
  const Outputs out = prepare(args, reinterpret_cast<float*>(args.scratch(part)));
  const int64_t k = args.in[0].last(), panels = (out.columns + kPanel - 1) / kPanel;
  const Share share = share_of(panels, 1, part, parts);
  for (int64_t group = share.begin; group < share.end; group += kGroupPanels) {
    BlockGemmJob job;
    job.records = args.in[0].data;
    job.record_bytes = quantised_row_bytes(k);
    job.codes_bytes = quantised_codes_bytes(k);
    job.rows = out.rows.count;
    job.k = k;
    job.packed = w.packed;
    job.form = *block_form(stored(w));
    job.first = group;
    job.last = std::min(group + kGroupPanels, share.end);
    job.out = out.y;
    job.out_stride = out.rows.stride;
    job.columns = out.columns;
    api.block_gemm(job);
    finish(api, out, job.first, job.last);
  }
}

template <class T>
bool Entry<T>::supports_quantize_rows(const KernelArgs& args) {
  Rows x;
  return is_f32_rows(args.in[0], x) && x.width % kQuantBlock == 0;
}

template <class T>
void Entry<T>::quantize_rows(const KernelArgs& args, int part, int parts) {
  Rows x;
  fold_rows(args.in[0], x);
  const auto* from = reinterpret_cast<const float*>(args.in[0].data);
  const int64_t bytes = quantised_row_bytes(x.width), codes = quantised_codes_bytes(x.width);
  const Share share = share_of(x.count, 1, part, parts);
  for (int64_t r = share.begin; r < share.end; ++r) {
    T::api().quantize_row(from + r * x.stride, x.width, codes, args.out[0].out() + r * bytes);
  }
}

#define AXON_INSTANTIATE(T)                                                  \
  template bool Entry<T>::supports_linear(const KernelArgs&);                \
  template int64_t Entry<T>::linear_workspace(const KernelArgs&, int);       \
  template void Entry<T>::linear(const KernelArgs&, int, int);               \
  template bool Entry<T>::supports_block_linear(const KernelArgs&);          \
  template int64_t Entry<T>::block_linear_workspace(const KernelArgs&, int); \
  template void Entry<T>::block_linear(const KernelArgs&, int, int);         \
  template bool Entry<T>::supports_quantize_rows(const KernelArgs&);         \
  template void Entry<T>::quantize_rows(const KernelArgs&, int, int);
AXON_INSTANTIATE(UseAvx2)
AXON_INSTANTIATE(UseAvx512)
AXON_INSTANTIATE(UseVnni)

}  // namespace axon::runtime::simd
