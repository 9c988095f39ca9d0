// Free names of flat statements, and copies of them under a renaming.
#include <algorithm>

#include "sema/flatten_body.h"
#include "support/check.h"

namespace axon::sema {

using namespace syntax;

namespace {

using NameMap = std::unordered_map<NameId, NameId, IdHash>;

class FreeNames {
 public:
  FreeNames(const Ast& ast, const std::vector<NameId>& bound, const NameSet& dependent,
            function_ref<bool(NameId)> outer)
      : ast_(ast), bound_(bound.begin(), bound.end()), dependent_(dependent), outer_(outer) {}

  std::vector<NameId> run(const std::vector<StmtId>& body) {
    for (StmtId id : body) statement(ast_[id]);
    return std::move(out_);
  }

 private:
  void use(NameId name) {
    if (bound_.count(name)) return;
    bound_.insert(name);
    out_.push_back(name);
  }

  void statement(const Stmt& stmt) {
    if (const Bind* bound = stmt.get<Bind>()) {
      expr(bound->value);
      for (const Target& target : bound->targets) bound_.insert(target.name);
    } else if (const Return* ret = stmt.get<Return>()) {
      for (ExprId value : ret->values) expr(value);
    } else if (const Yield* yield = stmt.get<Yield>()) {
      for (ExprId value : yield->values) expr(value);
    } else if (const Loop* loop = stmt.get<Loop>()) {
      expr(loop->from);
      expr(loop->to);
      expr(loop->step);
      for (const Target& carry : loop->carry) use(carry.name);
      bool hides = bound_.insert(loop->var).second;
      for (StmtId id : loop->body) statement(ast_[id]);
      if (hides) bound_.erase(loop->var);
      for (const Target& target : loop->targets) bound_.insert(target.name);
    } else {
      AXON_UNREACHABLE("statement of a flat body");
    }
  }

  void expr(ExprId id) {
    visit(id, ast_,
          {[&](ExprId inner) {
             const Expr& node = ast_[inner];
             if (const Name* name = node.get<Name>()) use(name->name);
             if (const PathExpr* path = node.get<PathExpr>()) {
               for (const PathPiece& piece : path->path.pieces) {
                 if (piece.placeholder) use(piece.text);
               }
             }
             if (const Ascribe* ascribe = node.get<Ascribe>()) type(ascribe->type);
           },
           [](StmtId) {}});
  }

  void type(TypeExprId id) {
    const TypeExpr& node = ast_[id];
    switch (node.kind()) {
      case TypeExprKind::Optional:
        return type(node.as<TypeOptional>().inner);
      case TypeExprKind::List:
        return type(node.as<TypeList>().item);
      case TypeExprKind::Tuple:
        for (TypeExprId item : node.as<TypeTuple>().items) type(item);
        return;
      case TypeExprKind::Named:
        for (const TypeArg& arg : node.as<TypeNamed>().args) {
          if (arg.dim.valid()) dim(arg.dim);
        }
        return;
    }
  }

  void dim(DimExprId id) {
    const DimExpr& node = ast_[id];
    if (node.kind() == DimExprKind::Name) {
      const NameId name = node.as<DimName>().name;
      if (dependent_.count(name))
        use(name);
      else if (!outer_(name))
        bound_.insert(name);  // the ascription makes it a value
    } else if (node.kind() == DimExprKind::Binary) {
      dim(node.as<DimBinary>().left);
      dim(node.as<DimBinary>().right);
    } else if (node.kind() == DimExprKind::Paren) {
      dim(node.as<DimParen>().inner);
    }
  }

  const Ast& ast_;
  NameSet bound_;
  const NameSet& dependent_;
  function_ref<bool(NameId)> outer_;
  std::vector<NameId> out_;
};

// Copies flat code; names follow the map until something binds them anew.
class Substitution {
 public:
  Substitution(Ast& ast, NameMap map, const NameSet& dependent)
      : ast_(ast), map_(std::move(map)), dependent_(dependent) {}

  std::vector<StmtId> run(const std::vector<StmtId>& body) {
    std::vector<StmtId> out;
    for (StmtId id : body) out.push_back(statement(id));
    return out;
  }

  ExprId expr(ExprId id) {
    Expr node = ast_[id];
    switch (node.kind()) {
      case ExprKind::Name: {
        Name& name = std::get<Name>(node.data);
        name.name = now(name.name);
        break;
      }
      case ExprKind::Int:
      case ExprKind::Float:
      case ExprKind::Bool:
      case ExprKind::Null:
      case ExprKind::String:
        break;
      case ExprKind::Path: {
        PathExpr& path = std::get<PathExpr>(node.data);
        path.path = this->path(path.path);
        break;
      }
      case ExprKind::List:
        for (ExprId& item : std::get<List>(node.data).items) item = expr(item);
        break;
      case ExprKind::Tuple:
        for (ExprId& item : std::get<Tuple>(node.data).items) item = expr(item);
        break;
      case ExprKind::Call:
        for (Arg& arg : std::get<Call>(node.data).args) arg.value = expr(arg.value);
        break;
      case ExprKind::Ternary: {
        Ternary& ternary = std::get<Ternary>(node.data);
        ternary.cond = expr(ternary.cond);
        ternary.then_value = expr(ternary.then_value);
        ternary.else_value = expr(ternary.else_value);
        break;
      }
      case ExprKind::Binary: {
        Binary& binary = std::get<Binary>(node.data);
        binary.left = expr(binary.left);
        binary.right = expr(binary.right);
        break;
      }
      case ExprKind::Ascribe: {
        Ascribe& ascribe = std::get<Ascribe>(node.data);
        ascribe.value = expr(ascribe.value);
        ascribe.type = type(ascribe.type);
        break;
      }
      case ExprKind::Pipe:
      case ExprKind::BindExpr:
      case ExprKind::If:
      case ExprKind::Lambda:
      case ExprKind::Paren:
      case ExprKind::Do:
        AXON_UNREACHABLE("expression of a flat body");
    }
    return ast_.add(std::move(node));
  }

 private:
  NameId now(NameId name) const {
    auto found = map_.find(name);
    return found == map_.end() ? name : found->second;
  }

  PathLit path(PathLit path) const {
    for (PathPiece& piece : path.pieces) {
      if (piece.placeholder) piece.text = now(piece.text);
    }
    return path;
  }

  StmtId statement(StmtId id) {
    Stmt node = ast_[id];
    if (Bind* bound = std::get_if<Bind>(&node.data)) {
      bound->value = expr(bound->value);
      bound->scope = path(bound->scope);
      for (const Target& target : bound->targets) map_.erase(target.name);
    } else if (Return* ret = std::get_if<Return>(&node.data)) {
      for (ExprId& value : ret->values) value = expr(value);
    } else if (Yield* yield = std::get_if<Yield>(&node.data)) {
      for (ExprId& value : yield->values) value = expr(value);
    } else if (Loop* loop = std::get_if<Loop>(&node.data)) {
      loop->from = expr(loop->from);
      loop->to = expr(loop->to);
      loop->step = expr(loop->step);
      loop->lexical_scope = path(loop->lexical_scope);
      for (Target& carry : loop->carry) carry.name = now(carry.name);
      NameMap outer = map_;
      map_.erase(loop->var);
      for (StmtId& inner : loop->body) inner = statement(inner);
      map_ = std::move(outer);
      for (const Target& target : loop->targets) map_.erase(target.name);
    } else {
      AXON_UNREACHABLE("statement of a flat body");
    }
    return ast_.add(std::move(node));
  }

  TypeExprId type(TypeExprId id) {
    TypeExpr node = ast_[id];
    switch (node.kind()) {
      case TypeExprKind::Optional: {
        TypeOptional& optional = std::get<TypeOptional>(node.data);
        optional.inner = type(optional.inner);
        break;
      }
      case TypeExprKind::List: {
        TypeList& list = std::get<TypeList>(node.data);
        list.item = type(list.item);
        break;
      }
      case TypeExprKind::Tuple:
        for (TypeExprId& item : std::get<TypeTuple>(node.data).items) item = type(item);
        break;
      case TypeExprKind::Named:
        for (TypeArg& arg : std::get<TypeNamed>(node.data).args) {
          if (arg.dim.valid()) arg.dim = dim(arg.dim);
        }
        break;
    }
    return ast_.add(std::move(node));
  }

  DimExprId dim(DimExprId id) {
    DimExpr node = ast_[id];
    if (DimName* name = std::get_if<DimName>(&node.data)) {
      if (!dependent_.count(name->name)) return id;
      name->name = now(name->name);
    } else if (DimBinary* binary = std::get_if<DimBinary>(&node.data)) {
      binary->left = dim(binary->left);
      binary->right = dim(binary->right);
    } else if (DimParen* paren = std::get_if<DimParen>(&node.data)) {
      paren->inner = dim(paren->inner);
    } else {
      return id;
    }
    return ast_.add(std::move(node));
  }

  Ast& ast_;
  NameMap map_;
  const NameSet& dependent_;
};

PathLit trimmed(PathLit scope, const NameSet& formals) {
  for (size_t i = 0; i < scope.pieces.size(); ++i) {
    if (!scope.pieces[i].placeholder || formals.count(scope.pieces[i].text)) continue;
    while (i > 0 && scope.pieces[i].joined) --i;
    scope.pieces.resize(i);
    break;
  }
  return scope;
}

}  // namespace

std::vector<NameId> free_in(const std::vector<StmtId>& body, const Ast& ast,
                            const std::vector<NameId>& bound, const NameSet& dependent,
                            function_ref<bool(NameId)> outer) {
  return FreeNames(ast, bound, dependent, outer).run(body);
}

std::vector<StmtId> substitute(const std::vector<StmtId>& body, const NameMap& map,
                               const NameSet& dependent, Ast& ast) {
  return Substitution(ast, map, dependent).run(body);
}

std::vector<StmtId> trim_scopes(const std::vector<StmtId>& body, const NameSet& formals, Ast& ast) {
  std::vector<StmtId> out;
  for (StmtId id : body) {
    Stmt node = ast[id];
    if (Bind* bound = std::get_if<Bind>(&node.data)) bound->scope = trimmed(bound->scope, formals);
    if (Loop* loop = std::get_if<Loop>(&node.data)) {
      loop->lexical_scope = trimmed(loop->lexical_scope, formals);
    }
    out.push_back(ast.add(std::move(node)));
  }
  return out;
}

}  // namespace axon::sema
