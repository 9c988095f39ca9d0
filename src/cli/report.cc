// How errors and diagnostics reach the user.
#include "cli/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/signals.h"
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

int report_error(const Error& error, const CommonOptions& common) {
  if (common.json) put(error_json(error, 0) + "\n");
  std::string text = "axon: " + error.message;
  if (!error.file.empty() && error.message.find(error.file) == std::string::npos) {
    text += " (" + error.file + ")";
  }
  if (error.offset >= 0) text += ", at byte " + std::to_string(error.offset);
  text += " [" + error.code + "]\n";
  if (!error.hint.empty()) text += "  " + error.hint + "\n";
  note(text);
  if (error.code == "RUN-INTERRUPTED" && interrupt_status() != 0) return interrupt_status();
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

int report_session(const sema::Session& session, const CommonOptions& common) {
  int status = report_diagnostics(session.sink, session.files, common);
  if (status == 0 || !common.json) return status;
  for (const Diagnostic& d : session.sink.all()) {
    if (session.sink.severity(d) != Severity::Error) continue;
    Error error{std::string(diag_info(d.id).code), message_of(d), {}, -1, {}};
    int line = 0;
    if (d.span.valid()) {
      error.file = session.files.path(d.span.file);
      line = session.files.line_column(d.span.file, d.span.begin).line;
    }
    put(error_json(error, line) + "\n");
    break;
  }
  return status;
}

}  // namespace axon::cli
