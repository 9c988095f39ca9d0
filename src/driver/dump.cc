// The text of each front-end stage.
#include "driver/frontend.h"
#include "graph/text.h"
#include "lower/raise.h"
#include "sema/typed_text.h"
#include "support/check.h"
#include "syntax/render.h"

namespace axon::driver {
namespace {

// A later stage's program as a file: pragmas, aliases, definitions, and the stage's own mark.
std::string render_program(const sema::Program& program, sema::Session& session, Stage stage) {
  syntax::Module module;
  syntax::Pragma mark;
  mark.name = session.names.intern("stage");
  mark.value = session.ast.add(syntax::Expr{syntax::String{session.names.intern(spelling(stage))}, {}});
  module.pragmas = program.pragmas;
  if (stage >= Stage::Typecheck) module.pragmas.insert(module.pragmas.begin(), mark);
  module.aliases = program.aliases;
  module.definitions = program.definitions;
  return syntax::render(module, session.ast, session.names);
}

}  // namespace

std::string dump_stage(const Frontend& f, Stage stage) {
  sema::Session& session = *f.session;
  switch (stage) {
    case Stage::Parse: return syntax::render(f.loaded->modules.back().module, session.ast, session.names);
    case Stage::Resolve: return render_program(f.closed->program, session, stage);
    case Stage::Materialize: return render_program(f.materialized->closed.program, session, stage);
    case Stage::Normalize: return render_program(f.normalized->program, session, stage);
    case Stage::Elaborate: return render_program(f.elaborated->program, session, stage);
    case Stage::Flatten: return render_program(f.flat->program, session, stage);
    case Stage::Typecheck: return sema::render_typed(*f.typed, session);
    case Stage::GraphIr: return graph::write_graph(*f.graph, session.types, {&session.files});
    case Stage::GraphIrAxon:
    case Stage::Final: return lower::raise(*f.graph, session);
    case Stage::Plan: break;
  }
  AXON_UNREACHABLE("the plan is not a stage of the front end");
}

}  // namespace axon::driver
