// The printer behind render.h. Internal to the syntax layer.
#pragma once

#include <string>

#include "syntax/render.h"
#include "syntax/shape.h"

namespace axon::syntax {

std::string type_text(TypeExprId type, const Ast& ast, const Interner& names);
// A path as a for-scope has it, without `@`: `layers.{i}`.
std::string scope_text(const PathLit& path, const Interner& names);
std::string string_text(std::string_view value);

class Printer {
 public:
  Printer(const Ast& ast, const Interner& names, const RenderOptions& options)
      : ast_(ast), names_(names), types_(options.types), shape_(ast, names, options.types) {}

  void print_definition(const Definition& definition);
  void print_expr(ExprId id, Slot slot, BinaryOp op = BinaryOp::Add);
  std::string take() { return std::move(out_); }

 private:
  // printer.cc: expressions
  void print_bare(ExprId id);
  void print_node(ExprId id);
  void print_parens(ExprId inner);
  void print_name(NameId name, const std::vector<PathLit>& suffixes);
  void print_call(const Call& call);
  void print_binary(ExprId id);
  void print_conditional(ExprId id);
  void print_items(const std::vector<ExprId>& items, Slot last = Slot::Top);
  void print_do(const Do& node);

  // print_statements.cc
  void print_block(const std::vector<StmtId>& body, int indent);
  void print_statement(StmtId id);
  void print_targets(const std::vector<Target>& targets);
  void print_bind_value(ExprId value, Slot slot = Slot::Top);
  void print_loop(const Loop& loop);
  bool prints_inline(const Loop& loop) const;
  void print_scope(const ScopeBind& scope);
  void print_if(const IfStmt& node);
  void print_params(const Definition& definition);
  void print_signature(const Definition& definition);

  void line(int column);
  std::string text(NameId name) const { return std::string(names_.text(name)); }

  const Ast& ast_;
  const Interner& names_;
  const std::vector<TypeExprId>* types_;
  Shape shape_;
  std::string out_;
  int column_ = 0;        // of the current statement
  int block_indent_ = 2;  // of a block in the current statement, relative to it
};

}  // namespace axon::syntax
