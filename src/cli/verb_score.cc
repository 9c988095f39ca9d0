// `axon score`: log-likelihood of a text, token by token.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "runtime/gen/generate.h"

namespace axon::cli {
namespace {

// log softmax of one row at one id.
double log_probability(const float* logits, int64_t width, int64_t id) {
  double most = -INFINITY;
  for (int64_t i = 0; i < width; ++i) most = std::max(most, static_cast<double>(logits[i]));
  double total = 0;
  for (int64_t i = 0; i < width; ++i) total += std::exp(static_cast<double>(logits[i]) - most);
  return static_cast<double>(logits[id]) - most - std::log(total);
}

Result<std::vector<int64_t>> ids_to_score(const LoadedModel& loaded, const Options& all) {
  const ScoreOptions& options = all.score;
  NothingToKeep reading(all.common.json);
  if (!options.ids.empty()) return parse_ids(options.ids, "--prompt-ids");
  AXON_TRY(std::string text, read_given(options.file.empty() ? "-" : options.file));
  return text_ids(loaded, text, true);
}

// Windows of the context length; each token but a window's first is scored.
Result<void> score(LoadedModel& loaded, const Options& options, ScoreReport& report) {
  AXON_TRY(report.ids, ids_to_score(loaded, options));
  if (report.ids.size() < 2) {
    return Error{"USE-PROMPT",
                 "there are fewer than two tokens to score",
                 {},
                 -1,
                 "give text with -f, or pipe it in"};
  }
  int64_t limit = model_limit(*loaded.compiled.checkpoint), wanted = options.score.context;
  if (wanted < 0 || wanted == 1)
    return Error{"USE-VALUE",
                 fmt::format("`--ctx {}` leaves no token to score", wanted),
                 {},
                 -1,
                 "give 2 or more"};
  if (limit > 0 && wanted > limit) {
    return Error{"USE-CONTEXT",
                 fmt::format("`--ctx {}` is more than the model's {} positions", wanted, limit),
                 {},
                 -1,
                 {}};
  }
  if (wanted > 0) limit = wanted;
  int64_t total = static_cast<int64_t>(report.ids.size());
  int64_t window = limit > 0 ? std::min(limit, total) : total;
  AXON_TRY(auto session, runtime::Session::create(*loaded.model, {1, window, options.model.chunk}));
  AXON_TRY_VOID(check_ids(report.ids, session->vocabulary()));
  for (int64_t begin = 0; begin + 1 < total; begin += window) {
    int64_t count = std::min(window, total - begin);
    session->reset();
    Result<void> finite;
    auto each = [&](int64_t first, int64_t part, const runtime::View& view) {
      int64_t width = session->vocabulary();
      for (int64_t i = 0; i < part && begin + first + i + 1 < std::min(begin + count, total); ++i) {
        int64_t next = report.ids[static_cast<size_t>(begin + first + i + 1)];
        const float* row = reinterpret_cast<const float*>(view.data) + i * width;
        if (finite) finite = runtime::check_scores(row, width);
        report.logprobs.push_back(log_probability(row, width, next));
      }
    };
    AXON_TRY(runtime::RunStatus status,
             session->feed_all(report.ids.data() + begin, count, nullptr, each, interrupt_flag()));
    if (status == runtime::RunStatus::Cancelled)
      return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
    AXON_TRY_VOID(finite);
  }
  for (double p : report.logprobs) report.total += p;
  report.perplexity = std::exp(-report.total / static_cast<double>(report.logprobs.size()));
  return {};
}

}  // namespace

int verb_score(const Options& options) {
  LoadedModel loaded;
  if (auto status =
          load(options,
               {options.score.ids.empty() ? Tokenizing::Yes : Tokenizing::No, true, false, false},
               loaded))
    return *status;
  ScoreReport report;
  auto done = score(loaded, options, report);
  if (!done) return report_error(done.error(), options.common);
  report.model = options.model.model;
  report.program = loaded.compiled.program_name;
  report.numeric_policy = driver::numerics_of(loaded.request).show();
  if (options.common.json) {
    put(score_json(report) + "\n");
  } else {
    put(fmt::format("tokens {}  log-likelihood {:.6f}  per token {:.6f}  perplexity {:.4f}\n",
                    report.logprobs.size(), report.total,
                    report.total / static_cast<double>(report.logprobs.size()), report.perplexity));
  }
  return 0;
}

}  // namespace axon::cli
