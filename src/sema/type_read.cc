// Types and dims from their printed form.
#include "sema/type_read.h"

#include "support/check.h"
#include "support/text.h"

namespace axon::sema {

using namespace syntax;

namespace {

std::string_view lone_name(TypeExprId id, const Session& s) {
  if (!id.valid()) return {};
  const TypeExpr* e = &s.ast[id];
  if (e->kind() == TypeExprKind::Optional) e = &s.ast[e->as<TypeOptional>().inner];
  if (e->kind() != TypeExprKind::Named || !e->as<TypeNamed>().args.empty()) return {};
  return s.names.text(e->as<TypeNamed>().name);
}

// `_d1`, `_d2`, …
bool is_unknown(std::string_view name) {
  return starts_with(name, "_d") && parse_int(name.substr(2)).has_value();
}

}  // namespace

TypeReader::TypeReader(const Definition& def, const Program& program, Session& session)
    : def_(def), program_(program), s_(session), t_(session.types), d_(session.dims) {
  for (const Param& param : def.params) {
    std::string_view name = lone_name(param.type, session);
    if (name == "Int" || name == "Dim") integers_.insert(param.name);
  }
}

TypeId TypeReader::fail(const std::string& what) {
  if (error_.empty()) error_ = what + " in `" + std::string(s_.names.text(def_.name)) + "`";
  return t_.any();
}

SymbolId TypeReader::symbol(NameId name) {
  std::string_view text = s_.names.text(name);
  if (integers_.count(name)) return d_.symbol(name, SymbolKind::Param);
  if (is_unknown(text)) return d_.symbol(name, SymbolKind::Unknown);
  const Definition* constant = find_definition(program_, name);
  bool dotted = text.find('.') != text.npos;
  bool own_dotted = s_.names.text(def_.name).find('.') != std::string_view::npos;
  bool visible = constant && is_constant(*constant) && (dotted || !own_dotted);
  if (dotted && !visible) fail("dim `" + std::string(text) + "` is unknown");
  return d_.symbol(name, visible ? SymbolKind::Rigid : SymbolKind::Variable);
}

DimId TypeReader::dim(DimExprId id) {
  const DimExpr& e = s_.ast[id];
  switch (e.kind()) {
    case DimExprKind::Int:
      return d_.integer(e.as<DimInt>().value);
    case DimExprKind::Name:
      return d_.of(symbol(e.as<DimName>().name));
    case DimExprKind::Paren:
      return dim(e.as<DimParen>().inner);
    case DimExprKind::Variadic:
      fail("a run of axes stands inside of a dim");
      return d_.integer(1);
    case DimExprKind::Binary:
      break;
  }
  const DimBinary node = e.as<DimBinary>();
  DimId left = dim(node.left), right = dim(node.right);
  switch (node.op) {
    case '+':
      return d_.value_add(left, right);
    case '-':
      return d_.value_sub(left, right);
    case '*':
      return d_.value_mul(left, right);
    case '/':
      return d_.value_div(left, right);
    default:
      return d_.mod(left, right);
  }
}

TypeId TypeReader::tensor(const TypeNamed& node) {
  std::vector<Axis> axes;
  int runs = 0;
  for (const TypeArg& arg : node.args) {
    if (!arg.dim.valid()) return fail("a tensor has a type among its dims");
    const DimExpr& e = s_.ast[arg.dim];
    bool run = e.kind() == DimExprKind::Variadic;
    runs += run ? 1 : 0;
    if (run) {
      axes.push_back({{}, d_.symbol(e.as<DimVariadic>().name, SymbolKind::Run)});
    } else {
      axes.push_back({dim(arg.dim), {}});
    }
  }
  return runs > 1 ? fail("a tensor has several runs of axes") : t_.tensor(std::move(axes));
}

TypeId TypeReader::named(const TypeNamed& node) {
  std::string_view name = s_.names.text(node.name);
  if (name == "Tensor") return tensor(node);
  if (name == "List" && node.args.size() == 1) {
    // A lone name parses as a dim.
    const TypeArg& arg = node.args[0];
    bool lone = arg.dim.valid() && s_.ast[arg.dim].kind() == DimExprKind::Name;
    if (lone) return t_.list(named(TypeNamed{s_.ast[arg.dim].as<DimName>().name, {}, false}));
    if (arg.type.valid()) return t_.list(type(arg.type));
  }
  if (!node.args.empty()) return fail("type `" + std::string(name) + "` is unknown");
  if (name == "Int") return t_.int_();
  if (name == "Dim") return t_.dim();
  if (name == "Float" || name == "F") return t_.float_();
  if (name == "Bool") return t_.bool_();
  if (name == "String" || name == "Str") return t_.string();
  if (name == "Path") return t_.path();
  if (name == "Null") return t_.null();
  if (name == "Any") return t_.any();
  if (name.find('.') != name.npos) return fail("type `" + std::string(name) + "` is unknown");
  return t_.variable(d_.symbol(node.name, SymbolKind::Type));
}

TypeId TypeReader::type(TypeExprId id) {
  const TypeExpr& e = s_.ast[id];
  switch (e.kind()) {
    case TypeExprKind::Optional:
      return t_.optional(type(e.as<TypeOptional>().inner));
    case TypeExprKind::List:
      return t_.list(type(e.as<TypeList>().item));
    case TypeExprKind::Tuple: {
      std::vector<TypeId> items;
      for (TypeExprId item : e.as<TypeTuple>().items) items.push_back(type(item));
      return items.size() == 1 ? items[0] : t_.tuple(std::move(items));
    }
    case TypeExprKind::Named:
      return named(e.as<TypeNamed>());
  }
  AXON_UNREACHABLE("type expression");
}

}  // namespace axon::sema
