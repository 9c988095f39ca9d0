// Opens a checkpoint, finds the program that fits, compiles it and binds it.
#include "driver/model.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "driver/check.h"
#include "driver/config_notes.h"
#include "plan/plan.h"
#include "runtime/gen/roles.h"
#include "support/file.h"
#include "support/instruction_count.h"
#include "support/text.h"

namespace axon::driver {
namespace {

std::vector<std::string> search_path() {
  const char* value = std::getenv("AXON_PATH");
  std::vector<std::string> out;
  if (!value) return out;
  const char* home = std::getenv("HOME");
  for (std::string_view part : split(value, ':')) {
    if (part.empty()) continue;
    std::string folder(part);
    if (folder[0] == '~' && home) folder = home + folder.substr(1);
    bool known = false;
    for (const std::string& other : out) known |= other == folder;
    if (!known) out.push_back(folder);
  }
  return out;
}

Error no_program(const std::vector<std::string>& architectures) {
  if (architectures.empty()) {
    return {"RUN-PROGRAM",
            "the configuration names no architecture",
            {},
            -1,
            "add `architectures`, or give a program with --program FILE.axon"};
  }
  std::string wanted = join(architectures, ", ");
  std::vector<std::string> known;
  for (const ZooProgram& program : zoo_programs()) {
    for (const ArchitectureEntry& entry : program.architectures)
      known.push_back(entry.architecture);
  }
  Error error{"RUN-PROGRAM", "no program fits architecture `" + wanted + "`", {}, -1, {}};
  std::vector<std::string> near = closest(architectures[0], known, 2);
  if (near.empty()) near = known;
  error.hint =
      "the closest are `" + join(near, "`, `") + "`; give a program with --program FILE.axon";
  return error;
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

std::string Numerics::show() const {
  std::string out = preset + " (activations " +
                    (int8_activations ? "int8 per block for block-quantised weights" : "f32");
  return out + ", stores " + (store == DType::F16 ? "f16" : "f32") + ")";
}

Numerics numerics_of(const ModelRequest& request) {
  Numerics out;
  out.preset = request.math;
  bool exact = request.math == "exact";
  out.store = exact ? DType::F32 : DType::F16;
  out.int8_activations = !exact;
  if (request.kv_dtype == "f32") out.store = DType::F32;
  if (request.kv_dtype == "f16") out.store = DType::F16;
  if (request.activations == "f32") out.int8_activations = false;
  if (request.activations == "int8") out.int8_activations = true;
  return out;
}

Result<ProgramText> find_program(const ModelRequest& request,
                                 const formats::Checkpoint* checkpoint) {
  ProgramText out;
  out.main = request.main;
  if (!request.program.empty()) {
    bool is_file = file_exists(request.program) && !is_directory(request.program);
    if (auto zoo = find_zoo_program(request.program); zoo && !is_file) {
      out.path = zoo->name + ".axon";
      out.text = std::string(zoo->text);
      out.name = zoo->name;
      out.task = zoo->task;
    } else {
      AXON_TRY(out.text, read_file(request.program));
      out.path = request.program;
      out.name = base_name(request.program);
      if (ends_with(out.name, ".axon")) out.name.resize(out.name.size() - 5);
    }
    if (checkpoint &&
        out.main.empty()) {  // a file may implement several architectures, each with its entry
      if (auto choice = choose_program(checkpoint->architectures);
          choice && choice->program.name == out.name) {
        out.main = choice->entry.main;
        if (!choice->entry.task.empty()) out.task = choice->entry.task;
      }
    }
    return out;
  }
  if (!checkpoint) return no_program({});
  auto choice = choose_program(checkpoint->architectures);
  if (!choice) return no_program(checkpoint->architectures);
  out.path = choice->program.name + ".axon";
  out.text = std::string(choice->program.text);
  out.name = choice->program.name;
  if (out.main.empty()) out.main = choice->entry.main;
  out.task = choice->entry.task.empty() ? choice->program.task : choice->entry.task;
  return out;
}

Frontend compile_text(const ProgramText& text, const ModelRequest& request,
                      const sema::Answers& answers, Stage stop_after) {
  FrontendOptions options;
  options.path = text.path;
  options.text = text.text;
  options.main = text.main;
  for (const std::string& overlay : request.overlays) {
    if (overlay != "base") options.overlays.push_back(overlay);
  }
  options.auto_overlay = request.overlays.empty();
  options.search_path = search_path();
  options.strict = request.strict;
  options.answers = answers;
  options.stop_after = stop_after;
  if (!request.from_stage.empty()) options.from_stage = parse_stage(request.from_stage);
  return run_frontend(options);
}

std::optional<runtime::Program> plan_model(Frontend& frontend,
                                           const formats::Checkpoint& checkpoint,
                                           const ModelRequest& request, opt::ParamReads* reads) {
  plan::PlanOptions options;
  options.optimise = request.passes.optimise;
  options.masked = request.masked;
  options.score = request.scores || request.trace;
  options.start = options.extend = !request.trace;
  options.trace = request.trace;
  options.files = &frontend.session->files;
  options.reads = reads;
  options.given = request.given;
  opt::Answers answers{&checkpoint.params->index(), &checkpoint.config};
  auto program = plan::plan(*frontend.graph, frontend.session->types, answers, options,
                            frontend.session->sink);
  point_at_program(*frontend.session);
  add_config_notes(frontend);
  frontend.session->sink.sort();
  return program;
}

Compiled compile_model(const ModelRequest& request) {
  Compiled out = open_model(request);
  if (!out.error) compile_opened(out, request);
  return out;
}

Compiled open_model(const ModelRequest& request) {
  Compiled out;
  formats::CheckpointOptions open;
  open.access = request.no_mmap ? formats::DataAccess::Read : formats::DataAccess::Map;
  auto checkpoint = formats::open_checkpoint(request.model, open);
  if (!checkpoint) {
    out.error = checkpoint.error();
    return out;
  }
  out.checkpoint = std::move(*checkpoint);
  return out;
}

void compile_opened(Compiled& out, const ModelRequest& request) {
  auto text = find_program(request, &*out.checkpoint);
  if (!text) {
    out.error = text.error();
    return;
  }
  out.program_name = text->name;
  out.task = text->task;
  const model::ParamIndex& params = out.checkpoint->params->index();
  sema::Answers answers{&out.checkpoint->config, &params};
  out.frontend = compile_text(*text, request, answers, Stage::GraphIr);
  if (!out.frontend.ok() || !out.frontend.graph) return;
  if (!out.frontend.overlay_note.empty()) out.notes.push_back(out.frontend.overlay_note);
  auto begin = std::chrono::steady_clock::now();
  InstructionCount count;
  if (!run_structured_passes(out.frontend, answers, request.passes, out.passes)) return;
  opt::ParamReads reads;
  out.program = plan_model(out.frontend, *out.checkpoint, request, &reads);
  if (out.program) {
    out.program->model = out.program_name;
    if (!out.task.empty()) out.program->task = out.task;
  }
  out.plan_ms = milliseconds_since(begin);
  out.plan_instructions = count.read();
  for (const std::string& text : out.checkpoint->warnings)
    out.warnings.push_back(text + " [FILE-CONFIG]");
  std::string unread = out.program ? unread_warning(reads, params) : std::string();
  if (!unread.empty()) out.warnings.push_back(unread + " [W-PARAM-EXTRA]");
}

std::vector<std::string> input_names(const Compiled& compiled) {
  std::vector<std::string> out;
  const graph::Graph& graph = *compiled.frontend.graph;
  const Interner& names = compiled.frontend.session->types.dims().names();
  for (graph::ValueId id : graph[graph.main].inputs)
    out.emplace_back(names.text(graph[graph.main].values[id].name));
  return out;
}

bool has_input(const Compiled& compiled, std::string_view tensor) {
  const std::vector<std::string> known = input_names(compiled);
  std::string_view name = runtime::main_name(tensor);
  return std::any_of(known.begin(), known.end(), [&](const std::string& input) {
    return input == tensor || input == name ||
           (runtime::is_mask_name(input) && runtime::is_mask_name(name));
  });
}

Result<std::unique_ptr<runtime::Model>> load_model(Compiled& compiled, const ModelRequest& request,
                                                   std::unique_ptr<ThreadPool> pool) {
  runtime::ModelOptions options;
  options.threads = request.threads;
  options.isa = request.isa;
  Numerics numerics = numerics_of(request);
  options.math.preset = runtime::parse_math(numerics.preset).value_or(runtime::Math::Exact);
  options.math.int8_activations = numerics.int8_activations;
  options.store = numerics.store;
  return runtime::Model::load(std::move(*compiled.program), *compiled.checkpoint->params, options,
                              std::move(pool));
}

}  // namespace axon::driver
