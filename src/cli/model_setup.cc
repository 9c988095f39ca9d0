// From the command line's model options to a loaded model.
#include "cli/model_setup.h"

#include <chrono>

#include "cli/output.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "runtime/formats/tokenizer_source.h"
#include "support/text.h"

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
  r.optimise = o.optimize != 0;
  return r;
}

int report_compiled(const driver::Compiled& compiled, const CommonOptions& common) {
  int status = 0;
  if (compiled.frontend.session) {
    const sema::Session& session = *compiled.frontend.session;
    status = report_diagnostics(session.sink, session.files, common);
    if (status != 0 && common.json && !compiled.error) {
      const Diagnostic* first = nullptr;
      for (const Diagnostic& d : session.sink.all()) {
        if (!first && session.sink.severity(d) == Severity::Error) first = &d;
      }
      if (first) {
        Error error{std::string(diag_info(first->id).code), message_of(*first), {}, -1, {}};
        if (first->span.valid()) error.file = session.files.path(first->span.file);
        put_error_json(error);
      }
    }
  }
  if (compiled.error) return report_error(*compiled.error, common);
  if (!common.quiet && common.verbose > 0) {
    for (const std::string& text : compiled.notes) note("axon: note: " + text + "\n");
  }
  return status;
}

std::optional<int> load(const Options& options, const LoadNeeds& needs, LoadedModel& out) {
  auto begin = std::chrono::steady_clock::now();
  out.request = request_of(options.model);
  out.request.masked = needs.masked;
  out.request.scores = needs.scores;
  out.compiled = driver::compile_model(out.request);
  int status = report_compiled(out.compiled, options.common);
  if (status != 0) return status;
  if (needs.tokenizer) {
    auto spec = formats::load_tokenizer(*out.compiled.checkpoint);
    if (!spec) return report_error(spec.error(), options.common);
    auto tokenizer = text::Tokenizer::create(std::move(*spec));
    if (!tokenizer) return report_error(tokenizer.error(), options.common);
    out.tokenizer = std::move(*tokenizer);
  }
  if (needs.weights) {
    watch_mapped_files(out.compiled.checkpoint->params.get());
    auto model = driver::load_model(out.compiled, out.request);
    if (!model) return report_error(model.error(), options.common);
    out.model = std::move(*model);
  }
  out.load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {};
}

Result<std::vector<int64_t>> parse_ids(const std::string& text, const char* option) {
  std::vector<int64_t> ids;
  for (std::string_view part : split(text, ',')) {
    auto id = parse_int(trim(part));
    if (!id || *id < 0) {
      return Error{"USE-VALUE", std::string("`") + option + "` takes token ids separated by commas, found `" + text + "`", {}, -1, {}};
    }
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace axon::cli
