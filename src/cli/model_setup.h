// From the command line's model options to a loaded model, with errors reported.
#pragma once

#include <memory>
#include <optional>

#include "cli/options.h"
#include "driver/model.h"
#include "runtime/text/tokenizer.h"

namespace axon::cli {

driver::ModelRequest request_of(const ModelOptions& options);
// Reports what went wrong with a compilation; 0 when nothing did.
int report_compiled(const driver::Compiled& compiled, const CommonOptions& common);

struct LoadedModel {
  driver::ModelRequest request;
  driver::Compiled compiled;
  std::unique_ptr<runtime::Model> model;
  std::optional<text::Tokenizer> tokenizer;
  double load_s = 0;
};
// What a verb needs of the model.
struct LoadNeeds { bool tokenizer = true; bool weights = true; bool masked = true; bool scores = false; };
// Fills `out`; returns the exit status of a failure, which is reported.
std::optional<int> load(const Options& options, const LoadNeeds& needs, LoadedModel& out);
// Ids of `5,17,3`. Errors: USE-VALUE.
Result<std::vector<int64_t>> parse_ids(const std::string& text, const char* option);

}  // namespace axon::cli
