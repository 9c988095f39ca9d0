// Reads a region larger than the caches, and repeats small products.
#include "runtime/kernels/limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "runtime/core/memory.h"
#include "runtime/core/quant_rows.h"
#include "runtime/kernels/simd/api.h"

namespace axon::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 5;
constexpr int64_t kRows = 32, kInner = 256;  // of the small products

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The best rate of some rounds of `work`, which does `amount` in all workers together.
template <class Work>
double best_rate(ThreadPool& pool, double amount, Work work) {
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    pool.run(work);
    best = std::max(best, amount / seconds_since(begin));
  }
  return best;
}

uint64_t sum_of(const uint8_t* data, int64_t bytes) {
  uint64_t sums[8] = {};
  for (int64_t i = 0; i + 64 <= bytes; i += 64) {
    uint64_t words[8];
    std::memcpy(words, data + i, 64);
    for (int w = 0; w < 8; ++w) sums[w] += words[w];
  }
  uint64_t sum = 0;
  for (uint64_t s : sums) sum += s;
  return sum;
}

const simd::Api* api_of(IsaSet isa) {
  if ((isa & isa_bit(Isa::Avx512Vnni)) != 0) return &simd::avx512_vnni();
  if ((isa & isa_bit(Isa::Avx512)) != 0) return &simd::avx512();
  if ((isa & isa_bit(Isa::Avx2)) != 0) return &simd::avx2();
  return nullptr;
}

void float_products(const simd::Api& api, int times) {
  std::vector<float> x(kRows * kInner, 1.0f), w(2 * kInner * simd::kPanel, 1.0f),
      y(kRows * 2 * simd::kPanel);
  simd::GemmJob job;
  job.x = x.data();
  job.x_stride = job.k = kInner;
  job.rows = kRows;
  job.panels[0] = w.data();
  job.panels[1] = w.data() + kInner * simd::kPanel;
  job.out = y.data();
  job.out_stride = job.columns = 2 * simd::kPanel;
  for (int i = 0; i < times; ++i) api.gemm(job);
}

void int8_products(const simd::Api& api, int times) {
  simd::BlockGemmJob job;
  job.form.bits = 8;
  job.form.zero = 128;
  job.k = kInner;
  job.rows = kRows;
  job.record_bytes = quantised_row_bytes(kInner);
  job.codes_bytes = quantised_codes_bytes(kInner);
  job.last = 2;
  job.columns = job.out_stride = 2 * simd::kPanel;
  std::vector<uint8_t> records(static_cast<size_t>(kRows * job.record_bytes), 0);
  std::vector<uint8_t> panels(static_cast<size_t>(2 * kInner / simd::kBlock * job.form.bytes()), 0);
  std::vector<float> y(kRows * 2 * simd::kPanel);
  job.records = records.data();
  job.packed = panels.data();
  job.out = y.data();
  for (int i = 0; i < times; ++i) api.block_gemm(job);
}

}  // namespace

Result<MachineLimits> measure_limits(ThreadPool& pool, const KernelChoice& choice) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  constexpr int kTimes = 2000;
  MachineLimits out;
  AXON_TRY(Buffer buffer, Buffer::allocate(kBytes, Buffer::Pages::Large));
  std::memset(buffer.data(), 1, kBytes);
  std::atomic<uint64_t> sink{0};
  out.bytes_per_s = best_rate(pool, static_cast<double>(kBytes), [&](int part, int parts) {
    const Share share = share_of(kBytes, 4096, part, parts);
    sink += sum_of(buffer.data() + share.begin, share.end - share.begin);
  });
  const simd::Api* api = api_of(choice.isa);
  if (api == nullptr) return out;
  const double work = 2.0 * kRows * kInner * 2 * simd::kPanel * kTimes * pool.threads();
  out.flops_per_s = best_rate(pool, work, [&](int, int) { float_products(*api, kTimes); });
  if (api->block_gemm != nullptr)
    out.int8_per_s = best_rate(pool, work, [&](int, int) { int8_products(*api, kTimes); });
  return out;
}

}  // namespace axon::runtime
