// Products with weights and with values, and the quantisation of activations.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/core/quant_rows.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"

namespace axon::runtime::ref {
namespace {

constexpr int64_t kWeightRows = 4;  // weight rows decoded at once, so that x is read less often

// A row of x as f32, in place when it is one already.
const float* input_row(const View& x, int64_t row, float* buffer) {
  const int64_t k = x.last();
  if (x.quantised_rows) {
    const uint8_t* record = x.data + row * quantised_row_bytes(k);
    const uint8_t* scales = record + quantised_codes_bytes(k);
    for (int64_t i = 0; i < k; ++i) {
      const float scale = load_as<float>(scales + i / kQuantBlock * 4);
      buffer[i] = static_cast<float>(static_cast<int8_t>(record[i])) * scale;
    }
    return buffer;
  }
  return run_or_load(x, row_offset(x, row), x.stride[x.rank - 1], k, buffer);
}

struct Epilogue {
  const KernelArgs& args;
  const View &bias, &gate, &residual, &y;
  Activation activation;
  float scale;
  bool scaled;

  // `bias_at` is the element offset of the bias of this output.
  void store(int64_t row, int64_t column, int64_t bias_at, float sum) const {
    if (bias.present()) sum += load_at(bias, bias_at);
    sum = activate(activation, sum);
    if (gate.present()) sum *= load_at(gate, element(gate, row, column));
    if (scaled) sum *= scale;
    if (residual.present()) sum += load_at(residual, element(residual, row, column));
    store_at(y, element(y, row, column), sum);
  }
  static int64_t element(const View& view, int64_t row, int64_t column) {
    return row_offset(view, row) + column * view.stride[view.rank - 1];
  }
};

const View kAbsent;

bool is_contiguous_f32_row(const View& w) { return w.part_count == 0 && w.storage == Storage::F32; }

// Row `outer` of a weight as f32, in place when it can be.
const float* weight_row(const View& w, int64_t outer, float* buffer) {
  if (is_contiguous_f32_row(w)) {
    return run_or_load(w, row_offset(w, outer), w.stride[w.rank - 1], w.last(), buffer);
  }
  read_weight_row(w, outer, 0, w.last(), buffer);
  return buffer;
}

int64_t padded(int64_t k) { return (k + 15) / 16 * 16; }

}  // namespace

int64_t linear_workspace(const KernelArgs& args, int) {
  return (kWeightRows + 1) * padded(args.in[0].last()) * static_cast<int64_t>(sizeof(float));
}

void linear(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &w = args.in[1];
  const int64_t k = x.last(), rows = row_count(x), outputs = w.shape[w.rank - 2];
  const Epilogue end{args,
                     args.in[2],
                     args.in[3],
                     args.in[4],
                     args.out[0],
                     static_cast<Activation>(args.integer(param(Operation::Linear, "activation"))),
                     static_cast<float>(args.real(param(Operation::Linear, "scale"), 1.0)),
                     args.has(param(Operation::Linear, "scale"))};
  float* buffer = reinterpret_cast<float*>(args.scratch(part));
  float* x_buffer = buffer + kWeightRows * padded(k);
  const Share share = share_of(outputs, kWeightRows, part, parts);
  const int64_t bias_step = end.bias.present() ? end.bias.stride[end.bias.rank - 1] : 0;
  for (int64_t o = share.begin; o < share.end; o += kWeightRows) {
    const int64_t count = std::min(kWeightRows, share.end - o);
    const float* weights[kWeightRows];
    for (int64_t i = 0; i < count; ++i) weights[i] = weight_row(w, o + i, buffer + i * padded(k));
    for (int64_t n = 0; n < rows; ++n) {
      const float* row = input_row(x, n, x_buffer);
      for (int64_t i = 0; i < count; ++i) {
        end.store(n, o + i, (o + i) * bias_step, dot(row, weights[i], k));
      }
    }
  }
}

void expert_linear(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &index = args.in[1], &bank = args.in[2], &bias = args.in[3];
  const int64_t k = x.last(), rows = row_count(x), outputs = bank.shape[bank.rank - 2];
  const Epilogue end{args, bias, kAbsent, kAbsent, args.out[0], Activation::None, 1.0f, false};
  float* buffer = reinterpret_cast<float*>(args.scratch(part));
  float* x_buffer = buffer + kWeightRows * padded(k);
  const Share share = share_of(outputs, 1, part, parts);
  for (int64_t n = 0; n < rows; ++n) {
    View flat = index;  // index has the leading axes of x: its own last axis is one more
    flat.shape[flat.rank] = 1;
    flat.stride[flat.rank++] = 0;
    const int64_t named = load_int_at(index, row_offset(flat, n));
    const int64_t expert = args.inside(named, bank.shape[0]) ? named : 0;
    const float* row = input_row(x, n, x_buffer);
    for (int64_t o = share.begin; o < share.end; ++o) {
      const float* weights = weight_row(bank, expert * outputs + o, buffer);
      const int64_t bias_at = bias.present() ? expert * bias.stride[0] + o * bias.stride[1] : 0;
      end.store(n, o, bias_at, dot(row, weights, k));
    }
  }
}

void matmul(const KernelArgs& args, int part, int parts) {
  const View &a = args.in[0], &b = args.in[1], &y = args.out[0];
  const int rank = y.rank;
  const int64_t m = y.shape[rank - 2], n = y.shape[rank - 1], k = a.last();
  const View* const operands[] = {&a, &b};
  const bool floats = is_float(a.storage) || is_float(b.storage) || is_float(y.storage);
  const Share share = share_of(row_count(y), 1, part, parts);
  for (int64_t row = share.begin; row < share.end; ++row) {
    const int64_t i = row % m;
    Walk<2> batch(y, rank - 2, operands, row / m);
    const int64_t a_row = batch.offset(0) + i * a.stride[a.rank - 2];
    const int64_t y_row = row_offset(y, row);
    for (int64_t j = 0; j < n; ++j) {
      if (!floats) {
        uint64_t whole = 0;  // wraps around
        for (int64_t l = 0; l < k; ++l) {
          const int64_t from = batch.offset(1) + l * b.stride[b.rank - 2];
          whole += static_cast<uint64_t>(load_int_at(a, a_row + l * a.stride[a.rank - 1])) *
                   static_cast<uint64_t>(load_int_at(b, from + j * b.stride[b.rank - 1]));
        }
        store_int_at(y, y_row + j * y.stride[rank - 1], static_cast<int64_t>(whole));
        continue;
      }
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += load_at(a, a_row + l * a.stride[a.rank - 1]) *
               load_at(b, batch.offset(1) + l * b.stride[b.rank - 2] + j * b.stride[b.rank - 1]);
      }
      store_at(y, y_row + j * y.stride[rank - 1], sum);
    }
  }
}

void quantize_rows(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  const int64_t k = x.last(), step = x.stride[x.rank - 1];
  const Share share = share_of(row_count(x), 1, part, parts);
  for (int64_t row = share.begin; row < share.end; ++row) {
    const int64_t from = row_offset(x, row);
    uint8_t* record = y.out() + row * quantised_row_bytes(k);
    std::memset(record, 0, static_cast<size_t>(quantised_row_bytes(k)));
    uint8_t* scales = record + quantised_codes_bytes(k);
    const int64_t blocks = (k + kQuantBlock - 1) / kQuantBlock;
    uint8_t* sums = scales + 4 * blocks;
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t count = std::min(kQuantBlock, k - b * kQuantBlock);
      float values[kQuantBlock];
      load_run(x, from + b * kQuantBlock * step, step, count, values);
      float largest = 0;
      for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
      const float scale = largest / 127.0f;
      const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
      int32_t sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int code = static_cast<int>(std::nearbyint(values[i] * inverse));
        record[b * kQuantBlock + i] = static_cast<uint8_t>(static_cast<int8_t>(code));
        sum += code;
      }
      store_as(scales + 4 * b, scale);
      store_as(sums + 4 * b, sum);
    }
  }
}

}  // namespace axon::runtime::ref
