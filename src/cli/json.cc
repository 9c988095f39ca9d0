// JSON forms that scripts rely on; the only file of the command that includes the JSON library.
#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace axon::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json token_value(const TokenReport& token, bool logprobs) {
  Json out{{"id", token.id}, {"text", token.text}};
  if (logprobs) {
    out["logprob"] = token.logprob;
    out["likeliest"] = Json::array();
    for (const TokenLogprob& t : token.likeliest) {
      out["likeliest"].push_back({{"id", t.id}, {"text", t.text}, {"logprob", t.logprob}});
    }
  }
  return out;
}

Json result_value(const RunResult& result, bool logprobs) {
  Json out{{"prompt_ids", result.prompt_ids}, {"ids", result.ids}, {"text", result.text},
           {"finish_reason", result.finish_reason}};
  if (!result.stop_string.empty()) out["stop_string"] = result.stop_string;
  if (logprobs) {
    out["logprobs"] = Json::array();
    for (const TokenReport& token : result.tokens) out["logprobs"].push_back(token_value(token, true));
  }
  return out;
}

}  // namespace

std::string error_json(const Error& error) {
  Json inner{{"code", error.code}, {"message", error.message}};
  if (!error.file.empty()) inner["file"] = error.file;
  if (error.offset >= 0) inner["offset"] = error.offset;
  if (!error.hint.empty()) inner["hint"] = error.hint;
  return dump(Json{{"schema", 1}, {"error", inner}});
}

std::string zoo_json(const std::vector<driver::ZooProgram>& programs) {
  Json list = Json::array();
  for (const driver::ZooProgram& program : programs) {
    Json entries = Json::array();
    for (const driver::ArchitectureEntry& entry : program.architectures) {
      Json item{{"architecture", entry.architecture}};
      if (!entry.main.empty()) item["main"] = entry.main;
      if (!entry.task.empty()) item["task"] = entry.task;
      entries.push_back(item);
    }
    list.push_back({{"name", program.name}, {"task", program.task}, {"architectures", entries},
                    {"checkpoints", program.checkpoints}});
  }
  return dump(Json{{"schema", 1}, {"programs", list}});
}

std::string ids_json(const std::vector<int64_t>& ids, const std::string& text) {
  return dump(Json{{"schema", 1}, {"ids", ids}, {"text", text}});
}

std::string run_json(const RunReport& r) {
  Json out{{"schema", 1}, {"model", r.model}, {"program", r.program}, {"numeric_policy", r.numeric_policy},
           {"seed", r.seed}};
  out["results"] = Json::array();
  for (const RunResult& result : r.results) out["results"].push_back(result_value(result, r.logprobs));
  out["usage"] = {{"prompt_tokens", r.prompt_tokens}, {"cached_tokens", r.cached_tokens}, {"new_tokens", r.new_tokens}};
  out["timings"] = {{"load_s", r.load_s}, {"prefill_s", r.prefill_s}, {"first_token_s", r.first_token_s},
                    {"decode_s", r.decode_s}, {"prefill_tokens_per_s", r.prefill_tokens_per_s},
                    {"decode_tokens_per_s", r.decode_tokens_per_s}};
  out["warnings"] = r.warnings;
  return dump(out);
}

std::string token_json(size_t index, const TokenReport& token, bool logprobs) {
  Json out{{"index", index}};
  out.update(token_value(token, logprobs));
  return dump(out);
}

std::string result_json(const RunResult& result, bool logprobs) { return dump(result_value(result, logprobs)); }

std::string score_json(const ScoreReport& r) {
  return dump(Json{{"schema", 1}, {"model", r.model}, {"program", r.program}, {"numeric_policy", r.numeric_policy},
                   {"ids", r.ids}, {"logprobs", r.logprobs}, {"total", r.total}, {"perplexity", r.perplexity}});
}

std::string bench_json(const BenchReport& r) {
  Json out{{"schema", 1}, {"machine", r.machine}, {"numeric_policy", r.numeric_policy}};
  out["rows"] = Json::array();
  for (const BenchRow& row : r.rows) {
    out["rows"].push_back({{"test", row.test}, {"tokens", row.tokens}, {"depth", row.depth}, {"batch", row.batch},
                           {"threads", row.threads},
                           {"tokens_per_s", {{"best", row.best}, {"median", row.median}, {"worst", row.worst}}}});
  }
  out["first_token_s"] = r.first_token_s;
  out["load_s"] = r.load_s;
  out["peak_rss_bytes"] = r.peak_rss_bytes;
  out["weights_bytes"] = r.weights_bytes;
  out["general_instructions"] = r.general_instructions;
  Json compile = Json::object();
  for (const auto& [stage, ms] : r.compile_ms) compile[stage] = ms;
  out["compile_ms"] = compile;
  return dump(out);
}

}  // namespace axon::cli
