// From the command line's model options to a loaded model, with errors reported.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "cli/options.h"
#include "driver/model.h"
#include "runtime/text/tokenizer.h"

namespace axon::cli {

driver::ModelRequest request_of(const ModelOptions& options);
// What the passes did: the dumps asked for, and with `-vv` a table.
void report_passes(const driver::PassReport& report, const CommonOptions& common);
// Reports what went wrong with a compilation; 0 when nothing did.
int report_compiled(const driver::Compiled& compiled, const CommonOptions& common);

struct LoadedModel {
  driver::ModelRequest request;
  driver::Compiled compiled;
  std::unique_ptr<runtime::Model> model;
  std::optional<text::Tokenizer> tokenizer;
  double load_s = 0;
  int64_t resident_bytes = 0;  // before weights are packed
};
// What a verb needs of the model.
enum class Tokenizing : uint8_t { No, IfThere, Yes };
struct LoadNeeds {
  Tokenizing tokenizer = Tokenizing::Yes;
  bool weights = true;
  bool masked = true;
  bool scores = false;
  bool trace = false;
  std::vector<std::pair<std::string, DType>> given;  // element types of inputs
};
Result<text::Tokenizer> make_tokenizer(const formats::Checkpoint& checkpoint);
// Fills `out`; returns the exit status of a failure, which is reported.
std::optional<int> load(const Options& options, const LoadNeeds& needs, LoadedModel& out);
// Whether all ids are below `end`. Errors: USE-VALUE.
Result<void> check_ids(std::span<const int64_t> ids, int64_t end);
// Ids of `5,17,3`. Errors: USE-VALUE.
Result<std::vector<int64_t>> parse_ids(const std::string& text, const char* option);

}  // namespace axon::cli
