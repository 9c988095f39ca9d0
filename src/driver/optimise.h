// The structured passes between the front end and what reads the Graph.
#pragma once

#include <string>
#include <vector>

#include "driver/frontend.h"
#include "opt/passes.h"
#include "support/result.h"

namespace axon::driver {

struct PassRequest {
  bool optimise = true;
  opt::PassOptions options;
  std::string dump_after;  // a pass: the graph after each of its runs that changed something
};

// Sums over the rounds, one row a pass in the order of the list.
struct PassReport {
  struct Row {
    std::string_view name;
    int runs = 0;
    int64_t nodes_removed = 0;  // negative: added
    double ms = 0;
  };
  std::vector<Row> rows;
  size_t nodes_before = 0, nodes_after = 0;
  std::string dump;
  std::string show() const;  // a table for people
};

// Names that are no pass. Errors: USE-VALUE.
Result<void> check_passes(const PassRequest& request);
// Rewrites the front end's Graph; false after an error, which is in its sink.
bool run_structured_passes(Frontend& frontend, const sema::Answers& answers,
                           const PassRequest& request, PassReport& report);

}  // namespace axon::driver
