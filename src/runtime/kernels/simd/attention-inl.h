// Attention of a group of query rows over one key/value head: blocks of keys, a running softmax.
// Included by body-inl.h inside its anonymous namespace.

constexpr int64_t kKeyBlock = 64;
constexpr int64_t kQueryTile = 8;
constexpr int64_t kFewRows = 12;  // below, keys are not worth unpacking

int64_t attention_scratch(int64_t rows, int64_t d, int64_t e) {
  const int64_t padded_e = (e + kPanel - 1) / kPanel * kPanel;
  // keys [d][64], values [64][e], scores [rows][64], sums [rows][e], largest and total per row
  return d * kKeyBlock + kKeyBlock * padded_e + rows * kKeyBlock + rows * padded_e + 2 * rows +
         rows * d + 64;
}

HWY_INLINE void load_token(const uint8_t* base, int64_t at, int64_t width, bool half, float* out) {
  int64_t i = 0;
  if (half) {
    const auto* from = reinterpret_cast<const uint16_t*>(base) + at;
    for (; i + kLanes <= width; i += kLanes) hn::StoreU(load_half(from + i), kF, out + i);
    if (i < width) {
      alignas(64) uint16_t rest[16] = {};
      for (int64_t j = 0; i + j < width; ++j) rest[j] = from[i + j];
      store_tail(load_half(rest), out + i, width - i);
    }
    return;
  }
  const float* from = reinterpret_cast<const float*>(base) + at;
  for (; i + kLanes <= width; i += kLanes) hn::StoreU(hn::LoadU(kF, from + i), kF, out + i);
  for (; i < width; ++i) out[i] = from[i];
}

struct AttentionScratch {
  float *keys, *values, *scores, *sums, *largest, *total, *queries;
  int64_t padded_e;
};

// Keys of a block as panels [4][d][16], so that scores are products with panels.
void pack_keys(const AttentionJob& job, int64_t begin, int64_t count, float* panels, float* row) {
  for (int64_t j = 0; j < kKeyBlock; ++j) {
    float* panel = panels + j / kPanel * job.d * kPanel + j % kPanel;
    if (j >= count) {
      for (int64_t i = 0; i < job.d; ++i) panel[i * kPanel] = 0.0f;
      continue;
    }
    load_token(job.keys, (begin + j) * job.key_stride, job.d, job.half, row);
    for (int64_t i = 0; i < job.d; ++i) panel[i * kPanel] = row[i];
  }
}

// Scores of R rows against the 64 keys of a block.
template <int R>
HWY_INLINE void score_tile(const AttentionJob& job, const AttentionScratch& s, int64_t row,
                           int64_t panels) {
  for (int64_t p = 0; p < panels; ++p) {
    GemmJob tile;
    tile.x = s.queries + row * job.d;
    tile.x_stride = job.d;
    tile.rows = R;
    tile.k = job.d;
    tile.panels[0] = s.keys + p * job.d * kPanel;
    tile.out = s.scores + row * kKeyBlock + p * kPanel;
    tile.out_stride = kKeyBlock;
    tile.columns = kPanel;
    gemm_tile<R, 1>(tile, 0);
  }
}

// The same for a few rows, read straight from the store: unpacking a block would cost more.
void score_rows(const AttentionJob& job, const AttentionScratch& s, int64_t begin, int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    load_token(job.keys, (begin + j) * job.key_stride, job.d, job.half, s.keys);
    for (int64_t r = 0; r < job.rows; ++r) {
      const float* query = s.queries + r * job.d;
      V sum = hn::Zero(kF), more = hn::Zero(kF);
      int64_t i = 0;
      for (; i + 2 * kLanes <= job.d; i += 2 * kLanes) {
        sum = hn::MulAdd(hn::LoadU(kF, query + i), hn::LoadU(kF, s.keys + i), sum);
        more =
            hn::MulAdd(hn::LoadU(kF, query + i + kLanes), hn::LoadU(kF, s.keys + i + kLanes), more);
      }
      float rest = 0;
      for (; i < job.d; ++i) rest += query[i] * s.keys[i];
      s.scores[r * kKeyBlock + j] = hn::GetLane(hn::SumOfLanes(kF, hn::Add(sum, more))) + rest;
    }
  }
}

// Turns a row's scores into weights of the running softmax and rescales what was summed before.
HWY_INLINE void weigh_row(const AttentionJob& job, const AttentionScratch& s, int64_t row,
                          int64_t begin, int64_t count) {
  float* scores = s.scores + row * kKeyBlock;
  const V cap = hn::Set(kF, job.softcap),
          inverse_cap = hn::Set(kF, job.softcap > 0 ? 1.0f / job.softcap : 0.0f);
  if (job.softcap > 0) {
    for (int64_t j = 0; j < kKeyBlock; j += kLanes) {
      hn::StoreU(hn::Mul(cap, tanh_of(hn::Mul(hn::LoadU(kF, scores + j), inverse_cap))), kF,
                 scores + j);
    }
  }
  const int64_t from = job.first[row] - begin, to = job.last[row] - begin;
  const bool all_seen = from <= 0 && to >= kKeyBlock && count == kKeyBlock && job.keep == nullptr;
  for (int64_t j = 0; j < kKeyBlock && !all_seen; ++j) {
    const bool seen =
        j >= from && j < to && j < count && (job.keep == nullptr || job.keep[begin + j] != 0);
    if (!seen) scores[j] = -HUGE_VALF;
  }
  V most = hn::Set(kF, -HUGE_VALF);
  for (int64_t j = 0; j < kKeyBlock; j += kLanes) {
    const V x = hn::LoadU(kF, scores + j);
    most = hn::Max(most, hn::IfThenZeroElse(hn::IsNaN(x), x));  // a NaN is seen, and no largest
  }
  const float block_most = hn::GetLane(hn::MaxOfLanes(kF, most));
  const float before = s.largest[row];
  const float now = block_most > before ? block_most : before;
  if (now == -HUGE_VALF) {  // nothing seen yet: weights of zero
    for (int64_t j = 0; j < kKeyBlock; ++j) scores[j] = 0.0f;
    return;
  }
  V total = hn::Zero(kF);
  for (int64_t j = 0; j < kKeyBlock; j += kLanes) {
    const V x = hn::LoadU(kF, scores + j);
    const V w = hn::IfThenElseZero(hn::Ne(x, hn::Set(kF, -HUGE_VALF)),
                                   exp_of(hn::Sub(x, hn::Set(kF, now))));
    hn::StoreU(w, kF, scores + j);
    total = hn::Add(total, w);
  }
  const float block_total = hn::GetLane(hn::SumOfLanes(kF, total));
  if (before == -HUGE_VALF) {
    s.total[row] = block_total;
  } else if (now > before) {
    const float shrink = hn::GetLane(hn::Exp(kF, hn::Set(kF, before - now)));
    s.total[row] = s.total[row] * shrink + block_total;
    float* sums = s.sums + row * s.padded_e;
    for (int64_t i = 0; i < s.padded_e; i += kLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(kF, sums + i), hn::Set(kF, shrink)), kF, sums + i);
    }
  } else {
    s.total[row] += block_total;
  }
  s.largest[row] = now;
}

// sums += weights [R][64] · values [64][e].
template <int R>
HWY_INLINE void sum_tile(const AttentionScratch& s, int64_t row, int64_t count) {
  for (int64_t c = 0; c < s.padded_e; c += kPanel) {
    V sum[R][kParts];
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < kParts; ++v)
        sum[r][v] = hn::LoadU(kF, s.sums + (row + r) * s.padded_e + c + v * kLanes);
    }
    for (int64_t j = 0; j < count; ++j) {
      V value[kParts];
      for (int v = 0; v < kParts; ++v)
        value[v] = hn::LoadU(kF, s.values + j * s.padded_e + c + v * kLanes);
      for (int r = 0; r < R; ++r) {
        const V w = hn::Set(kF, s.scores[(row + r) * kKeyBlock + j]);
        for (int v = 0; v < kParts; ++v) sum[r][v] = hn::MulAdd(w, value[v], sum[r][v]);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < kParts; ++v)
        hn::StoreU(sum[r][v], kF, s.sums + (row + r) * s.padded_e + c + v * kLanes);
    }
  }
}

template <int R>
HWY_INLINE void attend_tile(const AttentionJob& job, const AttentionScratch& s, int64_t row,
                            int64_t begin, int64_t count, int64_t panels) {
  if (panels > 0) score_tile<R>(job, s, row, panels);
  for (int r = 0; r < R; ++r) weigh_row(job, s, row + r, begin, count);
  sum_tile<R>(s, row, count);
}

void attention(const AttentionJob& job) {
  AttentionScratch s;
  s.padded_e = (job.e + kPanel - 1) / kPanel * kPanel;
  s.keys = job.scratch;
  s.values = s.keys + job.d * kKeyBlock;
  s.scores = s.values + kKeyBlock * s.padded_e;
  s.sums = s.scores + job.rows * kKeyBlock;
  s.largest = s.sums + job.rows * s.padded_e;
  s.total = s.largest + job.rows;
  s.queries = s.total + job.rows;
  int64_t first = INT64_MAX, last = 0;
  for (int64_t r = 0; r < job.rows; ++r) {
    s.largest[r] = -HUGE_VALF;
    s.total[r] = 0.0f;
    for (int64_t i = 0; i < s.padded_e; ++i) s.sums[r * s.padded_e + i] = 0.0f;
    for (int64_t i = 0; i < job.d; ++i) s.queries[r * job.d + i] = job.q[r][i] * job.scale;
    first = job.first[r] < first ? job.first[r] : first;
    last = job.last[r] > last ? job.last[r] : last;
  }
  for (int64_t begin = first / kKeyBlock * kKeyBlock; begin < last; begin += kKeyBlock) {
    const int64_t count = last - begin < kKeyBlock ? last - begin : kKeyBlock;
    int64_t panels = 0;
    if (job.rows <= kFewRows) {
      score_rows(job, s, begin, count);
    } else {
      panels = (count + kPanel - 1) / kPanel;
      pack_keys(job, begin, count, s.keys, s.scores);
    }
    for (int64_t j = 0; j < count; ++j) {
      float* value = s.values + j * s.padded_e;
      load_token(job.values, (begin + j) * job.value_stride, job.e, job.half, value);
      for (int64_t i = job.e; i < s.padded_e; ++i) value[i] = 0.0f;
    }
    int64_t row = 0;
    for (; row + kQueryTile <= job.rows; row += kQueryTile)
      attend_tile<kQueryTile>(job, s, row, begin, count, panels);
    for (; row + 2 <= job.rows; row += 2) attend_tile<2>(job, s, row, begin, count, panels);
    if (row < job.rows) attend_tile<1>(job, s, row, begin, count, panels);
  }
  for (int64_t r = 0; r < job.rows; ++r) {
    const float inverse = s.total[r] > 0 ? 1.0f / s.total[r] : 0.0f;
    for (int64_t i = 0; i < job.e; ++i) job.out[r][i] = s.sums[r * s.padded_e + i] * inverse;
  }
}
