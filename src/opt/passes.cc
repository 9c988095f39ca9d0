// The pass runner.
#include "opt/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "graph/verify.h"

namespace axon::opt {
namespace {

struct Pass {
  std::string_view name;
  bool (*run)(PassContext&);
};
constexpr Pass kPasses[] = {
#define AXON_PASS(ident, name, what) {name, pass_##ident},
#include "opt/passes.def"
};

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  return names;
}

size_t count_nodes(const graph::Graph& graph) {
  size_t n = 0;
  for (const graph::Module& module : graph.modules) n += module.order.size();
  return n;
}

std::optional<std::vector<PassRun>> run_passes(
    graph::Graph& graph, TypeTable& types, const Answers& answers, const PassOptions& options,
    DiagSink& sink, function_ref<void(const PassRun&, const graph::Graph&)> after) {
  PassContext context{graph, types, answers};
  std::vector<PassRun> runs;
  for (int round = 0; round < options.max_rounds; ++round) {
    bool changed = false;
    for (const Pass& pass : kPasses) {
      bool skipped =
          std::find(options.skip.begin(), options.skip.end(), pass.name) != options.skip.end();
      if (!skipped) {
        PassRun run{pass.name, round, count_nodes(graph), 0, 0};
        auto begin = std::chrono::steady_clock::now();
        bool here = pass.run(context);
        std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        run.ms = took.count();
        run.nodes_after = count_nodes(graph);
        runs.push_back(run);
        changed |= here;
        if (here && options.verify &&
            !graph::verify(graph, types, fmt::format("pass `{}`", pass.name), sink))
          return std::nullopt;
        if (here) after(run, graph);
      }
      if (pass.name == options.stop_after) return runs;
    }
    if (!changed) return runs;
  }
  sink.report(Diag::OptDiverge, {}, {options.max_rounds});
  return std::nullopt;
}

}  // namespace axon::opt
