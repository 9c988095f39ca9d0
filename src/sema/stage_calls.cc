// Names of definitions and primitives without parameters, back to calls.
#include "sema/stage_calls.h"

#include "sema/callee.h"
#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

class CallRestorer : public Rewriter {
 public:
  CallRestorer(const Program& program, Session& session)
      : Rewriter(session.ast, session.names), program_(program) {}

  void run(Definition& def) {
    auto dims = dim_names(def, ast_);
    dims_ = NameSet(dims.begin(), dims.end());
    definition(def);
  }

 protected:
  ExprId expr(ExprId id) override {
    ExprId inner = children(id);
    const Name* name = ast_[inner].get<Name>();
    if (!name || !is_call(name->name)) return inner;
    Span span = ast_[inner].span;
    return ast_.add(Expr{Call{name->name, span, {}, {}}, span});
  }

 private:
  bool is_call(NameId name) {
    if (locals_.contains(name)) return false;
    if (const Definition* def = find_definition(program_, name))
      return is_constant(*def) && !def->is_global;
    if (names_.text(name)[0] != '_' || dims_.count(name)) return false;
    Callee callee = find_callee(name, program_, ast_, names_);
    return callee.known() && callee.formals.empty();
  }

  const Program& program_;
  NameSet dims_;
};

}  // namespace

void restore_calls(Program& program, Session& session) {
  const Program before = program;  // the definitions stand still while they are asked
  CallRestorer restorer(before, session);
  for (Definition& def : program.definitions) restorer.run(def);
}

}  // namespace axon::sema
