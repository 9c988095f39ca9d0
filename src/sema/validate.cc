// Stage validators (language.md 10.1); each includes the checks of the stages before it.
#include "sema/validate.h"

#include <algorithm>

#include "sema/callee.h"
#include "sema/uses.h"
#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

namespace {

enum class Level : uint8_t { Closed, Normalized, Elaborated, Flat };

class Validator {
 public:
  Validator(const Program& program, Level level, Session& session)
      : program_(program), level_(level), session_(session), ast_(session.ast) {}

  void run() {
    if (!find_definition(program_, program_.main)) fail({}, "the main definition is missing");
    if (program_.by_name.size() != program_.definitions.size()) fail({}, "a name is defined twice");
    if (level_ >= Level::Flat && !program_.aliases.empty()) fail({}, "type aliases are left");
    for (const Definition& def : program_.definitions) {
      def_ = &def;
      definition(def);
    }
  }

  // No definition reaches itself.
  void cycles() {
    std::vector<CycleNode> nodes;
    for (const Definition& def : program_.definitions)
      nodes.push_back({std::string(session_.names.text(def.name)), def.is_global,
                       uses_of(def, program_, session_)});
    for (const Cycle& cycle : find_cycles(nodes)) {
      std::string text;
      for (size_t node : cycle.nodes) text += nodes[node].name + " → ";
      fail(cycle.span, "definitions use each other: " + text + nodes[cycle.nodes[0]].name);
    }
  }

 private:
  void fail(Span span, const std::string& what) {
    constexpr const char* kStages[] = {"resolve", "normalize", "elaborate", "flatten"};
    std::string text = what;
    if (def_) text += " in `" + std::string(session_.names.text(def_->name)) + "`";
    session_.sink.report(Diag::BugStage, span, {kStages[static_cast<size_t>(level_)], text});
  }

  void definition(const Definition& def) {
    if (level_ >= Level::Elaborated) {
      for (const Param& param : def.params) {
        if (param.default_value.valid()) fail(param.span, "a default is left");
      }
    }
    if (level_ >= Level::Flat) {
      flat_definition(def);
    }
    visit_body(def, ast_, {[&](ExprId id) { expr(ast_[id]); }, [&](StmtId id) { stmt(ast_[id]); }});
  }

  void expr(const Expr& node) {
    if (const Call* call = node.get<Call>()) check_call(*call, node.span);
    const Name* name = node.get<Name>();
    if (name && !name->suffixes.empty()) {
      known_callee(name->name, node.span);
      if (level_ >= Level::Normalized) fail(node.span, "a path suffix is left");
    }
    if (const Pipe* pipe = node.get<Pipe>()) {
      for (ExprId stage : pipe->stages) {
        const Expr& form = ast_[strip_parens(stage, ast_)];
        const Name* bare = form.get<Name>();
        if (bare && bare->suffixes.empty()) known_callee(bare->name, form.span);
      }
      if (level_ >= Level::Normalized) fail(node.span, "a pipe is left");
    }
    if (level_ < Level::Flat) return;
    switch (node.kind()) {
      case ExprKind::Paren:
      case ExprKind::BindExpr:
      case ExprKind::If:
      case ExprKind::Do:
      case ExprKind::Lambda:
        fail(node.span, "a nested construct is left");
        break;
      case ExprKind::Path:
        if (!node.as<PathExpr>().path.absolute) fail(node.span, "a relative path is left");
        break;
      default:
        break;
    }
  }

  // What is called, by its name with arguments or paths or as a stage of a pipe. Names of
  // primitives are left to the checker.
  Callee known_callee(NameId id, Span span) {
    std::string_view name = session_.names.text(id);
    Callee callee = find_callee(id, program_, ast_, session_.names);
    if (!callee.known() && name[0] != '_')
      fail(span, "callee `" + std::string(name) + "` is unknown");
    return callee;
  }

  void check_call(const Call& call, Span span) {
    std::string_view name = session_.names.text(call.callee);
    Callee callee = known_callee(call.callee, span);
    if (level_ >= Level::Normalized) {
      if (!call.suffixes.empty()) fail(span, "a path suffix is left");
      size_t positional = 0;
      for (const Arg& arg : call.args) positional += arg.keyword.valid() ? 0 : 1;
      if (callee.known() && positional < callee.path_slots)
        fail(span, "a path argument is missing");
    }
    if (level_ < Level::Elaborated || !callee.known()) return;
    for (const Arg& arg : call.args) {
      if (arg.keyword.valid()) fail(span, "a keyword argument is left");
    }
    if (call.args.size() != callee.formals.size()) {
      fail(span, "call of `" + std::string(name) + "` has the wrong number of arguments");
    }
  }

  void stmt(const Stmt& node) {
    const Loop* loop = node.get<Loop>();
    if (loop && level_ >= Level::Normalized) check_loop(*loop, node.span);
    if (level_ < Level::Flat) return;
    if (node.kind() == StmtKind::If || node.kind() == StmtKind::ScopeBind) {
      fail(node.span, "a nested statement is left");
    }
    if (const Bind* bound = node.get<Bind>()) {
      if (!is_flat(bound->value)) fail(node.span, "the right side of a bind is not flat");
    }
    if (const Return* ret = node.get<Return>()) {
      for (ExprId value : ret->values) {
        if (!is_atom(value)) fail(node.span, "a returned value is not atomic");
      }
    }
    if (loop) check_flat_loop(*loop, node.span);
  }

  void check_loop(const Loop& loop, Span span) {
    const Yield* last = loop.body.empty() ? nullptr : ast_[loop.body.back()].get<Yield>();
    if (!last) fail(span, "a loop does not end in a yield");
    if (loop.has_targets != loop.has_carry || loop.targets.size() != loop.carry.size()) {
      fail(span, "targets and carry of a loop differ");
    }
  }

  void check_flat_loop(const Loop& loop, Span span) {
    if (loop.has_scope) fail(span, "a loop scope is left");
    if (!is_atom(loop.from) || !is_atom(loop.to) || !is_atom(loop.step)) {
      fail(span, "the range of a loop is not atomic");
    }
    const Yield* yield = loop.body.size() == 1 ? ast_[loop.body[0]].get<Yield>() : nullptr;
    const Call* call =
        yield && yield->values.size() == 1 ? ast_[yield->values[0]].get<Call>() : nullptr;
    bool plain = call && std::all_of(call->args.begin(), call->args.end(), [&](const Arg& arg) {
                   return ast_[arg.value].kind() == ExprKind::Name;
                 });
    if (!plain) fail(span, "a loop body is not one call of names");
  }

  void flat_definition(const Definition& def) {
    if (!def.path_params.empty()) fail(def.span, "path parameters are left");
    if (!def.statement_body || def.body.empty()) return fail(def.span, "the body is no block");
    for (size_t i = 0; i < def.body.size(); ++i) {
      bool last = i + 1 == def.body.size();
      if ((ast_[def.body[i]].kind() == StmtKind::Return) != last) {
        fail(def.span, "return does not stand last");
      }
    }
  }

  bool is_atom(ExprId id) const {
    const Expr& node = ast_[id];
    auto all = [&](const std::vector<ExprId>& items) {
      return std::all_of(items.begin(), items.end(), [&](ExprId item) { return is_atom(item); });
    };
    if (is_leaf(node)) return true;
    switch (node.kind()) {
      case ExprKind::List:
        return all(node.as<List>().items);
      case ExprKind::Tuple:
        return all(node.as<Tuple>().items);
      case ExprKind::Ascribe:
        return is_atom(node.as<Ascribe>().value);
      default:
        return false;
    }
  }

  bool is_flat(ExprId id) const {
    if (is_atom(id)) return true;
    const Expr& node = ast_[id];
    if (const Ascribe* ascribe = node.get<Ascribe>()) return is_flat(ascribe->value);
    if (const Binary* binary = node.get<Binary>()) {
      return is_atom(binary->left) && is_atom(binary->right);
    }
    if (const Ternary* ternary = node.get<Ternary>()) {
      return is_atom(ternary->cond) && is_flat(ternary->then_value) && is_flat(ternary->else_value);
    }
    const Call* call = node.get<Call>();
    return call && std::all_of(call->args.begin(), call->args.end(),
                               [&](const Arg& arg) { return is_atom(arg.value); });
  }

  const Program& program_;
  Level level_;
  Session& session_;
  const Ast& ast_;
  const Definition* def_ = nullptr;
};

}  // namespace

void validate_closed(const Program& program, Session& session) {
  Validator(program, Level::Closed, session).run();
}
void validate_normalized(const Program& program, Session& session) {
  Validator(program, Level::Normalized, session).run();
}
void validate_elaborated(const Program& program, Session& session) {
  Validator(program, Level::Elaborated, session).run();
}
void validate_flat(const Program& program, Session& session) {
  Validator(program, Level::Flat, session).run();
}
void validate_acyclic(const Program& program, Session& session) {
  Validator(program, Level::Closed, session).cycles();
}

}  // namespace axon::sema
