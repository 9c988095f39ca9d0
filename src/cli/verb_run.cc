// `axon run`: generate text from a prompt, or from a file of prompts.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "runtime/text/stream_decoder.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// One prompt's generation: ids to text as they come, and the report of it.
class Printer {
 public:
  Printer(const LoadedModel& loaded, const RunOptions& run, const CommonOptions& common,
          RunResult& result)
      : loaded_(loaded), run_(run), common_(common), result_(result) {
    auto special = run.show_special ? text::ShowSpecial::Yes : text::ShowSpecial::No;
    if (loaded.tokenizer)
      decoder_.emplace(*loaded.tokenizer, text::StreamDecoder::Options{run.stop, special, 4096});
  }

  // False ends the generation: a stop string, or nobody reads any more.
  bool take(const runtime::Choice& choice) {
    if (first_ < 0) first_ = seconds_since(begin_);
    std::string_view piece =
        decoder_ ? decoder_->push(static_cast<int32_t>(choice.id)) : std::string_view();
    emit(piece);
    if (run_.jsonl || run_.logprobs > 0) report_token(choice, piece);
    ++count_;
    return !stopped() && !closed_;
  }

  void finish() {
    if (stopped()) {
      result_.stop_string = run_.stop[static_cast<size_t>(decoder_->stopped_by())];
    } else if (decoder_) {
      emit(decoder_->finish());
    }
  }
  void start() { begin_ = Clock::now(); }
  double first_token_s() const { return std::max(first_, 0.0); }
  bool closed() const { return closed_; }
  bool stopped() const { return decoder_ && decoder_->stopped_by() >= 0; }

 private:
  bool silent() const { return common_.json || run_.jsonl || !run_.batch_file.empty(); }

  void emit(std::string_view piece) {
    result_.text += piece;
    if (!silent() && !piece.empty() && !put(piece)) closed_ = true;
  }

  void report_token(const runtime::Choice& choice, std::string_view piece) {
    TokenReport token;
    token.id = choice.id;
    token.text = std::string(piece);
    token.logprob = choice.logprob;
    for (int32_t i = 0; i < choice.best_count; ++i) {
      int32_t id = static_cast<int32_t>(choice.best[i].id);
      std::string shown = loaded_.tokenizer
                              ? loaded_.tokenizer->decode(std::span(&id, 1), text::ShowSpecial::Yes)
                              : std::string();
      token.likeliest.push_back({id, std::move(shown), choice.best[i].logprob});
    }
    if (run_.jsonl && run_.batch_file.empty() &&
        !put(token_json(count_, token, run_.logprobs > 0) + "\n"))
      closed_ = true;
    if (run_.logprobs > 0) result_.tokens.push_back(std::move(token));
  }

  const LoadedModel& loaded_;
  const RunOptions& run_;
  const CommonOptions& common_;
  RunResult& result_;
  std::optional<text::StreamDecoder> decoder_;  // none where there is no tokenizer: ids only
  Clock::time_point begin_ = Clock::now();
  double first_ = -1;
  size_t count_ = 0;
  bool closed_ = false;
};

struct Run {
  const Options& options;
  LoadedModel loaded;
  RunReport report;
  runtime::GenerateOptions generate;
  bool closed = false;
};

Result<int64_t> capacity_of(const Run& run, int64_t prompt) {
  int64_t limit = model_limit(*run.loaded.compiled.checkpoint);
  int64_t wanted = prompt + std::min(run.options.run.max_new_tokens, INT64_MAX - prompt);
  int64_t capacity = run.options.run.context > 0 ? run.options.run.context
                     : limit > 0                 ? std::min(limit, wanted)
                                                 : wanted;
  if (run.options.run.context > 0 && limit > 0 && run.options.run.context > limit) {
    return Error{"USE-CONTEXT",
                 fmt::format("`--ctx {}` is more than the model's {} positions",
                             run.options.run.context, limit),
                 {},
                 -1,
                 {}};
  }
  if (prompt >= capacity) {
    return Error{
        "USE-CONTEXT",
        fmt::format("the prompt has {} tokens, the context {} positions", prompt, capacity),
        {},
        -1,
        limit > capacity ? fmt::format("the model allows `--ctx` up to {}", limit) : std::string()};
  }
  return capacity;
}

Result<void> run_one(Run& run, const Prompt& prompt, RunResult& result) {
  // An encoder reads the prompt; the decoder begins with one token.
  const auto source = static_cast<int64_t>(prompt.ids.size());
  const int64_t taken = run.loaded.model->encodes() ? 1 : source;
  AXON_TRY(int64_t capacity, capacity_of(run, taken));
  result.prompt_ids = prompt.ids;
  Printer printer(run.loaded, run.options.run, run.options.common, result);
  runtime::SessionOptions session_options{1, capacity, run.options.model.chunk, source};
  AXON_TRY(auto session, runtime::Session::create(*run.loaded.model, session_options));
  runtime::GenerateOptions generate = run.generate;
  generate.max_tokens = std::min(run.options.run.max_new_tokens, capacity - taken);
  if (run.options.run.echo && !run.options.common.json && !run.options.run.jsonl) put(prompt.text);
  runtime::GenerateTimes times;
  printer.start();
  auto on_token = [&](const runtime::TokenEvent& event) { return printer.take(event.choice); };
  AXON_TRY(auto rows,
           runtime::generate(*session, {prompt.ids}, generate, on_token, interrupt_flag(), &times));
  printer.finish();
  run.closed = printer.closed();
  result.ids = rows[0].ids;
  result.finish_reason = printer.stopped() ? "stop" : std::string(spelling(rows[0].finish));
  if (rows[0].finish == runtime::Finish::Stop && !printer.stopped())
    result.finish_reason = "interrupt";
  run.report.prompt_tokens += times.prompt_tokens;
  run.report.new_tokens += static_cast<int64_t>(result.ids.size());
  run.report.prefill_s += times.prompt_seconds;
  run.report.decode_s += times.decode_seconds;
  if (run.report.first_token_s == 0) run.report.first_token_s = printer.first_token_s();
  return {};
}

// --prompt-ids with several prompts: one batch, padded on the left, or on the right for an encoder.
Result<void> run_rows(Run& run) {
  std::vector<std::vector<int64_t>> prompts;
  size_t longest = 0;
  for (std::string_view part : split(run.options.run.prompt_ids, ';')) {
    AXON_TRY(auto ids, parse_ids(std::string(part), "--prompt-ids"));
    longest = std::max(longest, ids.size());
    prompts.push_back(std::move(ids));
  }
  const auto source = static_cast<int64_t>(longest);
  const int64_t taken = run.loaded.model->encodes() ? 1 : source;
  AXON_TRY(int64_t capacity, capacity_of(run, taken));
  const auto rows = static_cast<int64_t>(prompts.size());
  runtime::SessionOptions session_options{rows, capacity, run.options.model.chunk, source};
  AXON_TRY(auto session, runtime::Session::create(*run.loaded.model, session_options));
  run.generate.max_tokens = std::min(run.options.run.max_new_tokens, capacity - taken);
  run.generate.pad_right = run.loaded.model->encodes();
  std::vector<RunResult>& results = run.report.results;
  results.resize(prompts.size());
  std::vector<Printer> printers;
  printers.reserve(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    results[i].prompt_ids = prompts[i];
    printers.emplace_back(run.loaded, run.options.run, run.options.common, results[i]);
  }
  runtime::GenerateTimes times;
  auto on_token = [&](const runtime::TokenEvent& event) {
    return printers[static_cast<size_t>(event.row)].take(event.choice);
  };
  AXON_TRY(auto done,
           runtime::generate(*session, prompts, run.generate, on_token, interrupt_flag(), &times));
  for (size_t i = 0; i < done.size(); ++i) {
    printers[i].finish();
    results[i].ids = done[i].ids;
    results[i].finish_reason =
        printers[i].stopped() ? "stop" : std::string(spelling(done[i].finish));
  }
  run.report.prompt_tokens = times.prompt_tokens;
  run.report.new_tokens = times.generated_tokens;
  run.report.prefill_s = times.prompt_seconds;
  run.report.decode_s = times.decode_seconds;
  run.report.first_token_s = printers.front().first_token_s();
  return {};
}

bool is_batch_of_ids(const Options& options) {
  return options.run.prompt_ids.find(';') != std::string::npos;
}

void finish_report(Run& run) {
  RunReport& r = run.report;
  if (r.prefill_s > 0) r.prefill_tokens_per_s = static_cast<double>(r.prompt_tokens) / r.prefill_s;
  int64_t decoded = r.new_tokens - static_cast<int64_t>(r.results.size());
  if (r.decode_s > 0 && decoded > 0)
    r.decode_tokens_per_s = static_cast<double>(decoded) / r.decode_s;
}

void print_stats(const Run& run) {
  const RunReport& r = run.report;
  note(
      fmt::format("\naxon: {} prompt tokens in {:.3f} s ({:.1f}/s), {} new tokens ({:.1f}/s), "
                  "loaded in {:.3f} s, first token "
                  "after {:.3f} s\n",
                  r.prompt_tokens, r.prefill_s, r.prefill_tokens_per_s, r.new_tokens,
                  r.decode_tokens_per_s, r.load_s, r.first_token_s));
}

Result<void> run_line(Run& run, std::string_view line, RunResult& result) {
  AXON_TRY(BatchPrompt given, batch_prompt(std::string(line)));
  if (given.text.empty()) return Error{"USE-PROMPT", "the prompt is empty", {}, -1, {}};
  result.id_json = std::move(given.id_json);
  AXON_TRY(Prompt prompt, prompt_of_text(run.loaded, run.options.run, std::move(given.text)));
  return run_one(run, prompt, result);
}

// --batch: one JSON object a line with a `prompt`, results in the same order: a line each as soon
// as it is there, or in a file. With --json and no file they stand in the one object alone.
Result<void> run_batch(Run& run) {
  const RunOptions& options = run.options.run;
  AXON_TRY(std::string lines, read_given(options.batch_file));
  const bool to_file = !options.output.empty(),
             one_object = run.options.common.json && !options.jsonl && !to_file;
  std::string out;
  int64_t number = 0;
  for (std::string_view line : split(lines, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    RunResult result;
    if (auto done = run_line(run, line, result); !done) {
      Error error = done.error();
      error.message = fmt::format("`{}` line {}: {}", options.batch_file, number, error.message);
      return error;
    }
    std::string shown = result_json(result, options.logprobs > 0) + "\n";
    if (to_file)
      out += shown;
    else if (!one_object && !put(shown))
      run.closed = true;
    run.report.results.push_back(std::move(result));
    if (interrupt_status() != 0 || run.closed) break;
  }
  if (to_file) return write_file(options.output, out);
  return {};
}

Result<void> check_options(const Options& options) {
  if (options.run.max_new_tokens <= 0) {
    return Error{"USE-VALUE",
                 fmt::format("`-n {}` asks for no token", options.run.max_new_tokens),
                 {},
                 -1,
                 "give 1 or more"};
  }
  if (options.run.context < 0) return Error{"USE-VALUE", "`--ctx` is above 0", {}, -1, {}};
  if (!options.run.output.empty() && options.run.batch_file.empty()) {
    return Error{"USE-OPTION", "`-o` of `run` goes with `--batch`", {}, -1, {}};
  }
  int prompts = options.run.prompts + (options.run.prompt_file.empty() ? 0 : 1) +
                (options.run.prompt_ids.empty() ? 0 : 1) + (options.run.batch_file.empty() ? 0 : 1);
  if (prompts > 1) {
    return Error{"USE-OPTION",
                 "more than one prompt is given",
                 {},
                 -1,
                 "give one of PROMPT, -p, -f, --prompt-ids and --batch"};
  }
  for (const std::string& stop : options.run.stop) {
    if (stop.empty()) return Error{"USE-VALUE", "`--stop` is empty", {}, -1, {}};
  }
  bool as_json = options.common.json || options.run.jsonl || !options.run.batch_file.empty();
  if (options.run.logprobs > 0 && !as_json) {
    return Error{
        "USE-OPTION", "`--logprobs` goes with `--json`, `--jsonl` or `--batch`", {}, -1, {}};
  }
  if (is_batch_of_ids(options) && !options.common.json) {
    return Error{"USE-OPTION", "several prompts of `--prompt-ids` go with `--json`", {}, -1, {}};
  }
  return {};
}

Result<void> prepare(Run& run) {
  AXON_TRY(run.generate.sampling,
           sampling_of(run.options.sampling, *run.loaded.compiled.checkpoint, false));
  const formats::GenerationConfig& g = run.loaded.compiled.checkpoint->generation;
  run.generate.pad_id = g.pad_id.value_or(0);
  run.generate.start_id = g.decoder_start_id.value_or(run.generate.pad_id);
  run.generate.sampling.logprobs = run.options.run.logprobs > 0 ? run.options.run.logprobs : -1;
  if (!run.options.run.eos_ids.empty()) {
    AXON_TRY(run.generate.eos, parse_ids(run.options.run.eos_ids, "--eos-ids"));
  } else if (!run.options.run.ignore_eos) {
    run.generate.eos = run.loaded.compiled.checkpoint->generation.eos_ids;
  }
  RunReport& r = run.report;
  r.model = run.options.model.model;
  r.program = run.loaded.compiled.program_name;
  r.numeric_policy = driver::numerics_of(run.loaded.request).show();
  r.seed = run.generate.sampling.seed;
  r.load_s = run.loaded.load_s;
  r.logprobs = run.options.run.logprobs > 0;
  r.warnings = run.loaded.compiled.notes;
  return {};
}

}  // namespace

int verb_run(const Options& options) {
  Run run{options, {}, {}, {}, false};
  if (auto checked = check_options(options); !checked)
    return report_error(checked.error(), options.common);
  // Ids in and ids out need no tokenizer.
  bool ids_only = !options.run.prompt_ids.empty() && (options.common.json || options.run.jsonl);
  Tokenizing tokenizing = ids_only ? Tokenizing::IfThere : Tokenizing::Yes;
  const bool masked = is_batch_of_ids(options);
  if (auto status = load(options, {tokenizing, true, masked, false}, run.loaded)) return *status;
  auto done = [&]() -> Result<void> {
    AXON_TRY_VOID(prepare(run));
    if (is_batch_of_ids(options)) return run_rows(run);
    if (!options.run.batch_file.empty()) return run_batch(run);
    auto reading = std::make_unique<NothingToKeep>(options.common.json);
    AXON_TRY(Prompt prompt, run_prompt(run.loaded, options.run));
    reading.reset();
    run.report.results.emplace_back();
    return run_one(run, prompt, run.report.results.back());
  }();
  if (!done) return report_error(done.error(), options.common);
  finish_report(run);
  if (run.closed) return 0;
  if (options.common.json || options.run.jsonl) {
    put(run_json(run.report) + "\n");
  } else if (options.run.batch_file.empty()) {
    put("\n");
  }
  if (options.run.stats) print_stats(run);
  return interrupt_status();
}

}  // namespace axon::cli
