// The text of each front-end stage.
#include "driver/frontend.h"
#include "graph/text.h"
#include "lower/raise.h"
#include "sema/program_text.h"
#include "sema/type_syntax.h"
#include "support/check.h"
#include "syntax/render.h"

namespace axon::driver {
namespace {

std::string render_stage(const sema::Program& program, const sema::Session& session) {
  return syntax::render(sema::as_module(program), session.ast, session.names);
}

// The typed program as a file that says which stage it is (language.md 11.3, 11.4).
std::string render_typed(const sema::TypedProgram& typed, sema::Session& session) {
  syntax::Module module = sema::as_module(typed.flat.program);
  syntax::Pragma mark;
  mark.name = session.names.intern("stage");
  mark.value = session.ast.add(
      syntax::Expr{syntax::String{session.names.intern(spelling(Stage::Typecheck))}, {}});
  module.pragmas.insert(module.pragmas.begin(), mark);
  std::vector<syntax::TypeExprId> types = sema::types_to_syntax(typed, session);
  syntax::RenderOptions options;
  options.types = &types;
  return syntax::render(module, session.ast, session.names, options);
}

}  // namespace

std::string dump_stage(const Frontend& f, Stage stage) {
  sema::Session& session = *f.session;
  switch (stage) {
    case Stage::Parse:
      return syntax::render(f.loaded->modules.back().module, session.ast, session.names);
    case Stage::Resolve:
      return render_stage(f.closed->program, session);
    case Stage::Materialize:
      return render_stage(f.materialized->closed.program, session);
    case Stage::Normalize:
      return render_stage(f.normalized->program, session);
    case Stage::Elaborate:
      return render_stage(f.elaborated->program, session);
    case Stage::Flatten:
      return render_stage(f.flat->program, session);
    case Stage::Typecheck:
      return render_typed(*f.typed, session);
    case Stage::GraphIrAxon:
    case Stage::Final:
      return render_typed(lower::raise(*f.graph, session), session);
    case Stage::GraphIr:
      return graph::write_graph(*f.graph, session.types, {&session.files});
    case Stage::Plan:
      break;
  }
  AXON_UNREACHABLE("the plan is not a stage of the front end");
}

}  // namespace axon::driver
