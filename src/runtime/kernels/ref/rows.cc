// Kernels that work row by row: table rows, norms, rotary embedding.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"

namespace axon::runtime::ref {

int64_t embedding_workspace(const KernelArgs& args, int) {
  return args.out[0].last() * static_cast<int64_t>(sizeof(float));
}

// An id outside of the table gives a row of zeros, and the call an error.
void embedding(const KernelArgs& args, int part, int parts) {
  const View &ids = args.in[0], &table = args.in[1], &y = args.out[0];
  const int64_t width = y.last(), step = y.stride[y.rank - 1];
  const auto scale = static_cast<float>(args.real(param(Operation::Embedding, "scale"), 1.0));
  float* row = reinterpret_cast<float*>(args.scratch(part));
  const View* const operands[] = {&ids};
  const Share share = share_of(ids.count(), 1, part, parts);
  for (int64_t n = share.begin; n < share.end; ++n) {
    const int64_t id = load_int_at(ids, Walk<1>(ids, ids.rank, operands, n).offset(0));
    if (args.inside(id, table.shape[0])) {
      read_weight_row(table, id, 0, width, row);
    } else {
      std::fill(row, row + width, 0.0f);
    }
    const int64_t to = row_offset(y, n);
    for (int64_t i = 0; i < width; ++i) store_at(y, to + i * step, row[i] * scale);
  }
}

void select_rows(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &rows = args.in[1], &y = args.out[0];
  const int64_t width = y.last();
  const Share share = share_of(rows.count(), 1, part, parts);
  for (int64_t r = share.begin; r < share.end; ++r) {
    const int64_t from = load_int_at(rows, r * rows.stride[0]);
    const bool inside = from >= 0 && from < row_count(x);
    const int64_t at = inside ? row_offset(x, from) : 0;
    const int64_t to = row_offset(y, r);
    for (int64_t i = 0; i < width; ++i) {
      store_at(y, to + i * y.stride[y.rank - 1],
               inside ? load_at(x, at + i * x.stride[x.rank - 1]) : 0.0f);
    }
  }
}

void rms_norm(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &w = args.in[1], &y = args.out[0];
  const int64_t width = x.last(), x_step = x.stride[x.rank - 1], y_step = y.stride[y.rank - 1];
  const auto eps = static_cast<float>(args.real(param(Operation::RmsNorm, "eps"), 1e-6));
  const float offset = args.integer(param(Operation::RmsNorm, "unit_offset")) != 0 ? 1.0f : 0.0f;
  const Share share = share_of(row_count(x), 1, part, parts);
  for (int64_t row = share.begin; row < share.end; ++row) {
    const int64_t from = row_offset(x, row), to = row_offset(y, row);
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) {
      const double v = load_at(x, from + i * x_step);
      sum += v * v;
    }
    const float scale =
        1.0f / std::sqrt(static_cast<float>(sum / static_cast<double>(width)) + eps);
    for (int64_t i = 0; i < width; ++i) {
      float v = load_at(x, from + i * x_step) * scale;
      if (w.present()) v *= load_at(w, i * w.stride[w.rank - 1]) + offset;
      store_at(y, to + i * y_step, v);
    }
  }
}

void layer_norm(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &w = args.in[1], &b = args.in[2], &y = args.out[0];
  const int64_t width = x.last(), x_step = x.stride[x.rank - 1], y_step = y.stride[y.rank - 1];
  const double eps = args.real(param(Operation::LayerNorm, "eps"), 1e-5);
  const Share share = share_of(row_count(x), 1, part, parts);
  for (int64_t row = share.begin; row < share.end; ++row) {
    const int64_t from = row_offset(x, row), to = row_offset(y, row);
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += load_at(x, from + i * x_step);
    const double mean = sum / static_cast<double>(width);
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) {
      const double d = load_at(x, from + i * x_step) - mean;
      squares += d * d;
    }
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(width) + eps);
    for (int64_t i = 0; i < width; ++i) {
      auto v = static_cast<float>((load_at(x, from + i * x_step) - mean) * scale);
      if (w.present()) v *= load_at(w, i * w.stride[w.rank - 1]);
      if (b.present()) v += load_at(b, i * b.stride[b.rank - 1]);
      store_at(y, to + i * y_step, v);
    }
  }
}

// y = x * cos + turned(x) * sin on the first rotary_dim components, x on the others. turned(x) has
// at i the negative partner for the first of a pair and the partner for the second.
void rope(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &sin = args.in[1], &cos = args.in[2], &y = args.out[0];
  const bool interleaved = args.integer(param(Operation::Rope, "interleaved")) != 0;
  const int64_t width = x.last();
  const int64_t rotary = args.integer(param(Operation::Rope, "rotary_dim"), cos.last());
  const int64_t half = rotary / 2;
  const View* const operands[] = {&x, &sin, &cos, &y};
  const int64_t x_step = x.stride[x.rank - 1], y_step = y.stride[y.rank - 1];
  const int64_t sin_step = sin.stride[sin.rank - 1], cos_step = cos.stride[cos.rank - 1];
  const Share share = share_of(row_count(x), 1, part, parts);
  for (int64_t row = share.begin; row < share.end; ++row) {
    Walk<4> at(x, x.rank - 1, operands, row);
    auto rotate = [&](int64_t first, int64_t second) {
      const float a = load_at(x, at.offset(0) + first * x_step);
      const float b = load_at(x, at.offset(0) + second * x_step);
      const float ya = a * load_at(cos, at.offset(2) + first * cos_step) -
                       b * load_at(sin, at.offset(1) + first * sin_step);
      const float yb = b * load_at(cos, at.offset(2) + second * cos_step) +
                       a * load_at(sin, at.offset(1) + second * sin_step);
      store_at(y, at.offset(3) + first * y_step, ya);
      store_at(y, at.offset(3) + second * y_step, yb);
    };
    for (int64_t i = 0; i < half; ++i) {
      interleaved ? rotate(2 * i, 2 * i + 1) : rotate(i, i + half);
    }
    for (int64_t i = 2 * half; i < width; ++i) {
      store_at(y, at.offset(3) + i * y_step, load_at(x, at.offset(0) + i * x_step));
    }
  }
}

}  // namespace axon::runtime::ref
