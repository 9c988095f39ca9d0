// Canonical text of statements and definitions (language.md 11.1).
#include "syntax/printer.h"

namespace axon::syntax {

// The lines of a block whose `do` has been printed, `indent` deeper than the current statement.
void Printer::print_block(const std::vector<StmtId>& body, int indent) {
  int column = column_;
  int block_indent = block_indent_;
  column_ = column + indent;
  block_indent_ = 2;
  for (StmtId id : body) {
    line(column_);
    print_statement(id);
  }
  column_ = column;
  block_indent_ = block_indent;
}

void Printer::print_statement(StmtId id) {
  const Stmt& stmt = ast_[id];
  switch (stmt.kind()) {
    case StmtKind::Bind:
      print_targets(stmt.as<Bind>().targets);
      out_ += " <- ";
      return print_bind_value(stmt.as<Bind>().value);
    case StmtKind::Return:
      out_ += "return ";
      return print_items(stmt.as<Return>().values);
    case StmtKind::Yield:
      out_ += "yield ";
      return print_items(stmt.as<Yield>().values);
    case StmtKind::If:
      return print_if(stmt.as<IfStmt>());
    case StmtKind::Loop:
      return print_loop(stmt.as<Loop>());
    case StmtKind::ScopeBind:
      return print_scope(stmt.as<ScopeBind>());
  }
}

void Printer::print_targets(const std::vector<Target>& targets) {
  for (size_t i = 0; i < targets.size(); ++i) out_ += (i ? ", " : "") + text(targets[i].name);
}

// Directly after `<-` the words `for` and `scope` are keywords.
void Printer::print_bind_value(ExprId value, Slot slot) {
  if (shape_.starts_with(value, {"for", "scope"})) {
    print_parens(shape_.strip(value));
  } else {
    print_expr(value, slot);
  }
}

void Printer::print_if(const IfStmt& node) {
  out_ += "if ";
  print_expr(node.cond, Slot::BeforeStop);
  out_ += " then do";
  print_block(node.then_body, 2);
  line(column_);
  out_ += "else do";
  print_block(node.else_body, 2);
}

void Printer::print_scope(const ScopeBind& scope) {
  print_targets(scope.targets);
  out_ += " <- scope" + render_path(scope.path, names_) + " do";
  print_block(scope.body, 2);
}

// One yield prints as an expression, unless that would read as something else: a lone tuple as
// several values, a do-expression as the loop's block, a first word as part of the header.
bool Printer::prints_inline(const Loop& loop) const {
  if (loop.body.size() != 1 || ast_[loop.body[0]].kind() != StmtKind::Yield) return false;
  const std::vector<ExprId>& values = ast_[loop.body[0]].as<Yield>().values;
  if (values.size() != 1) return true;
  const Expr& value = ast_[shape_.strip(values[0])];
  if (value.kind() == ExprKind::Do) return false;
  if (value.kind() == ExprKind::Tuple) return shape_.is_typed(shape_.strip(values[0]));
  return !shape_.starts_negative(values[0]) &&
         !shape_.starts_with(values[0], {"step", "carry", "and", "or", "do"});
}

void Printer::print_loop(const Loop& loop) {
  if (loop.has_targets) {
    print_targets(loop.targets);
    out_ += " <- ";
  }
  out_ += "for";
  if (loop.has_scope) out_ += "@" + scope_text(loop.scope, names_);
  out_ += " " + text(loop.var) + " <- [";
  print_expr(loop.from, Slot::BeforeStop);
  out_ += "..";
  print_expr(loop.to, Slot::Top);
  out_ += ')';
  const Expr& step = ast_[shape_.strip(loop.step)];
  if (step.kind() != ExprKind::Int || step.as<Int>().value != 1) {
    out_ += " step=";
    print_expr(loop.step, Slot::Arg);
  }
  if (loop.has_carry) {
    out_ += " carry (";
    print_targets(loop.carry);
    out_ += ')';
  }
  if (!prints_inline(loop)) {
    out_ += " do";
    print_block(loop.body, 2);
    return;
  }
  const std::vector<ExprId>& values = ast_[loop.body[0]].as<Yield>().values;
  out_ += ' ';
  if (values.size() == 1) {
    print_expr(values[0], Slot::Top);
  } else {
    out_ += '(';
    print_items(values);
    out_ += ')';
  }
}

// ---- definitions ---------------------------------------------------------------------------

void Printer::print_signature(const Definition& definition) {
  bool typed = definition.return_type.valid();
  for (const Param& param : definition.params) typed = typed || param.type.valid();
  if (!typed || definition.is_global) return;
  out_ += text(definition.name) + " ::";
  for (size_t i = 0; i < definition.path_params.size(); ++i) out_ += " Path ->";
  for (const Param& param : definition.params) {
    bool optional = param.optional && param.type.valid();
    out_ += optional ? " ?" : " ";
    out_ += (param.type.valid() ? type_text(param.type, ast_, names_) : "Any") + " ->";
  }
  out_ +=
      " " +
      (definition.return_type.valid() ? type_text(definition.return_type, ast_, names_) : "Any") +
      "\n";
}

void Printer::print_params(const Definition& definition) {
  for (NameId name : definition.path_params) out_ += "@" + text(name);
  for (const Param& param : definition.params) {
    if (param.default_value.valid()) {
      out_ += " ?" + text(param.name) + "=";
      print_expr(param.default_value, Slot::Default);
    } else {
      out_ += " " + text(param.name);
    }
  }
}

void Printer::print_definition(const Definition& definition) {
  print_signature(definition);
  out_ += text(definition.name);
  print_params(definition);
  out_ += definition.is_global ? " <- " : " = ";
  if (definition.statement_body) {
    out_ += "do";
    print_block(definition.body, 2);
  } else {
    print_expr(definition.body_expr, Slot::Top);
  }
  out_ += '\n';
}

}  // namespace axon::syntax
