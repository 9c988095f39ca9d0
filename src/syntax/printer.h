// The printer behind render.h. Internal to the syntax layer.
#pragma once

#include <string>

#include "syntax/margin.h"
#include "syntax/render.h"
#include "syntax/shape.h"

namespace axon::syntax {

std::string type_text(TypeExprId type, const Ast& ast, const Interner& names);
// A path as a for-scope has it, without `@`: `layers.{i}`.
std::string scope_text(const PathLit& path, const Interner& names);
std::string string_text(std::string_view value);

class Printer {
 public:
  // With a margin the text is that of the source file: comments and blank lines stay, and what the
  // parser made of shorter forms (ranges, fixed scopes) prints as it was written.
  Printer(const Ast& ast, const Interner& names, const RenderOptions& options,
          Margin* margin = nullptr)
      : ast_(ast),
        names_(names),
        types_(options.types),
        shape_(ast, names, options.types),
        margin_(margin) {}

  void print_definition(const Definition& definition);
  void print_pragma(const Pragma& pragma);
  void print_import(const Import& import);
  void print_export(const std::vector<ImportMember>& members);
  void print_alias(const TypeAlias& alias);
  // Starts the line of an item of a file with a margin.
  void start_item(int32_t pos, Margin::Blank blank) { margin_->start_line(pos, 0, blank, out_); }
  void print_rest() { margin_->put_rest(out_); }
  void print_expr(ExprId id, Slot slot, BinaryOp op = BinaryOp::Add);
  std::string take();

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
  void print_members(const std::vector<ImportMember>& members);
  void end_item();
  void print_signature(const Definition& definition);
  void print_fixed_scope(const Definition& definition);
  ExprId bound_as_written(ExprId bound) const;

  void line(int column);
  // Comments before `pos`; when there are any, the statement goes on in a new line.
  void comments_before(int32_t pos);
  void comments_before(ExprId id) { comments_before(ast_[id].span.begin); }
  std::string text(NameId name) const { return std::string(names_.text(name)); }

  const Ast& ast_;
  const Interner& names_;
  const std::vector<TypeExprId>* types_;
  Shape shape_;
  Margin* margin_;
  std::string out_;
  int column_ = 0;        // of the current statement
  int block_indent_ = 2;  // of a block in the current statement, relative to it
};

}  // namespace axon::syntax
