// `axon zoo` and `axon explain`: what comes with the command.
#include <fmt/core.h>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"
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

int verb_explain(const Options& options) {
  const DiagInfo* info = find_diag(options.explain_code);
  if (!info) {
    std::vector<std::string> codes;
    for (size_t i = 0; i < diag_count(); ++i)
      codes.emplace_back(diag_info(static_cast<Diag>(i)).code);
    std::vector<std::string> near = closest(options.explain_code, codes, 1);
    Error error{"USE-CODE", "no diagnostic is called `" + options.explain_code + "`", {}, -1, {}};
    if (!near.empty()) error.hint = "did you mean `" + near[0] + "`?";
    return report_error(error, options.common);
  }
  put(fmt::format("{}: {}\nmessage: {}\nexit status: {}\n", info->code,
                  info->severity == Severity::Error ? "error" : "warning", info->format,
                  info->exit_status));
  return 0;
}

}  // namespace axon::cli
