// Eight prompts, 64 greedy tokens each by the exact model, forced through the other.
#include "cli/bench_quality.h"

#include <algorithm>
#include <cmath>

#include "cli/generate.h"
#include "cli/signals.h"
#include "runtime/core/number.h"
#include "runtime/gen/session.h"

namespace axon::cli {
namespace {

constexpr int64_t kTokens = 64;
constexpr std::string_view kPrompts[] = {
    "The history of the city begins with a small harbour at the mouth of the river, where",
    "def fibonacci(n):\n    \"\"\"The n-th Fibonacci number.\"\"\"\n",
    "Water boils at a lower temperature on a mountain because",
    "Dear Ms Tanaka,\n\nthank you for your letter of 3 March. We are glad to",
    "Once upon a time there was a clockmaker who could not sleep. Every night",
    "The three most important things to know about compilers are:\n1.",
    "Zutaten für vier Personen: 500 g Mehl, ein Ei, etwas Salz und",
    "Q: What is the capital of France?\nA:",
};

struct Row {
  int64_t best = 0;
  double logsum = 0;
  const float* logits = nullptr;
};

Row read_row(const float* logits, int64_t vocabulary) {
  Row row;
  row.logits = logits;
  row.best = std::max_element(logits, logits + vocabulary) - logits;
  double sum = 0;
  for (int64_t v = 0; v < vocabulary; ++v)
    sum += std::exp(static_cast<double>(logits[v] - logits[row.best]));
  row.logsum = std::log(sum) + static_cast<double>(logits[row.best]);
  return row;
}

// Σ p (log p − log q)
double divergence(const Row& p, const Row& q, int64_t vocabulary) {
  double sum = 0;
  for (int64_t v = 0; v < vocabulary; ++v) {
    const double lp = static_cast<double>(p.logits[v]) - p.logsum;
    const double lq = static_cast<double>(q.logits[v]) - q.logsum;
    sum += std::exp(lp) * (lp - lq);
  }
  return sum;
}

struct Sums {
  double nll = 0, exact_nll = 0, divergence = 0;
};

Result<void> compare(runtime::Session& exact, runtime::Session& other, QualityCase& item,
                     Quality& quality, Sums& sums) {
  exact.reset();
  other.reset();
  const auto count = static_cast<int64_t>(item.prompt_ids.size());
  AXON_TRY_VOID(exact.feed(item.prompt_ids.data(), count, nullptr, interrupt_flag()));
  AXON_TRY_VOID(other.feed(item.prompt_ids.data(), count, nullptr, interrupt_flag()));
  const int64_t vocabulary = exact.vocabulary();
  for (int64_t t = 0; t < kTokens; ++t) {
    const Row p = read_row(exact.logits(0), vocabulary);
    const Row q = read_row(other.logits(0), vocabulary);
    quality.agree += p.best == q.best ? 1 : 0;
    sums.exact_nll += p.logsum - static_cast<double>(p.logits[p.best]);
    sums.nll += q.logsum - static_cast<double>(q.logits[p.best]);
    sums.divergence += divergence(p, q, vocabulary);
    ++quality.positions;
    const int64_t next = p.best;
    item.ids.push_back(next);
    AXON_TRY_VOID(exact.feed(&next, 1, nullptr, interrupt_flag()));
    AXON_TRY_VOID(other.feed(&next, 1, nullptr, interrupt_flag()));
    if (interrupt_status() != 0) return Error{"RUN-INTERRUPTED", "interrupted", {}, -1, {}};
  }
  return {};
}

}  // namespace

Result<Quality> measure_quality(LoadedModel& loaded, const Options& options) {
  driver::ModelRequest request = loaded.request;
  request.math = "exact";
  request.kv_dtype.clear();
  request.activations.clear();
  driver::Compiled compiled = driver::compile_model(request);
  if (!compiled.ok())
    return compiled.error ? *compiled.error : Error{"RUN-PROGRAM", "the program has errors"};
  AXON_TRY(auto exact, driver::load_model(compiled, request));
  Quality quality;
  Sums sums;
  for (std::string_view prompt : kPrompts) {
    QualityCase item;
    item.prompt = std::string(prompt);
    AXON_TRY(const std::vector<int32_t> ids, loaded.tokenizer->encode(prompt));
    item.prompt_ids.assign(ids.begin(), ids.end());
    const auto count = static_cast<int64_t>(ids.size());
    const runtime::SessionOptions size{1, count + kTokens, options.model.chunk};
    AXON_TRY(auto ours, runtime::Session::create(*exact, size));
    AXON_TRY(auto other, runtime::Session::create(*loaded.model, size));
    AXON_TRY_VOID(compare(*ours, *other, item, quality, sums));
    quality.cases.push_back(std::move(item));
  }
  const auto positions = static_cast<double>(quality.positions);
  quality.perplexity = std::exp(sums.nll / positions);
  quality.exact_perplexity = std::exp(sums.exact_nll / positions);
  quality.divergence = sums.divergence / positions;
  return quality;
}

}  // namespace axon::cli
