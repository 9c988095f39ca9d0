// Calls the emitter of a target.
#include "driver/emit.h"

#include <algorithm>

#include "driver/config_notes.h"
#include "emit/jax/emit.h"
#include "emit/torch/emit.h"
#include "graph/text.h"
#include "support/text.h"

namespace axon::driver {
namespace {

// FNV-1a: the same for the same Graph on every machine.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

struct Fused {
  std::string_view name;
  bool opt::FusionSet::*member;
};
constexpr Fused kFused[] = {{"attention", &opt::FusionSet::attention},
                            {"rms_norm", &opt::FusionSet::rms_norm},
                            {"rope", &opt::FusionSet::rope}};

struct Target {
  std::string_view name;
  Result<std::string> (*emit)(const emit::EmitRequest&, TypeTable&, DiagSink&);
  bool scans;  // can keep loops over layers when it compiles
};
// Both have rows for all of kFused.
constexpr Target kTargets[] = {{"jax", emit::emit_jax, true}, {"torch", emit::emit_torch, false}};

struct Selection {
  const Target* target = nullptr;
  opt::FusionSet fusions;
};

Error no_such(Diag id, const std::vector<DiagArg>& args, const std::string& wanted,
              const std::vector<std::string>& known, std::string hint) {
  const DiagInfo& info = diag_info(id);
  std::vector<std::string> near = closest(wanted, known, 1);
  if (!near.empty()) hint = "did you mean `" + near[0] + "`?";
  return {std::string(info.code), format_message(info.format, args), {}, -1, std::move(hint)};
}

// `NAME`, `NAME:FUSED,FUSED`.
Result<Selection> select_target(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  Selection out;
  for (const Target& target : kTargets) {
    if (target.name == name) out.target = &target;
  }
  if (!out.target)
    return no_such(Diag::OptTarget, {name, join(emit_targets(), ", ")}, name, emit_targets(),
                   "see `axon compile --help`");
  out.fusions.linear = false;
  if (colon == text.size()) return out;
  std::vector<std::string> known;
  for (const Fused& fused : kFused) {
    known.emplace_back(fused.name);
    out.fusions.*fused.member = false;
  }
  for (std::string_view word : split(std::string_view(text).substr(colon + 1), ',')) {
    const std::string wanted(trim(word));
    bool found = false;
    for (const Fused& fused : kFused) {
      if (wanted != "*" && wanted != "all" && wanted != fused.name) continue;
      out.fusions.*fused.member = found = true;
    }
    if (!found && !wanted.empty())
      return no_such(Diag::OptIntrinsic, {name, wanted}, wanted, known,
                     "it has `" + join(known, "`, `") + "`");
  }
  return out;
}

}  // namespace

std::vector<std::string> emit_targets() {
  std::vector<std::string> out;
  for (const Target& target : kTargets) out.emplace_back(target.name);
  return out;
}

Result<void> check_target(const std::string& text) {
  AXON_TRY(Selection choice, select_target(text));
  (void)choice;
  return {};
}

Result<std::string> emit_source(Frontend& frontend, const ProgramText& text,
                                const sema::Answers& answers, const EmitOptions& options) {
  if (!answers.params)
    return Error{"EMIT-CONFIG",
                 "the shapes of parameters come from a checkpoint, and none is given",
                 {},
                 -1,
                 "give one with --checkpoint"};
  sema::Session& session = *frontend.session;
  emit::EmitRequest request;
  request.graph = &*frontend.graph;
  request.answers = {answers.params, answers.config};
  request.program = text.main.empty() ? text.name : text.main;
  request.command = options.command;
  request.version = options.version;
  request.task = text.task;
  request.hash = hash_of(graph::write_graph(*frontend.graph, session.types));
  request.files = &session.files;
  request.sink = &session.sink;
  request.scan_layers = options.scan_layers;
  AXON_TRY(Selection choice, select_target(options.target));
  request.fusions = choice.fusions;
  if (options.scan_layers && !choice.target->scans)
    return Error{
        "USE-VALUE",
        "`--scan-layers` is nothing that target `" + std::string(choice.target->name) + "` can do",
        {},
        -1,
        "leave it out"};
  Result<std::string> source = choice.target->emit(request, session.types, session.sink);
  point_at_program(session);
  add_config_notes(frontend);
  session.sink.sort();
  return source;
}

}  // namespace axon::driver
