// The loop: feed the prompts, then choose and feed until every row has ended.
#include "runtime/gen/generate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

namespace axon::runtime {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool ends_with(const std::vector<int64_t>& ids, const std::vector<int64_t>& tail) {
  return !tail.empty() && ids.size() >= tail.size() &&
         std::equal(tail.begin(), tail.end(), ids.end() - static_cast<int64_t>(tail.size()));
}

struct Loop {
  Session& session;
  const GenerateOptions& options;
  OnToken on_token;
  const CancelFlag* cancel;
  int64_t room;  // tokens that a row may still get
  std::vector<RowResult> rows;
  std::vector<Sampler> samplers;
  std::vector<int64_t> next;

  Result<RunStatus> feed_prompts(const std::vector<std::vector<int64_t>>& prompts, int64_t longest);
  Result<RunStatus> feed_encoder(const std::vector<int64_t>& ids, int64_t count,
                                 const uint8_t* valid);
  Result<bool> choose();
  Result<void> choose_for(int64_t row);
  void cancel_rest();
};

// The encoder reads the prompts, and the decoder its first token.
Result<RunStatus> Loop::feed_encoder(const std::vector<int64_t>& ids, int64_t count,
                                     const uint8_t* valid) {
  AXON_TRY(const RunStatus status, session.feed_source(ids.data(), count, valid, cancel));
  if (status == RunStatus::Cancelled) return status;
  for (Sampler& sampler : samplers) sampler.prompt(&options.start_id, 1);
  const std::vector<int64_t> first(samplers.size(), options.start_id);
  return session.feed(first.data(), 1, nullptr, cancel);
}

Result<RunStatus> Loop::feed_prompts(const std::vector<std::vector<int64_t>>& prompts,
                                     int64_t longest) {
  std::vector<int64_t> ids(prompts.size() * static_cast<size_t>(longest), options.pad_id);
  std::vector<uint8_t> valid(ids.size(), 0);
  bool padded = false;
  for (size_t row = 0; row < prompts.size(); ++row) {
    const auto count = static_cast<int64_t>(prompts[row].size());
    const int64_t at =
        static_cast<int64_t>(row) * longest + (options.pad_right ? 0 : longest - count);
    std::copy(prompts[row].begin(), prompts[row].end(), ids.begin() + at);
    std::fill_n(valid.begin() + at, count, 1);
    padded = padded || count != longest;
    if (!session.encodes()) samplers[row].prompt(prompts[row].data(), count);
  }
  if (session.encodes()) return feed_encoder(ids, longest, padded ? valid.data() : nullptr);
  return session.feed(ids.data(), longest, padded ? valid.data() : nullptr, cancel);
}

Result<void> Loop::choose_for(int64_t row) {
  RowResult& result = rows[static_cast<size_t>(row)];
  next[static_cast<size_t>(row)] = options.pad_id;
  if (result.finish != Finish::Running) return {};
  AXON_TRY_VOID(check_scores(session.logits(row), session.vocabulary()));
  const Choice choice = samplers[static_cast<size_t>(row)].choose(session.logits(row));
  if (std::find(options.eos.begin(), options.eos.end(), choice.id) != options.eos.end()) {
    result.finish = Finish::Eos;
    return {};
  }
  next[static_cast<size_t>(row)] = choice.id;
  result.ids.push_back(choice.id);
  if (options.sampling.logprobs >= 0) result.logprobs.push_back(choice.logprob);
  const auto index = static_cast<int64_t>(result.ids.size()) - 1;
  const bool go_on = on_token({row, index, choice});
  const bool stopped = std::any_of(options.stop.begin(), options.stop.end(),
                                   [&](const auto& tail) { return ends_with(result.ids, tail); });
  if (!go_on || stopped) {
    result.finish = Finish::Stop;
  } else if (static_cast<int64_t>(result.ids.size()) >= room) {
    result.finish = Finish::Length;
  }
  return {};
}

// False when no row runs any more.
Result<bool> Loop::choose() {
  for (int64_t row = 0; row < session.rows(); ++row) AXON_TRY_VOID(choose_for(row));
  return std::any_of(rows.begin(), rows.end(),
                     [](const RowResult& r) { return r.finish == Finish::Running; });
}

void Loop::cancel_rest() {
  for (RowResult& row : rows) {
    if (row.finish == Finish::Running) row.finish = Finish::Cancelled;
  }
}

}  // namespace

Result<void> check_scores(const float* logits, int64_t count) {
  bool ordered = true, any = false;
  for (int64_t i = 0; i < count; ++i) {
    ordered &= logits[i] < INFINITY;  // false for NaN too
    any |= logits[i] > -INFINITY;
  }
  if (ordered && any) return {};
  const auto* bad = std::find_if(logits, logits + count,
                                 [&](float v) { return !ordered ? !(v < INFINITY) : true; });
  return Error{"RUN-VALUE",
               "the logits are not finite: that of token " + std::to_string(bad - logits) + " is " +
                   (std::isnan(*bad) ? "NaN"
                    : *bad > 0       ? "infinite"
                                     : "minus infinity"),
               {},
               -1,
               "weights that are not finite do that, or numbers too large for the numeric preset; "
               "`--math exact` has the widest range"};
}

Result<std::vector<RowResult>> generate(Session& session,
                                        const std::vector<std::vector<int64_t>>& prompts,
                                        const GenerateOptions& options, OnToken on_token,
                                        const CancelFlag* cancel, GenerateTimes* times) {
  if (static_cast<int64_t>(prompts.size()) != session.rows()) {
    return Error{"USE-PROMPT", std::to_string(prompts.size()) + " prompts for a session of " +
                                   std::to_string(session.rows()) + " rows"};
  }
  int64_t longest = 0, total = 0;
  for (const auto& prompt : prompts) {
    if (prompt.empty()) return Error{"USE-PROMPT", "the prompt has no tokens"};
    longest = std::max(longest, static_cast<int64_t>(prompt.size()));
    total += static_cast<int64_t>(prompt.size());
    for (const int64_t id : prompt) {
      if (session.encodes() || (id >= 0 && id < session.vocabulary())) continue;
      return Error{"USE-PROMPT", "token " + std::to_string(id) + " is not one of the model's " +
                                     std::to_string(session.vocabulary())};
    }
  }
  // The last token chosen needs no position: it is not fed.
  if (session.encodes()) session.reset();
  const int64_t taken = session.encodes() ? 1 : longest;
  const int64_t left = session.capacity() - session.length() - taken + 1;
  if (left < 1) {
    return Error{"USE-CONTEXT", "the prompt of " + std::to_string(longest) +
                                    " tokens does not fit: " +
                                    std::to_string(session.capacity() - session.length()) + " of " +
                                    std::to_string(session.capacity()) + " positions are left"};
  }
  if (options.max_tokens < 1)
    return std::vector<RowResult>(prompts.size(), {{}, {}, Finish::Length});
  Loop loop{session, options, on_token, cancel, std::min(left, options.max_tokens), {}, {}, {}};
  loop.rows.resize(prompts.size());
  loop.next.resize(prompts.size());
  for (size_t row = 0; row < prompts.size(); ++row) {
    loop.samplers.emplace_back(options.sampling, session.vocabulary(), row);
    loop.rows[row].ids.reserve(static_cast<size_t>(loop.room));
    if (options.sampling.logprobs >= 0)
      loop.rows[row].logprobs.reserve(static_cast<size_t>(loop.room));
  }
  const double begin = seconds();
  AXON_TRY(RunStatus status, loop.feed_prompts(prompts, longest));
  const double middle = seconds();
  while (status == RunStatus::Done) {
    AXON_TRY(const bool more, loop.choose());
    if (!more) break;
    AXON_TRY(status, session.feed(loop.next.data(), 1, nullptr, cancel));
  }
  if (status == RunStatus::Cancelled) loop.cancel_rest();
  if (times != nullptr) {
    times->prompt_tokens = total;
    times->prompt_seconds = middle - begin;
    times->decode_seconds = seconds() - middle;
    for (const RowResult& row : loop.rows)
      times->generated_tokens += static_cast<int64_t>(row.ids.size());
  }
  return std::move(loop.rows);
}

}  // namespace axon::runtime
