// Attention over a store, and the writing of stores.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"
#include "support/check.h"

namespace axon::runtime::ref {
namespace {

constexpr Operation kOp = Operation::Attention;

// The keys that the index parameters leave visible to the query at position `q`.
Share visible_keys(const KernelArgs& args, int64_t q, int64_t keys) {
  Share seen{0, keys};
  const bool causal = args.integer(param(kOp, "causal")) != 0;
  const int64_t window = args.integer(param(kOp, "window"), -1);
  if (causal) seen.end = std::min(seen.end, q + 1);
  if (window >= 0) {
    seen.begin = std::max<int64_t>(0, causal ? q - window + 1 : q - window);
    if (!causal) seen.end = std::min(seen.end, q + window + 1);
  }
  seen.end = std::max(seen.end, seen.begin);
  return seen;
}

struct Head {
  const KernelArgs& args;
  int64_t b, h, kv_head;
  float scale, softcap;
  float *scores, *query, *row, *sum;  // scratch
};

void load_store_row(const StoreView& store, int64_t b, int64_t head, int64_t position, float* out) {
  const size_t bytes = element_bytes(store.storage);
  const uint8_t* at = store.at(b, head, position, bytes);
  View run;
  run.data = at;
  run.storage = store.storage;
  load_run(run, 0, 1, store.width, out);
}

// Score of a key, or minus infinity when a mask hides it.
float score(const Head& head, int64_t i, int64_t j) {
  const KernelArgs& args = head.args;
  const View &keep = args.in[3], &bias = args.in[4], &mask = args.in[5];
  constexpr float kHidden = -INFINITY;
  auto at = [&](const View& v) {  // broadcast over [B,H,S,C]
    const int64_t index[4] = {head.b, head.h, i, j};
    int64_t offset = 0;
    for (int a = 4 - v.rank; a < 4; ++a) offset += index[a] * broadcast_stride(v, a, 4);
    return offset;
  };
  if (keep.present() && load_int_at(keep, head.b * broadcast_stride(keep, 0, 2) +
                                              j * broadcast_stride(keep, 1, 2)) == 0) {
    return kHidden;
  }
  if (mask.present() && mask.storage == Storage::Bool && load_int_at(mask, at(mask)) == 0) {
    return kHidden;
  }
  load_store_row(args.keys, head.b, head.kv_head, j, head.row);
  float s = dot(head.query, head.row, args.keys.width) * head.scale;
  if (head.softcap > 0) s = head.softcap * std::tanh(s / head.softcap);
  if (mask.present() && mask.storage != Storage::Bool) s += load_at(mask, at(mask));
  if (bias.present()) s += load_at(bias, at(bias));
  return s;
}

// One query: softmax over its visible keys (and its sink), then the weighted sum of the values.
void attend(const Head& head, int64_t i) {
  const KernelArgs& args = head.args;
  const View &q = args.in[0], &sinks = args.in[6], &y = args.out[0];
  const int64_t width = args.values.width;
  load_run(q, head.b * q.stride[0] + head.h * q.stride[1] + i * q.stride[2], q.stride[3], q.last(),
           head.query);
  const Share seen = visible_keys(args, args.rows.query(head.b) + i, args.rows.keys(head.b));
  float largest = -INFINITY;
  for (int64_t j = seen.begin; j < seen.end; ++j) {
    head.scores[j] = score(head, i, j);
    // A NaN is seen, and no largest.
    largest = std::max(largest, std::isnan(head.scores[j]) ? 0.0f : head.scores[j]);
  }
  std::fill(head.sum, head.sum + width, 0.0f);
  const bool empty = largest == -INFINITY;
  float total = 0;
  if (!empty) {
    const float sink = sinks.present() ? load_at(sinks, head.h * sinks.stride[0]) : -INFINITY;
    largest = std::max(largest, sink);
    if (sinks.present()) total = std::exp(sink - largest);
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      const float p = std::exp(head.scores[j] - largest);
      if (p == 0.0f) continue;
      total += p;
      load_store_row(args.values, head.b, head.kv_head, j, head.row);
      for (int64_t e = 0; e < width; ++e) head.sum[e] += p * head.row[e];
    }
  }
  const float inverse = empty ? 0.0f : 1.0f / total;
  const int64_t to = head.b * y.stride[0] + head.h * y.stride[1] + i * y.stride[2];
  for (int64_t e = 0; e < width; ++e) store_at(y, to + e * y.stride[3], head.sum[e] * inverse);
}

}  // namespace

int64_t attention_workspace(const KernelArgs& args, int) {
  const int64_t d = args.in[0].last(), e = args.out[0].last(), c = args.in[1].shape[2];
  return (c + d + 2 * std::max(d, e)) * static_cast<int64_t>(sizeof(float));
}

void attention(const KernelArgs& args, int part, int parts) {
  const View& q = args.in[0];
  const int64_t heads = q.shape[1], d = q.last(), e = args.out[0].last();
  const int64_t c = args.in[1].shape[2];
  float* scratch = reinterpret_cast<float*>(args.scratch(part));
  const Share share = share_of(args.rows.rows * heads, 1, part, parts);
  for (int64_t unit = share.begin; unit < share.end; ++unit) {
    const int64_t b = unit / heads, h = unit % heads;
    const Head head{
        args,
        b,
        h,
        h / (heads / args.keys.heads),
        static_cast<float>(args.real(param(kOp, "scale"), 1.0 / std::sqrt(static_cast<double>(d)))),
        static_cast<float>(args.real(param(kOp, "softcap"), 0.0)),
        scratch,
        scratch + c,
        scratch + c + d,
        scratch + c + d + std::max(d, e)};
    for (int64_t i = 0; i < args.rows.size(b); ++i) attend(head, i);
  }
}

// Writes src over [start, start + extent) of the axis; the store may have another float storage.
void store_write(const KernelArgs& args, int part, int parts) {
  const View &store = args.in[0], &src = args.in[1];
  int64_t axis = args.integer(param(Operation::StoreWrite, "axis"));
  if (axis < 0) axis += store.rank;
  const int64_t start = args.integer(param(Operation::StoreWrite, "start"));
  AXON_CHECK(start >= 0 && start + src.shape[axis] <= store.shape[axis], "write past a store");
  View target = store;
  target.shape[axis] = src.shape[axis];
  const View* const operands[] = {&target, &src};
  const int64_t base = start * store.stride[axis];
  const Share share = share_of(target.count(), 1, part, parts);
  Walk<2> at(target, target.rank, operands, share.begin);
  for (int64_t n = share.begin; n < share.end; ++n, at.next()) {
    if (is_float(store.storage)) {
      store_at(store, base + at.offset(0), load_at(src, at.offset(1)));
    } else {
      store_int_at(store, base + at.offset(0), load_int_at(src, at.offset(1)));
    }
  }
}

}  // namespace axon::runtime::ref
