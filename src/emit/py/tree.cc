// Makers of the document tree.
#include "emit/py/tree.h"

#include <algorithm>
#include <cmath>

#include "support/check.h"
#include "support/text.h"

namespace axon::emit::py {
namespace {

Expr make(Expr::Kind kind, std::string_view text, std::vector<Expr> items) {
  return Expr{kind, std::string(text), std::move(items)};
}

Stmt statement(Stmt::Kind kind, std::string_view text, std::vector<Expr> exprs) {
  Stmt out;
  out.kind = kind;
  out.text = std::string(text);
  out.exprs = std::move(exprs);
  return out;
}

}  // namespace

Expr atom(std::string_view text) { return make(Expr::Kind::Atom, text, {}); }

Expr integer(int64_t value) {
  if (value >= 0) return atom(std::to_string(value));
  return unary("-", atom(std::to_string(value).substr(1)));
}

Expr real(double value) {
  if (value != value) return call(atom("float"), {text("nan")});
  if (value < 0) return unary("-", real(-value));
  if (value > 1.7976931348623157e308) return call(atom("float"), {text("inf")});
  std::string shown = show_double(value);
  return atom(shown);
}

namespace {

// The square root, or the logarithm of a fraction, that a number is to its last bit.
std::optional<Expr> root_or_log(double value) {
  constexpr double kMost = 1e7;
  auto of = [](const char* function, Expr argument) {
    return call(attribute(atom("math"), function), {std::move(argument)});
  };
  auto whole = [&](double x) { return x >= 2 && x <= kMost ? std::round(x) : 0; };
  if (double n = whole(value * value); n > 0 && std::sqrt(n) == value)
    return of("sqrt", integer(static_cast<int64_t>(n)));
  if (double n = whole(1 / (value * value)); n > 0 && 1 / std::sqrt(n) == value)
    return binary(integer(1), "/", of("sqrt", integer(static_cast<int64_t>(n))));
  for (int64_t den = 1; den <= 8; ++den) {
    const double n = whole(std::exp(value) * static_cast<double>(den));
    if (n == 0 || std::log(n / static_cast<double>(den)) != value) continue;
    Expr num = integer(static_cast<int64_t>(n));
    return of("log", den == 1 ? num : binary(std::move(num), "/", integer(den)));
  }
  return {};
}

}  // namespace

Expr number(double value) {
  if (value < 0) return unary("-", number(-value));
  constexpr size_t kDigits = 15;  // fewer were written so
  std::string shown = show_double(value);
  const auto digits =
      std::count_if(shown.begin(), shown.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (static_cast<size_t>(digits) < kDigits) return real(value);
  return root_or_log(value).value_or(real(value));
}

Expr text(std::string_view characters) { return make(Expr::Kind::String, characters, {}); }

Expr attribute(Expr of, std::string_view name) {
  return make(Expr::Kind::Attribute, name, {std::move(of)});
}

Expr dotted(std::string_view path) {
  std::vector<std::string_view> parts = split(path, '.');
  Expr out = atom(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) out = attribute(std::move(out), parts[i]);
  return out;
}

Expr index(Expr of, std::vector<Expr> places) {
  places.insert(places.begin(), std::move(of));
  return make(Expr::Kind::Index, "", std::move(places));
}

Expr call(Expr function, std::vector<Expr> arguments) {
  arguments.insert(arguments.begin(), std::move(function));
  return make(Expr::Kind::Call, "", std::move(arguments));
}

Expr keyword(std::string_view name, Expr value) {
  return make(Expr::Kind::Keyword, name, {std::move(value)});
}

Expr unary(std::string_view op, Expr value) {
  return make(Expr::Kind::Unary, op, {std::move(value)});
}

Expr binary(Expr left, std::string_view op, Expr right) {
  return make(Expr::Kind::Binary, op, {std::move(left), std::move(right)});
}

Expr conditional(Expr then, Expr condition, Expr otherwise) {
  return make(Expr::Kind::Conditional, "",
              {std::move(then), std::move(condition), std::move(otherwise)});
}

Expr tuple(std::vector<Expr> items) { return make(Expr::Kind::Tuple, "", std::move(items)); }
Expr list(std::vector<Expr> items) { return make(Expr::Kind::List, "", std::move(items)); }

Expr one_or_tuple(std::vector<Expr> items) {
  AXON_CHECK(!items.empty(), "at least one item");
  return items.size() == 1 ? std::move(items[0]) : tuple(std::move(items));
}

Stmt assign(Expr target, Expr value) {
  return statement(Stmt::Kind::Assign, "", {std::move(target), std::move(value)});
}
Stmt evaluate(Expr value) { return statement(Stmt::Kind::Evaluate, "", {std::move(value)}); }
Stmt return_(Expr value) { return statement(Stmt::Kind::Return, "", {std::move(value)}); }

Stmt if_(Expr condition, std::vector<Stmt> body, std::vector<Stmt> otherwise) {
  Stmt out = statement(Stmt::Kind::If, "", {std::move(condition)});
  out.body = std::move(body);
  out.otherwise = std::move(otherwise);
  return out;
}

Stmt for_(Expr target, Expr iterable, std::vector<Stmt> body) {
  Stmt out = statement(Stmt::Kind::For, "", {std::move(target), std::move(iterable)});
  out.body = std::move(body);
  return out;
}

Stmt docstring(std::string_view text) {
  std::string escaped;  // names of files may have anything in them
  for (char c : text) {
    if (c == '\\' || (c == '"' && ends_with(escaped, "\"\""))) escaped += '\\';
    escaped += c;
  }
  return statement(Stmt::Kind::Docstring, escaped, {});
}
Stmt comment(std::string_view text) { return statement(Stmt::Kind::Comment, text, {}); }
Stmt blank() { return statement(Stmt::Kind::Blank, "", {}); }

Stmt def(std::string_view name, std::vector<Param> params, std::optional<Expr> result,
         std::vector<Stmt> body) {
  Stmt out = statement(Stmt::Kind::Def, name, {});
  out.params = std::move(params);
  out.annotation = std::move(result);
  out.body = std::move(body);
  return out;
}

Stmt class_(std::string_view name, std::vector<Expr> bases, std::vector<Stmt> body) {
  Stmt out = statement(Stmt::Kind::Class, name, std::move(bases));
  out.body = std::move(body);
  return out;
}

namespace {

bool is_number(const Expr& e) {
  if (e.kind == Expr::Kind::Unary && e.text == "-") return is_number(e.items[0]);
  return e.kind == Expr::Kind::Atom && !e.text.empty() && e.text[0] >= '0' && e.text[0] <= '9';
}

// The comparison with its sides exchanged; nothing for other operators.
std::string_view mirrored(std::string_view op) {
  if (op == "<") return ">";
  if (op == "<=") return ">=";
  if (op == ">") return "<";
  if (op == ">=") return "<=";
  return op == "==" || op == "!=" ? op : "";
}

}  // namespace

Expr as_by_hand(Expr operation) {
  if (operation.kind != Expr::Kind::Binary) return operation;
  Expr &left = operation.items[0], &right = operation.items[1];
  std::string_view turned = mirrored(operation.text);
  if (!turned.empty() && is_number(left) && !is_number(right))
    return binary(std::move(right), turned, std::move(left));
  const Expr minus_one = integer(-1);
  if (operation.text == "*" && right == minus_one) return unary("-", std::move(left));
  if (operation.text == "*" && left == minus_one) return unary("-", std::move(right));
  return operation;
}

void for_each_atom(const Expr& expr, std::vector<std::string_view>& out) {
  if (expr.kind == Expr::Kind::Atom) out.push_back(expr.text);
  for (const Expr& item : expr.items) for_each_atom(item, out);
}

}  // namespace axon::emit::py
