// Expressions on one line: precedence, quoting, spacing.
#include <cctype>

#include "emit/py/precedence.h"
#include "emit/py/print.h"
#include "support/check.h"

namespace axon::emit::py {
namespace {

std::string join_flat(const std::vector<Expr>& items, size_t from) {
  std::string out;
  for (size_t i = from; i < items.size(); ++i) {
    if (i > from) out += ", ";
    out += flat(items[i]);
  }
  return out;
}

std::string within(const Expr& expr, int least) {
  std::string out = flat(expr);
  return binding(expr) < least ? "(" + out + ")" : out;
}

std::string quoted(const std::string& characters) {
  bool has_double = characters.find('"') != std::string::npos;
  bool has_single = characters.find('\'') != std::string::npos;
  char quote = has_double && !has_single ? '\'' : '"';
  std::string out(1, quote);
  for (char c : characters) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

// Names, numbers and dotted names stand without blanks around `**`; names and numbers around `:`.
bool is_simple(const Expr& expr, bool attributes) {
  if (expr.kind == Expr::Kind::Attribute) return attributes && is_simple(expr.items[0], true);
  if (expr.kind == Expr::Kind::Unary) return is_simple(expr.items[0], attributes);
  return expr.kind == Expr::Kind::Atom;
}

std::string flat_binary(const Expr& expr) {
  int strength = binding(expr.text);
  bool power = expr.text == "**";
  std::string left = within(expr.items[0], power ? strength + 1 : strength);
  std::string right = within(expr.items[1], power ? kUnary : strength + 1);
  bool tight = power && is_simple(expr.items[0], true) && is_simple(expr.items[1], true);
  return left + (tight ? expr.text : " " + expr.text + " ") + right;
}

std::string flat_slice(const Expr& expr) {
  bool simple = true;
  for (const Expr& item : expr.items) simple &= is_simple(item, false);
  std::string out;
  for (size_t i = 0; i < expr.items.size(); ++i) {
    std::string part = flat(expr.items[i]);
    if (i > 0) out += simple || out.empty() ? ":" : " :";
    if (i > 0 && !simple && !part.empty()) out += " ";
    out += part;
  }
  return out;
}

}  // namespace

std::string flat(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::Atom:
      return expr.text;
    case Expr::Kind::String:
      return quoted(expr.text);
    case Expr::Kind::Call:
      return within(expr.items[0], kAtom) + "(" + join_flat(expr.items, 1) + ")";
    case Expr::Kind::Keyword:
      return expr.text + "=" + flat(expr.items[0]);
    case Expr::Kind::Starred:
      return (expr.text.empty() ? "*" : expr.text) + within(expr.items[0], kAtom);
    case Expr::Kind::Attribute: {
      bool number = expr.items[0].kind == Expr::Kind::Atom && !expr.items[0].text.empty() &&
                    std::isdigit(static_cast<unsigned char>(expr.items[0].text[0]));
      std::string of = within(expr.items[0], kAtom);
      return (number ? "(" + of + ")" : of) + "." + expr.text;
    }
    case Expr::Kind::Index:
      return within(expr.items[0], kAtom) + "[" + join_flat(expr.items, 1) + "]";
    case Expr::Kind::Slice:
      return flat_slice(expr);
    case Expr::Kind::Unary: {
      bool word = expr.text == "not";
      return expr.text + (word ? " " : "") + within(expr.items[0], word ? kNot : kUnary);
    }
    case Expr::Kind::Binary:
      return flat_binary(expr);
    case Expr::Kind::Conditional:
      return within(expr.items[0], kOr) + " if " + within(expr.items[1], kOr) + " else " +
             within(expr.items[2], kConditional);
    case Expr::Kind::Tuple:
      if (expr.items.size() == 1) return "(" + flat(expr.items[0]) + ",)";
      return "(" + join_flat(expr.items, 0) + ")";
    case Expr::Kind::List:
      return "[" + join_flat(expr.items, 0) + "]";
    case Expr::Kind::Dict: {
      std::string out;
      for (size_t i = 0; i < expr.items.size(); i += 2) {
        if (i > 0) out += ", ";
        out += flat(expr.items[i]) + ": " + flat(expr.items[i + 1]);
      }
      return "{" + out + "}";
    }
    case Expr::Kind::ForIn:
      return flat(expr.items[0]) + " for " + flat(expr.items[1]) + " in " + flat(expr.items[2]);
  }
  AXON_UNREACHABLE("kinds of expressions");
}

}  // namespace axon::emit::py
