// A program and a checkpoint as the source of a framework's module.
#pragma once

#include <string>
#include <vector>

#include "driver/frontend.h"
#include "driver/model.h"

namespace axon::driver {

// The names that `--target` takes.
std::vector<std::string> emit_targets();
// Whether `--target` takes a text: a name, alone or as `NAME:FUSED,FUSED` with the fused operations
// that it is to use; `*` and `all` are all that it has. Errors: OPT-TARGET, OPT-INTRINSIC.
Result<void> check_target(const std::string& text);

struct EmitOptions {
  std::string target;   // that check_target() takes
  std::string command;  // that makes the file again
  std::string version;
  bool scan_layers = false;  // of a target that can keep loops when it compiles
};

// Needs a front end that got to the Graph with these answers. Errors: BACK-UNSUPPORTED,
// EMIT-CONFIG without a checkpoint's; what the program itself does wrong is in the session's sink.
Result<std::string> emit_source(Frontend& frontend, const ProgramText& text,
                                const sema::Answers& answers, const EmitOptions& options);

}  // namespace axon::driver
