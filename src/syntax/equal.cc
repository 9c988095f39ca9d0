// Structural equality: spans, Paren nodes and the spelling of blocks take no part (language.md 5).
#include "syntax/render.h"
#include "syntax/walk.h"

namespace axon::syntax {
namespace {

// Compares through a list of pairs still to be compared, so that depth costs no stack.
class Comparer {
 public:
  explicit Comparer(const Ast& ast) : ast_(ast) {}
  void add(ExprId a, ExprId b) { exprs_.emplace_back(a, b); }
  void add(const std::vector<StmtId>& a, const std::vector<StmtId>& b);
  bool run();
  bool types_equal(TypeExprId a, TypeExprId b) const;

 private:
  bool expr_equal(ExprId a, ExprId b);
  bool fields_equal(const Expr& a, const Expr& b);
  bool stmt_equal(const Stmt& a, const Stmt& b);
  bool loop_equal(const Loop& a, const Loop& b);
  bool targets_equal(const std::vector<Target>& a, const std::vector<Target>& b) const;
  bool dims_equal(DimExprId a, DimExprId b) const;
  void add_all(const std::vector<ExprId>& a, const std::vector<ExprId>& b);
  ExprId strip(ExprId id) const;

  const Ast& ast_;
  bool same_ = true;
  std::vector<std::pair<ExprId, ExprId>> exprs_;
  std::vector<std::pair<StmtId, StmtId>> stmts_;
};

ExprId Comparer::strip(ExprId id) const {
  while (id.valid() && ast_[id].kind() == ExprKind::Paren) id = ast_[id].as<Paren>().inner;
  return id;
}

void Comparer::add(const std::vector<StmtId>& a, const std::vector<StmtId>& b) {
  same_ = same_ && a.size() == b.size();
  for (size_t i = 0; same_ && i < a.size(); ++i) stmts_.emplace_back(a[i], b[i]);
}

void Comparer::add_all(const std::vector<ExprId>& a, const std::vector<ExprId>& b) {
  same_ = same_ && a.size() == b.size();
  for (size_t i = 0; same_ && i < a.size(); ++i) add(a[i], b[i]);
}

bool Comparer::run() {
  while (same_ && (!exprs_.empty() || !stmts_.empty())) {
    if (!exprs_.empty()) {
      auto [a, b] = exprs_.back();
      exprs_.pop_back();
      same_ = expr_equal(strip(a), strip(b)) && same_;
    } else {
      auto [a, b] = stmts_.back();
      stmts_.pop_back();
      same_ = (a == b || stmt_equal(ast_[a], ast_[b])) && same_;
    }
  }
  return same_;
}

bool Comparer::expr_equal(ExprId a, ExprId b) {
  if (a == b) return true;
  if (!a.valid() || !b.valid()) return false;
  const Expr& left = ast_[a];
  const Expr& right = ast_[b];
  if (left.kind() != right.kind() || !fields_equal(left, right)) return false;
  std::vector<ExprId> left_parts, right_parts;
  for_each_child(left, [&](ExprId child) { left_parts.push_back(child); });
  for_each_child(right, [&](ExprId child) { right_parts.push_back(child); });
  add_all(left_parts, right_parts);
  return true;
}

// What is not an expression below.
bool Comparer::fields_equal(const Expr& a, const Expr& b) {
  switch (a.kind()) {
    case ExprKind::Name:
      return a.as<Name>().name == b.as<Name>().name &&
             a.as<Name>().suffixes == b.as<Name>().suffixes;
    case ExprKind::Int:
      return a.as<Int>().value == b.as<Int>().value;
    case ExprKind::Float: {
      const Float& x = a.as<Float>();
      const Float& y = b.as<Float>();
      bool spelled = x.lexeme.valid() && y.lexeme.valid();
      return x.value == y.value && (!spelled || x.lexeme == y.lexeme);
    }
    case ExprKind::Bool:
      return a.as<Bool>().value == b.as<Bool>().value;
    case ExprKind::String:
      return a.as<String>().value == b.as<String>().value;
    case ExprKind::Path:
      return a.as<PathExpr>().path == b.as<PathExpr>().path;
    case ExprKind::Call: {
      const Call& x = a.as<Call>();
      const Call& y = b.as<Call>();
      bool same =
          x.callee == y.callee && x.suffixes == y.suffixes && x.args.size() == y.args.size();
      for (size_t i = 0; same && i < x.args.size(); ++i)
        same = x.args[i].keyword == y.args[i].keyword;
      return same;
    }
    case ExprKind::BindExpr:
      return a.as<BindExpr>().var == b.as<BindExpr>().var;
    case ExprKind::Lambda:
      return a.as<Lambda>().var == b.as<Lambda>().var;
    case ExprKind::Binary:
      return a.as<Binary>().op == b.as<Binary>().op;
    case ExprKind::Ascribe:
      return types_equal(a.as<Ascribe>().type, b.as<Ascribe>().type);
    case ExprKind::Do:
      add(a.as<Do>().body, b.as<Do>().body);
      return same_;
    case ExprKind::Null:
    case ExprKind::List:
    case ExprKind::Tuple:
    case ExprKind::Pipe:
    case ExprKind::If:
    case ExprKind::Ternary:
    case ExprKind::Paren:
      return true;
  }
  AXON_UNREACHABLE("every kind has a case");
}

bool Comparer::targets_equal(const std::vector<Target>& a, const std::vector<Target>& b) const {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) same = a[i].name == b[i].name;
  return same;
}

bool Comparer::loop_equal(const Loop& a, const Loop& b) {
  add_all({a.from, a.to, a.step}, {b.from, b.to, b.step});
  add(a.body, b.body);
  return a.has_scope == b.has_scope && (!a.has_scope || a.scope == b.scope) && a.var == b.var &&
         a.has_targets == b.has_targets && targets_equal(a.targets, b.targets) &&
         a.has_carry == b.has_carry && targets_equal(a.carry, b.carry);
}

bool Comparer::stmt_equal(const Stmt& a, const Stmt& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case StmtKind::Bind:
      add(a.as<Bind>().value, b.as<Bind>().value);
      return targets_equal(a.as<Bind>().targets, b.as<Bind>().targets);
    case StmtKind::Return:
      add_all(a.as<Return>().values, b.as<Return>().values);
      return same_;
    case StmtKind::Yield:
      add_all(a.as<Yield>().values, b.as<Yield>().values);
      return same_;
    case StmtKind::If:
      add(a.as<IfStmt>().cond, b.as<IfStmt>().cond);
      add(a.as<IfStmt>().then_body, b.as<IfStmt>().then_body);
      add(a.as<IfStmt>().else_body, b.as<IfStmt>().else_body);
      return same_;
    case StmtKind::Loop:
      return loop_equal(a.as<Loop>(), b.as<Loop>()) && same_;
    case StmtKind::ScopeBind:
      add(a.as<ScopeBind>().body, b.as<ScopeBind>().body);
      return same_ && a.as<ScopeBind>().path == b.as<ScopeBind>().path &&
             targets_equal(a.as<ScopeBind>().targets, b.as<ScopeBind>().targets);
  }
  AXON_UNREACHABLE("every kind has a case");
}

bool Comparer::dims_equal(DimExprId a, DimExprId b) const {
  std::vector<std::pair<DimExprId, DimExprId>> left{{a, b}};
  auto strip_dim = [&](DimExprId id) {
    while (ast_[id].kind() == DimExprKind::Paren) id = ast_[id].as<DimParen>().inner;
    return id;
  };
  while (!left.empty()) {
    const DimExpr& x = ast_[strip_dim(left.back().first)];
    const DimExpr& y = ast_[strip_dim(left.back().second)];
    left.pop_back();
    if (x.kind() != y.kind()) return false;
    bool same = true;
    if (x.kind() == DimExprKind::Int) same = x.as<DimInt>().value == y.as<DimInt>().value;
    if (x.kind() == DimExprKind::Name) same = x.as<DimName>().name == y.as<DimName>().name;
    if (x.kind() == DimExprKind::Variadic)
      same = x.as<DimVariadic>().name == y.as<DimVariadic>().name;
    if (x.kind() == DimExprKind::Binary) {
      same = x.as<DimBinary>().op == y.as<DimBinary>().op;
      left.emplace_back(x.as<DimBinary>().left, y.as<DimBinary>().left);
      left.emplace_back(x.as<DimBinary>().right, y.as<DimBinary>().right);
    }
    if (!same) return false;
  }
  return true;
}

bool Comparer::types_equal(TypeExprId a, TypeExprId b) const {
  if (a == b) return true;
  if (!a.valid() || !b.valid() || ast_[a].kind() != ast_[b].kind()) return false;
  const TypeExpr& x = ast_[a];
  const TypeExpr& y = ast_[b];
  switch (x.kind()) {
    case TypeExprKind::Optional:
      return types_equal(x.as<TypeOptional>().inner, y.as<TypeOptional>().inner);
    case TypeExprKind::List:
      return types_equal(x.as<TypeList>().item, y.as<TypeList>().item);
    case TypeExprKind::Tuple: {
      const auto& left = x.as<TypeTuple>().items;
      const auto& right = y.as<TypeTuple>().items;
      bool same = left.size() == right.size();
      for (size_t i = 0; same && i < left.size(); ++i) same = types_equal(left[i], right[i]);
      return same;
    }
    case TypeExprKind::Named:
      break;
  }
  const TypeNamed& left = x.as<TypeNamed>();
  const TypeNamed& right = y.as<TypeNamed>();
  bool same = left.name == right.name && left.args.size() == right.args.size();
  for (size_t i = 0; same && i < left.args.size(); ++i) {
    same = left.args[i].dim.valid() == right.args[i].dim.valid() &&
           (left.args[i].dim.valid() ? dims_equal(left.args[i].dim, right.args[i].dim)
                                     : types_equal(left.args[i].type, right.args[i].type));
  }
  return same;
}

// A body written as a `do` block and the same do-expression are one tree.
void add_bodies(Comparer& comparer, const Definition& a, const Definition& b, const Ast& ast,
                bool& same) {
  auto statements = [&](const Definition& d) -> const std::vector<StmtId>* {
    if (d.statement_body) return &d.body;
    const Do* block = d.body_expr.valid() ? ast[d.body_expr].get<Do>() : nullptr;
    return block ? &block->body : nullptr;
  };
  const std::vector<StmtId>* left = statements(a);
  const std::vector<StmtId>* right = statements(b);
  same = same && (left != nullptr) == (right != nullptr);
  if (left && right) comparer.add(*left, *right);
  if (!left && !right) comparer.add(a.body_expr, b.body_expr);
}

}  // namespace

bool equal(ExprId a, ExprId b, const Ast& ast) {
  Comparer comparer(ast);
  comparer.add(a, b);
  return comparer.run();
}

bool equal(const Definition& a, const Definition& b, const Ast& ast) {
  Comparer comparer(ast);
  bool same = a.name == b.name && a.path_params == b.path_params &&
              a.params.size() == b.params.size() && a.is_global == b.is_global &&
              a.constraints == b.constraints && comparer.types_equal(a.return_type, b.return_type);
  for (size_t i = 0; same && i < a.params.size(); ++i) {
    const Param& x = a.params[i];
    const Param& y = b.params[i];
    same = x.name == y.name && x.optional == y.optional && comparer.types_equal(x.type, y.type);
    comparer.add(x.default_value, y.default_value);
  }
  add_bodies(comparer, a, b, ast, same);
  return same && comparer.run();
}

bool equal(const Module& a, const Module& b, const Ast& ast) {
  auto members_equal = [](const std::vector<ImportMember>& x, const std::vector<ImportMember>& y) {
    bool same = x.size() == y.size();
    for (size_t i = 0; same && i < x.size(); ++i) same = x[i].name == y[i].name;
    return same;
  };
  bool same = a.pragmas.size() == b.pragmas.size() && a.imports.size() == b.imports.size() &&
              a.has_export == b.has_export && members_equal(a.exports, b.exports) &&
              a.aliases.size() == b.aliases.size() && a.definitions.size() == b.definitions.size();
  for (size_t i = 0; same && i < a.pragmas.size(); ++i) {
    same = a.pragmas[i].name == b.pragmas[i].name &&
           equal(a.pragmas[i].value, b.pragmas[i].value, ast);
  }
  for (size_t i = 0; same && i < a.imports.size(); ++i) {
    same = a.imports[i].module == b.imports[i].module &&
           a.imports[i].has_members == b.imports[i].has_members &&
           members_equal(a.imports[i].members, b.imports[i].members);
  }
  Comparer comparer(ast);
  for (size_t i = 0; same && i < a.aliases.size(); ++i) {
    const TypeAlias& x = a.aliases[i];
    const TypeAlias& y = b.aliases[i];
    same = x.name == y.name && x.params.size() == y.params.size() &&
           comparer.types_equal(x.type, y.type);
    for (size_t k = 0; same && k < x.params.size(); ++k) {
      same = x.params[k].name == y.params[k].name && x.params[k].variadic == y.params[k].variadic;
    }
  }
  for (size_t i = 0; same && i < a.definitions.size(); ++i)
    same = equal(a.definitions[i], b.definitions[i], ast);
  return same;
}

}  // namespace axon::syntax
