// The text of each front-end stage.
#include "driver/frontend.h"
#include "graph/text.h"
#include "lower/raise.h"
#include "sema/stage_text.h"
#include "support/check.h"
#include "syntax/render.h"

namespace axon::driver {
std::string dump_stage(const Frontend& f, Stage stage) {
  using sema::Level, sema::write_program, sema::write_typed;
  sema::Session& session = *f.session;
  std::string_view name = spelling(stage);
  switch (stage) {
    case Stage::Parse:
      return syntax::render(f.loaded->modules.back().module, session.ast, session.names);
    case Stage::Resolve:
      return write_program({f.closed->program, {}}, Level::Closed, name, session);
    case Stage::Materialize:
      return write_program({f.materialized->closed.program, {}}, Level::Closed, name, session);
    case Stage::Normalize:
      return write_program({f.normalized->program, {}}, Level::Normalized, name, session);
    case Stage::Elaborate:
      return write_program({f.elaborated->program, f.elaborated->main_defaults}, Level::Elaborated,
                           name, session);
    case Stage::Flatten:
      return write_program({f.flat->program, f.flat->main_defaults}, Level::Flat, name, session);
    case Stage::Typecheck:
    case Stage::OptimizeAst:
      return write_typed(*f.typed, name, session);
    case Stage::GraphIrAxon:
      return write_typed(lower::raise(*f.graph, session, {.exact = true}), name, session);
    case Stage::Final:
      return write_typed(lower::raise(*f.graph, session), name, session);
    case Stage::GraphIr:
      return graph::write_graph(*f.graph, session.types, {&session.files});
    case Stage::Plan:
      break;
  }
  AXON_UNREACHABLE("the plan is not a stage of the front end");
}

}  // namespace axon::driver
