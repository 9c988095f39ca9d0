// `axon zoo`: the programs that come with the command.
#include <fmt/core.h>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "driver/library.h"
#include "support/text.h"

namespace axon::cli {

int verb_zoo(const Options& options) {
  std::vector<driver::ZooProgram> programs = driver::zoo_programs();
  if (options.common.json) {
    put(zoo_json(programs) + "\n");
    return 0;
  }
  std::string text;
  for (const driver::ZooProgram& program : programs) {
    std::vector<std::string> names;
    for (const driver::ArchitectureEntry& entry : program.architectures)
      names.push_back(entry.architecture);
    text += fmt::format("{:<12} {:<12} {}\n", program.name, program.task, join(names, ", "));
  }
  put(text);
  return 0;
}

}  // namespace axon::cli
