// Long chains through all stages, and work that grows with the length of a program.
#include <gtest/gtest.h>

#include "front_end.h"
#include "syntax/walk.h"

namespace axon::sema::testing {
namespace {

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// What a run of the front end cost.
struct Work {
  size_t nodes = 0;   // added to the tree by all stages
  size_t visits = 0;  // nodes of the programs that the passes go over
  size_t errors = 0;
};

size_t nodes_of(const Program& program, const syntax::Ast& ast) {
  size_t count = 0;
  auto on_expr = [&](syntax::ExprId, const syntax::Expr&) { ++count; };
  auto on_stmt = [&](syntax::StmtId, const syntax::Stmt&) { ++count; };
  syntax::Visitor visitor{on_expr, on_stmt};
  for (const syntax::Definition& definition : program.definitions)
    syntax::walk(definition, ast, visitor);
  return count;
}

Work check(const std::string& text) {
  Session session;
  MemoryLibrary library;
  Work work;
  FileId root = session.files.add("main.axon", text);
  LoadedModules modules = load(root, library, {}, session);
  auto done = [&] {
    work.errors = session.sink.error_count();
    return work.errors > 0;
  };
  if (done()) return work;
  ClosedProgram closed = resolve(modules, {}, session);
  if (done()) return work;
  NormalizedProgram normalized = normalize(materialize(closed, {}, session).closed, session);
  if (done()) return work;
  ElaboratedProgram elaborated = elaborate(normalized, session);
  if (done()) return work;
  FlatProgram flat = flatten(elaborated, session);
  if (done()) return work;
  TypedProgram typed = typecheck(flat, {}, session);
  const syntax::Ast& ast = session.ast;
  work.nodes = ast.exprs.size() + ast.stmts.size() + ast.types.size() + ast.dims.size();
  for (const Program* program : {&closed.program, &normalized.program, &elaborated.program,
                                 &flat.program, &typed.flat.program})
    work.visits += nodes_of(*program, ast);
  done();
  return work;
}

constexpr std::string_view kHead = "main :: Tensor[B,S] -> Tensor[B,S]\n";

TEST(Scale, LongChainsCheck) {
  constexpr int kLength = 10000;
  std::string head(kHead);
  std::string pipe = "g :: Tensor[B,S] -> Tensor[B,S]\ng x = x * 2\n\n" + head;
  EXPECT_EQ(check(pipe + "main x = x" + repeated(" |> g", kLength) + "\n").errors, 0u);
  EXPECT_EQ(check(head + "main x = x" + repeated(" + x * 2", kLength) + "\n").errors, 0u);
  EXPECT_EQ(check("main :: Bool -> Bool\nmain x = x" + repeated(" and x", kLength) + "\n").errors,
            0u);
}

TEST(Scale, NestingHasALimit) {
  std::string text = std::string(kHead) + "main x = " + std::string(10000, '(') + "x" +
                     std::string(10000, ')') + "\n";
  EXPECT_EQ(check(text).errors, 1u);
}

std::string long_program(int steps) {
  std::string out = "WIDTH <- 8\n";
  std::string body;
  for (int i = 0; i < steps; ++i) {
    std::string n = std::to_string(i);
    out += "\nstep" + n + " :: Tensor[B,S,WIDTH] -> Tensor[B,S,WIDTH]\nstep" + n + " x = do\n";
    out += "  y <- x * " + n + " + x\n";
    out += i % 10 ? "  y <- step" + std::to_string(i - 1) + " y\n" : "  y <- y / 2\n";
    out += "  y <- for i <- [0..3) carry (y) do\n    yield y * i\n  return y + x\n";
    body += "  x <- step" + n + " x\n";
  }
  return out + "\nmain :: Tensor[B,S,WIDTH] -> Tensor[B,S,WIDTH]\nmain x = do\n" + body +
         "  return x\n";
}

// Ten times the length is ten times the work, with a tenth more for what is not counted in lines.
TEST(Scale, WorkIsLinear) {
  Work small = check(long_program(100));
  Work large = check(long_program(1000));
  EXPECT_EQ(small.errors + large.errors, 0u);
  EXPECT_GT(small.nodes, 1000u);
  EXPECT_LE(large.nodes, small.nodes * 11);
  EXPECT_LE(large.visits, small.visits * 11);
}

}  // namespace
}  // namespace axon::sema::testing
