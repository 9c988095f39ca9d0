// What a verb of the compiler works on: a program, a checkpoint, or both.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "driver/model.h"

namespace axon::cli {

struct Target {
  driver::ModelRequest request;
  std::optional<formats::Checkpoint> checkpoint;
  driver::ProgramText text;
};

// A program file or zoo name, with or without a checkpoint, or a checkpoint alone.
Result<Target> find_target(const Options& options, const std::string& file,
                           const std::string& checkpoint);
sema::Answers answers_of(const Target& target);

}  // namespace axon::cli
