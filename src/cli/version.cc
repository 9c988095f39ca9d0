// Version text of the command.
#include "cli/version.h"

#include <fmt/core.h>

#include "runtime/kernels/isa.h"

#ifndef AXON_COMMIT
#define AXON_COMMIT "unknown"
#endif

namespace axon::cli {

std::string version_text() {
  return fmt::format("axon {} ({})\ninstruction set: {}\nlibraries: fmt {}.{}.{}", AXON_VERSION,
                     AXON_COMMIT, runtime::show_isa(runtime::machine_isa()), FMT_VERSION / 10000,
                     FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

std::string version_number() { return AXON_VERSION; }

}  // namespace axon::cli
