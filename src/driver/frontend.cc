// Runs the front end's stages in order.
#include "driver/frontend.h"

#include <chrono>
#include <utility>

#include "driver/config_keys.h"
#include "driver/later_errors.h"
#include "driver/library.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "lower/lower.h"
#include "lower/raise.h"
#include "sema/optimize_ast.h"
#include "sema/stage_text.h"
#include "support/check.h"
#include "support/instruction_count.h"
#include "support/text.h"

namespace axon::driver {
namespace {

constexpr std::string_view kStages[] = {"parse",     "resolve",       "materialize", "normalize",
                                        "elaborate", "flatten",       "typecheck",   "optimize-ast",
                                        "graph-ir",  "graph-ir-axon", "final",       "plan"};

int64_t nodes_of(const Frontend& frontend) {
  const syntax::Ast& ast = frontend.session->ast;
  size_t nodes = ast.exprs.size() + ast.stmts.size() + ast.types.size() + ast.dims.size();
  if (!frontend.graph) return static_cast<int64_t>(nodes);
  for (const graph::Module& module : frontend.graph->modules) nodes += module.nodes.size();
  return static_cast<int64_t>(nodes);
}

// Runs `stage` unless an earlier one failed or was the last wanted; records its time.
template <class Make>
void step(Frontend& frontend, const FrontendOptions& options, Stage stage, Make make) {
  if (!frontend.ok() || stage > options.stop_after) return;
  const int64_t before = nodes_of(frontend);
  InstructionCount count;
  auto begin = std::chrono::steady_clock::now();
  make();
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  frontend.times.push_back({stage, took.count(), nodes_of(frontend) - before, count.read()});
}

// What the text is, by the caller's word, else by its own.
Stage entry_of(const FrontendOptions& options, sema::Session& session, FileId root) {
  if (options.from_stage) return *options.from_stage;
  if (starts_with(options.text, "graph-ir ")) return Stage::GraphIr;
  auto said = sema::stage_of(options.text);
  if (!said) return Stage::Parse;
  auto stage = parse_stage(*said);
  if (stage && *stage != Stage::Plan) return *stage;
  session.sink.report(Diag::LoadStage, {root, 0, 0},
                      {*said, "there is no such stage to begin with"});
  return Stage::Parse;
}

// As in a program that resolve made, a pragma names the main module.
void name_main(graph::Graph& graph, Interner& names) {
  NameId key = names.intern("main");
  std::string value = "\"" + std::string(names.text(graph[graph.main].name)) + "\"";
  for (graph::Pragma& pragma : graph.pragmas) {
    if (pragma.name != key) continue;
    pragma.value = value;
    return;
  }
  graph.pragmas.push_back({key, value});
}

// A graph is another writing of a program: its outputs have the names that the return statement
// gives them, and lowering that program gives the graph.
void check_program_form(const graph::Graph& graph, sema::Session& session) {
  const graph::Module& main = graph[graph.main];
  auto fail = [&](const std::string& what) {
    session.sink.report(Diag::LoadStage, main.span, {"graph-ir", what});
  };
  sema::TypedProgram program = lower::raise(graph, session, {.exact = true});
  const std::vector<NameId>& said = main.output_names;
  std::vector<NameId> given = lower::main_output_names(program, said.size(), session);
  for (size_t i = 0; i < said.size() && i < given.size(); ++i) {
    if (said[i] == given[i]) continue;
    fail("output " + std::to_string(i) + " is named `" + std::string(session.names.text(said[i])) +
         "`, what is returned has the name `" + std::string(session.names.text(given[i])) + "`");
  }
  if (session.sink.has_errors()) return;
  const size_t before = session.sink.all().size();
  FileId text =
      session.files.add("program of a graph", sema::write_typed(program, "graph-ir", session));
  program = sema::read_typed(text, "graph-ir", session);
  for (size_t i = before; i < session.sink.all().size(); ++i) {
    session.sink.all()[i].span = main.span;
    session.sink.all()[i].notes.clear();
  }
  if (session.sink.has_errors()) return;
  graph::Graph again = lower::lower(program, session);
  if (auto found = graph::difference(graph, again, session.types))
    fail("as a program it is another graph, in " + *found);
}

// Whether a graph that comes from the text of a stage, not from the checker, keeps its contracts.
bool check_contracts(const Frontend& f, const graph::Graph& graph, Stage entry) {
  sema::Session& session = *f.session;
  std::vector<graph::Fault> faults = graph::find_faults(graph, session.types);
  for (const graph::Fault& fault : faults) {
    Span span = fault.span.valid() ? fault.span : Span{f.root, 0, 0};
    session.sink.report(Diag::LoadStage, span, {std::string(spelling(entry)), fault.message});
  }
  return faults.empty();
}

// The graph of a text in its own form.
void read_graph(Frontend& f, const FrontendOptions& options) {
  sema::Session& session = *f.session;
  auto graph = graph::read_graph(options.text, session.types, f.root);
  if (!graph) {
    auto at = static_cast<int32_t>(graph.error().offset);
    // The message comes in the form of its diagnostic.
    const std::string head = format_message(diag_info(Diag::GraphSyntax).format, {""});
    session.sink.report(Diag::GraphSyntax, {f.root, at, at},
                        {graph.error().message.substr(head.size())});
    return;
  }
  if (check_contracts(f, *graph, Stage::GraphIr)) {
    for (const graph::Fault& fault : graph::find_text_faults(*graph, session.types))
      session.sink.report(Diag::LoadStage, fault.span, {"graph-ir", fault.message});
    name_main(*graph, session.names);
    if (!session.sink.has_errors()) check_program_form(*graph, session);
  }
  f.graph = std::move(*graph);
}

// Takes the text as the result of a stage.
void enter(Frontend& f, const FrontendOptions& options, Stage entry) {
  sema::Session& session = *f.session;
  std::string_view name = spelling(entry);
  auto program = [&](sema::Level level) {
    return sema::read_program(f.root, level, name, session);
  };
  switch (entry) {
    case Stage::Resolve:
      f.closed = sema::ClosedProgram{program(sema::Level::Closed).program};
      break;
    case Stage::Materialize:
      f.materialized =
          sema::Materialized{sema::ClosedProgram{program(sema::Level::Closed).program}, {}};
      break;
    case Stage::Normalize:
      f.normalized = sema::NormalizedProgram{program(sema::Level::Normalized).program};
      break;
    case Stage::Elaborate: {
      sema::StagedProgram read = program(sema::Level::Elaborated);
      f.elaborated =
          sema::ElaboratedProgram{std::move(read.program), std::move(read.main_defaults)};
      break;
    }
    case Stage::Flatten: {
      sema::StagedProgram read = program(sema::Level::Flat);
      f.flat = sema::FlatProgram{std::move(read.program), std::move(read.main_defaults)};
      break;
    }
    case Stage::Typecheck:
    case Stage::OptimizeAst:
    case Stage::GraphIrAxon:
    case Stage::Final:
      f.ast_optimized = entry == Stage::OptimizeAst;
      f.typed = sema::read_typed(f.root, name, session);
      break;
    case Stage::GraphIr:
      read_graph(f, options);
      break;
    case Stage::Parse:
    case Stage::Plan:
      break;
  }
}

Frontend run_once(const FrontendOptions& options, const std::vector<std::string>& overlays) {
  Frontend f;
  f.session = std::make_unique<sema::Session>();
  f.overlays = overlays;
  sema::Session& session = *f.session;
  session.sink.set_strict(options.strict);
  f.root = session.files.add(options.path, options.text);
  Stage entry = entry_of(options, session, f.root);
  if (entry != Stage::Parse && f.ok()) enter(f, options, entry);
  auto from = [&](Stage stage, auto make) {
    if (entry < stage || entry == Stage::Parse) step(f, options, stage, make);
  };
  from(Stage::Parse, [&] {
    sema::LoadOptions load{options.search_path, overlays};
    f.loaded =
        sema::load(f.root, options.library ? *options.library : builtin_library(), load, session);
  });
  from(Stage::Resolve, [&] { f.closed = sema::resolve(*f.loaded, {options.main}, session); });
  from(Stage::Materialize,
       [&] { f.materialized = sema::materialize(*f.closed, options.answers, session); });
  if (f.ok() && f.materialized && !options.answers.config) warn_misspelt_keys(f);
  from(Stage::Normalize, [&] { f.normalized = sema::normalize(f.materialized->closed, session); });
  from(Stage::Elaborate, [&] { f.elaborated = sema::elaborate(*f.normalized, session); });
  from(Stage::Flatten, [&] { f.flat = sema::flatten(*f.elaborated, session); });
  from(Stage::Typecheck, [&] { f.typed = sema::typecheck(*f.flat, options.answers, session); });
  bool cleans = options.optimize_ast || options.stop_after == Stage::OptimizeAst;
  if (cleans && f.typed)
    from(Stage::OptimizeAst, [&] {
      f.typed = sema::optimize_ast(*f.typed, session);
      f.ast_optimized = true;
    });
  // What a text says in its pragmas and defaults no stage has looked at.
  bool staged = entry > Stage::Parse && entry < Stage::Typecheck;
  if (staged && f.ok() && f.typed) sema::check_names(*f.typed, spelling(entry), session);
  bool lowers = !f.graph && (entry <= Stage::Typecheck || f.typed);
  if (lowers) step(f, options, Stage::GraphIr, [&] { f.graph = lower::lower(*f.typed, session); });
  bool typed_text = entry == Stage::Typecheck || entry == Stage::OptimizeAst ||
                    entry == Stage::GraphIrAxon || entry == Stage::Final;
  if (typed_text && f.ok() && f.graph) check_contracts(f, *f.graph, entry);
  if (entry == Stage::Parse && !f.ok() && options.later_errors) add_later_errors(f, options);
  return f;
}

bool is_source(const FrontendOptions& options) {
  if (options.from_stage) return *options.from_stage == Stage::Parse;
  return !starts_with(options.text, "graph-ir ") && !sema::stage_of(options.text);
}

bool in_library(const sema::Session& session, Span span) {
  return span.valid() && starts_with(session.files.path(span.file), "library/");
}

// The name of a parameter says which of the calls was meant; the program's first will do.
void shorten(const sema::Session& session, Diagnostic& d) {
  bool read = d.id == Diag::RunParam || d.id == Diag::RunParamShape ||
              d.id == Diag::RunParamDtype || d.id == Diag::WBiasMissing;
  if (!read) return;
  bool first = true;
  std::erase_if(d.notes, [&](const DiagNote& note) {
    if (note.id != Note::NoteCalledHere) return note.id == Note::NoteHere;
    return in_library(session, note.span) || !std::exchange(first, false);
  });
}

}  // namespace

std::optional<Stage> parse_stage(std::string_view name) {
  for (size_t i = 0; i < std::size(kStages); ++i) {
    if (kStages[i] == name) return static_cast<Stage>(i);
  }
  return {};
}

bool has_stage(const Frontend& f, Stage stage) {
  switch (stage) {
    case Stage::Parse:
      return f.loaded.has_value();
    case Stage::Resolve:
      return f.closed.has_value();
    case Stage::Materialize:
      return f.materialized.has_value();
    case Stage::Normalize:
      return f.normalized.has_value();
    case Stage::Elaborate:
      return f.elaborated.has_value();
    case Stage::Flatten:
      return f.flat.has_value();
    case Stage::Typecheck:
      return f.typed.has_value();
    case Stage::OptimizeAst:
      return f.ast_optimized;
    case Stage::GraphIr:
    case Stage::GraphIrAxon:
    case Stage::Final:
      return f.graph.has_value();
    case Stage::Plan:
      return false;
  }
  AXON_UNREACHABLE("stage");
}

std::string_view spelling(Stage stage) { return kStages[static_cast<size_t>(stage)]; }

void point_at_program(sema::Session& session) {
  for (Diagnostic& d : session.sink.all()) {
    for (size_t i = 0; in_library(session, d.span) && i < d.notes.size(); ++i) {
      if (d.notes[i].id != Note::NoteCalledHere || !d.notes[i].span.valid() ||
          in_library(session, d.notes[i].span))
        continue;
      DiagNote inside{Note::NoteHere, d.span, {"in the library"}};
      d.span = d.notes[i].span;
      if (d.context.empty() && !d.notes[i].args.empty()) d.context = d.notes[i].args[0].text;
      d.notes[i] = std::move(inside);
      break;
    }
    shorten(session, d);
  }
}

Frontend run_frontend(const FrontendOptions& options) {
  if (!options.auto_overlay || !is_source(options)) return run_once(options, options.overlays);
  Frontend with_static = run_once(options, {"static"});
  if (with_static.ok() || options.stop_after < Stage::Typecheck) return with_static;
  Frontend base = run_once(options, {});
  if (!base.ok()) return base;
  base.overlay_note =
      "the program does not check under the overlay `static`; the base library is used";
  return base;
}

}  // namespace axon::driver
