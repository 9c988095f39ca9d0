// Structural checks of language.md 5.1.
#include "syntax/structure.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "support/text.h"
#include "syntax/token.h"
#include "syntax/walk.h"

namespace axon::syntax {
namespace {

// The word with which a do-expression starts.
Span do_word(Span expr) { return {expr.file, expr.begin, std::min(expr.begin + 2, expr.end)}; }

constexpr std::string_view kOutside = "stands outside of a loop body";

// What a list of statements belongs to.
enum class Home : uint8_t { Body, Do, Scope, Loop };

class Checker {
 public:
  // A strict one reports a missing return even where it has been told, or could not be read.
  Checker(const Ast& ast, const Interner& names, DiagSink& sink, bool strict = false)
      : ast_(ast), names_(names), sink_(sink), strict_(strict) {}
  void check(const Definition& definition);

 private:
  struct Context {
    Home home;
    bool nested;     // inside a branch of an if-statement
    size_t targets;  // of the scope
  };
  void check_names(const std::vector<Target>& targets, std::string_view where);
  bool check_body(const std::vector<StmtId>& body, Context context);
  void check_closed_body(const std::vector<StmtId>& body, Context context, Span where,
                         std::string_view what);
  bool ends_unread(const std::vector<StmtId>& body) const;
  bool check_statement(StmtId id, Context context, bool is_last);
  void check_return(const Return& node, Span where, Context context);
  void check_yield(Span where, Context context, bool is_last);
  void check_loop(const Loop& loop, Span where);
  void check_exprs(std::vector<ExprId> left);
  bool has_tuple(const Expr& expr) const;

  const Ast& ast_;
  const Interner& names_;
  DiagSink& sink_;
  bool strict_;
};

void Checker::check_names(const std::vector<Target>& targets, std::string_view where) {
  std::unordered_map<NameId, Span, IdHash> seen;
  for (const Target& target : targets) {
    std::string_view name = names_.text(target.name);
    if (name == "_") continue;
    auto [first, is_new] = seen.emplace(target.name, target.span);
    if (!is_new)
      sink_.report(Diag::AstDup, target.span, {name, where})
          .note(Note::NoteFirstHere, first->second);
  }
}

void Checker::check(const Definition& definition) {
  std::vector<Target> params;
  for (NameId name : definition.path_params) params.push_back({name, definition.name_span});
  for (const Param& param : definition.params) params.push_back({param.name, param.span});
  check_names(params, "the parameters");
  for (const Param& param : definition.params) {
    if (param.default_value.valid()) check_exprs({param.default_value});
  }
  if (definition.statement_body) {
    std::string what = "`" + std::string(names_.text(definition.name)) + "`";
    check_closed_body(definition.body, {Home::Body, false, 0}, definition.name_span, what);
  } else if (definition.body_expr.valid()) {
    check_exprs({definition.body_expr});
  }
}

// Whether a body breaks off: what comes last could not be read.
bool Checker::ends_unread(const std::vector<StmtId>& body) const {
  if (body.empty()) return false;
  const Stmt& last = ast_[body.back()];
  auto unread = [&](ExprId id) { return id.valid() && is_unread(ast_[id]); };
  if (const Bind* bind = last.get<Bind>()) return unread(bind->value);
  if (const Yield* next = last.get<Yield>()) return unread(next->values.back());
  if (const Return* result = last.get<Return>()) return unread(result->values.back());
  if (const Loop* loop = last.get<Loop>()) return ends_unread(loop->body);
  if (const ScopeBind* scope = last.get<ScopeBind>()) return ends_unread(scope->body);
  if (const IfStmt* branch = last.get<IfStmt>())
    return ends_unread(branch->then_body) || ends_unread(branch->else_body);
  return false;
}

// A body that has to return.
void Checker::check_closed_body(const std::vector<StmtId>& body, Context context, Span where,
                                std::string_view what) {
  size_t before = sink_.all().size();
  bool returns = check_body(body, context);
  // A `return` that stands in a block where it can mean nothing was most likely meant for this one.
  bool told = std::any_of(sink_.all().begin() + static_cast<std::ptrdiff_t>(before),
                          sink_.all().end(), [](const Diagnostic& d) {
                            return d.id == Diag::AstUnreachable || d.id == Diag::AstReturnInLoop ||
                                   (d.id == Diag::AstYield && d.args[0].text == kOutside);
                          });
  if (!returns && (strict_ || (!told && !ends_unread(body))))
    sink_.report(Diag::AstNoReturn, where, {what});
}

// Whether every path through the body ends in a return.
bool Checker::check_body(const std::vector<StmtId>& body, Context context) {
  bool returns = false;
  bool reported = false;
  for (size_t i = 0; i < body.size(); ++i) {
    if (returns && !reported) {
      sink_.report(Diag::AstUnreachable, ast_[body[i]].span);
      reported = true;
    }
    bool is_last = i + 1 == body.size() || ast_[body[i + 1]].kind() == StmtKind::Return;
    bool here = check_statement(body[i], context, is_last);
    returns = returns || here;
  }
  return returns;
}

bool Checker::check_statement(StmtId id, Context context, bool is_last) {
  const Stmt& statement = ast_[id];
  switch (statement.kind()) {
    case StmtKind::Return:
      check_return(statement.as<Return>(), statement.span, context);
      return true;
    case StmtKind::Yield:
      check_yield(statement.span, context, is_last);
      check_exprs(statement.as<Yield>().values);
      return false;
    case StmtKind::Bind:
      check_names(statement.as<Bind>().targets, "the targets of a bind");
      check_exprs({statement.as<Bind>().value});
      return false;
    case StmtKind::If: {
      const IfStmt& node = statement.as<IfStmt>();
      check_exprs({node.cond});
      Context inside{context.home, true, context.targets};
      bool then_returns = check_body(node.then_body, inside);
      bool else_returns = check_body(node.else_body, inside);
      return then_returns && else_returns;
    }
    case StmtKind::Loop:
      check_loop(statement.as<Loop>(), statement.span);
      return false;
    case StmtKind::ScopeBind: {
      const ScopeBind& node = statement.as<ScopeBind>();
      check_names(node.targets, "the targets of a scope");
      check_closed_body(node.body, {Home::Scope, false, node.targets.size()},
                        merge_spans(node.targets.front().span, node.path.span), "the scope");
      return false;
    }
  }
  return false;
}

void Checker::check_return(const Return& node, Span where, Context context) {
  if (context.home == Home::Loop) {
    sink_.report(Diag::AstReturnInLoop, where);
  } else if (context.home == Home::Scope && node.values.size() != context.targets) {
    sink_.report(Diag::AstScopeArity, where,
                 {counted(context.targets, "name"), counted(node.values.size(), "value")});
  }
  check_exprs(node.values);
}

void Checker::check_yield(Span where, Context context, bool is_last) {
  if (context.home != Home::Loop) {
    Diagnostic& report = sink_.report(Diag::AstYield, where, {kOutside});
    const auto word = static_cast<int32_t>(spelling(Word::Yield).size());
    if (is_last && !context.nested)
      report.fix({where.file, where.begin, where.begin + word},
                 std::string(spelling(Word::Return)));
  } else if (context.nested) {
    sink_.report(Diag::AstYield, where,
                 {"stands in a branch; it comes last in the loop body itself"});
  } else if (!is_last) {
    sink_.report(Diag::AstYield, where, {"is followed by another statement of the loop body"});
  }
}

void Checker::check_loop(const Loop& loop, Span where) {
  check_names(loop.targets, "the targets of a loop");
  check_names(loop.carry, "the carry list");
  if (loop.has_targets && loop.has_carry && loop.targets.size() != loop.carry.size()) {
    sink_
        .report(
            Diag::AstLoopArity, merge_spans(loop.carry.front().span, loop.carry.back().span),
            {counted(loop.targets.size(), "target"), counted(loop.carry.size(), "carried name")})
        .note(Note::NoteHere, merge_spans(loop.targets.front().span, loop.targets.back().span),
              {"the targets"});
  }
  check_exprs({loop.from, loop.to, loop.step});
  check_body(loop.body, {Home::Loop, false, 0});
}

// No argument is a tuple, which has been told: `carry carry (x, y) do` reads as a call.
bool Checker::has_tuple(const Expr& expr) const {
  const Call* call = expr.get<Call>();
  return call && std::any_of(call->args.begin(), call->args.end(), [&](const Arg& arg) {
           return arg.value.valid() && ast_[arg.value].kind() == ExprKind::Tuple;
         });
}

// Only do-expressions hold anything to check. Works through a list, so that long chains are no
// deeper than short ones; a do-expression recurses, which the parser's nesting limit bounds.
void Checker::check_exprs(std::vector<ExprId> left) {
  while (!left.empty()) {
    ExprId id = left.back();
    left.pop_back();
    if (!id.valid()) continue;
    const Expr& expr = ast_[id];
    if (const Do* block = expr.get<Do>()) {
      check_closed_body(block->body, {Home::Do, false, 0}, do_word(expr.span), "the do-expression");
    } else if (strict_ || !has_tuple(expr)) {
      for_each_child(expr, [&](ExprId child) { left.push_back(child); });
    }
  }
}

void check_duplicates(const std::vector<Definition>& definitions, const Interner& names,
                      DiagSink& sink) {
  std::unordered_map<NameId, Span, IdHash> seen;
  for (const Definition& definition : definitions) {
    auto [first, is_new] = seen.emplace(definition.name, definition.name_span);
    if (is_new) continue;
    sink.report(Diag::AstDupDef, definition.name_span, {names.text(definition.name)})
        .note(Note::NoteFirstHere, first->second);
  }
}

}  // namespace

void validate_ast(const std::vector<Definition>& definitions, const Ast& ast, const Interner& names,
                  DiagSink& sink) {
  check_duplicates(definitions, names, sink);
  Checker checker(ast, names, sink);
  for (const Definition& definition : definitions) checker.check(definition);
}

void validate_ast(const Module& module, const Ast& ast, const Interner& names, DiagSink& sink) {
  validate_ast(module.definitions, ast, names, sink);
}

bool has_whole_blocks(const Definition& definition, const Ast& ast, const Interner& names) {
  DiagSink sink;
  Checker(ast, names, sink, true).check(definition);
  return std::none_of(sink.all().begin(), sink.all().end(),
                      [](const Diagnostic& d) { return d.id != Diag::AstDup; });
}

}  // namespace axon::syntax
