// The zoo programs lower to sound graphs that survive their text form, under both overlays.
#include "zoo.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace axon::lower {
namespace {

class LowerZoo : public ::testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

TEST_P(LowerZoo, IsSound) {
  auto [name, overlay] = GetParam();
  sema::Session s;
  graph::Graph g = lower_zoo(name, overlay, "", s);
  ASSERT_EQ(errors_of(s), "");
  std::string written = write_graph(g, s.types);
  auto again = graph::read_graph(written, s.types);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(difference(g, *again, s.types), std::nullopt);
  EXPECT_EQ(write_graph(*again, s.types), written);
}

INSTANTIATE_TEST_SUITE_P(All, LowerZoo,
                         ::testing::Values(std::pair{"llama", ""}, std::pair{"llama", "static"},
                                           std::pair{"gpt2", ""}, std::pair{"gpt2", "static"},
                                           std::pair{"bert", ""}),
                         [](const auto& info) {
                           return std::string(info.param.first) + "_" +
                                  (info.param.second.empty() ? "base"
                                                             : std::string(info.param.second));
                         });

}  // namespace
}  // namespace axon::lower
