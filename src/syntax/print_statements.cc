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
    Margin::Blank blank = id == body.front() ? Margin::Blank::None : Margin::Blank::Keep;
    if (margin_) {
      margin_->start_line(ast_[id].span.begin, column_, blank, out_);
    } else {
      line(column_);
    }
    print_statement(id);
  }
  if (margin_)
    margin_->end_block(ast_[body.front()].span.begin, ast_[body.back()].span.end, column_, out_);
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
  if (margin_) {
    int32_t pos = margin_->next_code(ast_[node.then_body.back()].span.end);
    margin_->start_line(pos, column_, Margin::Blank::None, out_);
  } else {
    line(column_);
  }
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
  if (margin_ && !loop.is_inline) return false;
  if (loop.body.size() != 1 || ast_[loop.body[0]].kind() != StmtKind::Yield) return false;
  const std::vector<ExprId>& values = ast_[loop.body[0]].as<Yield>().values;
  if (values.size() != 1) return true;
  const Expr& value = ast_[shape_.strip(values[0])];
  if (value.kind() == ExprKind::Do) return false;
  if (value.kind() == ExprKind::Tuple) return shape_.is_typed(shape_.strip(values[0]));
  return !shape_.starts_negative(values[0]) &&
         !shape_.starts_with(values[0], {"step", "carry", "and", "or", "do"});
}

// A bound to which the parser added 1 (language.md 4.6) is printed without it where the source is
// meant; only there one place holds all three expressions.
ExprId Printer::bound_as_written(ExprId bound) const {
  const Binary* sum = margin_ ? ast_[bound].get<Binary>() : nullptr;
  bool added = sum && ast_[sum->right].span == ast_[sum->left].span && sum->op == BinaryOp::Add;
  if (!added) return bound;
  const Paren* paren = ast_[sum->left].get<Paren>();
  bool paren_added = paren && ast_[paren->inner].span == ast_[sum->left].span;
  return paren_added ? paren->inner : sum->left;
}

void Printer::print_loop(const Loop& loop) {
  if (loop.has_targets) {
    print_targets(loop.targets);
    out_ += " <- ";
  }
  out_ += "for";
  if (loop.has_scope) out_ += "@" + scope_text(loop.scope, names_);
  ExprId from = bound_as_written(loop.from);
  ExprId to = bound_as_written(loop.to);
  out_ += " " + text(loop.var) + " <- " + (from == loop.from ? '[' : '(');
  print_expr(from, Slot::BeforeStop);
  out_ += "..";
  print_expr(to, Slot::Top);
  out_ += to == loop.to ? ')' : ']';
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
  out_ += text(definition.name);
  if (margin_ && definition.fixed_scope) print_fixed_scope(definition);
  out_ += " ::";
  for (size_t i = 0; i < definition.path_params.size(); ++i) out_ += " Path ->";
  std::string arrow = " ";
  auto type = [&](TypeExprId id, bool optional) {
    out_ += ' ';
    if (id.valid()) comments_before(ast_[id].span.begin);
    out_ += arrow.substr(1);
    out_ += optional && id.valid() ? "?" : "";
    out_ += id.valid() ? type_text(id, ast_, names_) : "Any";
    arrow = " -> ";
  };
  for (const Param& param : definition.params) type(param.type, param.optional);
  type(definition.return_type, false);
  if (margin_) {
    margin_->start_line(definition.name_span.begin, 0, Margin::Blank::None, out_);
  } else {
    out_ += '\n';
  }
}

// The scope in the head of the definition as it was written (language.md 8.4).
void Printer::print_fixed_scope(const Definition& definition) {
  for (const PathPiece& piece : ast_[definition.body[0]].as<ScopeBind>().path.pieces)
    out_ += "@" + text(piece.text);
}

void Printer::print_params(const Definition& definition) {
  for (NameId name : definition.path_params) out_ += "@" + text(name);
  for (const Param& param : definition.params) {
    // Without a type, only a default says that it may be left out.
    bool bare = param.optional && !param.type.valid() && !param.default_value.valid();
    out_ += ' ';
    comments_before(param.span.begin);
    out_ += (param.default_value.valid() || bare ? "?" : "") + text(param.name);
    if (bare) out_ += "=null";
    if (!param.default_value.valid()) continue;
    out_ += '=';
    print_expr(param.default_value, Slot::Default);
  }
}

void Printer::print_definition(const Definition& definition) {
  print_signature(definition);
  out_ += text(definition.name);
  bool fixed = margin_ && definition.fixed_scope;
  if (fixed) print_fixed_scope(definition);
  print_params(definition);
  out_ += definition.is_global ? " <- " : " = ";
  // The body that a fixed scope was put around; a lone expression became a return at the name.
  const std::vector<StmtId>& body =
      fixed ? ast_[definition.body[0]].as<ScopeBind>().body : definition.body;
  bool was_expr = fixed && ast_[body[0]].span == definition.name_span;
  if (definition.statement_body && !was_expr) {
    out_ += "do";
    print_block(body, 2);
  } else {
    print_expr(was_expr ? ast_[body[0]].as<Return>().values[0] : definition.body_expr, Slot::Top);
  }
  end_item();
}

}  // namespace axon::syntax
