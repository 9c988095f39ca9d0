// Canonical text of files, paths and types (language.md 11.1).
#include "syntax/render.h"

#include "syntax/path_text.h"
#include "syntax/printer.h"

namespace axon::syntax {
namespace {

std::string dim_text(DimExprId id, const Ast& ast, const Interner& names);

int dim_level(const DimExpr& dim) {
  if (dim.kind() != DimExprKind::Binary) return 3;
  char op = dim.as<DimBinary>().op;
  return op == '+' || op == '-' ? 1 : 2;
}

// A minus sign is one only at the beginning of a dim or of a bracket.
bool starts_negative(DimExprId id, const Ast& ast) {
  while (ast[id].kind() == DimExprKind::Binary) id = ast[id].as<DimBinary>().left;
  return ast[id].kind() == DimExprKind::Int && ast[id].as<DimInt>().value < 0;
}

std::string dim_operand(DimExprId id, bool parens, const Ast& ast, const Interner& names) {
  std::string text = dim_text(id, ast, names);
  return parens && ast[id].kind() != DimExprKind::Paren ? "(" + text + ")" : text;
}

DimExprId strip_dim(DimExprId id, const Ast& ast) {
  while (ast[id].kind() == DimExprKind::Paren) id = ast[id].as<DimParen>().inner;
  return id;
}

// Goes down the left operands in a loop, as for expressions.
std::string dim_chain(DimExprId id, const Ast& ast, const Interner& names) {
  std::vector<const DimBinary*> chain;
  while (true) {
    const DimBinary& node = ast[id].as<DimBinary>();
    chain.push_back(&node);
    id = node.left;
    bool goes_on =
        ast[id].kind() == DimExprKind::Binary && dim_level(ast[id]) >= dim_level({node, {}});
    if (!goes_on) break;
  }
  std::string out =
      dim_operand(id, dim_level(ast[id]) < dim_level({*chain.back(), {}}), ast, names);
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    const DimExpr& right = ast[(*node)->right];
    bool parens =
        dim_level(right) <= dim_level({**node, {}}) || starts_negative((*node)->right, ast);
    out += std::string(" ") + (*node)->op + " " + dim_operand((*node)->right, parens, ast, names);
  }
  return out;
}

std::string dim_text(DimExprId id, const Ast& ast, const Interner& names) {
  const DimExpr& dim = ast[id];
  switch (dim.kind()) {
    case DimExprKind::Int:
      return std::to_string(dim.as<DimInt>().value);
    case DimExprKind::Name:
      return std::string(names.text(dim.as<DimName>().name));
    case DimExprKind::Variadic:
      return ".." + std::string(names.text(dim.as<DimVariadic>().name));
    case DimExprKind::Binary:
      return dim_chain(id, ast, names);
    case DimExprKind::Paren:
      return "(" + dim_text(strip_dim(id, ast), ast, names) + ")";
  }
  AXON_UNREACHABLE("every kind has a case");
}

// A lone name in parentheses would read as the beginning of a tuple type.
std::string arg_text(const TypeArg& arg, const Ast& ast, const Interner& names) {
  return arg.type.valid() ? type_text(arg.type, ast, names) : dim_text(arg.dim, ast, names);
}

std::string named_text(const TypeNamed& node, const Ast& ast, const Interner& names) {
  std::string out(names.text(node.name));
  if (node.args.empty()) return out;
  for (size_t i = 0; i < node.args.size(); ++i)
    out += (i ? "," : "[") + arg_text(node.args[i], ast, names);
  return out + "]";
}

std::string segments_text(const PathLit& path, const Interner& names) {
  std::string out;
  for (const PathPiece& piece : path.pieces) {
    if (!out.empty() && !piece.joined) out += '.';
    std::string_view text = names.text(piece.text);
    out += piece.placeholder ? "{" + std::string(text) + "}" : std::string(text);
  }
  return out;
}

bool prints_bare(const PathLit& path, const Interner& names) {
  for (const PathPiece& piece : path.pieces) {
    if (piece.placeholder || piece.joined || !is_segment(names.text(piece.text))) return false;
  }
  return !path.pieces.empty();
}

}  // namespace

std::string scope_text(const PathLit& path, const Interner& names) {
  return segments_text(path, names);
}

std::string render_path(const PathLit& path, const Interner& names) {
  std::string out = path.absolute ? "@@" : "@";
  std::string text = segments_text(path, names);
  if (prints_bare(path, names)) return out + text;
  out += '\'';
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string type_text(TypeExprId id, const Ast& ast, const Interner& names) {
  const TypeExpr& type = ast[id];
  switch (type.kind()) {
    case TypeExprKind::Optional:
      return "?" + type_text(type.as<TypeOptional>().inner, ast, names);
    case TypeExprKind::List:
      return "List[" + type_text(type.as<TypeList>().item, ast, names) + "]";
    case TypeExprKind::Named:
      return named_text(type.as<TypeNamed>(), ast, names);
    case TypeExprKind::Tuple:
      break;
  }
  std::string out = "(";
  const std::vector<TypeExprId>& items = type.as<TypeTuple>().items;
  for (size_t i = 0; i < items.size(); ++i)
    out += (i ? ", " : "") + type_text(items[i], ast, names);
  return out + ")";
}

std::string render_type(TypeExprId type, const Ast& ast, const Interner& names) {
  return type_text(type, ast, names);
}

std::string render_expr(ExprId expr, const Ast& ast, const Interner& names) {
  Printer printer(ast, names, {});
  printer.print_expr(expr, Slot::Top);
  return printer.take();
}

std::string render_definition(const Definition& definition, const Ast& ast, const Interner& names,
                              const RenderOptions& options) {
  Printer printer(ast, names, options);
  printer.print_definition(definition);
  return printer.take();
}

std::string render(const Module& module, const Ast& ast, const Interner& names,
                   const RenderOptions& options) {
  std::string out;
  auto block = [&](const std::string& text) {
    if (!out.empty() && !text.empty()) out += '\n';
    out += text;
  };
  Printer items(ast, names, options);
  for (const Pragma& pragma : module.pragmas) items.print_pragma(pragma);
  block(items.take());
  for (const Import& import : module.imports) items.print_import(import);
  block(items.take());
  if (module.has_export) items.print_export(module.exports);
  block(items.take());
  for (const TypeAlias& alias : module.aliases) items.print_alias(alias);
  block(items.take());
  bool after_global = false;
  for (const Definition& definition : module.definitions) {
    items.print_definition(definition);
    std::string shown = items.take();
    bool one_line = definition.is_global && shown.find('\n') == shown.size() - 1;
    if (after_global && one_line) {
      out += shown;
    } else {
      block(shown);
    }
    after_global = one_line;
  }
  return out;
}

}  // namespace axon::syntax
