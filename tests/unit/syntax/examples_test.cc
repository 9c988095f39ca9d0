// Examples C01 and C49 of the language reference, which need tokens and hand-made trees.
#include <gtest/gtest.h>

#include "syntax/lexer.h"
#include "syntax/parse.h"
#include "syntax/render.h"

namespace axon::syntax {
namespace {

std::string tokens_of(std::string_view text) {
  Interner names;
  Lexer lexer(FileId{0}, text, names);
  std::string out;
  while (true) {
    Token token = lexer.next();
    if (token.kind == Tok::Eof) return out;
    if (!out.empty()) out += ' ';
    if (token.kind == Tok::Name) out += "NAME:";
    if (token.kind == Tok::Path) out += "PATH:";
    if (token.kind == Tok::Int) out += "INT:";
    out +=
        text.substr(static_cast<size_t>(token.begin), static_cast<size_t>(token.end - token.begin));
    for (const Diagnostic& error : token.errors) out += "!" + std::string(diag_info(error.id).code);
  }
}

TEST(Examples, C01Tokens) {
  EXPECT_EQ(tokens_of("g@a.0.b x"), "NAME:g@a.0.b NAME:x");
  EXPECT_EQ(tokens_of("g @a.0.b x"), "NAME:g PATH:@a.0.b NAME:x");
  EXPECT_EQ(tokens_of("g@a@@b x"), "NAME:g@a@@b NAME:x");
  EXPECT_EQ(tokens_of("[0..N)"), "[ INT:0 .. NAME:N )");
  EXPECT_EQ(tokens_of("x |> g"), "NAME:x |> NAME:g");
  EXPECT_EQ(tokens_of("x|>g"), "NAME:x |> NAME:g");
  EXPECT_EQ(tokens_of("a--1"), "NAME:a");
  EXPECT_EQ(tokens_of("x::T"), "x::T!LEX-NS");
  EXPECT_EQ(tokens_of("x ::T y:: U"), "NAME:x :: NAME:T NAME:y :: NAME:U");
  EXPECT_EQ(tokens_of("N..M a:b f@p@q"), "NAME:N .. NAME:M NAME:a : NAME:b NAME:f@p@q");
  EXPECT_EQ(tokens_of("NN.rmsnorm@@'blocks.{i}.norm' @p@q"),
            "NAME:NN.rmsnorm@@'blocks.{i}.norm' PATH:@p PATH:@q");
}

TEST(Examples, C01ScopeTokens) {
  Interner names;
  std::string_view text = "@a.0 i <-";
  Lexer lexer(FileId{0}, text, names);
  EXPECT_EQ(lexer.next(Lexer::Mode::Scope).kind, Tok::At);
  Token scope = lexer.next(Lexer::Mode::Scope);
  EXPECT_EQ(scope.kind, Tok::ScopeRef);
  EXPECT_EQ(scope.paths[0].pieces.size(), 2u);
  EXPECT_EQ(lexer.next().kind, Tok::Name);
  EXPECT_EQ(lexer.next().kind, Tok::LArrow);
}

struct Trees {
  Interner names;
  Ast ast;
  ExprId add(decltype(Expr::data) data) { return ast.add(Expr{std::move(data), {}}); }
  ExprId name(std::string_view text) { return add(Name{names.intern(text), {}}); }
  ExprId call(ExprId arg) { return add(Call{names.intern("f"), {}, {}, {{{}, arg, {}}}}); }
  std::string shown(ExprId id) { return render_expr(id, ast, names); }
};

TEST(Examples, C49InsertedParentheses) {
  Trees t;
  ExprId sum = t.add(Binary{BinaryOp::Add, t.name("a"), t.name("b"), {}});
  EXPECT_EQ(t.shown(t.add(Binary{BinaryOp::Mul, sum, t.name("c"), {}})), "(a + b) * c");
  EXPECT_EQ(t.shown(t.call(sum)), "f (a + b)");
  ExprId call = t.call(t.name("a"));
  EXPECT_EQ(t.shown(t.add(Binary{BinaryOp::Add, call, t.name("b"), {}})), "(f a) + b");
  TypeExprId type = t.ast.add(TypeExpr{TypeNamed{t.names.intern("T"), {}, false}, {}});
  EXPECT_EQ(t.shown(t.add(Ascribe{call, type})), "((f a) :: T)");
  EXPECT_EQ(t.shown(t.add(Paren{t.add(Paren{sum})})), "(a + b)");
  EXPECT_EQ(t.shown(t.call(t.add(Tuple{{t.name("a"), t.name("b")}}))), "f ((a, b))");
}

// Every expression of a typed file carries its type (11.3).
TEST(Examples, TypedForm) {
  FileTable files;
  Interner names;
  Ast ast;
  DiagSink sink;
  Module module =
      parse(files.add("t.axon", "f x = do\n  v <- Tensor.reshape x [B, 2]\n  return v\n"), files,
            names, ast, sink);
  TypeExprId type = ast.add(TypeExpr{TypeNamed{names.intern("T"), {}, false}, {}});
  std::vector<TypeExprId> types(ast.exprs.size(), type);
  types.back() = {};  // the inserted MAIN
  RenderOptions options{&types};
  EXPECT_EQ(render(module, ast, names, options),
            "{-# MAIN \"f\" #-}\n\nf x = do\n"
            "  v <- ((Tensor.reshape (x :: T) ([(B :: T), (2 :: T)] :: T)) :: T)\n"
            "  return (v :: T)\n");
}

TEST(Examples, FixedScope) {
  FileTable files;
  Interner names;
  Ast ast;
  DiagSink sink;
  Module module = parse(files.add("t.axon",
                                  "blk@att@w :: Tensor[B,D] -> Tensor[B,D]\nblk x = inner@w x\n\n"
                                  "val@p :: Path -> Tensor\nval = inner@p\n"),
                        files, names, ast, sink);
  EXPECT_FALSE(sink.has_errors());
  EXPECT_TRUE(module.definitions[0].fixed_scope);
  EXPECT_EQ(render_definition(module.definitions[0], ast, names),
            "blk :: Tensor[B,D] -> Tensor[B,D]\nblk x = do\n  __result <- scope@att.w do\n"
            "    return inner@w x\n  return __result\n");
  EXPECT_EQ(render_definition(module.definitions[1], ast, names),
            "val :: Path -> Tensor\nval@p = inner@p\n");
}

}  // namespace
}  // namespace axon::syntax
