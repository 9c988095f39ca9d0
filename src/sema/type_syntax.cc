// Types and dims as nodes of the syntax.
#include "sema/type_syntax.h"

#include <unordered_map>

#include "support/check.h"

namespace axon::sema {

using namespace syntax;

namespace {

class Writer {
 public:
  explicit Writer(Session& session) : s_(session) {}

  TypeExprId type(TypeId id) {
    auto [it, added] = types_.try_emplace(id);
    if (added) {
      TypeExprId node = make(id);
      types_[id] = node;
      return node;
    }
    return it->second;
  }

 private:
  TypeExprId named(std::string_view name) {
    return s_.ast.add(TypeExpr{TypeNamed{s_.names.intern(name), {}, false}, {}});
  }

  TypeExprId make(TypeId id) {
    const TypeData data = s_.types.get(id);
    switch (data.kind) {
      case TypeKind::Tensor: {
        if (!data.known_rank) return named("Tensor");
        TypeNamed node{s_.names.intern("Tensor"), {}, true};
        for (const Axis& axis : data.axes) node.args.push_back({axis_node(axis), {}});
        return s_.ast.add(TypeExpr{std::move(node), {}});
      }
      case TypeKind::List: {
        TypeExprId item = type(data.items[0]);
        return s_.ast.add(TypeExpr{TypeList{item}, {}});
      }
      case TypeKind::Optional: {
        TypeExprId inner = type(data.items[0]);
        return s_.ast.add(TypeExpr{TypeOptional{inner}, {}});
      }
      case TypeKind::Tuple: {
        TypeTuple node;
        for (TypeId item : data.items) node.items.push_back(type(item));
        return s_.ast.add(TypeExpr{std::move(node), {}});
      }
      case TypeKind::Variable:
      case TypeKind::Error:
      case TypeKind::Any:
      case TypeKind::Null:
      case TypeKind::Int:
      case TypeKind::Dim:
      case TypeKind::Float:
      case TypeKind::Bool:
      case TypeKind::String:
      case TypeKind::Path:
        return named(data.kind == TypeKind::Error ? "Any" : s_.types.show(id));
    }
    AXON_UNREACHABLE("type kind");
  }

  DimExprId axis_node(const Axis& axis) {
    if (axis.is_run()) return s_.ast.add(DimExpr{DimVariadic{s_.dims.symbol(axis.run).name}, {}});
    return dim(s_.dims.tree(axis.dim), 0);
  }

  // `outer` is the binding strength of the operator around, one more on its right side.
  DimExprId dim(const DimTable::Tree& tree, int outer) {
    using Kind = DimTable::Tree::Kind;
    char op = '+';
    int own = 1;
    switch (tree.kind) {
      case Kind::Integer:
        return s_.ast.add(DimExpr{DimInt{tree.value}, {}});
      case Kind::Symbol:
        return s_.ast.add(DimExpr{DimName{s_.dims.symbol(tree.symbol).name}, {}});
      case Kind::Add:
        break;
      case Kind::Sub:
        op = '-';
        break;
      case Kind::Mul:
        op = '*';
        own = 3;
        break;
      case Kind::Div:
        op = '/';
        own = 3;
        break;
      case Kind::Mod:
        op = '%';
        own = 3;
        break;
      case Kind::Min:
      case Kind::Max:
        AXON_UNREACHABLE("types as checked have no extrema");
    }
    DimExprId out = dim(tree.operands[0], own);
    for (size_t i = 1; i < tree.operands.size(); ++i) {
      DimExprId right = dim(tree.operands[i], op == '+' ? own : own + 1);
      out = s_.ast.add(DimExpr{DimBinary{op, out, right}, {}});
    }
    if (own < outer) out = s_.ast.add(DimExpr{DimParen{out}, {}});
    return out;
  }

  Session& s_;
  std::unordered_map<TypeId, TypeExprId, IdHash> types_;
};

}  // namespace

TypeExprId to_syntax(TypeId type, Session& session) { return Writer(session).type(type); }

std::vector<TypeExprId> types_to_syntax(const TypedProgram& typed, Session& session) {
  Writer writer(session);
  std::vector<TypeExprId> out(typed.type_of.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (typed.type_of[i].valid()) out[i] = writer.type(typed.type_of[i]);
  }
  return out;
}

}  // namespace axon::sema
