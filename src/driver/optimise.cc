// Runs the structured pass list and sums up what it did.
#include "driver/optimise.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/text.h"
#include "support/text.h"

namespace axon::driver {

std::string PassReport::show() const {
  std::string out = fmt::format("{:<10} {:>5} {:>8} {:>9}\n", "pass", "runs", "nodes", "ms");
  for (const Row& row : rows)
    out += fmt::format("{:<10} {:>5} {:>+8} {:>9.3f}\n", row.name, row.runs, -row.nodes_removed,
                       row.ms);
  return out + fmt::format("nodes: {} before, {} after\n", nodes_before, nodes_after);
}

Result<void> check_passes(const PassRequest& request) {
  std::vector<std::string> wanted = request.options.skip;
  for (const std::string& name : {request.options.stop_after, request.dump_after}) {
    if (!name.empty()) wanted.push_back(name);
  }
  std::vector<std::string> known;
  for (std::string_view name : opt::pass_names()) known.emplace_back(name);
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Error{"USE-VALUE", "`" + name + "` is no pass", {}, -1, "passes: " + join(known, ", ")};
  }
  return {};
}

bool run_structured_passes(Frontend& frontend, const sema::Answers& answers,
                           const PassRequest& request, PassReport& report) {
  if (!request.optimise || !frontend.graph) return true;
  TypeTable& types = frontend.session->types;
  report.nodes_before = opt::count_nodes(*frontend.graph);
  auto after = [&](const opt::PassRun& run, const graph::Graph& graph) {
    if (run.name != request.dump_after) return;
    report.dump += fmt::format("-- after {} in round {}\n", run.name, run.round + 1);
    report.dump += graph::write_graph(graph, types, {&frontend.session->files});
  };
  opt::PassOptions options = request.options;
#ifndef NDEBUG
  options.verify = true;
#endif
  auto runs = opt::run_passes(*frontend.graph, types, {answers.params, answers.config}, options,
                              frontend.session->sink, after);
  if (!runs) return false;
  for (std::string_view name : opt::pass_names()) report.rows.push_back({name, 0, 0, 0});
  for (const opt::PassRun& run : *runs) {
    for (PassReport::Row& row : report.rows) {
      if (row.name != run.name) continue;
      ++row.runs;
      row.ms += run.ms;
      row.nodes_removed +=
          static_cast<int64_t>(run.nodes_before) - static_cast<int64_t>(run.nodes_after);
    }
  }
  report.nodes_after = opt::count_nodes(*frontend.graph);
  return true;
}

}  // namespace axon::driver
