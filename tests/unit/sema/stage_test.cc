// Facts of stages that the rendered text does not show, and the validators.
#include <gtest/gtest.h>

#include <set>

#include "front_end.h"
#include "sema/validate.h"
#include "sema/walk.h"
#include "syntax/render.h"

namespace axon::sema::testing {
namespace {

struct Front {
  Session session;
  ElaboratedProgram elaborated;
  FlatProgram flat;
};

void run(Front& out, const std::string& text) {
  MemoryLibrary library;
  FileId root = out.session.files.add("main.axon", text);
  LoadedModules modules = load(root, library, {}, out.session);
  ClosedProgram closed = resolve(modules, {}, out.session);
  out.elaborated = elaborate(normalize(closed, out.session), out.session);
  out.flat = flatten(out.elaborated, out.session);
  ASSERT_FALSE(out.session.sink.has_errors()) << show_diagnostics(out.session);
}

constexpr const char* kProgram = R"(
lin :: Path -> Tensor[B,D] -> Tensor[B,D]
lin@p x = do
  y <- scope@inner do
    return x * (_params_param @w)
  return y

twice :: Tensor[B,D] -> Tensor[B,D]
twice x = do
  y <- scope@mlp do
    return (lin@up x) + (lin@down x)
  return y

main :: Tensor[B,D] -> ?Int -> ?Path -> Tensor[B,D]
main x ?steps=3 ?where=@at = do
  x <- for@blocks i <- [0..steps) carry (x) do
    y <- (i == 0) ? lin@first x : twice (twice x)
    yield y
  return x
)";

std::vector<std::string> scopes(const Front& front, std::string_view name) {
  std::vector<std::string> out;
  const Program& program = front.flat.program;
  size_t index = program.by_name.at(front.session.names.find(name));
  for (syntax::StmtId id : program.definitions[index].body) {
    const syntax::Stmt& stmt = front.session.ast[id];
    if (const auto* bound = stmt.get<syntax::Bind>()) {
      out.push_back(syntax::render_path(bound->scope, front.session.names));
    }
    if (const auto* loop = stmt.get<syntax::Loop>()) {
      out.push_back(syntax::render_path(loop->lexical_scope, front.session.names));
    }
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(Flatten, RemembersScopes) {
  Front front;
  run(front, kProgram);
  EXPECT_EQ(scopes(front, "lin"), (Texts{"@@'{p}.inner'", "@@'{p}.inner'", "@@'{p}'"}));
  EXPECT_EQ(scopes(front, "twice"), (Texts{"@@'{__scope}.mlp'", "@@'{__scope}.mlp'",
                                           "@@'{__scope}.mlp'", "@@'{__scope}'"}));
  EXPECT_EQ(scopes(front, "main"), (Texts{"@@''"}));
  EXPECT_EQ(scopes(front, "main__loop_blocks_step_1"), (Texts{"@@'blocks.{i}'", "@@'blocks.{i}'"}));
}

TEST(Flatten, MarksHelpers) {
  Front front;
  run(front, kProgram);
  const Program& program = front.flat.program;
  auto helper = [&](std::string_view name) {
    return program.definitions[program.by_name.at(front.session.names.find(name))].helper;
  };
  EXPECT_EQ(helper("main__loop_blocks_step_1").kind, syntax::HelperKind::LoopStep);
  EXPECT_EQ(helper("main__loop_blocks_step_1").parent, program.main);
  EXPECT_EQ(front.session.names.text(helper("main__loop_blocks_step_1").loop_var), "i");
  EXPECT_EQ(helper("main__cond_else_2").kind, syntax::HelperKind::BranchElse);
  EXPECT_EQ(helper("main__cond_else_2").parent, program.main);
  EXPECT_EQ(helper("main").kind, syntax::HelperKind::None);
}

TEST(Flatten, EveryExpressionHasItsOwnId) {
  Front front;
  run(front, kProgram);
  std::set<syntax::ExprId> seen;
  for (const syntax::Definition& def : front.flat.program.definitions) {
    visit_body(
        def, front.session.ast,
        {[&](syntax::ExprId id) { EXPECT_TRUE(seen.insert(id).second); }, [](syntax::StmtId) {}});
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(Flatten, KeepsDefaultsOfTheEntry) {
  Front front;
  run(front, kProgram);
  ASSERT_EQ(front.flat.main_defaults.size(), 2u);
  EXPECT_EQ(front.session.names.text(front.flat.main_defaults[0].first), "steps");
  EXPECT_EQ(syntax::render_expr(front.flat.main_defaults[0].second, front.session.ast,
                                front.session.names),
            "3");
  EXPECT_EQ(syntax::render_expr(front.flat.main_defaults[1].second, front.session.ast,
                                front.session.names),
            "@@at");
}

// A chain of operators as long as one likes does not exhaust the stack.
TEST(Flatten, LongChains) {
  std::string text = "main :: Tensor[B] -> Tensor[B]\nmain x = x";
  for (int i = 0; i < 2000; ++i) text += " + x";
  Front front;
  run(front, text + "\n");
  EXPECT_EQ(front.flat.program.definitions[0].body.size(), 2001u);
}

TEST(Validate, ReportsTheStage) {
  Front front;
  run(front, kProgram);
  auto failure = [&](auto check, const Program& program) {
    front.session.sink.clear();
    check(program, front.session);
    return show_diagnostics(front.session);
  };
  EXPECT_EQ(failure(validate_flat, front.flat.program), "");
  EXPECT_NE(failure(validate_flat, front.elaborated.program).find("BUG-STAGE"), std::string::npos);
  EXPECT_NE(failure(validate_flat, front.elaborated.program).find("after flatten"),
            std::string::npos);
  Program broken = front.elaborated.program;
  broken.main = front.session.names.intern("nothing");
  EXPECT_NE(failure(validate_closed, broken).find("main definition is missing"), std::string::npos);
  broken = front.elaborated.program;
  broken.definitions[2].params[1].default_value = front.elaborated.main_defaults[0].second;
  EXPECT_NE(failure(validate_elaborated, broken).find("a default is left"), std::string::npos);
}

}  // namespace
}  // namespace axon::sema::testing
