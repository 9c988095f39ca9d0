// JSON forms that scripts rely on (design.md 7), built from plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/check.h"
#include "driver/library.h"
#include "runtime/gen/model.h"
#include "runtime/text/template.h"
#include "support/result.h"

namespace axon::cli {

// `line` is 0 where there is none.
std::string error_json(const Error& error, int line);
// Files that `fmt` changed, or with --check would change.
std::string fmt_json(const std::vector<std::string>& changed);
struct Explanation {
  std::string code, severity, text;
  int exit_status = 0;
};
std::string explanation_json(const Explanation& explanation);
std::string zoo_json(const std::vector<driver::ZooProgram>& programs);
std::string ids_json(const std::vector<int64_t>& ids, const std::string& text);

struct TokenLogprob {
  int64_t id = 0;
  std::string text;
  double logprob = 0;
};
struct TokenReport {
  int64_t id = 0;
  std::string text;                     // empty until a whole character is there
  std::vector<TokenLogprob> likeliest;  // with --logprobs
  double logprob = 0;
};
struct RunResult {
  std::string id_json;  // of a prompt of --batch that has one
  std::vector<int64_t> prompt_ids, ids;
  std::string text;
  std::string finish_reason;  // eos, length, stop, interrupt
  std::string stop_string;
  std::vector<TokenReport> tokens;  // kept with --logprobs
};
struct RunReport {
  std::string model, program, numeric_policy;
  uint64_t seed = 0;
  bool logprobs = false;
  std::vector<RunResult> results;
  int64_t prompt_tokens = 0, cached_tokens = 0, new_tokens = 0;
  double load_s = 0, prefill_s = 0, first_token_s = 0, decode_s = 0;
  double prefill_tokens_per_s = 0, decode_tokens_per_s = 0;
  std::vector<std::string> warnings;
};
std::string run_json(const RunReport& report);
// One line of --jsonl.
std::string token_json(size_t index, const TokenReport& token, bool logprobs);
std::string result_json(const RunResult& result, bool logprobs);

// A line of --batch: {"prompt": "…", "id": …} or a plain string. Errors: FILE-JSON.
struct BatchPrompt {
  std::string text;
  std::string id_json;  // as given, to be passed on; empty without
};
Result<BatchPrompt> batch_prompt(const std::string& line);

// A conversation as a JSON list of messages, and back. Errors: FILE-JSON.
std::string conversation_json(const std::vector<text::ChatMessage>& messages);
Result<std::vector<text::ChatMessage>> read_conversation(const std::string& text);
// What a template is given: a list of messages, or an object with `messages` and perhaps `tools`,
// `documents`, `add_generation_prompt`, `continue_final_message` and further variables.
Result<text::ChatTemplateInput> read_chat(const std::string& text);
std::string embeddings_json(const std::vector<float>& values, const std::vector<int64_t>& shape);
// The header of a safetensors file with these tensors one after the other.
std::string safetensors_header(const std::vector<runtime::NamedTensor>& tensors);

struct ScoreReport {
  std::string model, program, numeric_policy;
  std::vector<int64_t> ids;
  std::vector<double> logprobs;  // of ids[1…]
  double total = 0, perplexity = 0;
};
std::string score_json(const ScoreReport& report);

struct TensorRow {
  std::string name, storage;
  std::vector<int64_t> shape;
};
struct InspectReport {
  std::string model, kind, program, task, tokenizer, policy;
  std::vector<std::string> architectures, notes;
  std::string config;  // JSON text
  std::vector<TensorRow> tensors;
  int64_t parameters = 0, bytes = 0;
  std::vector<int64_t> eos_ids;
  bool chat_template = false;
};
std::string inspect_json(const InspectReport& report);

// The last line of `check --json` with a checkpoint: an object like those of diagnostics, with what
// was compared. `path` is the program's.
std::string check_json(const driver::CheckReport& report, const std::string& path);

struct FoundModel {
  std::string path, program, architectures;
  int64_t bytes = 0;
};
std::string list_json(const std::vector<FoundModel>& models);

struct BenchRow {
  std::string test;  // prefill, decode
  int64_t tokens = 0, depth = 0, batch = 1, threads = 1;
  double best = 0, median = 0, worst = 0;  // tokens per second
};
// One thing, as the plan says and as it was.
struct Predicted {
  int64_t predicted = 0, counted = 0;
};
// Of one token of a batch at some depth.
struct TokenCounts {
  Predicted barriers, weight_bytes, state_bytes;
  int64_t flops = 0;
};
struct CompileStage {
  std::string name;
  double ms = 0;
  int64_t nodes = 0;                    // made: of the AST, of the Graph; instructions of the plan
  std::optional<int64_t> instructions;  // run by the processor, where it counts them
};
// Against what the machine can do: tokens a second at most by memory and by arithmetic.
struct Roofline {
  double bytes_per_s = 0, flops_per_s = 0, int8_per_s = 0;
  double bytes_per_token = 0, flops_per_token = 0;
};
// What a numeric preset costs against `exact`, forced along the texts that `exact` writes.
struct QualityCase {
  std::string prompt;
  std::vector<int64_t> prompt_ids, ids;
};
struct Quality {
  int64_t positions = 0, agree = 0;
  double perplexity = 0, exact_perplexity = 0, divergence = 0;
  std::vector<QualityCase> cases;
};
struct BenchReport {
  std::string machine, numeric_policy;
  std::vector<BenchRow> rows;
  double first_token_s = 0, load_s = 0;
  int64_t weights_bytes = 0, general_instructions = 0;
  Predicted peak_rss;  // nothing predicted where nothing ran
  std::vector<CompileStage> compile;
  std::optional<TokenCounts> per_token;
  std::optional<Roofline> roofline;
  std::optional<Quality> quality;
};
std::string bench_json(const BenchReport& report);

}  // namespace axon::cli
