// How errors and diagnostics reach the user.
#include "cli/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/json.h"
#include "cli/output.h"
#include "source/render.h"

namespace axon::cli {

int status_of(std::string_view code) {
  const DiagInfo* info = find_diag(code);
  return info ? info->exit_status : 70;
}

bool use_color(const CommonOptions& common) {
  if (common.color == "always") return true;
  const char* no_color = std::getenv("NO_COLOR");
  return common.color == "auto" && (!no_color || !*no_color) && ::isatty(STDERR_FILENO);
}

void put_error_json(const Error& error) { put(error_json(error) + "\n"); }

int report_error(const Error& error, const CommonOptions& common) {
  if (common.json) put_error_json(error);
  std::string text = "axon: " + error.message;
  if (!error.file.empty() && error.message.find(error.file) == std::string::npos) {
    text += " (" + error.file + ")";
  }
  if (error.offset >= 0) text += ", at byte " + std::to_string(error.offset);
  text += " [" + error.code + "]\n";
  if (!error.hint.empty()) text += "  " + error.hint + "\n";
  note(text);
  return status_of(error.code);
}

int report_diagnostics(const DiagSink& sink, const FileTable& files, const CommonOptions& common) {
  int status = 0;
  for (const Diagnostic& diagnostic : sink.all()) {
    Severity severity = sink.severity(diagnostic);
    if (severity == Severity::Warning && common.quiet) continue;
    if (severity == Severity::Error) {
      status = std::max(status, std::max(1, diag_info(diagnostic.id).exit_status));
    }
    std::string text = render_terminal(diagnostic, files, severity, use_color(common));
    note(text);
  }
  return status;
}

}  // namespace axon::cli
