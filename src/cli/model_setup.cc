// From the command line's model options to a loaded model.
#include "cli/model_setup.h"

#include <chrono>

#include "cli/bench_counts.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "runtime/formats/tokenizer_source.h"
#include "support/text.h"
#include "support/thread_pool.h"

namespace axon::cli {

driver::ModelRequest request_of(const ModelOptions& o) {
  driver::ModelRequest r;
  r.model = o.model;
  r.program = o.program;
  r.main = o.main;
  r.overlays = o.overlays;
  r.math = o.math;
  r.kv_dtype = o.kv_dtype;
  r.activations = o.activations;
  r.isa = o.isa;
  r.threads = o.threads;
  r.no_mmap = o.no_mmap;
  r.passes.optimise = o.optimize != 0;
  r.passes.options.skip = o.skip_pass;
  r.passes.options.stop_after = o.stop_after_pass;
  r.passes.dump_after = o.dump_after;
  return r;
}

void report_passes(const driver::PassReport& report, const CommonOptions& common) {
  if (!report.dump.empty()) note(report.dump);
  if (common.verbose > 1 && !report.rows.empty()) note(report.show());
}

int report_compiled(const driver::Compiled& compiled, const CommonOptions& common) {
  int status = compiled.frontend.session && !compiled.error
                   ? report_session(*compiled.frontend.session, common)
                   : 0;
  if (compiled.error) return report_error(*compiled.error, common);
  report_passes(compiled.passes, common);
  if (!common.quiet && common.verbose > 0) {
    for (const std::string& text : compiled.notes) note("axon: note: " + text + "\n");
  }
  return status;
}

Result<text::Tokenizer> make_tokenizer(const formats::Checkpoint& checkpoint) {
  AXON_TRY(text::TokenizerSpec spec, formats::load_tokenizer(checkpoint));
  return text::Tokenizer::create(std::move(spec));
}

namespace {

// Compiles, and reads the tokenizer on another worker where there is one.
void compile_and_tokenize(LoadedModel& out, ThreadPool& pool, bool tokenize,
                          std::optional<Result<text::Tokenizer>>& tokenizer) {
  pool.run([&](int part, int parts) {
    if (part == 0) driver::compile_opened(out.compiled, out.request);
    if (part == parts - 1 && tokenize) tokenizer = make_tokenizer(*out.compiled.checkpoint);
  });
}

void warn(const std::string& text, const CommonOptions& common) {
  if (!common.quiet) note("axon: warning: " + text + "\n");
}

// More threads than can run at a time wait for each other at every barrier.
void cap_threads(driver::ModelRequest& request, const CommonOptions& common,
                 std::vector<std::string>& warnings) {
  const int most = available_threads();
  if (request.threads <= most) return;
  std::string text =
      format_message(diag_info(Diag::WThreads).format, {request.threads, most, most});
  request.threads = most;
  warn(text + " [W-THREADS]", common);
  warnings.push_back(std::move(text));
}

}  // namespace

std::optional<int> load(const Options& options, const LoadNeeds& needs, LoadedModel& out) {
  auto begin = std::chrono::steady_clock::now();
  NothingToKeep loading(options.common.json);
  out.request = request_of(options.model);
  out.request.masked = needs.masked;
  out.request.scores = needs.scores;
  out.request.trace = needs.trace;
  out.request.given = needs.given;
  if (auto known = driver::check_passes(out.request.passes); !known)
    return report_error(known.error(), options.common);
  std::vector<std::string> warnings;
  cap_threads(out.request, options.common, warnings);
  out.compiled = driver::open_model(out.request);
  // The workers of the model, where there will be one, start here.
  auto pool = std::make_unique<ThreadPool>(needs.weights ? out.request.threads : 1);
  std::optional<Result<text::Tokenizer>> tokenizer;
  if (!out.compiled.error)
    compile_and_tokenize(out, *pool, needs.tokenizer != Tokenizing::No, tokenizer);
  int status = report_compiled(out.compiled, options.common);
  if (status != 0) return status;
  for (const std::string& text : out.compiled.warnings) {
    warn(text, options.common);
    warnings.push_back(text);
  }
  out.compiled.notes.insert(out.compiled.notes.end(), warnings.begin(), warnings.end());
  if (tokenizer) {
    bool missing = !tokenizer->ok() && tokenizer->error().code == "TOK-MISSING";
    if (!tokenizer->ok() && !(missing && needs.tokenizer == Tokenizing::IfThere)) {
      return report_error(tokenizer->error(), options.common);
    }
    if (tokenizer->ok()) out.tokenizer = std::move(**tokenizer);
  }
  if (needs.weights) {
    watch_mapped_files(out.compiled.checkpoint->params.get());
    out.resident_bytes = resident_bytes();
    auto model = driver::load_model(out.compiled, out.request, std::move(pool));
    if (!model) return report_error(model.error(), options.common);
    out.model = std::move(*model);
  }
  if (interrupt_status() != 0)
    return report_error({"RUN-INTERRUPTED", "interrupted", {}, -1, {}}, options.common);
  out.load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {};
}

Result<void> check_ids(std::span<const int64_t> ids, int64_t end) {
  for (int64_t id : ids) {
    if (id >= 0 && id < end) continue;
    return Error{
        "USE-VALUE",
        "token " + std::to_string(id) + " is not one of the model's " + std::to_string(end),
        {},
        -1,
        {}};
  }
  return {};
}

Result<std::vector<int64_t>> parse_ids(const std::string& text, const char* option) {
  std::vector<int64_t> ids;
  for (std::string_view part : split(text, ',')) {
    auto id = parse_int(trim(part));
    if (!id || *id < 0) {
      return Error{
          "USE-VALUE",
          std::string("`") + option + "` takes token ids separated by commas, found `" + text + "`",
          {},
          -1,
          {}};
    }
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace axon::cli
