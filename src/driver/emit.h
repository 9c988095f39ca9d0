// A program and a checkpoint as the source of a framework's module.
#pragma once

#include <string>
#include <vector>

#include "driver/frontend.h"
#include "driver/model.h"

namespace axon::driver {

// The names that `--target` takes.
std::vector<std::string> emit_targets();

struct EmitOptions {
  std::string target;   // of emit_targets()
  std::string command;  // that makes the file again
  std::string version;
  bool scan_layers = false;  // of a target that can keep loops when it compiles
};

// Needs a front end that got to the Graph with these answers. Errors: BACK-UNSUPPORTED,
// EMIT-CONFIG without a checkpoint's; what the program itself does wrong is in the session's sink.
Result<std::string> emit_source(Frontend& frontend, const ProgramText& text,
                                const sema::Answers& answers, const EmitOptions& options);

}  // namespace axon::driver
