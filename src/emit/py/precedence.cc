// Python's operators from the loosest to the tightest.
#include "emit/py/precedence.h"

namespace axon::emit::py {

int binding(std::string_view op) {
  if (op == "or") return kOr;
  if (op == "and") return kAnd;
  if (op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=" ||
      op == "is" || op == "is not" || op == "in" || op == "not in")
    return kCompare;
  if (op == "|") return 6;
  if (op == "^") return 7;
  if (op == "&") return 8;
  if (op == "+" || op == "-") return 10;
  if (op == "*" || op == "/" || op == "//" || op == "%" || op == "@") return 11;
  if (op == "**") return 13;
  return 0;
}

int binding(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::Conditional:
      return kConditional;
    case Expr::Kind::Binary:
      return binding(expr.text);
    case Expr::Kind::Unary:
      return expr.text == "not" ? kNot : kUnary;
    case Expr::Kind::Keyword:
    case Expr::Kind::Starred:
    case Expr::Kind::Slice:
    case Expr::Kind::ForIn:
      return 0;
    default:
      return kAtom;
  }
}

}  // namespace axon::emit::py
