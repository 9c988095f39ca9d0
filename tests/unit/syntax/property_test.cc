// Random trees: rendered and parsed again they are the same trees.
#include <gtest/gtest.h>

#include "support/text.h"
#include "syntax/parse.h"
#include "syntax/render.h"

namespace axon::syntax {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, Ast& ast, Interner& names)
      : state_(seed * 2654435761u + 1), ast_(ast), names_(names) {}

  Module module() {
    Module module;
    for (uint64_t i = random(3); i > 0; --i)
      module.pragmas.push_back({name("other"), literal(), {}});
    module.pragmas.push_back({name("main"), ast_.add(Expr{String{name("d0")}, {}}), {}});
    if (chance(2)) module.imports.push_back({name("A.B"), {}, chance(2), {}});
    if (module.imports.size() == 1 && module.imports[0].has_members)
      module.imports[0].members = {{name("and"), {}}};
    module.has_export = chance(2);
    if (module.has_export) module.exports = {{name("d0"), {}}, {name("if"), {}}};
    if (chance(2))
      module.aliases.push_back(
          {name("T"), {{name("a"), false}, {name("b"), true}}, type(3), {}, {}});
    for (uint64_t i = 0; i < 1 + random(3); ++i) module.definitions.push_back(definition(i));
    return module;
  }

 private:
  uint64_t random(uint64_t bound) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return (state_ >> 33) % bound;
  }
  bool chance(uint64_t in) { return random(in) == 0; }
  NameId name(std::string_view text) { return names_.intern(text); }
  NameId any_name() {
    const char* all[] = {"x",     "y",     "f",    "NN.linear", "and", "or",
                         "scope", "carry", "step", "_p",        "a1",  "for_all"};
    return name(all[random(std::size(all))]);
  }
  NameId local() {
    const char* all[] = {"x", "y", "z", "scope", "and", "step", "_"};
    return name(all[random(std::size(all))]);
  }
  std::vector<Target> targets() {
    std::vector<Target> out;
    for (uint64_t i = 0; i < 1 + random(3); ++i) out.push_back({name("t" + std::to_string(i)), {}});
    return out;
  }

  PathLit path(bool may_be_absolute = true, bool may_join = true) {
    PathLit out;
    out.absolute = may_be_absolute && chance(2);
    bool after_piece = false;
    for (uint64_t i = 0; i < 1 + random(3); ++i) {
      bool placeholder = chance(3);
      bool joined =
          after_piece && may_join && chance(4) && (placeholder || out.pieces.back().placeholder);
      const char* texts[] = {"a", "0", "self_attn", "12", "it's", "b\\c", "\xC3\xA9", "a b"};
      std::string_view text = placeholder ? "i" : texts[random(may_join ? std::size(texts) : 4)];
      out.pieces.push_back({name(text), placeholder, joined});
      after_piece = true;
    }
    return out;
  }

  ExprId add(decltype(Expr::data) data) { return ast_.add(Expr{std::move(data), {}}); }
  ExprId literal() {
    switch (random(7)) {
      case 0:
        return add(Int{static_cast<int64_t>(random(20)) - 5});
      case 1:
        return add(Bool{chance(2)});
      case 2:
        return add(Null{});
      case 3:
        return add(String{name(chance(2) ? "plain" : "q\"u'o\\t\n\t\xE2\x9C\x93")});
      case 4:
        return add(PathExpr{path()});
      case 5:
        return add(Float{0.5, name("0.5")});
      default:
        return add(Float{-1e20, {}});
    }
  }
  std::vector<ExprId> exprs(uint64_t least, int depth) {
    std::vector<ExprId> out;
    for (uint64_t i = 0; i < least + random(3); ++i) out.push_back(expr(depth));
    return out;
  }

  ExprId expr(int depth) {
    if (depth <= 0) return chance(2) ? literal() : name_expr();
    int d = depth - 1;
    switch (random(15)) {
      case 0:
        return add(List{exprs(0, d)});
      case 1:
        return add(Tuple{exprs(2, d)});
      case 2:
      case 3:
        return call(d);
      case 4:
        return add(Pipe{expr(d), exprs(1, d)});
      case 5: {
        ExprId value = expr(d);
        return add(BindExpr{value, name("v"), {}, expr(d)});
      }
      case 6: {
        ExprId c = expr(d), t = expr(d);
        return add(If{c, t, expr(d)});
      }
      case 7:
      case 8: {
        ExprId c = expr(d), t = expr(d);
        return add(Ternary{c, t, expr(d)});
      }
      case 9:
      case 10:
      case 11: {
        ExprId left = expr(d);
        return add(Binary{static_cast<BinaryOp>(random(13)), left, expr(d), {}});
      }
      case 12:
        return add(Paren{expr(d)});
      case 13: {
        ExprId value = expr(d);
        return add(Ascribe{value, type(2)});
      }
      default:
        return add(Do{body(d, 2), chance(2)});
    }
  }
  ExprId name_expr() {
    Name node{any_name(), {}};
    if (chance(4)) node.suffixes.push_back(path());
    return add(std::move(node));
  }
  ExprId call(int depth) {
    Call node{any_name(), {}, {}, {}};
    for (uint64_t i = random(3); i > 1; --i) node.suffixes.push_back(path());
    for (uint64_t i = 0; i < 1 + random(3); ++i) {
      node.args.push_back({chance(3) ? name("k" + std::to_string(i)) : NameId{}, expr(depth), {}});
    }
    return add(std::move(node));
  }

  std::vector<StmtId> body(int depth, uint64_t size) {
    std::vector<StmtId> out;
    for (uint64_t i = random(size); i > 0; --i) out.push_back(statement(depth));
    out.push_back(ast_.add(Stmt{Return{exprs(1, depth)}, {}}));
    return out;
  }
  StmtId statement(int depth) {
    int d = depth - 1;
    switch (depth <= 0 ? 0 : random(6)) {
      case 0:
      case 1:
        return ast_.add(Stmt{Bind{targets(), expr(depth), {}}, {}});
      case 2: {
        ExprId cond = expr(d);
        std::vector<StmtId> then_body = body(d, 2);
        return ast_.add(Stmt{IfStmt{cond, std::move(then_body), body(d, 2)}, {}});
      }
      case 3:
        return ast_.add(Stmt{ScopeBind{targets(), path(), body(d, 2)}, {}});
      default:
        return loop(d);
    }
  }
  StmtId loop(int depth) {
    Loop node;
    node.has_scope = chance(2);
    if (node.has_scope) node.scope = path(false, false);
    node.var = local();
    node.from = expr(depth);
    node.to = expr(depth);
    node.step = chance(2) ? add(Int{1}) : expr(depth);
    node.has_targets = chance(2);
    if (node.has_targets) node.targets = targets();
    node.has_carry = chance(2);
    if (node.has_carry) node.carry = targets();
    if (chance(2)) node.body = body(depth, 2);
    node.body.push_back(ast_.add(Stmt{Yield{exprs(1, depth)}, {}}));
    return ast_.add(Stmt{std::move(node), {}});
  }

  DimExprId dim(int depth) {
    if (depth <= 0 || chance(2)) {
      if (chance(3)) return ast_.add(DimExpr{DimInt{static_cast<int64_t>(random(9)) - 2}, {}});
      return ast_.add(DimExpr{DimName{name(chance(2) ? "B" : "M.N")}, {}});
    }
    DimExprId left = dim(depth - 1);
    if (chance(5)) return ast_.add(DimExpr{DimParen{left}, {}});
    const char ops[] = "+-*/%";
    char op = ops[random(5)];
    return ast_.add(DimExpr{DimBinary{op, left, dim(depth - 1)}, {}});
  }
  TypeExprId type(int depth) {
    auto add_type = [&](decltype(TypeExpr::data) data) {
      return ast_.add(TypeExpr{std::move(data), {}});
    };
    switch (depth <= 0 ? 0 : random(5)) {
      case 1:
        return add_type(TypeList{type(depth - 1)});
      case 2: {
        TypeExprId first = type(depth - 1);
        return add_type(TypeTuple{{first, type(depth - 1)}});
      }
      case 3:
        return add_type(TypeOptional{type(depth - 1)});
      case 4: {
        TypeNamed node{name("Tensor"), {}, true};
        for (uint64_t i = 0; i < 1 + random(3); ++i) {
          bool plain = depth < 2 || !chance(4);
          TypeArg arg{plain ? dim(2) : DimExprId{},
                      plain ? TypeExprId{} : type_argument(depth - 1)};
          node.args.push_back(arg);
        }
        if (chance(4)) node.args.push_back({ast_.add(DimExpr{DimVariadic{name("S")}, {}}), {}});
        return add_type(std::move(node));
      }
      default:
        return add_type(TypeNamed{name(chance(2) ? "Int" : "A.T"), {}, false});
    }
  }
  // A lone name would read as a dim.
  TypeExprId type_argument(int depth) { return ast_.add(TypeExpr{TypeOptional{type(depth)}, {}}); }

  Definition definition(uint64_t index) {
    Definition out;
    out.name = name("d" + std::to_string(index));
    out.is_global = index > 0 && chance(4);
    bool typed = !out.is_global && chance(2);
    if (!out.is_global) {
      if (chance(3)) out.path_params = {name("where")};
      for (uint64_t i = 0; i < random(4); ++i) out.params.push_back(param(i, typed));
    }
    if (typed) out.return_type = type(3);
    out.statement_body = chance(2);
    if (out.statement_body) out.body = body(3, 4);
    if (!out.statement_body) out.body_expr = expr(4);
    return out;
  }
  Param param(uint64_t index, bool typed) {
    Param out;
    out.name = name("p" + std::to_string(index));
    out.optional = chance(3);
    if (out.optional && (!typed || chance(2))) out.default_value = expr(2);
    if (typed) out.type = ast_.add(TypeExpr{TypeNamed{name("Float"), {}, false}, {}});
    return out;
  }

  uint64_t state_;
  Ast& ast_;
  Interner& names_;
};

bool is_grammar_error(const Diagnostic& d) {
  std::string_view code = diag_info(d.id).code;
  return starts_with(code, "PAR-") || starts_with(code, "LEX-") || starts_with(code, "LAY-");
}

TEST(Property, RenderedTreesParseToThemselves) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    FileTable files;
    Interner names;
    Ast ast;
    DiagSink sink;
    Module module = Generator(seed, ast, names).module();
    std::string text = render(module, ast, names);
    Module again = parse(files.add("rendered.axon", text), files, names, ast, sink);
    for (const Diagnostic& d : sink.all()) {
      if (is_grammar_error(d))
        FAIL() << "seed " << seed << ": " << message_of(d) << " at line "
               << files.line_column(d.span.file, d.span.begin).line << "\n"
               << text;
    }
    ASSERT_EQ(render(again, ast, names), text) << "seed " << seed;
    ASSERT_TRUE(equal(module, again, ast)) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace axon::syntax
