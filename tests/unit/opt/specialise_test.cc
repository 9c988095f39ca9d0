// Specialisation of a small decoder for each shape of call.
#include "opt/specialise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "graph/text.h"
#include "support/file.h"

namespace axon::opt {
namespace {

struct Mini {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
  Forest forest;
  DiagSink sink;
  model::ParamIndex params;
  graph::Graph graph;
  SpecialiseOptions options;
  DimId b, s, c;

  explicit Mini(std::string_view file = "mini_llama") : params(tensors()) {
    auto text = read_file(fmt::format("{}/tests/opt/{}.graph", AXON_SOURCE_DIR, file));
    EXPECT_TRUE(text.ok());
    auto read = graph::read_graph(*text, types);
    EXPECT_TRUE(read.ok()) << read.error().message;
    if (read) graph = std::move(*read);
    b = variable("B"), s = variable("S"), c = variable("C");
  }

  static std::vector<model::TensorInfo> tensors() {
    std::vector<model::TensorInfo> all = {{"embed.weight", Storage::F32, {11, 8}},
                                          {"norm.weight", Storage::F32, {8}}};
    for (int i = 0; i < 2; ++i) {
      std::string p = "layers." + std::to_string(i) + ".";
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
        all.push_back({p + name + ".weight", Storage::F32, shape});
      }
    }
    all.push_back({"layers.1.k.bias", Storage::F32, {4}});
    return all;
  }
  DimId variable(std::string_view name) {
    return dims.of(dims.symbol(names.intern(name), SymbolKind::Variable));
  }
  std::vector<TreeId> start() {
    TreeId null = forest.null();
    return {forest.tensor({b, s}, DType::I64), null, null, forest.boolean(true), forest.integer(c)};
  }
  std::optional<Specialised> run(const std::vector<TreeId>& inputs) {
    auto result = specialise(graph, types, forest, inputs, Answers{&params}, options, sink);
    for (const Diagnostic& d : sink.all()) {  // biases that are asked for may be missing
      if (d.id != Diag::WBiasMissing) ADD_FAILURE() << message_of(d) << notes(d);
    }
    return result;
  }
  static std::string notes(const Diagnostic& d) {
    std::string out;
    for (const DiagNote& n : d.notes) out += "\n  " + message_of(n);
    return out;
  }
};

size_t count(const graph::Module& m, Op op) {
  size_t n = 0;
  for (graph::NodeId id : m.order) n += m.nodes[id].op == op;
  return n;
}

TEST(Specialise, StartGivesAFlatModuleAndACacheTree) {
  Mini mini;
  auto r = mini.run(mini.start());
  ASSERT_TRUE(r);
  std::string text = graph::write_graph(r->graph, mini.types);
  if (std::getenv("AXON_SHOW")) puts(text.c_str());
  EXPECT_EQ(mini.forest.show(r->outputs[0], mini.dims), "float32[B,S,11]");
  EXPECT_EQ(mini.forest.show(r->outputs[1], mini.dims),
            "([(float32[B,1,C,4], float32[B,1,C,4], S, C), (float32[B,1,C,4], float32[B,1,C,4], S, "
            "C)], [], S, C)");
  EXPECT_EQ(count(r->module(), Op::Linear), 15u);
  EXPECT_EQ(count(r->module(), Op::CoreCall) + count(r->module(), Op::CoreSelect), 0u);
}

// The cache of `start` as input: every length is one data symbol.
TEST(Specialise, ExtendKeepsTheCacheTree) {
  Mini mini;
  auto start = mini.run(mini.start());
  ASSERT_TRUE(start);
  DimId past = mini.dims.of(mini.dims.symbol(mini.names.intern("P"), SymbolKind::Data));
  auto with_past = [&](auto&& self, TreeId id) -> TreeId {
    const Tree& t = mini.forest[id];
    if (t.kind == Tree::Kind::Int) return t.dim == mini.s ? mini.forest.integer(past) : id;
    if (t.kind != Tree::Kind::List && t.kind != Tree::Kind::Tuple) return id;
    std::vector<TreeId> items;
    for (TreeId item : t.items) items.push_back(self(self, item));
    return t.kind == Tree::Kind::List ? mini.forest.list(items) : mini.forest.tuple(items);
  };
  std::vector<TreeId> inputs = mini.start();
  inputs[2] = with_past(with_past, start->outputs[1]);
  auto extend = mini.run(inputs);
  ASSERT_TRUE(extend);
  std::string layer = "(float32[B,1,C,4], float32[B,1,C,4], P+S, C)";
  EXPECT_EQ(mini.forest.show(extend->outputs[1], mini.dims),
            "([" + layer + ", " + layer + "], [], P+S, C)");
  EXPECT_TRUE(same_structure(mini.forest, start->outputs[1], extend->outputs[1]));
  EXPECT_EQ(extend->inputs.size(), 5u);
  EXPECT_EQ(count(extend->module(), Op::Zeros), 0u);
  ASSERT_EQ(extend->facts.size(), 1u);
  EXPECT_EQ(mini.dims.show(extend->facts[0].left) + " <= " + mini.dims.show(extend->facts[0].right),
            "P+S <= C");
}

TEST(Specialise, PaddedCallsKeepTheMask) {
  Mini mini;
  std::vector<TreeId> inputs = mini.start();
  DimId length = mini.dims.of(mini.dims.symbol(mini.names.intern("M"), SymbolKind::Data));
  inputs[1] = mini.forest.tuple(
      {mini.forest.tensor({mini.b, mini.c}, DType::Bool), mini.forest.integer(length)});
  auto r = mini.run(inputs);
  ASSERT_TRUE(r);
  EXPECT_EQ(count(r->module(), Op::CoreBinaryAnd), 2u);
  EXPECT_EQ(mini.names.text(r->inputs[1].name), "attn_mask.0");
}

TEST(Specialise, AllFailingReadsAreReported) {
  Mini mini;
  mini.params = model::ParamIndex({{"embed.weight", Storage::F32, {11, 8}},
                                   {"norm.weight", Storage::F32, {9}},
                                   {"layers.0.q.weight", Storage::F32, {8, 8}},
                                   {"layers.1.q.weight", Storage::F32, {7, 8}},
                                   {"layers.0.down.weight", Storage::I64, {8, 12}},
                                   {"layers.1.down.weight", Storage::F32, {8, 12}},
                                   {"layers.0.k.bias", Storage::F32, {3}}});
  auto r = specialise(mini.graph, mini.types, mini.forest, mini.start(), Answers{&mini.params},
                      mini.options, mini.sink);
  EXPECT_FALSE(r);
  std::vector<std::string> found;
  for (const Diagnostic& d : mini.sink.all()) found.push_back(message_of(d));
  std::sort(found.begin(), found.end());
  std::vector<std::string> wanted = {
      "bias `layers.1.k.bias` is asked for but not in the checkpoint; none is used",
      "checkpoint has no tensor `layers.{0,1}.gate.weight`",
      "checkpoint has no tensor `layers.{0,1}.k.weight`",
      "checkpoint has no tensor `layers.{0,1}.ln1.weight`",
      "checkpoint has no tensor `layers.{0,1}.ln2.weight`",
      "checkpoint has no tensor `layers.{0,1}.o.weight`",
      "checkpoint has no tensor `layers.{0,1}.up.weight`",
      "checkpoint has no tensor `layers.{0,1}.v.weight`",
      "tensor `layers.0.down.weight` has element type I64, which no layer computes with",
      "tensor `layers.0.k.bias` has shape [3], the program reads [4]",
      "tensor `layers.1.q.weight` has shape [7,8], the program reads [8,8]",
      "tensor `norm.weight` has shape [9], the program reads [8]"};
  EXPECT_EQ(found, wanted);
}

// A list that a round is the first to ask for is the same list in every round, and its items are
// not.
TEST(Specialise, RoundsThatReadAGlobalListFallIntoClasses) {
  Mini mini("rounds");
  model::ConfigValue config;
  config.kind = model::ConfigValue::Kind::Map;
  config.set("named", model::ConfigValue::of(int64_t{5}));
  Answers answers{&mini.params, &config};
  TreeId x = mini.forest.tensor({mini.b, mini.s}, DType::F32);
  auto r = specialise(mini.graph, mini.types, mini.forest, {x}, answers, mini.options, mini.sink);
  ASSERT_TRUE(r);
  ASSERT_EQ(r->loops.size(), 1u);
  std::vector<int32_t> classes;
  for (const LoopRound& round : r->loops[0].rounds) classes.push_back(round.cls);
  EXPECT_EQ(classes, (std::vector<int32_t>{0, 1, 0}));
  // A read whose default is computed is decided here: the key's value converted, else the default.
  std::string text = graph::write_graph(r->graph, mini.types);
  EXPECT_NE(text.find(", 5.0"), std::string::npos) << text;
  EXPECT_NE(text.find(", 2.0"), std::string::npos) << text;
}

}  // namespace
}  // namespace axon::opt
