// Counters of the executor and the pool around one token, beside what the plan says.
#include "cli/bench_counts.h"

#include <sys/resource.h>
#include <unistd.h>

#include "cli/generate.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {

Result<TokenCounts> count_token(runtime::Model& model, runtime::Session& session, int64_t rows) {
  const std::vector<int64_t> ids(static_cast<size_t>(rows), 0);
  AXON_TRY_VOID(session.feed(ids.data(), 1, nullptr, interrupt_flag()));
  const int index = session.last_phase();
  runtime::Executor& executor = model.executor(index);
  executor.count_costs(true);
  const uint32_t before = model.pool().barriers();
  AXON_TRY_VOID(session.feed(ids.data(), 1, nullptr, interrupt_flag()));
  TokenCounts out;
  out.barriers.counted = static_cast<int64_t>(model.pool().barriers() - before);
  for (const runtime::InstrCost& cost : executor.costs()) {
    out.weight_bytes.counted += static_cast<int64_t>(cost.weight_bytes);
    out.state_bytes.counted += static_cast<int64_t>(cost.state_bytes);
  }
  executor.count_costs(false);
  const runtime::BoundProgram& bound = model.weights().bound();
  const runtime::Phase& phase = model.program().phases[static_cast<size_t>(index)];
  AXON_TRY(const runtime::PhaseNeeds needs,
           runtime::needs_of(model.program(), phase, session.last_bindings(), bound.weight_bytes,
                             model.options().store));
  out.barriers.predicted = model.pool().threads() > 1 ? needs.barriers : 0;
  out.weight_bytes.predicted = needs.weight_bytes;
  out.state_bytes.predicted = needs.state_bytes;
  out.flops = needs.flops;
  return out;
}

int64_t resident_bytes() {
  const auto text = read_file("/proc/self/statm");
  if (!text) return 0;
  const auto fields = split(trim(*text), ' ');
  const auto pages = fields.size() > 1 ? parse_int(fields[1]) : std::nullopt;
  return pages ? *pages * static_cast<int64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

int64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace axon::cli
