// Generation: prompts of token ids in, token ids out, one callback per token.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/gen/sampler.h"
#include "runtime/gen/session.h"
#include "support/function_ref.h"

namespace axon::runtime {

// Whether a token can be chosen by these scores: none is NaN or infinite, but some may be minus
// infinity. Errors: RUN-VALUE.
Result<void> check_scores(const float* logits, int64_t count);

enum class Finish : uint8_t {
  Running,
  Eos,     // an end token was chosen; it is not among the result's ids
  Stop,    // a stop sequence of ids was completed, or the callback said so
  Length,  // max_tokens or the capacity is reached
  Cancelled,
};

struct GenerateOptions {
  SamplingOptions sampling;
  int64_t max_tokens = 20;
  std::vector<int64_t> eos;                // any of them ends a row
  std::vector<std::vector<int64_t>> stop;  // sequences of ids; the result keeps them
  bool pad_right = false;                  // batches are padded on the left otherwise
  int64_t pad_id = 0;
  int64_t start_id = 0;  // what the decoder begins with, where prompts are for an encoder
};

struct RowResult {
  std::vector<int64_t> ids;     // generated ones only
  std::vector<float> logprobs;  // with sampling.logprobs ≥ 0
  Finish finish = Finish::Running;
};

// Wall time and counts, for reports.
struct GenerateTimes {
  int64_t prompt_tokens = 0, generated_tokens = 0;
  double prompt_seconds = 0, decode_seconds = 0;
};

// Called for every token of a row that is kept, in order of rows within a step. False ends the row.
struct TokenEvent {
  int64_t row = 0;
  int64_t index = 0;  // among the row's generated tokens
  Choice choice;
};
using OnToken = function_ref<bool(const TokenEvent&)>;

// Continues the session, which must have a row per prompt, by the prompts and what follows them; a
// program with an encoder reads the prompts there and begins anew. An
// empty prompt, or one that leaves no room, is an error before anything runs (USE-PROMPT,
// USE-CONTEXT). Ended rows are fed pad_id. Prompts of different lengths need a program that takes
// padding. The last chosen token of each row is in the result and not yet in the session.
Result<std::vector<RowResult>> generate(Session& session,
                                        const std::vector<std::vector<int64_t>>& prompts,
                                        const GenerateOptions& options, OnToken on_token,
                                        const CancelFlag* cancel = nullptr,
                                        GenerateTimes* times = nullptr);

}  // namespace axon::runtime
