// `axon check` and `axon dump`: the compiler without running anything.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/json.h"
#include "cli/model_setup.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "driver/check.h"
#include "driver/target.h"
#include "graph/dot.h"
#include "runtime/core/program_text.h"
#include "source/render.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

constexpr std::string_view kStages =
    "stages: parse, resolve, materialize, normalize, elaborate, flatten, typecheck, optimize-ast, "
    "graph-ir, graph-ir-axon, final, plan";

Error no_stage(std::string_view option, const std::string& name) {
  return {"USE-VALUE",
          "`" + std::string(option) + " " + name + "` is no stage",
          {},
          -1,
          std::string(kStages)};
}

// `from` may be any stage that the front end can begin with, or empty.
std::optional<Error> check_from(const std::string& from) {
  if (from.empty()) return {};
  auto stage = driver::parse_stage(from);
  if (!stage) return no_stage("--from-stage", from);
  if (*stage == driver::Stage::Plan)
    return Error{"USE-VALUE", "nothing begins with a plan", {}, -1, {}};
  return {};
}

void put_diagnostics_json(const sema::Session& session) {
  for (const Diagnostic& d : session.sink.all()) {
    put(render_json(d, session.files, session.sink.severity(d)) + "\n");
  }
}

// What each stage made, and how long it took.
void note_stages(const driver::Frontend& frontend) {
  for (const driver::StageTime& t : frontend.times)
    note(fmt::format("axon: {:<14} {:>8} nodes {:>10.2f} ms\n", driver::spelling(t.stage), t.nodes,
                     t.ms));
}

}  // namespace

int verb_check(const Options& options) {
  auto compiling = std::make_unique<NothingToKeep>(options.common.json);
  auto target = driver::find_target(request_of(options.model), options.check.target,
                                    options.check.checkpoint);
  if (!target) return report_error(target.error(), options.common);
  if (auto wrong = check_from(options.check.from_stage))
    return report_error(*wrong, options.common);
  target->request.from_stage = options.check.from_stage;
  target->request.strict = options.check.strict;
  driver::Frontend frontend = driver::compile_text(target->text, target->request,
                                                   answers_of(*target), driver::Stage::GraphIr);
  if (options.common.verbose > 0) note_stages(frontend);
  int status = 0;
  std::optional<driver::CheckReport> report;
  if (target->checkpoint)
    report = driver::check_checkpoint(frontend, *target->checkpoint, target->request);
  compiling.reset();
  if (report && !options.common.json && !options.common.quiet) put(driver::show(*report));
  frontend.session->sink.sort();
  if (options.common.json) {
    put_diagnostics_json(*frontend.session);
    for (const Diagnostic& d : frontend.session->sink.all()) {
      if (frontend.session->sink.severity(d) == Severity::Error)
        status = std::max(status, std::max(1, diag_info(d.id).exit_status));
    }
    if (report) put(check_json(*report, target->text.path) + "\n");
  } else {
    status = report_diagnostics(frontend.session->sink, frontend.session->files, options.common);
    bool known = !report || report->complete;
    if (status == 0 && !options.common.quiet) {
      note("axon: " + target->text.path + " checks" +
           (known ? "\n" : "; which tensors it reads is not known before it runs\n"));
    }
  }
  return status;
}

namespace {

// A text that is a plan is read and written; else the model is compiled.
int dump_plan(const Options& options, const driver::Target& target, std::string& text) {
  if (starts_with(target.text.text, "plan ")) {
    auto program = runtime::read_text(target.text.text);
    if (!program) return report_error(program.error(), options.common);
    text = runtime::write_text(*program);
    return 0;
  }
  if (!target.checkpoint) {
    return report_error(
        {"USE-OPTION", "`--stage plan` needs a checkpoint", {}, -1, "give one with --checkpoint"},
        options.common);
  }
  driver::ModelRequest request = target.request;
  request.model = options.dump.checkpoint.empty() ? options.dump.file : options.dump.checkpoint;
  driver::Compiled compiled = driver::compile_model(request);
  int status = report_compiled(compiled, options.common);
  if (compiled.program) text = runtime::write_text(*compiled.program);
  return status;
}

int dump_program(const Options& options, driver::Target& target, driver::Stage stage,
                 std::string& text) {
  driver::Stage stop = std::min(stage, driver::Stage::GraphIr);
  driver::Frontend frontend =
      driver::compile_text(target.text, target.request, answers_of(target), stop);
  int status = report_session(*frontend.session, options.common);
  if (status == 0 && !driver::has_stage(frontend, stage)) {
    return report_error({"USE-VALUE",
                         "`--stage " + options.dump.stage + "` is before the stage of the text",
                         {},
                         -1,
                         {}},
                        options.common);
  }
  if (status == 0 && stage == driver::Stage::Final) {
    target.request.passes.optimise = options.dump.optimize != 0;
    driver::PassReport passes;
    if (!driver::run_structured_passes(frontend, answers_of(target), target.request.passes, passes))
      status = report_session(*frontend.session, options.common);
    report_passes(passes, options.common);
  }
  if (status == 0) {
    text = options.dump.format == "dot" ? graph::write_dot(*frontend.graph, frontend.session->types)
                                        : driver::dump_stage(frontend, stage);
  }
  return status;
}

}  // namespace

int verb_dump(const Options& options) {
  auto stage = driver::parse_stage(options.dump.stage);
  if (!stage) return report_error(no_stage("--stage", options.dump.stage), options.common);
  if (auto wrong = check_from(options.dump.from_stage)) return report_error(*wrong, options.common);
  const bool is_graph = *stage == driver::Stage::GraphIr || *stage == driver::Stage::Final;
  if (options.dump.format != "text" && !is_graph) {
    return report_error({"USE-VALUE",
                         "`--format " + options.dump.format + "` is not there for this stage",
                         {},
                         -1,
                         "the stages graph-ir and final are graphs"},
                        options.common);
  }
  auto target =
      driver::find_target(request_of(options.model), options.dump.file, options.dump.checkpoint);
  if (!target) return report_error(target.error(), options.common);
  target->request.from_stage = options.dump.from_stage;
  if (auto known = driver::check_passes(target->request.passes); !known)
    return report_error(known.error(), options.common);
  std::string text;
  auto compiling = std::make_unique<NothingToKeep>(options.common.json);
  int status = *stage == driver::Stage::Plan ? dump_plan(options, *target, text)
                                             : dump_program(options, *target, *stage, text);
  compiling.reset();
  if (status != 0) return status;
  if (options.dump.output.empty()) {
    put(text);
    return 0;
  }
  auto written = write_file(options.dump.output, text);
  return written ? 0 : report_error(written.error(), options.common);
}

}  // namespace axon::cli
