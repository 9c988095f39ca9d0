// Formals of definitions and primitives.
#include "sema/callee.h"

#include "sema/walk.h"

namespace axon::sema {

using namespace syntax;

const Definition* find_definition(const Program& program, NameId name) {
  auto found = program.by_name.find(name);
  return found == program.by_name.end() ? nullptr : &program.definitions[found->second];
}

bool is_constant(const Definition& def) { return def.params.empty() && def.path_params.empty(); }

size_t leading_paths(const Definition& def, const Ast& ast, const Interner& names) {
  size_t count = 0;
  for (const Param& param : def.params) {
    if (param.optional || !param.type.valid()) break;
    const TypeExpr& type = ast[param.type];
    if (type.kind() != TypeExprKind::Named) break;
    if (names.text(type.as<TypeNamed>().name) != "Path") break;
    ++count;
  }
  return count;
}

Callee find_callee(NameId name, const Program& program, const Ast& ast, Interner& names) {
  Callee out;
  if (const Definition* def = find_definition(program, name)) {
    out.def = def;
    for (NameId path : def->path_params) out.formals.push_back({path, false});
    for (const Param& param : def->params) out.formals.push_back({param.name, param.optional});
    out.path_slots = def->path_params.size() + leading_paths(*def, ast, names);
    return out;
  }
  std::optional<Op> op = find_primitive(names.text(name));
  if (!op) return out;
  out.primitive = &op_signature(*op);
  for (const OpParam& param : out.primitive->params) {
    out.formals.push_back({names.intern(param.name), param.optional});
  }
  out.path_slots = out.primitive->path_slots;
  return out;
}

namespace {

void collect_dims(DimExprId id, const Ast& ast, std::vector<NameId>& out) {
  const DimExpr& dim = ast[id];
  switch (dim.kind()) {
    case DimExprKind::Int:
    case DimExprKind::Variadic:
      return;
    case DimExprKind::Name:
      out.push_back(dim.as<DimName>().name);
      return;
    case DimExprKind::Binary:
      collect_dims(dim.as<DimBinary>().left, ast, out);
      collect_dims(dim.as<DimBinary>().right, ast, out);
      return;
    case DimExprKind::Paren:
      collect_dims(dim.as<DimParen>().inner, ast, out);
      return;
  }
}

void collect_dims(TypeExprId id, const Ast& ast, std::vector<NameId>& out) {
  const TypeExpr& type = ast[id];
  switch (type.kind()) {
    case TypeExprKind::Optional:
      return collect_dims(type.as<TypeOptional>().inner, ast, out);
    case TypeExprKind::List:
      return collect_dims(type.as<TypeList>().item, ast, out);
    case TypeExprKind::Tuple:
      for (TypeExprId item : type.as<TypeTuple>().items) collect_dims(item, ast, out);
      return;
    case TypeExprKind::Named:
      for (const TypeArg& arg : type.as<TypeNamed>().args) {
        if (arg.type.valid()) {
          collect_dims(arg.type, ast, out);
        } else {
          collect_dims(arg.dim, ast, out);
        }
      }
      return;
  }
}

}  // namespace

std::vector<NameId> dims_in(TypeExprId type, const Ast& ast) {
  std::vector<NameId> out;
  collect_dims(type, ast, out);
  return out;
}

std::vector<NameId> dim_names(const Definition& def, const Ast& ast) {
  std::vector<NameId> out;
  for (const Param& param : def.params) {
    if (param.type.valid()) collect_dims(param.type, ast, out);
  }
  if (def.return_type.valid()) collect_dims(def.return_type, ast, out);
  visit_body(def, ast,
             {[&](ExprId id) {
                if (const Ascribe* node = ast[id].get<Ascribe>()) {
                  collect_dims(node->type, ast, out);
                }
              },
              [](StmtId) {}});
  return out;
}

}  // namespace axon::sema
