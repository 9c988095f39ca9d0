// What the compiler works on: a program, a checkpoint, or both.
#pragma once

#include <optional>
#include <string>

#include "driver/model.h"

namespace axon::driver {

struct Target {
  ModelRequest request;
  std::optional<formats::Checkpoint> checkpoint;
  ProgramText text;
};

// A program file or zoo name, with or without a checkpoint, or a checkpoint alone.
Result<Target> find_target(ModelRequest request, const std::string& file,
                           const std::string& checkpoint);
sema::Answers answers_of(const Target& target);

}  // namespace axon::driver
