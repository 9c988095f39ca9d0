// Graphs as Axon text: raising and lowering again gives the same graph, and the text reads back.
#include "lower/raise.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"
#include "sema/program_text.h"
#include "support/text.h"
#include "syntax/render.h"
#include "zoo.h"

namespace axon::lower {
namespace {

// The statements alone: text without its typed form says nothing of which definitions are helpers,
// whose headers the checker refines from their one use.
std::string without_signatures(std::string_view text) {
  std::string out;
  for (std::string_view line : split(text, '\n')) {
    bool signature = !line.empty() && line[0] != ' ' && line.find(" :: ") != line.npos;
    if (!signature) out += std::string(line) + "\n";
  }
  return out;
}

class RaiseZoo : public ::testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

TEST_P(RaiseZoo, LowersToTheSameGraph) {
  auto [name, overlay] = GetParam();
  sema::Session s;
  graph::Graph g = lower_zoo(name, overlay, "", s);
  ASSERT_EQ(errors_of(s), "");
  sema::TypedProgram raised = raise(g, s);
  graph::Graph again = lower(raised, s);
  ASSERT_EQ(errors_of(s), "");
  EXPECT_EQ(difference(g, again, s.types), std::nullopt);
  std::string text = syntax::render(sema::as_module(raised.flat.program), s.ast, s.names);
  sema::Session fresh;
  graph::Graph read = lower_text(text, fresh);
  ASSERT_EQ(errors_of(fresh), "") << text;
  sema::TypedProgram twice = raise(read, fresh);
  std::string text_again =
      syntax::render(sema::as_module(twice.flat.program), fresh.ast, fresh.names);
  EXPECT_EQ(without_signatures(text_again), without_signatures(text));
}

INSTANTIATE_TEST_SUITE_P(All, RaiseZoo,
                         ::testing::Values(std::pair{"llama", ""}, std::pair{"llama", "static"},
                                           std::pair{"gpt2", ""}, std::pair{"bert", ""}),
                         [](const auto& info) {
                           return std::string(info.param.first) + "_" +
                                  (info.param.second.empty() ? "base"
                                                             : std::string(info.param.second));
                         });

// Graphs as optimisation leaves them: nested operands, attributes, dims of intermediate shapes.
TEST(Raise, OptimisedFormsBecomeFlat) {
  constexpr std::string_view kText = R"(graph-ir 1
main $f

module $round(%i: Int, %x: Tensor[B,S]) -> Tensor[B,S] {
  %y = core.binary.+ %x, %i : Tensor[B,S]
  return %y
}

module $f(%x: Tensor[B,S]) -> Tensor {
  %c = concat %x, (core.binary.* %x, 2 : Tensor[B,S]) {dim=0} : Tensor[E,S]
  %r = reshape %c, (core.list <E*2-1>, (core.binary.+ 1, 0 : Int) : List[Dim]) : Tensor
  %l = core.repeat 0, 3, 1, %x loop($round; var i; carry x; args iter carry:0) : Tensor[B,S]
  %s = core.select true, %l, (matmul %l, (core.binary.* %l, 2 : Tensor[B,S]) : Tensor[B,S]) : Tensor[B,S]
  return %s as s
}
)";
  sema::Session s;
  auto g = graph::read_graph(kText, s.types);
  ASSERT_TRUE(g.ok()) << g.error().message;
  sema::TypedProgram raised = raise(*g, s);
  std::string text = syntax::render(sema::as_module(raised.flat.program), s.ast, s.names);
  EXPECT_EQ(text.substr(text.find("f ::")), R"(f :: Tensor[B,S] -> Tensor
f x = do
  _v1 <- x * 2
  c <- _concat x _v1 0
  _v2 <- _shape c
  _v3 <- _list_index _v2 0
  _v4 <- 2 * _v3
  _v5 <- _v4 - 1
  _v6 <- 1 + 0
  r <- _reshape c [_v5, _v6]
  l <- for i <- [0..3) carry (x) round i x
  s <- true ? l : _matmul l (l * 2)
  return s
)");
}

}  // namespace
}  // namespace axon::lower
