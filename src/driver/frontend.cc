// Runs the front end's stages in order.
#include "driver/frontend.h"

#include <chrono>

#include "driver/library.h"
#include "lower/lower.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::driver {
namespace {

constexpr std::string_view kStages[] = {"parse",         "resolve", "materialize", "normalize",
                                        "elaborate",     "flatten", "typecheck",   "graph-ir",
                                        "graph-ir-axon", "final",   "plan"};

// Runs `stage` unless an earlier one failed or was the last wanted; records its time.
template <class Make>
void step(Frontend& frontend, const FrontendOptions& options, Stage stage, Make make) {
  if (!frontend.ok() || stage > options.stop_after) return;
  auto begin = std::chrono::steady_clock::now();
  make();
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  frontend.times.push_back({stage, took.count()});
}

Frontend run_once(const FrontendOptions& options, const std::vector<std::string>& overlays) {
  Frontend f;
  f.session = std::make_unique<sema::Session>();
  f.overlays = overlays;
  sema::Session& session = *f.session;
  session.sink.set_strict(options.strict);
  f.root = session.files.add(options.path, options.text);
  step(f, options, Stage::Parse, [&] {
    sema::LoadOptions load{options.search_path, overlays};
    f.loaded = sema::load(f.root, builtin_library(), load, session);
  });
  step(f, options, Stage::Resolve,
       [&] { f.closed = sema::resolve(*f.loaded, {options.main}, session); });
  step(f, options, Stage::Materialize,
       [&] { f.materialized = sema::materialize(*f.closed, options.answers, session); });
  step(f, options, Stage::Normalize,
       [&] { f.normalized = sema::normalize(f.materialized->closed, session); });
  step(f, options, Stage::Elaborate,
       [&] { f.elaborated = sema::elaborate(*f.normalized, session); });
  step(f, options, Stage::Flatten, [&] { f.flat = sema::flatten(*f.elaborated, session); });
  step(f, options, Stage::Typecheck,
       [&] { f.typed = sema::typecheck(*f.flat, options.answers, session); });
  step(f, options, Stage::GraphIr, [&] { f.graph = lower::lower(*f.typed, session); });
  return f;
}

}  // namespace

std::optional<Stage> parse_stage(std::string_view name) {
  for (size_t i = 0; i < std::size(kStages); ++i) {
    if (kStages[i] == name) return static_cast<Stage>(i);
  }
  return {};
}

std::string_view spelling(Stage stage) { return kStages[static_cast<size_t>(stage)]; }

void point_at_program(sema::Session& session) {
  auto in_library = [&](Span span) {
    return span.valid() && starts_with(session.files.path(span.file), "library/");
  };
  for (Diagnostic& d : session.sink.all()) {
    if (!in_library(d.span)) continue;
    for (size_t i = 0; i < d.notes.size(); ++i) {
      if (d.notes[i].id != Note::NoteCalledHere || !d.notes[i].span.valid() ||
          in_library(d.notes[i].span))
        continue;
      DiagNote inside{Note::NoteHere, d.span, {"in the library"}};
      d.span = d.notes[i].span;
      if (d.context.empty() && !d.notes[i].args.empty()) d.context = d.notes[i].args[0].text;
      d.notes[i] = std::move(inside);
      break;
    }
  }
}

Frontend run_frontend(const FrontendOptions& options) {
  if (!options.auto_overlay) return run_once(options, options.overlays);
  Frontend with_static = run_once(options, {"static"});
  if (with_static.ok() || options.stop_after < Stage::Typecheck) return with_static;
  Frontend base = run_once(options, {});
  if (!base.ok()) return base;
  base.overlay_note =
      "the program does not check under the overlay `static`; the base library is used";
  return base;
}

}  // namespace axon::driver
