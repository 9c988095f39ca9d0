// JSON forms that scripts rely on; the only file of the command that includes the JSON library.
#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace axon::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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
  Json out = Json::object();
  if (!result.id_json.empty()) out["id"] = Json::parse(result.id_json, nullptr, false);
  out["prompt_ids"] = result.prompt_ids;
  out["ids"] = result.ids;
  out["text"] = result.text;
  out["finish_reason"] = result.finish_reason;
  if (!result.stop_string.empty()) out["stop_string"] = result.stop_string;
  if (logprobs) {
    out["logprobs"] = Json::array();
    for (const TokenReport& token : result.tokens)
      out["logprobs"].push_back(token_value(token, true));
  }
  return out;
}

Result<std::vector<text::ChatMessage>> messages_of(const Json& list) {
  std::vector<text::ChatMessage> out;
  Error wrong{"FILE-JSON", "not a list of messages with a `role`", {}, -1, {}};
  if (!list.is_array()) return wrong;
  for (const Json& m : list) {
    if (!m.is_object() || !m.contains("role") || !m["role"].is_string()) return wrong;
    text::ChatMessage message{m["role"].get<std::string>(), {}, {}};
    const bool plain = m.size() == 2 && m.contains("content") && m["content"].is_string();
    if (plain) message.content = m["content"].get<std::string>();
    if (!plain || m.begin().key() != "role") message.json = dump(m);
    out.push_back(std::move(message));
  }
  return out;
}

}  // namespace

std::string error_json(const Error& error, int line) {
  Json inner{{"code", error.code}, {"message", error.message}};
  if (!error.file.empty()) inner["file"] = error.file;
  if (line > 0) inner["line"] = line;
  if (error.offset >= 0) inner["offset"] = error.offset;
  if (!error.hint.empty()) inner["hint"] = error.hint;
  return dump(Json{{"schema", 1}, {"error", inner}});
}

std::string fmt_json(const std::vector<std::string>& changed) {
  return dump(Json{{"schema", 1}, {"changed", changed}});
}

std::string explanation_json(const Explanation& e) {
  return dump(Json{{"schema", 1},
                   {"code", e.code},
                   {"severity", e.severity},
                   {"exit_status", e.exit_status},
                   {"text", e.text}});
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
    list.push_back({{"name", program.name},
                    {"task", program.task},
                    {"architectures", entries},
                    {"checkpoints", program.checkpoints}});
  }
  return dump(Json{{"schema", 1}, {"programs", list}});
}

std::string ids_json(const std::vector<int64_t>& ids, const std::string& text) {
  return dump(Json{{"schema", 1}, {"ids", ids}, {"text", text}});
}

std::string run_json(const RunReport& r) {
  Json out{{"schema", 1},
           {"model", r.model},
           {"program", r.program},
           {"numeric_policy", r.numeric_policy},
           {"seed", r.seed}};
  out["results"] = Json::array();
  for (const RunResult& result : r.results)
    out["results"].push_back(result_value(result, r.logprobs));
  out["usage"] = {{"prompt_tokens", r.prompt_tokens},
                  {"cached_tokens", r.cached_tokens},
                  {"new_tokens", r.new_tokens}};
  out["timings"] = {{"load_s", r.load_s},
                    {"prefill_s", r.prefill_s},
                    {"first_token_s", r.first_token_s},
                    {"decode_s", r.decode_s},
                    {"prefill_tokens_per_s", r.prefill_tokens_per_s},
                    {"decode_tokens_per_s", r.decode_tokens_per_s}};
  out["warnings"] = r.warnings;
  return dump(out);
}

std::string token_json(size_t index, const TokenReport& token, bool logprobs) {
  Json out{{"index", index}};
  out.update(token_value(token, logprobs));
  return dump(out);
}

std::string result_json(const RunResult& result, bool logprobs) {
  return dump(result_value(result, logprobs));
}

Result<BatchPrompt> batch_prompt(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_string()) return BatchPrompt{json.get<std::string>(), {}};
  if (json.is_object() && json.contains("prompt") && json["prompt"].is_string()) {
    return BatchPrompt{json["prompt"].get<std::string>(),
                       json.contains("id") ? dump(json["id"]) : std::string()};
  }
  return Error{"FILE-JSON", "not an object with a text `prompt`", {}, -1, {}};
}

std::string conversation_json(const std::vector<text::ChatMessage>& messages) {
  Json out = Json::array();
  for (const text::ChatMessage& m : messages) {
    out.push_back(m.json.empty() ? Json{{"role", m.role}, {"content", m.content}}
                                 : Json::parse(m.json, nullptr, false));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<text::ChatMessage>> read_conversation(const std::string& text) {
  return messages_of(Json::parse(text, nullptr, false));
}

Result<text::ChatTemplateInput> read_chat(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_array()) json = Json{{"messages", json}};
  Error wrong{"FILE-JSON", "neither a list of messages nor an object with `messages`", {}, -1, {}};
  if (!json.is_object() || !json.contains("messages")) return wrong;
  text::ChatTemplateInput out;
  AXON_TRY(out.messages, messages_of(json["messages"]));
  Json further = Json::object();
  for (const auto& [key, value] : json.items()) {
    const bool is_list = key == "tools" || key == "documents";
    const bool is_flag = key == "add_generation_prompt" || key == "continue_final_message";
    if (key == "messages" || (is_list && value.is_null())) continue;
    if ((is_list && !value.is_array()) || (is_flag && !value.is_boolean())) {
      wrong.message = "`" + key + "` is not a " + (is_list ? "list" : "truth value");
      return wrong;
    }
    if (key == "tools") out.tools_json = dump(value);
    if (key == "documents") out.documents_json = dump(value);
    if (key == "add_generation_prompt") out.add_generation_prompt = value.get<bool>();
    if (key == "continue_final_message") out.continue_final_message = value.get<bool>();
    if (!is_list && !is_flag) further[key] = value;
  }
  if (!further.empty()) out.extra_json = dump(further);
  return out;
}

std::string inspect_json(const InspectReport& r) {
  Json tensors = Json::array();
  for (const TensorRow& t : r.tensors)
    tensors.push_back({{"name", t.name}, {"dtype", t.storage}, {"shape", t.shape}});
  Json config = Json::parse(r.config, nullptr, false);
  return dump(Json{{"schema", 1},
                   {"model", r.model},
                   {"kind", r.kind},
                   {"architectures", r.architectures},
                   {"program", r.program},
                   {"task", r.task},
                   {"tokenizer", r.tokenizer},
                   {"chat_template", r.chat_template},
                   {"eos_ids", r.eos_ids},
                   {"parameters", r.parameters},
                   {"bytes", r.bytes},
                   {"config", config.is_discarded() ? Json() : config},
                   {"tensors", tensors},
                   {"notes", r.notes}});
}

std::string check_json(const driver::CheckReport& r, const std::string& path) {
  Json read = Json::object(), tied = Json::object();
  for (const auto& [key, value] : r.config_read) {
    Json parsed = Json::parse(value, nullptr, false);
    read[key] = parsed.is_discarded() ? Json(value) : parsed;
  }
  for (const auto& [name, count] : r.tied) tied[name] = count;
  std::string message = std::to_string(r.read.size()) + " tensors read, " +
                        std::to_string(r.missing.size()) + " missing, " +
                        std::to_string(r.misfit.size()) + " misfit, " +
                        std::to_string(r.extra.size()) + " extra";
  return dump(Json{{"code", "CHECK-REPORT"},
                   {"severity", "note"},
                   {"message", message},
                   {"file", path},
                   {"line", nullptr},
                   {"column", nullptr},
                   {"end_line", nullptr},
                   {"end_column", nullptr},
                   {"notes", Json::array()},
                   {"config",
                    {{"read", read},
                     {"defaulted", r.config_defaulted},
                     {"missing", r.config_missing},
                     {"ignored", r.config_ignored}}},
                   {"tensors",
                    {{"complete", r.complete},
                     {"read", r.read},
                     {"missing", r.missing},
                     {"misfit", r.misfit},
                     {"tied", tied},
                     {"extra", r.extra}}}});
}

std::string list_json(const std::vector<FoundModel>& models) {
  Json out = Json::array();
  for (const FoundModel& m : models) {
    out.push_back({{"path", m.path},
                   {"program", m.program},
                   {"architectures", m.architectures},
                   {"bytes", m.bytes}});
  }
  return dump(Json{{"schema", 1}, {"models", out}});
}

std::string embeddings_json(const std::vector<float>& values, const std::vector<int64_t>& shape) {
  Json rows = Json::array();
  size_t width = static_cast<size_t>(shape[1]);
  for (size_t at = 0; at < values.size(); at += width) {
    rows.push_back(std::vector<float>(values.begin() + static_cast<ptrdiff_t>(at),
                                      values.begin() + static_cast<ptrdiff_t>(at + width)));
  }
  return dump(Json{{"schema", 1}, {"shape", shape}, {"embeddings", rows}});
}

std::string safetensors_header(const std::vector<runtime::NamedTensor>& tensors) {
  Json out = Json::object();
  size_t at = 0;
  for (const runtime::NamedTensor& t : tensors) {
    const char* dtype = t.dtype == DType::F32    ? "F32"
                        : t.dtype == DType::I64  ? "I64"
                        : t.dtype == DType::Bool ? "BOOL"
                        : t.dtype == DType::I32  ? "I32"
                        : t.dtype == DType::F16  ? "F16"
                                                 : "BF16";
    out[t.name] = {
        {"dtype", dtype}, {"shape", t.shape}, {"data_offsets", {at, at + t.bytes.size()}}};
    at += t.bytes.size();
  }
  return dump(out);
}

std::string score_json(const ScoreReport& r) {
  return dump(Json{{"schema", 1},
                   {"model", r.model},
                   {"program", r.program},
                   {"numeric_policy", r.numeric_policy},
                   {"ids", r.ids},
                   {"logprobs", r.logprobs},
                   {"total", r.total},
                   {"perplexity", r.perplexity}});
}

namespace {

Json both(const Predicted& p) { return {{"predicted", p.predicted}, {"counted", p.counted}}; }

Json quality_json(const Quality& q) {
  Json out{{"positions", q.positions},   {"agree", q.agree},
           {"perplexity", q.perplexity}, {"exact_perplexity", q.exact_perplexity},
           {"divergence", q.divergence}, {"cases", Json::array()}};
  for (const QualityCase& c : q.cases)
    out["cases"].push_back({{"prompt", c.prompt}, {"prompt_ids", c.prompt_ids}, {"ids", c.ids}});
  return out;
}

}  // namespace

std::string bench_json(const BenchReport& r) {
  Json out{{"schema", 1}, {"machine", r.machine}, {"numeric_policy", r.numeric_policy}};
  out["rows"] = Json::array();
  for (const BenchRow& row : r.rows) {
    out["rows"].push_back(
        {{"test", row.test},
         {"tokens", row.tokens},
         {"depth", row.depth},
         {"batch", row.batch},
         {"threads", row.threads},
         {"tokens_per_s", {{"best", row.best}, {"median", row.median}, {"worst", row.worst}}}});
  }
  out["first_token_s"] = r.first_token_s;
  out["load_s"] = r.load_s;
  out["peak_rss_bytes"] = r.peak_rss.counted;
  if (r.peak_rss.predicted > 0) out["predicted_rss_bytes"] = r.peak_rss.predicted;
  out["weights_bytes"] = r.weights_bytes;
  out["general_instructions"] = r.general_instructions;
  Json compile = Json::object(), counts = Json::object();
  for (const CompileStage& stage : r.compile) {
    compile[stage.name] = stage.ms;
    counts[stage.name] = {{"nodes", stage.nodes}};
    if (stage.instructions) counts[stage.name]["instructions"] = *stage.instructions;
  }
  out["compile_ms"] = compile;
  out["compile_counts"] = counts;
  if (r.per_token) {
    const TokenCounts& token = *r.per_token;
    out["per_token"] = {{"barriers", both(token.barriers)},
                        {"weight_bytes", both(token.weight_bytes)},
                        {"state_bytes", both(token.state_bytes)},
                        {"flops", token.flops}};
  }
  if (r.roofline) {
    const Roofline& roof = *r.roofline;
    out["roofline"] = {{"bytes_per_s", roof.bytes_per_s},
                       {"flops_per_s", roof.flops_per_s},
                       {"int8_per_s", roof.int8_per_s},
                       {"bytes_per_token", roof.bytes_per_token},
                       {"flops_per_token", roof.flops_per_token}};
  }
  if (r.quality) out["quality"] = quality_json(*r.quality);
  return dump(out);
}

}  // namespace axon::cli
