// Source text to Graph: the order of the front end's stages, and where to stop (design.md 2).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "sema/stages.h"

namespace axon::driver {

// Stages by their dump names (language.md 10.1).
enum class Stage : uint8_t {
  Parse,
  Resolve,
  Materialize,
  Normalize,
  Elaborate,
  Flatten,
  Typecheck,
  OptimizeAst,  // off unless asked for
  GraphIr,
  GraphIrAxon,
  Final,
  Plan
};
std::optional<Stage> parse_stage(std::string_view name);
std::string_view spelling(Stage stage);

struct FrontendOptions {
  std::string path;  // shown in messages; its folder is searched for imports
  std::string text;
  std::string main;  // empty: the program's own
  std::vector<std::string> overlays;
  bool auto_overlay = false;  // `static` where the program checks under it, else the base
  std::vector<std::string> search_path;
  bool strict = false;
  sema::Answers answers;                         // the checkpoint's, or null
  const sema::LibrarySource* library = nullptr;  // null: the built-in one
  Stage stop_after = Stage::GraphIr;
  bool later_errors = true;   // of stages behind the one that fails, as far as they are independent
  bool optimize_ast = false;  // clean the typed program before it is lowered
  // The stage that the text is of; nothing: what the text says of itself, else source.
  std::optional<Stage> from_stage;
};

// What one stage cost.
struct StageTime {
  Stage stage;
  double ms = 0;
  int64_t nodes = 0;                    // that it made: of the AST, of the Graph
  std::optional<int64_t> instructions;  // where the machine counts them
};

// What a run of the front end made. Stages after the first that reported an error are empty.
struct Frontend {
  std::unique_ptr<sema::Session> session;
  FileId root;
  std::optional<sema::LoadedModules> loaded;
  std::optional<sema::ClosedProgram> closed;
  std::optional<sema::Materialized> materialized;
  std::optional<sema::NormalizedProgram> normalized;
  std::optional<sema::ElaboratedProgram> elaborated;
  std::optional<sema::FlatProgram> flat;
  std::optional<sema::TypedProgram> typed;
  bool ast_optimized = false;  // `typed` has been cleaned
  std::optional<graph::Graph> graph;
  std::vector<std::string> overlays;  // as used
  std::string overlay_note;           // why the base library was taken, when `static` was tried
  std::vector<StageTime> times;
  bool ok() const { return !session->sink.has_errors(); }
};

Frontend run_frontend(const FrontendOptions& options);
// Whether the run came as far as `stage`; a text of a later stage has no earlier ones.
bool has_stage(const Frontend& frontend, Stage stage);
// Errors that the planner found inside the library are shown where the program calls it.
void point_at_program(sema::Session& session);
// The stage's text; needs a front end that got that far.
std::string dump_stage(const Frontend& frontend, Stage stage);

}  // namespace axon::driver
