// Attention over stores: query rows of the heads that share a key/value head go together.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/simd/entry.h"

namespace axon::runtime::simd {
namespace {

constexpr Operation kOp = Operation::Attention;
constexpr int64_t kTileRows =
    96;  // query rows of one job: keys and values are unpacked once for them

struct Shape {
  int64_t heads, group, tokens, d, e, c;
};

Shape shape_of(const KernelArgs& args) {
  const View &q = args.in[0], &k = args.in[1];
  return {q.shape[1],           q.shape[1] / std::max<int64_t>(k.shape[1], 1),
          q.shape[2],           q.shape[3],
          args.out[0].shape[3], k.shape[2]};
}

int64_t tile_tokens(const Shape& s) { return std::max<int64_t>(1, kTileRows / s.group); }

// Pointers and bounds of one job, and the api's own scratch behind them.
int64_t job_bytes(const Shape& s) {
  const int64_t rows = tile_tokens(s) * s.group;
  return (rows * (2 * 8 + 2 * 8) + s.c + 127) / 64 * 64;
}

bool plain_store(const View& v) {
  return (v.storage == Storage::F32 || v.storage == Storage::F16) && v.rank == 4 &&
         v.stride[3] == 1 && v.part_count == 0;
}

}  // namespace

template <class T>
bool Entry<T>::supports_attention(const KernelArgs& args) {
  const View &q = args.in[0], &k = args.in[1], &v = args.in[2], &keep = args.in[3],
             &y = args.out[0];
  if (args.in[4].present() || args.in[5].present() || args.in[6].present()) return false;
  if (q.storage != Storage::F32 || q.rank != 4 || q.stride[3] != 1) return false;
  if (y.storage != Storage::F32 || y.rank != 4 || y.stride[3] != 1) return false;
  if (keep.present() && keep.rank != 2) return false;
  return plain_store(k) && plain_store(v) && k.storage == v.storage && k.shape[1] > 0 &&
         q.shape[1] % k.shape[1] == 0 && args.keys.block_table == nullptr &&
         args.keys.modulus == 0 && args.rows.row_start == nullptr;
}

template <class T>
int64_t Entry<T>::attention_workspace(const KernelArgs& args, int) {
  const Shape s = shape_of(args);
  return job_bytes(s) + T::api().attention_scratch(tile_tokens(s) * s.group, s.d, s.e) * 4;
}

template <class T>
void Entry<T>::attention(const KernelArgs& args, int part, int parts) {
  const View &q = args.in[0], &k = args.in[1], &v = args.in[2], &keep = args.in[3],
             &y = args.out[0];
  const Shape s = shape_of(args);
  const int64_t step = tile_tokens(s), tiles = (s.tokens + step - 1) / step, kv_heads = k.shape[1];
  const bool causal = args.integer(param(kOp, "causal")) != 0;
  const int64_t window = args.integer(param(kOp, "window"), -1);
  uint8_t* scratch = args.scratch(part);
  const int64_t most = step * s.group;
  auto* q_rows = reinterpret_cast<const float**>(scratch);
  auto* y_rows = reinterpret_cast<float**>(scratch + most * 8);
  auto* first = reinterpret_cast<int64_t*>(scratch + most * 16);
  int64_t* last = first + most;
  auto* kept = reinterpret_cast<uint8_t*>(last + most);
  const int64_t bytes = k.storage == Storage::F16 ? 2 : 4;
  AttentionJob job;
  job.q = q_rows;
  job.out = y_rows;
  job.first = first;
  job.last = last;
  job.d = s.d;
  job.e = s.e;
  job.key_stride = k.stride[2];
  job.value_stride = v.stride[2];
  job.half = k.storage == Storage::F16;
  job.scale =
      static_cast<float>(args.real(param(kOp, "scale"), 1.0 / std::sqrt(static_cast<double>(s.d))));
  job.softcap = static_cast<float>(args.real(param(kOp, "softcap"), 0.0));
  job.scratch = reinterpret_cast<float*>(scratch + job_bytes(s));
  // Later tiles see more keys: taking tiles in turn spreads the work evenly.
  const int64_t units = args.rows.rows * kv_heads * tiles;
  int64_t kept_row = -1;
  for (int64_t unit = part; unit < units; unit += parts) {
    const int64_t b = unit / (kv_heads * tiles), h = unit / tiles % kv_heads, tile = unit % tiles;
    if (keep.present() && kept_row != b) {
      for (int64_t j = 0; j < s.c; ++j) {
        kept[j] = ref::load_int_at(keep, b * ref::broadcast_stride(keep, 0, 2) +
                                             j * ref::broadcast_stride(keep, 1, 2)) != 0;
      }
      kept_row = b;
    }
    job.keep = keep.present() ? kept : nullptr;
    const int64_t begin = tile * step, end = std::min(begin + step, s.tokens),
                  keys = args.rows.keys(b);
    job.rows = 0;
    for (int64_t g = 0; g < s.group; ++g) {
      const int64_t head = h * s.group + g;
      for (int64_t i = begin; i < end; ++i, ++job.rows) {
        const int64_t position = args.rows.query(b) + i;
        q_rows[job.rows] = reinterpret_cast<const float*>(q.data) + b * q.stride[0] +
                           head * q.stride[1] + i * q.stride[2];
        y_rows[job.rows] = reinterpret_cast<float*>(y.out()) + b * y.stride[0] +
                           head * y.stride[1] + i * y.stride[2];
        int64_t from = 0, to = keys;
        if (causal) to = std::min(to, position + 1);
        if (window >= 0) {
          from = std::max<int64_t>(0, causal ? position - window + 1 : position - window);
          if (!causal) to = std::min(to, position + window + 1);
        }
        first[job.rows] = from;
        last[job.rows] = std::max(from, to);
      }
    }
    job.keys = k.data + (b * k.stride[0] + h * k.stride[1]) * bytes;
    job.values = v.data + (b * v.stride[0] + h * v.stride[1]) * bytes;
    T::api().attention(job);
  }
}

#define AXON_INSTANTIATE(T)                                               \
  template bool Entry<T>::supports_attention(const KernelArgs&);          \
  template int64_t Entry<T>::attention_workspace(const KernelArgs&, int); \
  template void Entry<T>::attention(const KernelArgs&, int, int);
AXON_INSTANTIATE(UseAvx2)
AXON_INSTANTIATE(UseAvx512)
AXON_INSTANTIATE(UseVnni)

}  // namespace axon::runtime::simd
