// `axon compile`: a program as the source of a framework's module.
#include <algorithm>
#include <cctype>

#include "cli/model_setup.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "driver/emit.h"
#include "driver/target.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

Error usage(std::string message, std::string hint) {
  return {"USE-VALUE", std::move(message), {}, -1, std::move(hint)};
}

// The last part of a path, as a shell takes it.
std::string word(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string name = base_name(path);
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("._-+=:,@").find(c) != std::string_view::npos;
  });
  if (plain && !name.empty()) return name;
  std::string out = "'";
  for (char c : name) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Names only, without folders, so that the same input gives the same bytes everywhere.
std::string command_of(const CompileOptions& options) {
  std::string out = "axon compile " + word(options.file);
  if (!options.checkpoint.empty()) out += " --checkpoint " + word(options.checkpoint);
  out += " --target " + options.target;
  if (options.scan_layers) out += " --scan-layers";
  return out + " -o " + word(options.output);
}

}  // namespace

int verb_compile(const Options& options) {
  const CompileOptions& compile = options.compile;
  if (auto known = driver::check_target(compile.target); !known)
    return report_error(known.error(), options.common);
  if (is_directory(compile.output))
    return report_error(usage("`" + compile.output + "` is a directory",
                              "name a file in it: -o " + path_join(compile.output, "model.py")),
                        options.common);
  if (file_exists(compile.output) && !compile.force)
    return report_error(
        usage("`" + compile.output + "` is there already", "write over it with --force"),
        options.common);
  if (auto known = driver::check_passes(request_of(options.model).passes); !known)
    return report_error(known.error(), options.common);
  auto target = driver::find_target(request_of(options.model), compile.file, compile.checkpoint);
  if (!target) return report_error(target.error(), options.common);
  driver::Frontend frontend = driver::compile_text(target->text, target->request,
                                                   answers_of(*target), driver::Stage::GraphIr);
  int status = report_session(*frontend.session, options.common);
  if (status != 0) return status;
  frontend.session->sink.clear();  // warnings, which have been shown
  driver::PassReport passes;
  bool passed =
      driver::run_structured_passes(frontend, answers_of(*target), target->request.passes, passes);
  report_passes(passes, options.common);
  if (!passed) return report_session(*frontend.session, options.common);
  driver::EmitOptions emit{compile.target, command_of(compile), version_number(),
                           compile.scan_layers};
  auto source = driver::emit_source(frontend, target->text, answers_of(*target), emit);
  status = report_session(*frontend.session, options.common);
  if (status != 0) return status;
  if (!source) return report_error(source.error(), options.common);
  auto written = write_file(compile.output, *source);
  return written ? 0 : report_error(written.error(), options.common);
}

}  // namespace axon::cli
