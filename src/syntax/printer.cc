// Canonical text of expressions (language.md 11.1, 11.3).
#include "syntax/printer.h"

#include "support/text.h"

namespace axon::syntax {
namespace {

std::string float_text(const Float& node, const Interner& names) {
  return node.lexeme.valid() ? std::string(names.text(node.lexeme)) : show_double(node.value);
}

}  // namespace

std::string string_text(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

void Printer::line(int column) {
  out_ += '\n';
  out_.append(static_cast<size_t>(column), ' ');
}

void Printer::comments_before(int32_t pos) {
  if (!margin_ || !margin_->has_before(pos)) return;
  while (!out_.empty() && out_.back() == ' ') out_.pop_back();
  margin_->put_before(pos, column_ + 2, Margin::Blank::None, out_);
  line(column_ + 2);
}

void Printer::print_expr(ExprId id, Slot slot, BinaryOp op) {
  ExprId inner = shape_.strip(id);
  bool written = inner != id && ast_[inner].kind() != ExprKind::Ascribe && !shape_.is_typed(inner);
  if (written || shape_.needs_parens(inner, slot, op)) {
    print_parens(inner);
  } else {
    print_bare(inner);
  }
}

void Printer::print_parens(ExprId inner) {
  out_ += '(';
  print_bare(inner);
  if (shape_.has_block(inner)) line(column_);
  out_ += ')';
}

// The expression without parentheses around it, but with its type in the typed form.
void Printer::print_bare(ExprId id) {
  if (!shape_.is_typed(id)) {
    print_node(id);
    return;
  }
  // The parentheses of an inner non-atomic expression come from asking as if it were untyped.
  Shape untyped(ast_, names_, nullptr);
  bool parens = untyped.needs_parens(id, Slot::Ascribed);
  out_ += parens ? "((" : "(";
  print_node(id);
  if (parens && shape_.has_block(id)) line(column_);
  if (parens) out_ += ')';
  out_ += " :: " + type_text((*types_)[static_cast<size_t>(id.index)], ast_, names_) + ")";
}

void Printer::print_node(ExprId id) {
  const Expr& expr = ast_[id];
  if (shape_.is_leaf(id)) comments_before(id);
  switch (expr.kind()) {
    case ExprKind::Name:
      return print_name(expr.as<Name>().name, expr.as<Name>().suffixes);
    case ExprKind::Int:
      out_ += std::to_string(expr.as<Int>().value);
      return;
    case ExprKind::Float:
      out_ += float_text(expr.as<Float>(), names_);
      return;
    case ExprKind::Bool:
      out_ += expr.as<Bool>().value ? "true" : "false";
      return;
    case ExprKind::Null:
      out_ += "null";
      return;
    case ExprKind::String:
      out_ += string_text(names_.text(expr.as<String>().value));
      return;
    case ExprKind::Path:
      out_ += render_path(expr.as<PathExpr>().path, names_);
      return;
    case ExprKind::List:
      out_ += '[';
      print_items(expr.as<List>().items);
      out_ += ']';
      return;
    case ExprKind::Tuple:
      out_ += '(';
      print_items(expr.as<Tuple>().items);
      out_ += ')';
      return;
    case ExprKind::Call:
      return print_call(expr.as<Call>());
    case ExprKind::Pipe:
      print_expr(expr.as<Pipe>().value, Slot::PipeValue);
      for (ExprId stage : expr.as<Pipe>().stages) {
        out_ += ' ';
        comments_before(stage);
        out_ += "|> ";
        print_expr(stage, Slot::PipeStage);
      }
      return;
    case ExprKind::BindExpr:
      print_expr(expr.as<BindExpr>().value, Slot::BindValue);
      out_ += " >>= \\" + text(expr.as<BindExpr>().var) + " -> ";
      return print_expr(expr.as<BindExpr>().body, Slot::Top);
    case ExprKind::If:
    case ExprKind::Ternary:
      return print_conditional(id);
    case ExprKind::Binary:
      return print_binary(id);
    case ExprKind::Lambda:
      out_ += "\\" + text(expr.as<Lambda>().var) + " -> ";
      return print_expr(expr.as<Lambda>().body, Slot::Top);
    case ExprKind::Paren:
      return print_parens(shape_.strip(id));
    case ExprKind::Ascribe:
      out_ += '(';
      print_expr(expr.as<Ascribe>().value, Slot::Ascribed);
      out_ += " :: " + type_text(expr.as<Ascribe>().type, ast_, names_) + ")";
      return;
    case ExprKind::Do:
      return print_do(expr.as<Do>());
  }
}

void Printer::print_items(const std::vector<ExprId>& items, Slot last) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out_ += ", ";
    print_expr(items[i], i + 1 < items.size() ? Slot::Item : last);
  }
}

void Printer::print_name(NameId name, const std::vector<PathLit>& suffixes) {
  out_ += text(name);
  for (const PathLit& path : suffixes) out_ += render_path(path, names_);
}

void Printer::print_call(const Call& call) {
  print_name(call.callee, call.suffixes);
  for (const Arg& arg : call.args) {
    out_ += ' ';
    comments_before(arg.keyword.valid() ? arg.keyword_span.begin : ast_[arg.value].span.begin);
    if (arg.keyword.valid()) out_ += text(arg.keyword) + "=";
    print_expr(arg.value, Slot::Arg);
  }
}

// Goes down the left operands in a loop: operator chains may be very long.
void Printer::print_binary(ExprId id) {
  std::vector<const Binary*> chain;
  ExprId left = id;
  while (true) {
    const Binary* node = ast_[left].get<Binary>();
    chain.push_back(node);
    left = node->left;
    bool goes_on = ast_[left].kind() == ExprKind::Binary && !shape_.is_typed(left) &&
                   !shape_.needs_parens(left, Slot::Left, node->op);
    if (!goes_on) break;
  }
  print_expr(left, Slot::Left, chain.back()->op);
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    out_ += " ";
    comments_before((*node)->right);
    out_ += spelling((*node)->op);
    out_ += " ";
    print_expr((*node)->right, Slot::Right, (*node)->op);
  }
}

// With a block inside, the branches stand on lines of their own.
void Printer::print_conditional(ExprId id) {
  const Expr& expr = ast_[id];
  const If* node = expr.get<If>();
  const Ternary* ternary = expr.get<Ternary>();
  bool block = shape_.has_block(id);
  int saved = block_indent_;
  if (block) block_indent_ = 4;
  auto next = [&](std::string_view word, ExprId branch) {
    if (block) {
      int32_t pos = ast_[branch].span.begin;
      if (margin_) margin_->put_before(pos, column_ + 2, Margin::Blank::None, out_);
      line(column_ + 2);
    } else {
      out_ += ' ';
      comments_before(branch);
    }
    out_ += word;
    out_ += ' ';
  };
  if (node) {
    out_ += "if ";
    print_expr(node->cond, Slot::BeforeStop);
    out_ += " then ";
    print_expr(node->then_value, Slot::Top);
    next("else", node->else_value);
    print_expr(node->else_value, Slot::Top);
  } else {
    print_expr(ternary->cond, Slot::Cond);
    next("?", ternary->then_value);
    print_expr(ternary->then_value, Slot::Top);
    next(":", ternary->else_value);
    print_expr(ternary->else_value, Slot::Top);
  }
  block_indent_ = saved;
}

void Printer::print_do(const Do& node) {
  out_ += "do";
  if (!shape_.is_inline_do(node)) {
    print_block(node.body, block_indent_);
    return;
  }
  for (size_t i = 0; i < node.body.size(); ++i) {
    out_ += i ? "; " : " ";
    bool last = i + 1 == node.body.size();
    const Stmt& stmt = ast_[node.body[i]];
    Slot end = last ? Slot::Top : Slot::BeforeStop;
    if (const Bind* bind = stmt.get<Bind>()) {
      print_targets(bind->targets);
      out_ += " <- ";
      print_bind_value(bind->value, end);
    } else {
      const std::vector<ExprId>& values =
          stmt.kind() == StmtKind::Return ? stmt.as<Return>().values : stmt.as<Yield>().values;
      out_ += stmt.kind() == StmtKind::Return ? "return " : "yield ";
      print_items(values, end);
    }
  }
}

}  // namespace axon::syntax
