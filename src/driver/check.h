// Compares the parameters that a program reads with those of a checkpoint's header.
#pragma once

#include <string>

#include "driver/frontend.h"
#include "runtime/formats/checkpoint.h"

namespace axon::driver {

struct CheckReport {
  std::string
      text;  // for people: parameters read, tied, unused; config keys read, defaulted, ignored
  size_t read = 0, missing = 0, unused = 0, tied = 0;
};

// Reports missing and mis-shaped tensors to the front end's sink, at the read that fails.
CheckReport check_checkpoint(Frontend& frontend, const formats::Checkpoint& checkpoint);

}  // namespace axon::driver
