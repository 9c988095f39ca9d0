// `axon bench`: prefill, decode, memory, start-up and compile stages of one model.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cli/bench_counts.h"
#include "cli/bench_quality.h"
#include "cli/generate.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "runtime/kernels/isa.h"
#include "runtime/kernels/limits.h"

namespace axon::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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
  if (status == runtime::RunStatus::Cancelled)
    return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
  return {};
}

struct Setting {
  int64_t tokens, depth, batch;
  bool decode;
};

// The pages that this setting brings, on top of what the process held before weights were packed.
Result<void> predict_memory(LoadedModel& loaded, const Options& options, const Setting& s,
                            int64_t capacity, BenchReport& report) {
  const int64_t chunk =
      std::min<int64_t>(options.model.chunk, s.decode ? std::max<int64_t>(s.depth, 1) : s.tokens);
  AXON_TRY(const runtime::MemoryAnswer answer, loaded.model->memory(s.batch, capacity, chunk));
  report.peak_rss.predicted =
      std::max(report.peak_rss.predicted, loaded.resident_bytes + answer.resident());
  return {};
}

// One measured row: `repeats` rounds after one that is not counted.
Result<BenchRow> measure(LoadedModel& loaded, const Options& options, const Setting& s,
                         BenchReport& report) {
  runtime::Model& model = *loaded.model;
  BenchRow row{s.decode ? "decode" : "prefill", s.tokens, s.depth, s.batch,
               model.pool().threads(),          0,        0,       0};
  int64_t capacity = s.tokens + s.depth + 2;
  AXON_TRY_VOID(predict_memory(loaded, options, s, capacity, report));
  AXON_TRY(auto session, runtime::Session::create(model, {s.batch, capacity, options.model.chunk}));
  std::vector<double> rates;
  for (int round = 0; round <= options.bench.repeats; ++round) {
    session->reset();
    int64_t depth = s.decode ? std::max<int64_t>(s.depth, 1) : s.depth;
    if (depth > 0) AXON_TRY_VOID(feed(*session, s.batch, depth));
    auto begin = Clock::now();
    if (s.decode) {
      for (int64_t i = 0; i < s.tokens && session->length() + 2 < capacity; ++i)
        AXON_TRY_VOID(feed(*session, s.batch, 1));
    } else {
      AXON_TRY_VOID(feed(*session, s.batch, s.tokens));
    }
    double took = seconds_since(begin);
    if (round == 0 && !s.decode && report.first_token_s == 0) report.first_token_s = took;
    if (round > 0) rates.push_back(static_cast<double>(s.tokens * s.batch) / took);
  }
  fill(row, std::move(rates));
  if (s.decode && !report.per_token && session->length() + 2 <= capacity) {
    AXON_TRY(report.per_token, count_token(model, *session, s.batch));
  }
  return row;
}

// What is asked for fits the model.
Result<void> check_sizes(const LoadedModel& loaded, const BenchOptions& bench) {
  int64_t limit = model_limit(*loaded.compiled.checkpoint), longest = 0, deepest = 0;
  for (const std::vector<int64_t>* list : {&bench.prompt, &bench.generate, &bench.depth}) {
    for (int64_t value : *list) {
      if (value < 0)
        return Error{"USE-VALUE", fmt::format("{} is no number of tokens", value), {}, -1, {}};
      int64_t& most = list == &bench.depth ? deepest : longest;
      most = std::max(most, value);
    }
  }
  for (int64_t rows : bench.batch) {
    if (rows < 1)
      return Error{"USE-VALUE", fmt::format("{} is no number of sequences", rows), {}, -1, {}};
  }
  if (limit <= 0 || longest <= limit - std::min(deepest, limit)) return {};
  return Error{"USE-CONTEXT",
               fmt::format("{} tokens at depth {} are more than the model's {} positions", longest,
                           deepest, limit),
               {},
               -1,
               {}};
}

Result<void> run_rows(LoadedModel& loaded, const Options& options, BenchReport& report) {
  AXON_TRY_VOID(check_sizes(loaded, options.bench));
  for (int64_t batch : options.bench.batch) {
    for (int64_t depth : options.bench.depth) {
      for (int64_t tokens : options.bench.prompt) {
        if (tokens <= 0) continue;
        AXON_TRY(BenchRow row, measure(loaded, options, {tokens, depth, batch, false}, report));
        report.rows.push_back(row);
      }
      for (int64_t tokens : options.bench.generate) {
        if (tokens <= 0) continue;
        AXON_TRY(BenchRow row, measure(loaded, options, {tokens, depth, batch, true}, report));
        report.rows.push_back(row);
      }
    }
  }
  return {};
}

void add_compile_times(const driver::Compiled& compiled, BenchReport& report) {
  CompileStage total{"total", 0, 0, 0};
  auto add = [&](CompileStage stage) {
    total.ms += stage.ms;
    total.nodes += stage.nodes;
    total.instructions = stage.instructions && total.instructions
                             ? std::optional(*total.instructions + *stage.instructions)
                             : std::nullopt;
    report.compile.push_back(std::move(stage));
  };
  for (const driver::StageTime& t : compiled.frontend.times)
    add({std::string(driver::spelling(t.stage)), t.ms, t.nodes, t.instructions});
  if (compiled.program) {
    int64_t made = compiled.program->general_instructions();
    report.general_instructions = made;
    for (const runtime::Phase& phase : compiled.program->phases)
      made += static_cast<int64_t>(phase.code.size());
    add({"plan", compiled.plan_ms, made, compiled.plan_instructions});
  }
  report.compile.push_back(total);
}

Result<void> add_roofline(LoadedModel& loaded, BenchReport& report) {
  if (!report.per_token) return {};
  AXON_TRY(const runtime::KernelChoice choice,
           runtime::choose_kernels(loaded.model->options().isa));
  AXON_TRY(const runtime::MachineLimits limits,
           runtime::measure_limits(loaded.model->pool(), choice));
  const TokenCounts& token = *report.per_token;
  report.roofline =
      Roofline{limits.bytes_per_s, limits.flops_per_s, limits.int8_per_s,
               static_cast<double>(token.weight_bytes.predicted + token.state_bytes.predicted),
               static_cast<double>(token.flops)};
  return {};
}

std::string show_counts(const BenchReport& r) {
  std::string out;
  if (r.per_token) {
    const TokenCounts& t = *r.per_token;
    out += fmt::format(
        "a token: {} barriers (planned {}), {:.2f} MB of weights (planned {:.2f}), {:.3f} MB of "
        "stores (planned {:.3f}), {:.1f} MFLOP\n",
        t.barriers.counted, t.barriers.predicted,
        static_cast<double>(t.weight_bytes.counted) * 1e-6,
        static_cast<double>(t.weight_bytes.predicted) * 1e-6,
        static_cast<double>(t.state_bytes.counted) * 1e-6,
        static_cast<double>(t.state_bytes.predicted) * 1e-6, static_cast<double>(t.flops) * 1e-6);
  }
  if (r.roofline) {
    const Roofline& roof = *r.roofline;
    out += fmt::format(
        "this machine: {:.1f} GB/s, {:.0f} GFLOP/s in f32, {:.0f} GOP/s in int8\n"
        "  decode by memory      at most {:.1f} tokens/s\n"
        "  prefill by arithmetic at most {:.1f} tokens/s in f32, {:.1f} in int8\n",
        roof.bytes_per_s * 1e-9, roof.flops_per_s * 1e-9, roof.int8_per_s * 1e-9,
        roof.bytes_per_s / roof.bytes_per_token, roof.flops_per_s / roof.flops_per_token,
        roof.int8_per_s / roof.flops_per_token);
  }
  if (r.quality) {
    const Quality& q = *r.quality;
    out += fmt::format(
        "against exact: {} of {} likeliest tokens agree, perplexity {:.4f} (exact {:.4f}), "
        "divergence {:.6f}\n",
        q.agree, q.positions, q.perplexity, q.exact_perplexity, q.divergence);
  }
  return out;
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
  out += fmt::format(
      "load {:.3f} s, first call {:.3f} s, peak {:.1f} MiB (planned {:.1f}), "
      "weights {:.1f} MiB\n",
      r.load_s, r.first_token_s, static_cast<double>(r.peak_rss.counted) / (1 << 20),
      static_cast<double>(r.peak_rss.predicted) / (1 << 20),
      static_cast<double>(r.weights_bytes) / (1 << 20));
  out += show_counts(r);
  if (!compile) return out;
  for (const CompileStage& stage : r.compile) {
    out += fmt::format("  {:<12} {:>8.2f} ms {:>8} nodes", stage.name, stage.ms, stage.nodes);
    out += stage.instructions ? fmt::format(" {:>12} instructions\n", *stage.instructions) : "\n";
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
    const auto tokenizing = options.bench.quality ? Tokenizing::Yes : Tokenizing::No;
    if (auto status = load(one, {tokenizing, !options.bench.compile, false, false}, loaded))
      return *status;
    report.numeric_policy = driver::numerics_of(loaded.request).show();
    if (first) {
      add_compile_times(loaded.compiled, report);
      report.load_s = loaded.load_s;
    }
    if (options.bench.compile) break;
    auto done = run_rows(loaded, one, report);
    report.peak_rss.counted = peak_resident_bytes();
    if (done && first && options.bench.roofline) done = add_roofline(loaded, report);
    if (done && first && options.bench.quality) {
      auto quality = measure_quality(loaded, one);
      if (!quality) return report_error(quality.error(), options.common);
      report.quality = std::move(*quality);
    }
    if (!done) return report_error(done.error(), options.common);
    first = false;
    runtime::MemoryAnswer memory = loaded.model->weights().memory();
    report.weights_bytes = memory.mapped + memory.packed + memory.dense;
  }
  if (report.peak_rss.counted == 0) report.peak_rss.counted = peak_resident_bytes();
  put(options.common.json ? bench_json(report) + "\n"
                          : show(report, options.bench.compile || options.common.verbose > 0));
  return 0;
}

}  // namespace axon::cli
