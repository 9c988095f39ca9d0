// `axon bench`: prefill, decode, memory, start-up and compile stages of one model.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "runtime/kernels/isa.h"

namespace axon::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int64_t peak_rss() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

// Ids that exist in any vocabulary of at least `vocabulary` entries, the same each time.
std::vector<int64_t> some_ids(int64_t count, int64_t vocabulary) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  uint64_t state = 1;
  for (int64_t& id : ids) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    id = static_cast<int64_t>((state >> 33) %
                              static_cast<uint64_t>(std::max<int64_t>(vocabulary, 1)));
  }
  return ids;
}

void fill(BenchRow& row, std::vector<double> rates) {
  std::sort(rates.begin(), rates.end());
  row.best = rates.back();
  row.median = rates[rates.size() / 2];
  row.worst = rates.front();
}

Result<void> feed(runtime::Session& session, int64_t rows, int64_t count) {
  std::vector<int64_t> ids;
  std::vector<int64_t> one = some_ids(count, session.vocabulary());
  for (int64_t r = 0; r < rows; ++r) ids.insert(ids.end(), one.begin(), one.end());
  AXON_TRY(runtime::RunStatus status, session.feed(ids.data(), count, nullptr, interrupt_flag()));
  if (status == runtime::RunStatus::Cancelled) return Error{"RUN-VALUE", "interrupted", {}, -1, {}};
  return {};
}

struct Setting {
  int64_t tokens, depth, batch;
  bool decode;
};

// One measured row: `repeats` rounds after one that is not counted.
Result<BenchRow> measure(runtime::Model& model, const Options& options, const Setting& s,
                         double& first_token) {
  BenchRow row{s.decode ? "decode" : "prefill", s.tokens, s.depth, s.batch,
               model.pool().threads(),          0,        0,       0};
  int64_t capacity = s.tokens + s.depth + 1;
  AXON_TRY(auto session, runtime::Session::create(model, {s.batch, capacity, options.model.chunk}));
  std::vector<double> rates;
  for (int round = 0; round <= options.bench.repeats; ++round) {
    session->reset();
    int64_t depth = s.decode ? std::max<int64_t>(s.depth, 1) : s.depth;
    if (depth > 0) AXON_TRY_VOID(feed(*session, s.batch, depth));
    auto begin = Clock::now();
    if (s.decode) {
      for (int64_t i = 0; i < s.tokens && session->length() < capacity; ++i)
        AXON_TRY_VOID(feed(*session, s.batch, 1));
    } else {
      AXON_TRY_VOID(feed(*session, s.batch, s.tokens));
    }
    double took = seconds_since(begin);
    if (round == 0 && !s.decode && first_token == 0) first_token = took;
    if (round > 0) rates.push_back(static_cast<double>(s.tokens * s.batch) / took);
  }
  fill(row, std::move(rates));
  return row;
}

Result<void> run_rows(LoadedModel& loaded, const Options& options, BenchReport& report) {
  for (int64_t batch : options.bench.batch) {
    for (int64_t depth : options.bench.depth) {
      for (int64_t tokens : options.bench.prompt) {
        if (tokens <= 0) continue;
        AXON_TRY(BenchRow row, measure(*loaded.model, options, {tokens, depth, batch, false},
                                       report.first_token_s));
        report.rows.push_back(row);
      }
      for (int64_t tokens : options.bench.generate) {
        if (tokens <= 0) continue;
        AXON_TRY(BenchRow row, measure(*loaded.model, options, {tokens, depth, batch, true},
                                       report.first_token_s));
        report.rows.push_back(row);
      }
    }
  }
  return {};
}

void add_compile_times(const driver::Compiled& compiled, BenchReport& report) {
  double total = 0;
  for (const driver::StageTime& t : compiled.frontend.times) {
    report.compile_ms.emplace_back(std::string(driver::spelling(t.stage)), t.ms);
    total += t.ms;
  }
  report.compile_ms.emplace_back("plan", compiled.plan_ms);
  report.compile_ms.emplace_back("total", total + compiled.plan_ms);
}

std::string show(const BenchReport& r, bool compile) {
  std::string out;
  if (!r.rows.empty())
    out += fmt::format("{:<8} {:>7} {:>6} {:>6} {:>8} {:>12} {:>12} {:>12}\n", "test", "tokens",
                       "depth", "batch", "threads", "best/s", "median/s", "worst/s");
  for (const BenchRow& row : r.rows) {
    out +=
        fmt::format("{:<8} {:>7} {:>6} {:>6} {:>8} {:>12.1f} {:>12.1f} {:>12.1f}\n", row.test,
                    row.tokens, row.depth, row.batch, row.threads, row.best, row.median, row.worst);
  }
  out += fmt::format("load {:.3f} s, first call {:.3f} s, peak {:.1f} MiB, weights {:.1f} MiB\n",
                     r.load_s, r.first_token_s, static_cast<double>(r.peak_rss_bytes) / (1 << 20),
                     static_cast<double>(r.weights_bytes) / (1 << 20));
  if (compile) {
    for (const auto& [stage, ms] : r.compile_ms)
      out += fmt::format("  {:<12} {:>8.2f} ms\n", stage, ms);
  }
  return out;
}

}  // namespace

int verb_bench(const Options& options) {
  BenchReport report;
  report.machine = runtime::show_isa(runtime::machine_isa());
  std::vector<int64_t> threads = options.bench.threads;
  if (threads.empty()) threads.push_back(0);
  bool first = true;
  for (int64_t count : threads) {
    Options one = options;
    one.model.threads = static_cast<int>(count);
    LoadedModel loaded;
    if (auto status = load(one, {Tokenizing::No, !options.bench.compile, false, false}, loaded))
      return *status;
    report.numeric_policy = driver::numerics_of(loaded.request).show();
    if (first) {
      add_compile_times(loaded.compiled, report);
      report.load_s = loaded.load_s;
    }
    first = false;
    if (options.bench.compile) break;
    auto done = run_rows(loaded, one, report);
    if (!done) return report_error(done.error(), options.common);
    runtime::MemoryAnswer memory = loaded.model->weights().memory();
    report.weights_bytes = memory.mapped + memory.packed + memory.dense;
  }
  report.peak_rss_bytes = peak_rss();
  put(options.common.json ? bench_json(report) + "\n"
                          : show(report, options.bench.compile || options.common.verbose > 0));
  return 0;
}

}  // namespace axon::cli
