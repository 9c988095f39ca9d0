// From a structured Graph to a portable Program: one phase for each shape of call (design.md 4.2).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "opt/specialise.h"
#include "runtime/core/program.h"
#include "source/diag.h"
#include "source/file_table.h"

namespace axon::plan {

struct PlanOptions {
  // Phases to make. `start` and `extend` exist for programs with a cache; `score` has none.
  // Programs without a cache have only `score`.
  bool start = true, extend = true, score = true;
  bool unmasked = true, masked = true;  // with every token real, and with a padding mask as input
  bool optimise = true;                 // folding and fusion
  bool trace = false;                   // further outputs: see plan/trace.h; nothing is fused
  bool classes = true;                  // equal rounds of loops are planned once
  // Programs that depend on data in ways that no straight line can say run on general instructions,
  // in one phase `call`. Never: they are PLAN-UNSUPPORTED. Always: every program does.
  enum class General : uint8_t { Never, Fallback, Always } general = General::Fallback;
  const FileTable* files = nullptr;  // for the places of instructions; may be null
  opt::ParamReads* reads = nullptr;  // gets what the phases read; may be null
  // The inputs of the one call that `score` is for, by name, with element types: the phase takes
  // these and no other optional ones. Empty: any call, see plan_phases.
  std::vector<std::pair<std::string, DType>> given;
};

// Nothing after an error, which is in `sink`.
std::optional<runtime::Program> plan(const graph::Graph& graph, TypeTable& types,
                                     const opt::Answers& answers, const PlanOptions& options,
                                     DiagSink& sink);

}  // namespace axon::plan
