// Calls the emitter of a target.
#include "driver/emit.h"

#include <algorithm>

#include "emit/jax/emit.h"
#include "emit/torch/emit.h"
#include "graph/text.h"
#include "support/check.h"

namespace axon::driver {
namespace {

// FNV-1a: the same for the same Graph on every machine.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037ull;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

struct Target {
  std::string_view name;
  Result<std::string> (*emit)(const emit::EmitRequest&, TypeTable&, DiagSink&);
  bool scans;  // can keep loops over layers when it compiles
};
constexpr Target kTargets[] = {{"jax", emit::emit_jax, true}, {"torch", emit::emit_torch, false}};

}  // namespace

std::vector<std::string> emit_targets() {
  std::vector<std::string> out;
  for (const Target& target : kTargets) out.emplace_back(target.name);
  return out;
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
  const Target* target = std::find_if(std::begin(kTargets), std::end(kTargets),
                                      [&](const Target& t) { return t.name == options.target; });
  AXON_CHECK(target != std::end(kTargets), "a target of emit_targets()");
  if (options.scan_layers && !target->scans)
    return Error{"USE-VALUE",
                 "`--scan-layers` is nothing that target `" + options.target + "` can do",
                 {},
                 -1,
                 "leave it out"};
  return target->emit(request, session.types, session.sink);
}

}  // namespace axon::driver
