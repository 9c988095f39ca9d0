// Uses of definitions, by a walk that changes nothing.
#include "sema/uses.h"

#include "sema/callee.h"
#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

class UseCollector : public Rewriter {
 public:
  UseCollector(const Program& program, Session& session)
      : Rewriter(session.ast, session.names), program_(program) {}

  std::vector<CycleEdge> run(Definition def) {
    definition(def);
    return std::move(out_);
  }

 protected:
  ExprId expr(ExprId id) override {
    const Expr node = ast_[id];
    if (const Call* call = node.get<Call>()) use(call->callee, node.span, true);
    if (const Name* name = node.get<Name>()) use(name->name, node.span, !name->suffixes.empty());
    if (const Pipe* pipe = node.get<Pipe>()) {
      for (ExprId stage : pipe->stages) {
        const Expr& form = ast_[strip_parens(stage, ast_)];
        if (const Name* name = form.get<Name>()) use(name->name, form.span, true);
      }
    }
    return children(id);
  }

  PathLit path(const PathLit& path) override {
    for (const PathPiece& piece : path.pieces) {
      if (piece.placeholder) use(piece.text, path.span, false);
    }
    return path;
  }

  void loop(StmtId id, Loop loop, std::vector<StmtId>& out) override {
    for (const Target& carry : loop_shape(loop, ast_).carry) use(carry.name, carry.span, false);
    Rewriter::loop(id, std::move(loop), out);
  }

 private:
  void use(NameId name, Span span, bool called) {
    auto found = program_.by_name.find(name);
    if (found == program_.by_name.end()) return;
    bool read = is_constant(program_.definitions[found->second]) && !locals_.contains(name);
    if (called || read) out_.push_back({found->second, span});
  }

  const Program& program_;
  std::vector<CycleEdge> out_;
};

}  // namespace

std::vector<CycleEdge> uses_of(const Definition& def, const Program& program, Session& session) {
  return UseCollector(program, session).run(def);
}

}  // namespace axon::sema
