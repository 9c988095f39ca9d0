// `axon fmt`: lays out program files.
#include <algorithm>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "source/render.h"
#include "support/file.h"
#include "syntax/format.h"

namespace axon::cli {
namespace {

struct Outcome {
  int status = 0;
  bool changed = false;
};

// Errors only: warnings are no matter of layout.
int report_errors(const DiagSink& sink, const FileTable& files, const CommonOptions& common) {
  int status = 0;
  for (const Diagnostic& d : sink.all()) {
    if (sink.severity(d) != Severity::Error) continue;
    status = std::max(status, diag_info(d.id).exit_status);
    if (common.json) put(render_json(d, files, Severity::Error) + "\n");
    if (!common.json) note(render_terminal(d, files, Severity::Error, use_color(common)));
  }
  return status;
}

Outcome format_one(const std::string& name, const Options& options) {
  bool piped = name == "-";
  Result<std::string> text = piped ? Result<std::string>(read_standard_input()) : read_file(name);
  if (!text) return {report_error(text.error(), options.common), false};
  FileTable files;
  DiagSink sink;
  FileId file = files.add(piped ? "<standard input>" : name, *text);
  std::optional<std::string> laid_out = syntax::format_file(file, files, sink);
  if (!laid_out) return {report_errors(sink, files, options.common), false};
  bool changed = *laid_out != *text;
  if (options.fmt.check) return {changed ? 1 : 0, changed};
  if (piped) {
    put(*laid_out);
  } else if (changed) {
    // What a link points to is laid out, the link stays.
    auto written = write_file(real_path(name), *laid_out);
    if (!written) return {report_error(written.error(), options.common), false};
  }
  return {0, changed};
}

}  // namespace

int verb_fmt(const Options& options) {
  int status = 0;
  std::vector<std::string> changed;
  for (const std::string& name : options.fmt.files) {
    Outcome outcome = format_one(name, options);
    status = std::max(status, outcome.status);
    if (!outcome.changed) continue;
    changed.push_back(name);
    if (options.fmt.check && !options.common.json) put(name + "\n");
  }
  bool piped =
      std::find(options.fmt.files.begin(), options.fmt.files.end(), "-") != options.fmt.files.end();
  // With `-` standard output holds the text.
  if (options.common.json && (options.fmt.check || !piped)) put(fmt_json(changed) + "\n");
  return status;
}

}  // namespace axon::cli
