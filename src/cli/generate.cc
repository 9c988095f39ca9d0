// What `run`, `chat` and `bench` share of generation.
#include "cli/generate.h"

#include <ctime>

#include "cli/signals.h"

namespace axon::cli {

int64_t model_limit(const formats::Checkpoint& checkpoint) {
  // The names under which configurations keep it.
  for (const char* key :
       {"max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length",
        "seq_length", "n_ctx", "text_config.max_position_embeddings"}) {
    model::Lookup found = model::lookup(checkpoint.config, key);
    if (found.state == model::LookupState::Found &&
        found.value->kind == model::ConfigValue::Kind::Int) {
      return found.value->integer;
    }
  }
  return 0;
}

Result<runtime::SamplingOptions> sampling_of(const SamplingOptions& o,
                                             const formats::Checkpoint& checkpoint,
                                             bool from_model) {
  runtime::SamplingOptions out;
  const formats::GenerationConfig& g = checkpoint.generation;
  bool asked = o.temperature || o.top_k || o.top_p || o.min_p || o.seed_given;
  out.sample = asked || from_model;
  if (out.sample) {
    bool has_own = g.temperature || g.top_p || g.top_k || g.min_p;
    out.temperature =
        o.temperature.value_or(from_model ? g.temperature.value_or(has_own ? 1.0 : 0.7) : 1.0);
    out.top_k = o.top_k.value_or(from_model ? g.top_k.value_or(0) : 0);
    out.top_p = o.top_p.value_or(from_model ? g.top_p.value_or(has_own ? 1.0 : 0.9) : 1.0);
    out.min_p = o.min_p.value_or(from_model ? g.min_p.value_or(0.0) : 0.0);
  }
  out.repetition_penalty = o.repeat_penalty;
  if (from_model && o.repeat_penalty == 1.0)
    out.repetition_penalty = g.repetition_penalty.value_or(1.0);
  out.presence_penalty = o.presence_penalty;
  out.frequency_penalty = o.frequency_penalty;
  out.seed = o.seed_given ? o.seed : static_cast<uint64_t>(std::time(nullptr));
  auto bad = [](const char* what) { return Error{"USE-VALUE", what, {}, -1, {}}; };
  if (!(out.temperature >= 0)) return bad("`--temp` is 0 or more");
  if (out.top_k < 0) return bad("`--top-k` is 0 or more");
  if (!(out.top_p > 0 && out.top_p <= 1)) return bad("`--top-p` lies above 0 and at most at 1");
  if (!(out.min_p >= 0 && out.min_p <= 1)) return bad("`--min-p` lies between 0 and 1");
  if (!(out.repetition_penalty > 0)) return bad("`--repeat-penalty` is above 0");
  if (out.temperature == 0) out.sample = false;
  return out;
}

std::string_view spelling(runtime::Finish finish) {
  switch (finish) {
    case runtime::Finish::Running:
      return "length";
    case runtime::Finish::Eos:
      return "eos";
    case runtime::Finish::Stop:
      return "stop";
    case runtime::Finish::Length:
      return "length";
    case runtime::Finish::Cancelled:
      return "interrupt";
  }
  return {};
}

const CancelFlag* interrupt_flag() { return &g_interrupted; }

}  // namespace axon::cli
