// Compares what a program reads with the headers of a checkpoint.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "driver/frontend.h"
#include "driver/model.h"
#include "runtime/formats/checkpoint.h"

namespace axon::driver {

struct CheckReport {
  // Configuration keys, dotted, in the order of the program; those that nothing asks for in the
  // order of the file.
  std::vector<std::pair<std::string, std::string>> config_read;  // with values as JSON
  std::vector<std::string> config_defaulted, config_missing, config_ignored;
  // Names of tensors. `missing` and `misfit` are as the program asks for them, the others as
  // stored; `tied` are read more than once in one call, with how often.
  std::vector<std::string> read, missing, misfit, extra;
  std::vector<std::pair<std::string, int>> tied;
  bool compared = false;  // the tensors; not when the program has errors of its own
  // False when the search ended early, at another error or because the program decides while it
  // runs: there may be more reads, and `extra` is empty.
  bool complete = false;
};

// Stored tensors that serve none of the reads, in the order of the checkpoint.
std::vector<std::string> unread_tensors(const opt::ParamReads& reads,
                                        const model::ParamIndex& params);
// The warning about those of them that are weights; empty when there is nothing to say.
std::string unread_warning(const opt::ParamReads& reads, const model::ParamIndex& params);

// Reports tensors that are missing or wrong to the front end's sink, at the reads that fail, and if
// strict those that nothing reads. Reads no tensor data.
CheckReport check_checkpoint(Frontend& frontend, const formats::Checkpoint& checkpoint,
                             const ModelRequest& request);
// The report for people.
std::string show(const CheckReport& report);

}  // namespace axon::driver
