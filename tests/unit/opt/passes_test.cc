// The structured passes: what they take away, what they leave, and that they end.
#include "opt/passes.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"
#include "support/file.h"

namespace axon::opt {
namespace {

struct Tables {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
  DiagSink sink;
};

graph::Graph read(std::string_view text, Tables& t) {
  auto graph = graph::read_graph(text, t.types);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return graph ? std::move(*graph) : graph::Graph{};
}

std::string run(std::string_view text, const PassOptions& options = {}) {
  Tables t;
  graph::Graph graph = read(text, t);
  model::ParamIndex params({{"head.weight", Storage::F32, {2, 2}}});
  auto runs = run_passes(graph, t.types, Answers{&params}, options, t.sink,
                         [](const PassRun&, const graph::Graph&) {});
  for (const Diagnostic& d : t.sink.all()) ADD_FAILURE() << message_of(d);
  EXPECT_TRUE(runs);
  return graph::write_graph(graph, t.types);
}

constexpr std::string_view kBefore = R"(graph-ir 1
main $net

global $own() -> Bool {
  %h = params_has_root @@'head' : Bool
  return %h
}

module $tied(%x: Tensor[B]) -> Tensor[B] {
  %y = exp %x : Tensor[B]
  return %y
}

module $net(%x: Tensor[B]) -> Tensor[B] {
  %a = core.alias %x : Tensor[B]
  %unused = exp %a : Tensor[B]
  %read = params_param @@'head.weight' : Tensor
  %never = core.binary.== $own, false : Bool
  %y = core.select %never, (core.call $tied %a : Tensor[B]), (sin %a : Tensor[B]) : Tensor[B]
  return %y as y
}
)";

// Parameter reads may fail and stay.
constexpr std::string_view kAfter = R"(graph-ir 1
main $net

module $net(%x: Tensor[B]) -> Tensor[B] {
  %read = params_param @@'head.weight' : Tensor
  %y = sin %x : Tensor[B]
  return %y as y
}
)";

TEST(Passes, DecideAndCleanUp) {
  PassOptions options;
  options.verify = true;
  EXPECT_EQ(run(kBefore, options), kAfter);
  EXPECT_EQ(run(kAfter, options), kAfter);
}

TEST(Passes, SkipAndStop) {
  PassOptions skip;
  skip.skip = {"fold", "dead", "prune"};
  EXPECT_NE(run(kBefore, skip).find("core.select"), std::string::npos);
  PassOptions stop;
  stop.stop_after = "fold";
  std::string text = run(kBefore, stop);
  EXPECT_NE(text.find("%unused"), std::string::npos);
  EXPECT_EQ(text.find("core.select"), std::string::npos);
}

// A decoder means the same behind the passes: the flat modules are equal.
TEST(Passes, KeepWhatADecoderDoes) {
  Tables t;
  auto text = read_file(std::string(AXON_SOURCE_DIR) + "/tests/opt/mini_llama.graph");
  ASSERT_TRUE(text.ok());
  graph::Graph before = read(*text, t), after = read(*text, t);
  std::vector<model::TensorInfo> all = {{"embed.weight", Storage::F32, {11, 8}},
                                        {"norm.weight", Storage::F32, {8}}};
  for (int i = 0; i < 2; ++i) {
    for (auto [name, shape] :
         std::vector<std::pair<const char*, std::vector<int64_t>>>{{"ln1", {8}},
                                                                   {"ln2", {8}},
                                                                   {"q", {8, 8}},
                                                                   {"k", {4, 8}},
                                                                   {"v", {8, 4}},
                                                                   {"o", {8, 8}},
                                                                   {"gate", {12, 8}},
                                                                   {"up", {12, 8}},
                                                                   {"down", {8, 12}}}) {
      all.push_back({"layers." + std::to_string(i) + "." + name + ".weight", Storage::F32, shape});
    }
  }
  model::ParamIndex params(all);
  size_t nodes = count_nodes(after);
  PassOptions options;
  options.verify = true;
  auto runs = run_passes(after, t.types, Answers{&params}, options, t.sink,
                         [](const PassRun&, const graph::Graph&) {});
  for (const Diagnostic& d : t.sink.all()) ADD_FAILURE() << message_of(d);
  ASSERT_TRUE(runs);
  EXPECT_LT(count_nodes(after), nodes);
  auto flat = [&](const graph::Graph& graph) {
    Forest forest;
    auto dim = [&](std::string_view name) {
      return t.dims.of(t.dims.symbol(t.names.intern(name), SymbolKind::Variable));
    };
    SpecialiseOptions unrolled;
    unrolled.classes = false;
    auto r = specialise(graph, t.types, forest,
                        {forest.tensor({dim("B"), dim("S")}, DType::I64), forest.null(),
                         forest.null(), forest.boolean(true), forest.integer(dim("C"))},
                        Answers{&params}, unrolled, t.sink);
    return r ? graph::write_graph(r->graph, t.types) : std::string("nothing");
  };
  EXPECT_EQ(flat(before), flat(after));
}

// A change in the last round allowed counts as no end in sight.
TEST(Passes, RoundsAreLimited) {
  Tables t;
  graph::Graph graph = read(kBefore, t);
  model::ParamIndex params({{"head.weight", Storage::F32, {2, 2}}});
  PassOptions options;
  options.max_rounds = 1;
  auto runs = run_passes(graph, t.types, Answers{&params}, options, t.sink,
                         [](const PassRun&, const graph::Graph&) {});
  EXPECT_FALSE(runs);
  ASSERT_EQ(t.sink.all().size(), 1u);
  EXPECT_EQ(diag_info(t.sink.all()[0].id).code, "OPT-DIVERGE");
}

}  // namespace
}  // namespace axon::opt
