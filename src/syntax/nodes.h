// The abstract syntax of all stages from parse to typed (language.md 5): small closed structs in
// append-only stores. A node is immutable once added; a stage that changes one adds a new node.
// From flatten on, every occurrence of an expression has an id of its own (so that side tables
// indexed by ExprId, such as types, are unambiguous).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "source/span.h"
#include "support/store.h"
#include "syntax/fwd.h"

namespace axon::syntax {

// ---- paths ---------------------------------------------------------------------------------

// A piece of a path segment: literal text, or a placeholder `{text}`. `joined` says that the piece
// continues the segment of the piece before it (`a{i}` is two pieces of one segment).
struct PathPiece {
  NameId text;
  bool placeholder = false;
  bool joined = false;
  friend bool operator==(const PathPiece&, const PathPiece&) = default;
};

struct PathLit {
  bool absolute = false;
  std::vector<PathPiece> pieces;  // empty only for the generated `@@''`
  Span span;
  friend bool operator==(const PathLit& a, const PathLit& b) {
    return a.absolute == b.absolute && a.pieces == b.pieces;
  }
};

// ---- types as written ----------------------------------------------------------------------

struct DimInt {
  int64_t value = 0;
};
struct DimName {
  NameId name;
};  // may be dotted
struct DimVariadic {
  NameId name;
};  // ..S
struct DimBinary {
  char op = '+';
  DimExprId left, right;
};  // + - * / %
struct DimParen {
  DimExprId inner;
};  // never compared (language.md 5)

enum class DimExprKind : uint8_t { Int, Name, Variadic, Binary, Paren };
struct DimExpr {
  std::variant<DimInt, DimName, DimVariadic, DimBinary, DimParen> data;
  Span span;
  DimExprKind kind() const { return static_cast<DimExprKind>(data.index()); }
  template <class T>
  const T& as() const {
    return std::get<T>(data);
  }
};

// An argument of a named type; a lone name is read as a dim (language.md 4.2, 6.3).
struct TypeArg {
  DimExprId dim;
  TypeExprId type;
};  // exactly one is valid

struct TypeOptional {
  TypeExprId inner;
};
struct TypeTuple {
  std::vector<TypeExprId> items;
};
struct TypeList {
  TypeExprId item;
};
// A name with or without arguments. `has_args` tells `Tensor` from the internal `Tensor[]`.
struct TypeNamed {
  NameId name;
  std::vector<TypeArg> args;
  bool has_args = false;
};

enum class TypeExprKind : uint8_t { Optional, Tuple, List, Named };
struct TypeExpr {
  std::variant<TypeOptional, TypeTuple, TypeList, TypeNamed> data;
  Span span;
  TypeExprKind kind() const { return static_cast<TypeExprKind>(data.index()); }
  template <class T>
  const T& as() const {
    return std::get<T>(data);
  }
};

// ---- expressions ---------------------------------------------------------------------------

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Mod, Eq, Ne, Lt, Le, Gt, Ge, And, Or };
std::string_view spelling(BinaryOp op);

// Positional when `keyword` is invalid.
struct Arg {
  NameId keyword;
  ExprId value;
  Span keyword_span;
};

struct Name {
  NameId name;
  std::vector<PathLit> suffixes;
};
struct Int {
  int64_t value = 0;
};
struct Float {
  double value = 0;
  NameId lexeme;
};
struct Bool {
  bool value = false;
};
// `unread` where it stands for text that no value could be made of (which has been told): of no
// known type, so that the rest of a definition can be checked around it.
struct Null {
  bool unread = false;
};
struct String {
  NameId value;
};  // unescaped text
struct PathExpr {
  PathLit path;
};
struct List {
  std::vector<ExprId> items;
};
struct Tuple {
  std::vector<ExprId> items;
};
struct Call {
  NameId callee;
  Span callee_span;
  std::vector<PathLit> suffixes;  // gone after normalize
  std::vector<Arg> args;
};
struct Pipe {
  ExprId value;
  std::vector<ExprId> stages;
};
struct BindExpr {
  ExprId value;
  NameId var;
  Span var_span;
  ExprId body;
};  // value >>= \var -> body
struct If {
  ExprId cond, then_value, else_value;
};
struct Ternary {
  ExprId cond, then_value, else_value;
};
struct Binary {
  BinaryOp op = BinaryOp::Add;
  ExprId left, right;
  Span op_span;
};
struct Lambda {
  NameId var;
  ExprId body;
};  // transient, inside BindExpr
struct Paren {
  ExprId inner;
};  // never compared
struct Ascribe {
  ExprId value;
  TypeExprId type;
};
struct Do {
  std::vector<StmtId> body;
  bool is_inline = false;
};

// Up to Path, without parts (is_leaf).
enum class ExprKind : uint8_t {
  Name,
  Int,
  Float,
  Bool,
  Null,
  String,
  Path,
  List,
  Tuple,
  Call,
  Pipe,
  BindExpr,
  If,
  Ternary,
  Binary,
  Lambda,
  Paren,
  Ascribe,
  Do
};
struct Expr {
  std::variant<Name, Int, Float, Bool, Null, String, PathExpr, List, Tuple, Call, Pipe, BindExpr,
               If, Ternary, Binary, Lambda, Paren, Ascribe, Do>
      data;
  Span span;
  ExprKind kind() const { return static_cast<ExprKind>(data.index()); }
  template <class T>
  const T& as() const {
    return std::get<T>(data);
  }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
};

// Names, literals and paths: what has no parts.
inline bool is_leaf(const Expr& expr) { return expr.kind() <= ExprKind::Path; }
// The literal `null`.
inline bool is_null(const Expr& expr) { return expr.get<Null>() && !expr.get<Null>()->unread; }
inline bool is_unread(const Expr& expr) { return expr.get<Null>() && expr.get<Null>()->unread; }

// ---- statements ----------------------------------------------------------------------------

struct Target {
  NameId name;
  Span span;
};

struct Bind {
  std::vector<Target> targets;
  ExprId value;
  // From flatten on: the lexical prefix under which the bind was written (language.md 10.7).
  PathLit scope;
};
struct Return {
  std::vector<ExprId> values;
};
struct Yield {
  std::vector<ExprId> values;
};
struct IfStmt {
  ExprId cond;
  std::vector<StmtId> then_body, else_body;
};
// `for[@scope] var <- [from..to) step=step carry (…) do body`, with or without targets.
struct Loop {
  bool has_scope = false;
  PathLit scope;  // relative, when has_scope
  NameId var;
  Span var_span;
  ExprId from, to, step;  // ranges already made half-open; step is never missing
  bool has_targets = false;
  std::vector<Target> targets;
  bool has_carry = false;
  std::vector<Target> carry;
  std::vector<StmtId> body;
  bool is_inline = false;  // written as an expression after the header
  PathLit lexical_scope;   // as Bind::scope
};
struct ScopeBind {
  std::vector<Target> targets;
  PathLit path;
  std::vector<StmtId> body;
};

enum class StmtKind : uint8_t { Bind, Return, Yield, If, Loop, ScopeBind };
struct Stmt {
  std::variant<Bind, Return, Yield, IfStmt, Loop, ScopeBind> data;
  Span span;
  StmtKind kind() const { return static_cast<StmtKind>(data.index()); }
  template <class T>
  const T& as() const {
    return std::get<T>(data);
  }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
};

// ---- definitions and files -----------------------------------------------------------------

struct Param {
  NameId name;
  bool optional = false;  // `?p=…` in the head, or `?T` in the signature
  TypeExprId type;        // inner type when optional; invalid when there is no signature
  ExprId default_value;   // invalid when there is none
  Span span;
};

// What flatten records of a generated helper (language.md 10.7), never recovered from its name.
enum class HelperKind : uint8_t { None, BranchTrue, BranchElse, LoopStep };
struct HelperInfo {
  HelperKind kind = HelperKind::None;
  NameId parent;    // the enclosing source definition
  NameId loop_var;  // LoopStep
};

struct Definition {
  NameId name;
  Span name_span;
  bool has_signature = false;
  std::vector<NameId> path_params;  // `@p` of the head; gone after flatten
  std::vector<Param> params;
  TypeExprId return_type;  // invalid when there is no signature
  // Exactly one of the two: `= do` bodies are statements, everything else is an expression.
  bool statement_body = false;
  std::vector<StmtId> body;
  ExprId body_expr;
  bool is_global = false;  // NAME <- expr
  // A head with `@` and a signature without a leading Path is a fixed scope (language.md 8.4); the
  // parser has already wrapped the body. Kept for diagnostics only.
  bool fixed_scope = false;
  HelperInfo helper;
  std::vector<std::string> constraints;  // text of recorded facts, from typecheck
  Span span;
  FileId origin;  // the source file
  bool from_library = false;
};

struct ImportMember {
  NameId name;
  Span span;
};
struct Import {
  NameId module;  // dotted
  Span span;
  bool has_members = false;  // `import N ()` has a list, `import N` has none
  std::vector<ImportMember> members;
};

struct AliasParam {
  NameId name;
  bool variadic = false;
};
struct TypeAlias {
  NameId name;
  std::vector<AliasParam> params;
  TypeExprId type;
  Span span;
  FileId origin;
};

struct Pragma {
  NameId name;   // lower case
  ExprId value;  // literals, lists and tuples of literals
  Span span;
};

// A comment, for the formatter; comments take no part in comparison.
struct Comment {
  Span span;
  bool own_line = false;
};

// One `.axon` file after parse (ParsedModule of design.md 2).
struct Module {
  FileId file;
  std::vector<Pragma> pragmas;
  std::vector<Import> imports;
  bool has_export = false;
  std::vector<ImportMember> exports;
  std::vector<TypeAlias> aliases;
  std::vector<Definition> definitions;
  std::vector<Comment> comments;
};

// All nodes of a session. Append-only: ids stay valid, unchanged subtrees are shared by stages.
struct Ast {
  Store<ExprId, Expr> exprs;
  Store<StmtId, Stmt> stmts;
  Store<TypeExprId, TypeExpr> types;
  Store<DimExprId, DimExpr> dims;

  ExprId add(Expr e) { return exprs.add(std::move(e)); }
  StmtId add(Stmt s) { return stmts.add(std::move(s)); }
  TypeExprId add(TypeExpr t) { return types.add(std::move(t)); }
  DimExprId add(DimExpr d) { return dims.add(std::move(d)); }
  const Expr& operator[](ExprId id) const { return exprs[id]; }
  const Stmt& operator[](StmtId id) const { return stmts[id]; }
  const TypeExpr& operator[](TypeExprId id) const { return types[id]; }
  const DimExpr& operator[](DimExprId id) const { return dims[id]; }
};

}  // namespace axon::syntax
