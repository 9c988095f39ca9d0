// Syntax of a template: one struct for expressions, one for statements, in stores named by ids.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/ids.h"
#include "support/result.h"
#include "support/store.h"

namespace axon::text::tmpl {

AXON_ID(ExprId);
AXON_ID(StmtId);

enum class ExprKind : uint8_t {
  None,
  True,
  False,
  Int,
  Float,
  String,
  Name,
  List,
  Tuple,
  Dict,
  Neg,
  Pos,
  Not,
  Binary,
  Concat,
  Compare,
  And,
  Or,
  Cond,
  Filter,
  Test,
  Attr,
  Item,
  Slice,
  Call
};

struct KeywordArg {
  std::string name;
  ExprId value;
};

struct Expr {
  ExprKind kind = ExprKind::None;
  size_t offset = 0;  // byte in the template
  std::string text;   // Name, String, Attr, Filter, Test; Binary: the operator
  int64_t integer = 0;
  double number = 0;
  // Operands in order. Dict: key, value, …; Cond: value, condition, else (may be invalid);
  // Slice: object, from, to, step (each may be invalid); Filter, Test, Call: subject, then
  // arguments.
  std::vector<ExprId> items;
  std::vector<std::string> operators;  // Compare: between items
  std::vector<KeywordArg> keywords;
  ExprId star_args, star_kwargs;  // `*x`, `**x` of a call
  bool negated = false;           // Test: `is not`
};

enum class StmtKind : uint8_t {
  Text,
  Output,
  If,
  For,
  Set,
  SetBlock,
  Macro,
  CallBlock,
  FilterBlock,
  With,
  Generation,
  Break,
  Continue,
  Do
};

struct IfArm {
  ExprId condition;
  std::vector<StmtId> body;
};  // an invalid condition is `else`
struct MacroParam {
  std::string name;
  ExprId default_value;
};
// A name, an attribute of a namespace (`ns.x`), or a nested list of targets.
struct AssignTarget {
  std::string name;
  std::string attribute;
  std::vector<AssignTarget> items;
};

struct Stmt {
  StmtKind kind = StmtKind::Text;
  size_t offset = 0;
  std::string text;         // Text: the text; Macro: its name
  ExprId expr;              // Output, Set, Do, For: iterable, CallBlock: the call
  ExprId filter;            // For: `if` condition; SetBlock, FilterBlock: filters over `nothing`
  AssignTarget target;      // For, Set, SetBlock
  std::vector<IfArm> arms;  // If
  std::vector<StmtId> body, else_body;
  std::vector<MacroParam> params;  // Macro, CallBlock; With: names with values
  bool recursive = false;
};

struct Template {
  Store<ExprId, Expr> exprs;
  Store<StmtId, Stmt> stmts;
  std::vector<StmtId> body;
};

// Parses with blocks trimmed as chat templates expect (one newline after a block tag and blanks
// before one on its line are dropped; one newline at the end of the source too).
Result<Template> parse_template(const std::string& source);
// "TMPL-…" error at a byte of the template, with its line.
Error template_error(const char* code, const std::string& source, size_t offset,
                     std::string message);

}  // namespace axon::text::tmpl
