// From the typed program to the Graph: order of modules, outputs' names, MAIN's defaults.
#include "lower/lower.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "lower/module_lowering.h"
#include "support/text.h"
#include "syntax/render.h"

namespace axon::lower {
namespace {

using namespace syntax;

// Orders definitions so that whatever one mentions stands before it. Those that neither the main
// definition nor a constant mentions are left out: texts of stages may have such.
class Order {
 public:
  Order(const sema::FlatProgram& flat, const Ast& ast)
      : program_(flat.program), defaults_(flat.main_defaults), ast_(ast) {
    const sema::Program& program = program_;
    state_.resize(program.definitions.size());
    mention(program.main);
    for (size_t i = 0; i < program.definitions.size(); ++i) {
      if (program.definitions[i].params.empty()) visit(i);
    }
    const std::vector<bool> reached = std::exchange(state_, std::vector<bool>(state_.size()));
    order_.clear();
    for (size_t i = 0; i < program.definitions.size(); ++i) {
      if (reached[i]) visit(i);
    }
  }
  const std::vector<size_t>& get() const { return order_; }

 private:
  void visit(size_t index) {
    if (state_[index]) return;
    state_[index] = true;
    const Definition& def = program_.definitions[index];
    NameSet outer = std::exchange(locals_, {});
    for (const Param& param : def.params) locals_.insert(param.name);
    if (def.name == program_.main) {
      for (const auto& [param, value] : defaults_) expr(value);
    }
    for (StmtId id : def.body) statement(id);
    expr(def.body_expr);
    locals_ = std::move(outer);
    order_.push_back(index);
  }
  void bind(const std::vector<Target>& targets) {
    for (const Target& target : targets) locals_.insert(target.name);
  }
  // A local name hides a definition that is called the same.
  void value(NameId name) {
    if (!locals_.count(name)) mention(name);
  }
  void mention(NameId name) {
    auto found = program_.by_name.find(name);
    if (found != program_.by_name.end()) visit(found->second);
  }
  void path(const PathLit& lit) {
    for (const PathPiece& piece : lit.pieces) {
      if (piece.placeholder) value(piece.text);
    }
  }
  void statement(StmtId id) {
    const Stmt& s = ast_[id];
    if (const Bind* b = s.get<Bind>()) {
      path(b->scope);
      expr(b->value);
      bind(b->targets);
    } else if (const Return* r = s.get<Return>()) {
      for (ExprId value : r->values) expr(value);
    } else if (const Yield* y = s.get<Yield>()) {
      for (ExprId value : y->values) expr(value);
    } else if (const Loop* l = s.get<Loop>()) {
      path(l->lexical_scope);
      for (ExprId bound : {l->from, l->to, l->step}) expr(bound);
      locals_.insert(l->var);
      bind(l->carry);
      for (StmtId inner : l->body) statement(inner);
      bind(l->targets);
    }
  }
  void expr(ExprId id) {
    if (!id.valid()) return;
    const Expr& e = ast_[id];
    switch (e.kind()) {
      case ExprKind::Name:
        return value(e.as<Name>().name);
      case ExprKind::Path:
        return path(e.as<PathExpr>().path);
      case ExprKind::List:
        for (ExprId item : e.as<List>().items) expr(item);
        return;
      case ExprKind::Tuple:
        for (ExprId item : e.as<Tuple>().items) expr(item);
        return;
      case ExprKind::Call:
        mention(e.as<Call>().callee);
        for (const Arg& arg : e.as<Call>().args) expr(arg.value);
        return;
      case ExprKind::Binary:
        expr(e.as<Binary>().left);
        return expr(e.as<Binary>().right);
      case ExprKind::Ternary:
        expr(e.as<Ternary>().cond);
        expr(e.as<Ternary>().then_value);
        return expr(e.as<Ternary>().else_value);
      case ExprKind::If:
        expr(e.as<If>().cond);
        expr(e.as<If>().then_value);
        return expr(e.as<If>().else_value);
      case ExprKind::Ascribe:
        return expr(e.as<Ascribe>().value);
      case ExprKind::Paren:
        return expr(e.as<Paren>().inner);
      default:
        return;
    }
  }

  using NameSet = std::unordered_set<NameId, IdHash>;
  const sema::Program& program_;
  const sema::MainDefaults& defaults_;
  const Ast& ast_;
  NameSet locals_;  // of the definition being looked at, so far
  std::vector<bool> state_;
  std::vector<size_t> order_;
};

// A temporary of flatten, `_v<n>`: the source had no name there.
bool is_temporary(std::string_view name) {
  if (name.size() < 3 || !starts_with(name, "_v")) return false;
  for (char c : name.substr(2)) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

std::string_view text_of(ExprId id, const sema::Session& session) {
  const String* s = session.ast[id].get<String>();
  return s ? session.names.text(s->value) : std::string_view();
}

// The task: of the ARCHITECTURES tuple that names this main, else the TASK pragma's (first) string.
std::string task_of(const sema::Program& program, const sema::Session& session) {
  std::string task;
  for (const Pragma& pragma : program.pragmas) {
    std::string_view name = session.names.text(pragma.name);
    const List* list = session.ast[pragma.value].get<List>();
    if (name == "task") {
      task = text_of(list && !list->items.empty() ? list->items[0] : pragma.value, session);
    }
    if (name != "architectures") continue;
    for (ExprId item : list ? list->items : std::vector<ExprId>{pragma.value}) {
      const Tuple* entry = session.ast[item].get<Tuple>();
      bool ours = entry && entry->items.size() == 3 &&
                  text_of(entry->items[1], session) == session.names.text(program.main);
      if (ours) return std::string(text_of(entry->items[2], session));
    }
  }
  return task;
}

// Results are a record: of equal names the second and later ones get a number that is free.
void make_unique(std::vector<NameId>& out, sema::Session& session) {
  auto taken = [&](NameId name) { return std::find(out.begin(), out.end(), name) != out.end(); };
  for (size_t i = 1; i < out.size(); ++i) {
    if (std::find(out.begin(), out.begin() + static_cast<ptrdiff_t>(i), out[i]) ==
        out.begin() + static_cast<ptrdiff_t>(i))
      continue;
    std::string base(session.names.text(out[i]));
    NameId fresh = out[i];
    for (int n = 1; taken(fresh); ++n) fresh = session.names.intern(base + "_" + std::to_string(n));
    out[i] = fresh;
  }
}

// Names by the return statement (language.md 14.3). Expressions and outputs correspond.
std::vector<NameId> output_names(const Definition& def, size_t count, const std::string& task,
                                 sema::Session& session) {
  std::vector<ExprId> values;
  if (!def.statement_body) values = {def.body_expr};
  for (StmtId id : def.body) {
    if (const Return* r = session.ast[id].get<Return>()) values = r->values;
  }
  if (values.size() == 1 && session.ast[values[0]].kind() == ExprKind::Tuple) {
    values = session.ast[values[0]].as<Tuple>().items;
  }
  NameId logits = session.names.intern("logits");
  std::vector<NameId> out;
  for (size_t i = 0; i < count; ++i) {
    const Expr* e = i < values.size() ? &session.ast[values[i]] : nullptr;
    while (e && e->kind() == ExprKind::Ascribe) e = &session.ast[e->as<Ascribe>().value];
    const Name* plain = e ? e->get<Name>() : nullptr;
    const NameId name = plain ? source_name(plain->name, session.names) : NameId{};
    if (plain && !is_temporary(session.names.text(name))) {
      out.push_back(name);
    } else {
      out.push_back(count == 1 ? logits : session.names.intern("out" + std::to_string(i)));
    }
  }
  bool named = false;
  for (NameId name : out) named = named || name == logits;
  bool language_model = task == "causal_lm" || task == "masked_lm" || task == "seq2seq_lm";
  if (language_model && !named && !out.empty()) out[0] = logits;
  make_unique(out, session);
  return out;
}

}  // namespace

std::vector<NameId> main_output_names(const sema::TypedProgram& program, size_t count,
                                      sema::Session& session) {
  const sema::Program& source = program.flat.program;
  auto main = source.by_name.find(source.main);
  if (main == source.by_name.end()) return {};
  return output_names(source.definitions[main->second], count, task_of(source, session), session);
}

graph::Graph lower(const sema::TypedProgram& program, sema::Session& session) {
  const sema::Program& source = program.flat.program;
  graph::Graph graph;
  for (const Pragma& pragma : source.pragmas) {
    graph.pragmas.push_back({pragma.name, render_expr(pragma.value, session.ast, session.names)});
  }
  Context context{program, session, graph, {}};
  Order order(program.flat, session.ast);
  for (size_t index : order.get()) {
    const Definition& def = source.definitions[index];
    graph::Module module;
    module.name = def.name;
    graph.modules.push_back(std::move(module));
    graph::ModuleId id{static_cast<int32_t>(graph.modules.size() - 1)};
    ModuleLowering lowering(context, id, index);
    lowering.run();
    context.modules[def.name] = id;
    if (def.name != source.main) continue;
    graph.main = id;
    graph[id].output_names =
        output_names(def, graph[id].outputs.size(), task_of(source, session), session);
    for (const auto& [param, value] : program.flat.main_defaults) {
      for (size_t i = 0; i < def.params.size(); ++i) {
        if (def.params[i].name != param) continue;
        graph::Operand operand = lowering.operand(value);
        graph[id].defaults.push_back({static_cast<int32_t>(i), std::move(operand)});
      }
    }
  }
  return graph;
}

}  // namespace axon::lower
