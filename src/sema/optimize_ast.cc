// Clean-up of typed programs: names of atoms, operations on literals, unreachable definitions.
#include "sema/optimize_ast.h"

#include <algorithm>

#include "sema/callee.h"
#include "sema/validate_typed.h"
#include "sema/walk.h"
#include "support/arithmetic.h"

namespace axon::sema {

using namespace syntax;

namespace {

constexpr int kMaxRounds = 64;

bool is_literal(ExprKind kind) {
  return kind == ExprKind::Int || kind == ExprKind::Float || kind == ExprKind::Bool ||
         kind == ExprKind::String;
}

bool is_atom(const Expr& e) {
  const Name* name = e.get<Name>();
  return (name && name->suffixes.empty()) || is_literal(e.kind()) || e.kind() == ExprKind::Null ||
         e.kind() == ExprKind::Path;
}

// One definition, one round: uses of a name that was bound to an atom become that atom, as long as
// neither is bound again; then what the literals give is computed. What returns and loops hand on
// by name keeps its name.
class Cleaner : public Rewriter {
 public:
  Cleaner(TypedProgram& program, Session& session)
      : Rewriter(session.ast, session.names), program_(program) {}

  void run(Definition& def) {
    meanings_.clear();
    definition(def);
  }

 protected:
  ExprId expr(ExprId id) override {
    ExprId now = children(id);
    const Expr node = ast_[now];
    if (const Name* name = node.get<Name>()) {
      auto known = meanings_.find(name->name);
      bool plain = known != meanings_.end() && name->suffixes.empty();
      if (plain) now = ast_.add(Expr{ast_[known->second].data, node.span});
    } else if (const Binary* binary = node.get<Binary>()) {
      now = folded(*binary, now, node.span);
    } else if (const Ternary* ternary = node.get<Ternary>()) {
      const Bool* cond = ast_[ternary->cond].get<Bool>();
      ExprId kept = cond && cond->value ? ternary->then_value : ternary->else_value;
      ExprId left = cond && cond->value ? ternary->else_value : ternary->then_value;
      if (cond && is_atom(ast_[left])) now = kept;
    }
    if (now != id) keep_type(now, id);
    return now;
  }

  PathLit path(const PathLit& source) override {
    PathLit out = source;
    for (PathPiece& piece : out.pieces) {
      if (!piece.placeholder) continue;
      auto known = meanings_.find(piece.text);
      if (known == meanings_.end()) continue;
      if (const Name* name = ast_[known->second].get<Name>()) piece.text = name->name;
    }
    return out;
  }

  void stmt(StmtId id, std::vector<StmtId>& out) override {
    if (ast_[id].kind() == StmtKind::Return) {
      out.push_back(id);
      return;
    }
    Rewriter::stmt(id, out);
    const Bind* bound = ast_[out.back()].get<Bind>();
    if (!bound || bound->targets.size() != 1) return;
    const Expr& value = ast_[bound->value];
    const Name* name = value.get<Name>();
    NameId target = bound->targets[0].name;
    bool stands_for =
        (name && name->suffixes.empty() && name->name != target) || is_literal(value.kind());
    if (stands_for && !is_discard(target, names_)) meanings_[target] = bound->value;
  }

  void bind(const Target& target) override {
    Rewriter::bind(target);
    meanings_.erase(target.name);
    std::erase_if(meanings_, [&](const auto& entry) {
      const Name* name = ast_[entry.second].template get<Name>();
      return name && name->name == target.name;
    });
  }

  // The body of a flat loop is one call by names, of which the carried ones are its own.
  void loop(StmtId id, Loop node, std::vector<StmtId>& out) override {
    Loop now = node;
    now.from = expr(node.from);
    now.to = expr(node.to);
    now.step = expr(node.step);
    bool same = now.from == node.from && now.to == node.to && now.step == node.step;
    out.push_back(same ? id : add(id, {std::move(now), {}}));
    bind_all(node.targets);
  }

 private:
  void keep_type(ExprId now, ExprId before) {
    size_t need = static_cast<size_t>(std::max(now.index, before.index)) + 1;
    if (program_.type_of.size() < need) program_.type_of.resize(need);
    TypeId& type = program_.type_of[static_cast<size_t>(now.index)];
    if (!type.valid()) type = program_.type_of[static_cast<size_t>(before.index)];
  }

  ExprId folded(const Binary& b, ExprId id, Span span) {
    const Int* left = ast_[b.left].get<Int>();
    const Int* right = ast_[b.right].get<Int>();
    const Bool* yes = ast_[b.left].get<Bool>();
    const Bool* no = ast_[b.right].get<Bool>();
    if (yes && no && (b.op == BinaryOp::And || b.op == BinaryOp::Or)) {
      bool value = b.op == BinaryOp::And ? yes->value && no->value : yes->value || no->value;
      return ast_.add(Expr{Bool{value}, span});
    }
    if (!left || !right) return id;
    auto order = [&](Order which) {
      return ast_.add(Expr{Bool{holds(which, left->value, right->value)}, span});
    };
    switch (b.op) {
      case BinaryOp::Add:
        return whole(Arith::Add, left->value, right->value, id, span);
      case BinaryOp::Sub:
        return whole(Arith::Sub, left->value, right->value, id, span);
      case BinaryOp::Mul:
        return whole(Arith::Mul, left->value, right->value, id, span);
      case BinaryOp::Eq:
        return order(Order::Eq);
      case BinaryOp::Ne:
        return order(Order::Ne);
      case BinaryOp::Lt:
        return order(Order::Lt);
      case BinaryOp::Le:
        return order(Order::Le);
      case BinaryOp::Gt:
        return order(Order::Gt);
      case BinaryOp::Ge:
        return order(Order::Ge);
      default:
        return id;
    }
  }

  ExprId whole(Arith op, int64_t a, int64_t b, ExprId id, Span span) {
    int64_t value = 0;
    if (whole_arithmetic(op, a, b, value) != ArithFault::None) return id;
    return ast_.add(Expr{Int{value}, span});
  }

  TypedProgram& program_;
  std::unordered_map<NameId, ExprId, IdHash> meanings_;
};

void add_placeholders(const PathLit& path, NameSet& out) {
  for (const PathPiece& piece : path.pieces) {
    if (piece.placeholder) out.insert(piece.text);
  }
}

// Every name that a body mentions other than as a target.
NameSet names_used(const Definition& def, const Ast& ast) {
  NameSet out;
  auto in_expr = [&](ExprId id) {
    if (const Name* name = ast[id].get<Name>()) out.insert(name->name);
    if (const PathExpr* path = ast[id].get<PathExpr>()) add_placeholders(path->path, out);
    if (const Call* call = ast[id].get<Call>()) out.insert(call->callee);
  };
  auto in_stmt = [&](StmtId id) {
    if (const Bind* bound = ast[id].get<Bind>()) add_placeholders(bound->scope, out);
    const Loop* loop = ast[id].get<Loop>();
    if (!loop) return;
    add_placeholders(loop->lexical_scope, out);
    add_placeholders(loop->scope, out);
    for (const Target& carried : loop->carry) out.insert(carried.name);
  };
  visit_body(def, ast, {in_expr, in_stmt});
  return out;
}

// Binds of atoms to names that nothing mentions any more.
bool drop_unused(Definition& def, const TypedDefinition& typed, const Ast& ast) {
  NameSet used = names_used(def, ast);
  for (const auto& [name, dim] : typed.dim_values) used.insert(name);
  return std::erase_if(def.body, [&](StmtId id) {
           const Bind* bound = ast[id].get<Bind>();
           return bound && bound->targets.size() == 1 && is_atom(ast[bound->value]) &&
                  used.count(bound->targets[0].name) == 0;
         }) > 0;
}

// What a type may name.
bool is_size(const Definition& def, const TypedDefinition& typed, const TypeTable& types) {
  if (!is_constant(def) || !typed.return_type.valid()) return false;
  const TypeKind kind = types.kind(typed.return_type);
  return kind == TypeKind::Int || kind == TypeKind::Dim || kind == TypeKind::Any;
}

// Leaves out what neither the main definition nor a constant reaches.
bool prune(TypedProgram& typed, const Ast& ast, const TypeTable& known) {
  Program& program = typed.flat.program;
  std::vector<bool> reached(program.definitions.size(), false);
  std::vector<size_t> left;
  auto reach = [&](size_t index) {
    if (!reached[index]) left.push_back(index);
    reached[index] = true;
  };
  for (size_t i = 0; i < program.definitions.size(); ++i) {
    const Definition& def = program.definitions[i];
    if (def.is_global || def.name == program.main || is_size(def, typed.definitions[i], known))
      reach(i);
  }
  auto reach_name = [&](NameId name) {
    auto found = program.by_name.find(name);
    if (found != program.by_name.end()) reach(found->second);
  };
  for (const auto& [name, value] : typed.flat.main_defaults) {
    visit(value, ast,
          {[&](ExprId id) {
             if (const Call* call = ast[id].get<Call>()) reach_name(call->callee);
           },
           [](StmtId) {}});
  }
  while (!left.empty()) {
    size_t index = left.back();
    left.pop_back();
    for (NameId name : names_used(program.definitions[index], ast)) reach_name(name);
  }
  if (std::find(reached.begin(), reached.end(), false) == reached.end()) return false;
  std::vector<Definition> definitions;
  std::vector<TypedDefinition> types;
  program.by_name.clear();
  for (size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) continue;
    program.by_name.emplace(program.definitions[i].name, definitions.size());
    definitions.push_back(std::move(program.definitions[i]));
    types.push_back(std::move(typed.definitions[i]));
  }
  program.definitions = std::move(definitions);
  typed.definitions = std::move(types);
  return true;
}

}  // namespace

TypedProgram optimize_ast(const TypedProgram& typed, Session& session) {
  TypedProgram out = typed;
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    changed = false;
    std::vector<Definition>& definitions = out.flat.program.definitions;
    for (size_t i = 0; i < definitions.size(); ++i) {
      std::vector<StmtId> before = definitions[i].body;
      Cleaner(out, session).run(definitions[i]);
      drop_unused(definitions[i], out.definitions[i], session.ast);
      changed |= definitions[i].body != before;
    }
    changed |= prune(out, session.ast, session.types);
  }
  validate_typed(out, session);
  return out;
}

}  // namespace axon::sema
