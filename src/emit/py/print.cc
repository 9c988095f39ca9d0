// Statements, indentation and line breaking.
#include "emit/py/print.h"

#include <algorithm>

#include "emit/py/precedence.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::emit::py {
namespace {

// What stands before a dot that a chain may be broken at: a call, an index or parentheses.
bool ends_in_bracket(const Expr& expr) {
  return expr.kind == Expr::Kind::Call || expr.kind == Expr::Kind::Index ||
         (binding(expr) > 0 && binding(expr) < kAtom);
}

// Such attributes: `a(x).b(y).c` has two.
size_t chain_length(const Expr& expr) {
  if (expr.kind == Expr::Kind::Call || expr.kind == Expr::Kind::Index)
    return chain_length(expr.items[0]);
  if (expr.kind != Expr::Kind::Attribute) return 0;
  const Expr& of = expr.items[0];
  return chain_length(of) + (ends_in_bracket(of) ? 1 : 0);
}

bool is_tuple_text(const Expr& expr) {
  return expr.kind == Expr::Kind::Tuple && expr.items.size() > 1;
}

// A tuple without its parentheses, as targets and results stand.
std::string bare(const Expr& expr) {
  std::string out = flat(expr);
  return is_tuple_text(expr) ? out.substr(1, out.size() - 2) : out;
}

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void body(const std::vector<Stmt>& statements, size_t indent) {
    for (size_t i = 0; i < statements.size(); ++i) {
      if (i > 0) blank_lines(separation(statements, i, indent));
      statement(statements[i], indent);
    }
  }

 private:
  static bool is_definition(const Stmt& s) {
    return s.kind == Stmt::Kind::Def || s.kind == Stmt::Kind::Class ||
           s.kind == Stmt::Kind::Verbatim;
  }

  // Blank lines between statement i and the one before.
  static size_t separation(const std::vector<Stmt>& all, size_t i, size_t indent) {
    const Stmt &before = all[i - 1], &here = all[i];
    if (here.kind == Stmt::Kind::Blank || before.kind == Stmt::Kind::Blank) return 0;
    size_t wide = indent == 0 ? 2 : 1;
    bool heads =
        here.kind == Stmt::Kind::Comment && i + 1 < all.size() && is_definition(all[i + 1]);
    if (before.kind == Stmt::Kind::Comment && is_definition(here)) return 0;
    if (is_definition(before) || is_definition(here) || heads) return wide;
    if (indent == 0 && before.kind == Stmt::Kind::Docstring) return 1;
    if (indent == 0 && before.kind == Stmt::Kind::Import && here.kind != Stmt::Kind::Import)
      return 1;
    return 0;
  }

  void blank_lines(size_t n) { out_.append(n, '\n'); }

  void line(size_t indent, std::string_view text) {
    out_.append(indent, ' ');
    out_ += text;
    out_ += '\n';
  }

  static bool fits(size_t indent, std::string_view text) {
    size_t columns = indent;  // code points, not bytes
    for (char c : text) columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return columns <= kLineWidth;
  }

  // ---- expressions ---------------------------------------------------------------------------

  // Items between brackets: on one line if they fit, else one a line with a closing comma.
  void items(size_t indent, const std::vector<Expr>& all, size_t from) {
    std::string together;
    for (size_t i = from; i < all.size(); ++i) together += (i > from ? ", " : "") + flat(all[i]);
    bool alone = all.size() == from + 1 && all[from].kind == Expr::Kind::ForIn;
    if (fits(indent, together)) return line(indent, together);
    for (size_t i = from; i < all.size(); ++i) item(indent, all[i], alone ? "" : ",");
  }

  void item(size_t indent, const Expr& expr, std::string_view tail) {
    if (expr.kind == Expr::Kind::Keyword)
      return broken(indent, expr.text + "=", expr.items[0], tail, false);
    broken(indent, "", expr, tail, false);
  }

  // `head expr tail`, over several lines if it must be. `wrap`: parentheses may be put around.
  void broken(size_t indent, std::string head, const Expr& expr, std::string_view tail, bool wrap) {
    std::string whole = head + (wrap ? bare(expr) : flat(expr)) + std::string(tail);
    if (fits(indent, whole)) return line(indent, whole);
    if (!(wrap && chain_length(expr) > 1) && trailers(indent, head, expr, tail)) return;
    if (expr.kind == Expr::Kind::Tuple || expr.kind == Expr::Kind::List) {
      bool is_tuple = expr.kind == Expr::Kind::Tuple;
      line(indent, head + (is_tuple ? "(" : "["));
      items(indent + 4, expr.items, 0);
      return line(indent, std::string(is_tuple ? ")" : "]") + std::string(tail));
    }
    if (expr.kind == Expr::Kind::Dict) {
      line(indent, head + "{");
      for (size_t i = 0; i + 1 < expr.items.size(); i += 2)
        broken(indent + 4, flat(expr.items[i]) + ": ", expr.items[i + 1], ",", false);
      return line(indent, "}" + std::string(tail));
    }
    if (!wrap) return pieces(indent, head, expr, tail);
    if (starts_in_parentheses(expr)) {
      std::string behind = " " + expr.text + " " + flat(expr.items[1]) + std::string(tail);
      if (trailers(indent, head, expr.items[0], behind)) return;
    }
    if (ends_in_call(expr)) {
      const Expr& call = expr.items[1];
      std::string before = head + flat(expr.items[0]) + " " + expr.text + " ";
      if (fits(indent, before + flat(call.items[0]) + "(") && trailers(indent, before, call, tail))
        return;
    }
    line(indent, head + "(");
    pieces(indent + 4, "", expr, "");
    line(indent, ")" + std::string(tail));
  }

  // `a / f(b)`: the one operator of its strength, before a call with arguments.
  static bool ends_in_call(const Expr& expr) {
    if (expr.kind != Expr::Kind::Binary) return false;
    const Expr &left = expr.items[0], &right = expr.items[1];
    const bool again = left.kind == Expr::Kind::Binary && binding(left) == binding(expr);
    return !again && right.kind == Expr::Kind::Call && right.items.size() > 1;
  }

  // `(a + b).f() * c`: one operator behind an operand that begins with a parenthesis.
  static bool starts_in_parentheses(const Expr& expr) {
    if (expr.kind != Expr::Kind::Binary || expr.items[1].kind == Expr::Kind::Binary) return false;
    const Expr* here = &expr.items[0];
    if (here->kind != Expr::Kind::Call && here->kind != Expr::Kind::Attribute) return false;
    while (here->kind == Expr::Kind::Call || here->kind == Expr::Kind::Attribute)
      here = &here->items[0];
    return binding(*here) < kAtom;
  }

  // Splits within the last bracket before which the line fits: `f(\n…\n)`, `f(\n…\n).g(x)`.
  bool trailers(size_t indent, const std::string& head, const Expr& expr, std::string_view tail) {
    std::string behind(tail);
    const Expr* here = &expr;
    for (;;) {
      bool is_call = here->kind == Expr::Kind::Call, is_index = here->kind == Expr::Kind::Index;
      if (!is_call && !is_index && here->kind != Expr::Kind::Attribute) break;
      std::string open = head + flat(here->items[0]) + (is_call ? "(" : "[");
      if (here->kind != Expr::Kind::Attribute && here->items.size() > 1 && fits(indent, open)) {
        line(indent, open);
        items(indent + 4, here->items, 1);
        line(indent, (is_call ? ")" : "]") + behind);
        return true;
      }
      Expr shell = *here;
      shell.items[0] = atom("");
      behind = flat(shell) + behind;
      here = &here->items[0];
    }
    if (here == &expr || binding(*here) == kAtom) return false;
    line(indent, head + "(");
    pieces(indent + 4, "", *here, "");
    line(indent, ")" + behind);
    return true;
  }

  // Within brackets: split at operators or at the dots of a chain.
  void pieces(size_t indent, const std::string& head, const Expr& expr, std::string_view tail) {
    std::string whole = head + flat(expr) + std::string(tail);
    if (fits(indent, whole)) return line(indent, whole);
    std::vector<std::string> parts;
    if (expr.kind == Expr::Kind::Binary) {
      split(indent, "", expr, binding(expr.text), parts);
    } else if (expr.kind == Expr::Kind::Conditional) {
      parts = {flat(expr.items[0]), "if " + flat(expr.items[1]), "else " + flat(expr.items[2])};
    } else if (expr.kind == Expr::Kind::ForIn) {
      parts = {flat(expr.items[0]), "for " + flat(expr.items[1]) + " in " + flat(expr.items[2])};
    } else if (chain_length(expr) > 1) {
      chain(expr, parts);
    } else {
      parts = {flat(expr)};
    }
    parts.front() = head + parts.front();
    parts.back() += tail;
    for (const std::string& part : parts) line(indent, part);
  }

  // The operands of operators of one strength, each on a line with the operator before it; those
  // that are too long split at tighter operators.
  static void split(size_t indent, const std::string& head, const Expr& expr, int strength,
                    std::vector<std::string>& parts) {
    const bool binary = expr.kind == Expr::Kind::Binary;
    const int own = binding(expr);
    if (!binary || own != strength || !head.empty()) {
      std::string part = flat(expr);
      if (own < strength || (own == strength && !head.empty())) part = "(" + part + ")";
      part = head + part;
      if (!binary || own <= strength || fits(indent, part)) return parts.push_back(part);
      const size_t first = parts.size();
      split(indent, "", expr, own, parts);
      parts[first] = head + parts[first];
      return;
    }
    split(indent, "", expr.items[0], strength, parts);
    split(indent, expr.text + " ", expr.items[1], strength, parts);
  }

  static void chain(const Expr& expr, std::vector<std::string>& parts) {
    if (chain_length(expr) == 0) {
      parts.push_back(binding(expr) < kAtom ? "(" + flat(expr) + ")" : flat(expr));
      return;
    }
    std::string tail;
    const Expr* here = &expr;
    for (;;) {
      const Expr& of = here->items[0];
      Expr shell = *here;
      shell.items[0] = atom("");
      tail = flat(shell) + tail;
      if (here->kind == Expr::Kind::Attribute && ends_in_bracket(of)) break;
      here = &of;
    }
    chain(here->items[0], parts);
    parts.push_back(tail);
  }

  // ---- statements ----------------------------------------------------------------------------

  void statement(const Stmt& s, size_t indent) {
    switch (s.kind) {
      case Stmt::Kind::Assign: {
        std::string target = bare(s.exprs[0]);
        if (s.annotation) target += ": " + flat(*s.annotation);
        return broken(indent, target + " = ", s.exprs[1], "", true);
      }
      case Stmt::Kind::Augment:
        return broken(indent, flat(s.exprs[0]) + " " + s.text + "= ", s.exprs[1], "", true);
      case Stmt::Kind::Declare:
        return line(indent, flat(s.exprs[0]) + ": " + flat(*s.annotation));
      case Stmt::Kind::Evaluate:
        return broken(indent, "", s.exprs[0], "", true);
      case Stmt::Kind::Return:
        if (s.exprs.empty()) return line(indent, "return");
        return broken(indent, "return ", s.exprs[0], "", true);
      case Stmt::Kind::Raise:
        return broken(indent, "raise ", s.exprs[0], "", true);
      case Stmt::Kind::If:
        return branch(s, indent, "if ");
      case Stmt::Kind::For:
        broken(indent, "for " + bare(s.exprs[0]) + " in ", s.exprs[1], ":", true);
        return body(s.body, indent + 4);
      case Stmt::Kind::Def:
        return function(s, indent);
      case Stmt::Kind::Class:
        decorators(s, indent);
        line(indent, "class " + s.text + bases(s) + ":");
        class_body(s, indent + 4);
        return;
      case Stmt::Kind::Docstring:
        return doc(s.text, indent);
      case Stmt::Kind::Comment:
        for (std::string_view part : axon::split(s.text, '\n'))
          line(indent, part.empty() ? "#" : "# " + std::string(part));
        return;
      case Stmt::Kind::Import:
        return line(indent, s.text);
      case Stmt::Kind::Verbatim:
        out_ += s.text;
        return;
      case Stmt::Kind::Blank:
        out_ += '\n';
        return;
      case Stmt::Kind::Pass:
        return line(indent, "pass");
    }
  }

  void class_body(const Stmt& s, size_t indent) {
    if (s.body.empty()) return line(indent, "pass");
    size_t from = 0;
    if (s.body[0].kind == Stmt::Kind::Docstring) {
      statement(s.body[0], indent);
      if (s.body.size() > 1) out_ += '\n';
      from = 1;
    }
    body(std::vector<Stmt>(s.body.begin() + static_cast<long>(from), s.body.end()), indent);
  }

  static std::string bases(const Stmt& s) {
    if (s.exprs.empty()) return "";
    std::string out;
    for (const Expr& base : s.exprs) out += (out.empty() ? "" : ", ") + flat(base);
    return "(" + out + ")";
  }

  void decorators(const Stmt& s, size_t indent) {
    for (const Expr& decorator : s.decorators) line(indent, "@" + flat(decorator));
  }

  void branch(const Stmt& s, size_t indent, const std::string& head) {
    broken(indent, head, s.exprs[0], ":", true);
    body(s.body, indent + 4);
    if (s.otherwise.empty()) return;
    if (s.otherwise.size() == 1 && s.otherwise[0].kind == Stmt::Kind::If)
      return branch(s.otherwise[0], indent, "elif ");
    line(indent, "else:");
    body(s.otherwise, indent + 4);
  }

  static std::string show(const Param& p) {
    std::string out = p.name;
    if (p.annotation) out += ": " + flat(*p.annotation);
    if (p.value) out += (p.annotation ? " = " : "=") + flat(*p.value);
    return out;
  }

  void function(const Stmt& s, size_t indent) {
    decorators(s, indent);
    std::string result = s.annotation ? ") -> " + flat(*s.annotation) + ":" : "):";
    std::string together;
    for (const Param& p : s.params) together += (together.empty() ? "" : ", ") + show(p);
    std::string head = "def " + s.text + "(";
    if (fits(indent, head + together + result)) {
      line(indent, head + together + result);
    } else {
      line(indent, head);
      if (fits(indent + 4, together)) {
        line(indent + 4, together);
      } else {
        for (const Param& p : s.params) line(indent + 4, show(p) + ",");
      }
      line(indent, result);
    }
    if (s.body.empty()) return line(indent + 4, "pass");
    body(s.body, indent + 4);
  }

  // The first line beside the quotes; a text of several lines closes on its own.
  void doc(const std::string& text, size_t indent) {
    std::vector<std::string_view> lines = axon::split(text, '\n');
    if (lines.size() == 1) return line(indent, "\"\"\"" + text + "\"\"\"");
    line(indent, "\"\"\"" + std::string(lines[0]));
    for (size_t i = 1; i < lines.size(); ++i) {
      if (lines[i].empty())
        out_ += '\n';
      else
        line(indent, lines[i]);
    }
    line(indent, "\"\"\"");
  }

  std::string out_;
};

}  // namespace

std::string print(const std::vector<Stmt>& statements) {
  Printer printer;
  printer.body(statements, 0);
  return printer.take();
}

size_t count_lines(const std::vector<Stmt>& statements) {
  std::vector<Stmt> kept;
  for (const Stmt& s : statements) {
    if (s.kind == Stmt::Kind::Docstring || s.kind == Stmt::Kind::Comment ||
        s.kind == Stmt::Kind::Blank)
      continue;
    kept.push_back(s);
  }
  std::string text = print(kept);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace axon::emit::py
