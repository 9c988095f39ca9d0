// Random numbers, and activations with parameters of their own.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/ref/loops.h"
#include "runtime/kernels/ref/ref.h"

namespace axon::runtime::ref {
namespace {

// The n-th number of a seed, on [0,1) with 53 bits: splitmix64 of a counter.
double uniform(uint64_t seed, uint64_t n) {
  uint64_t z = seed * 0xD1342543DE82EF95ull + (n + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

float rounded(Storage storage, double value) {
  uint8_t bytes[8] = {};
  store_float(storage, bytes, static_cast<float>(value));
  return load_float(storage, bytes);
}

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

}  // namespace

void random(const KernelArgs& args, int part, int parts) {
  constexpr Operation op = Operation::Random;
  const View& y = args.out[0];
  const auto seed = static_cast<uint64_t>(args.integer(param(op, "seed")));
  const bool normal = args.integer(param(op, "normal")) != 0;
  const View* const operands[] = {&y};
  const Share share = share_of(y.count(), 16, part, parts);
  Walk<1> at(y, y.rank, operands, share.begin);
  for (int64_t i = share.begin; i < share.end; ++i, at.next()) {
    const auto n = static_cast<uint64_t>(i);
    double v = 0;
    if (normal) {
      const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * n)));
      v = radius * std::cos(6.283185307179586 * uniform(seed, 2 * n + 1));
    } else {
      v = uniform(seed, n);
      // Rounding must not reach 1.
      while (rounded(y.storage, v) >= 1) v = std::nextafter(v - 0x1p-12, 0.0);
    }
    store_at(y, at.offset(0), static_cast<float>(v));
  }
}

// Infinities pass the limit.
void gegelu(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  const double limit =
      args.real(param(Operation::Gegelu, "limit"), std::numeric_limits<double>::infinity());
  View pairs = x;  // stands still on the last axis; the index supplies it
  const int last = x.rank - 1;
  const int64_t step = x.stride[last];
  pairs.shape[last] = 1;
  const View* const operands[] = {&pairs, &y};
  const Share share = share_of(y.count(), 16, part, parts);
  Walk<2> at(y, y.rank, operands, share.begin);
  for (int64_t n = share.begin; n < share.end; ++n, at.next()) {
    const int64_t from = at.offset(0) + 2 * at.index(last) * step;
    double g = load_at(x, from), l = load_at(x, from + step);
    if (!std::isinf(g) && g > limit) g = limit;
    if (!std::isinf(l)) l = std::fmax(-limit, std::fmin(l, limit));
    store_at(y, at.offset(1), static_cast<float>(g / (1 + std::exp(-1.702 * g)) * (l + 1)));
  }
}

void xielu(const KernelArgs& args, int part, int parts) {
  const View &x = args.in[0], &y = args.out[0];
  const double beta = load_at(args.in[3], 0), eps = load_at(args.in[4], 0);
  const double positive = softplus(load_at(args.in[1], 0));
  const double negative = beta + softplus(load_at(args.in[2], 0));
  const View* const operands[] = {&x, &y};
  const Share share = share_of(y.count(), 16, part, parts);
  Walk<2> at(y, y.rank, operands, share.begin);
  for (int64_t n = share.begin; n < share.end; ++n, at.next()) {
    const double v = load_at(x, at.offset(0));
    const double out = v > 0 ? positive * v * v + beta * v
                             : (std::expm1(std::fmin(v, eps)) - v) * negative + beta * v;
    store_at(y, at.offset(1), static_cast<float>(out));
  }
}

}  // namespace axon::runtime::ref
