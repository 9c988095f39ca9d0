// Python as a document: expressions and statements as plain values, which one printer writes out.
//
// Contract for back ends: no text is glued. Expressions come from the functions below or from a
// template (template.h); statements from the makers below; print.h lays everything out as the
// Python formatter would and knows precedence, quoting and line breaking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axon::emit::py {

struct Expr {
  enum class Kind : uint8_t {
    Atom,         // text: a name, a number, None, True, `...`
    String,       // text: the characters, not quoted yet
    Call,         // items: function, arguments…
    Keyword,      // text=items[0], as an argument
    Starred,      // *items[0]; text is `**` for keywords
    Attribute,    // items[0].text
    Index,        // items[0][items[1], …]
    Slice,        // items: lower, upper, each may be an empty Atom; a step as the third
    Unary,        // text items[0]; text is `-`, `~` or `not`
    Binary,       // items[0] text items[1]; operators, comparisons, `and`, `or`, `is not`, …
    Conditional,  // items[0] if items[1] else items[2]
    Tuple,        // items
    List,         // items
    Dict,         // items: key, value, …
    ForIn,        // items: element, target, iterable: a generator expression
  };
  Kind kind = Kind::Atom;
  std::string text;
  std::vector<Expr> items;
  friend bool operator==(const Expr&, const Expr&) = default;
};

Expr atom(std::string_view text);
Expr integer(int64_t value);
Expr real(double value);  // the shortest text that reads back as the same number
// As a person writes it: `math.log(5000)` for 8.517193191416238; else as `real`.
Expr number(double value);
Expr text(std::string_view characters);
Expr attribute(Expr of, std::string_view name);
Expr dotted(std::string_view path);  // `self.model.norm`
Expr index(Expr of, std::vector<Expr> places);
Expr call(Expr function, std::vector<Expr> arguments = {});
Expr keyword(std::string_view name, Expr value);
Expr unary(std::string_view op, Expr value);
Expr binary(Expr left, std::string_view op, Expr right);
Expr conditional(Expr then, Expr condition, Expr otherwise);
Expr tuple(std::vector<Expr> items);
Expr list(std::vector<Expr> items);
// A tuple of several, or the one item itself.
Expr one_or_tuple(std::vector<Expr> items);

struct Param {
  std::string name;
  std::optional<Expr> annotation;
  std::optional<Expr> value;
};

struct Stmt {
  enum class Kind : uint8_t {
    Assign,     // exprs[0] = exprs[1]; `annotation` may stand behind the target
    Augment,    // exprs[0] text= exprs[1]; text is the operator
    Declare,    // exprs[0]: annotation
    Evaluate,   // exprs[0]
    Return,     // exprs[0], or nothing
    Raise,      // exprs[0]
    If,         // exprs[0]: body, else `otherwise`
    For,        // for exprs[0] in exprs[1]: body
    Def,        // text: name
    Class,      // text: name, exprs: bases
    Docstring,  // text
    Comment,    // text, one line or several
    Import,     // text: a whole import statement
    Verbatim,   // text: top-level definitions, laid out already
    Blank,      // an empty line between groups of statements
    Pass
  };
  Kind kind = Kind::Pass;
  std::string text;
  std::vector<Expr> exprs;
  std::optional<Expr> annotation;  // Assign, Declare; Def: of the result
  std::vector<Param> params;       // Def
  std::vector<Expr> decorators;    // Def, Class
  std::vector<Stmt> body, otherwise;
};

Stmt assign(Expr target, Expr value);
Stmt evaluate(Expr value);
Stmt return_(Expr value);
Stmt if_(Expr condition, std::vector<Stmt> body, std::vector<Stmt> otherwise = {});
Stmt for_(Expr target, Expr iterable, std::vector<Stmt> body);
Stmt docstring(std::string_view text);
Stmt comment(std::string_view text);
Stmt blank();
Stmt def(std::string_view name, std::vector<Param> params, std::optional<Expr> result,
         std::vector<Stmt> body);
Stmt class_(std::string_view name, std::vector<Expr> bases, std::vector<Stmt> body);

// An operation as it is written by hand: `0 <= x` is `x >= 0`, `x * -1` is `-x`.
Expr as_by_hand(Expr operation);

// Every name that an expression reads or binds, in order, with repeats.
void for_each_atom(const Expr& expr, std::vector<std::string_view>& out);

}  // namespace axon::emit::py
