// The text form: writing, reading and structural equality.
#include "graph/text.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "support/file.h"

namespace axon::graph {
namespace {

struct Tables {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
};

std::string rewrite(std::string_view text, Tables& t) {
  auto graph = read_graph(text, t.types);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  if (!graph) return "";
  return write_graph(*graph, t.types);
}

// Everything the form can say, in the writer's own spelling.
constexpr std::string_view kEverything = R"(graph-ir 1
pragma main "net"
pragma checkpoints ["a", "b"]
main $net
rigid NN.WIDTH! = 16

global $root() -> String {
  return "en\"c\n"
}

module $`odd name`(%__scope: Path, %x: Tensor[B,S,2*D+1] f32, %m?: ?Tensor[..R,NN.WIDTH!] bf16) -> (Tensor, ?_T1) {
  %a: Tensor[B,n^] f32, %b: Tensor[B,_d1~] i64 = topk %x, <T#>, -1 {largest=true} : (Tensor[B,n^], Tensor[B,_d1~]) @ 'layers.{__scope}.x{i=%x}' from other
  %y: Tensor f32 = core.alias %a : Tensor[B,3]
  %_v1 = matmul %x, (%m :: Tensor[B,S]) : Tensor f32
  %_v2 = core.select (core.binary.== %m, null : Bool), %x, (core.call $root {k=1.5} : String) : _
  %_v3 = linear @@'{root=$root}.h\.1.{n=<S+1>}', @'weight', @@'' : Tensor @ relative 'a'
  %_v4 = core.list 1, (2 :: Dim), -3, 1e-05, -inf, nan, <min(S,4)>, <S/(2*H)> : List[Dim]
  %_v5 = matmul %a, %b : Tensor from _
  constraint <S> <= <NN.WIDTH!> if %m is not null and <B> != 3
  constraint %m is null
  return %y, %m
}

module $net(%n: Int) -> Tensor[B] {
  default %n = 3
  %x = random_normal %n : Tensor[B]
  %x__g1 = core.repeat 0, %n, 1, %x, %n loop($`odd name`; var i; carry x; args iter carry:0 input:4; scan 4; stack 0) : Tensor[B]
  return %x__g1 as logits
}
)";

TEST(GraphText, RewritesEverythingAsItWas) {
  Tables t;
  EXPECT_EQ(rewrite(kEverything, t), kEverything);
}

TEST(GraphText, ReadGraphEqualsWritten) {
  Tables t;
  auto a = read_graph(kEverything, t.types);
  ASSERT_TRUE(a.ok());
  auto b = read_graph(write_graph(*a, t.types), t.types);
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(difference(*a, *b, t.types), std::nullopt);
}

// Each replacement must be seen by difference().
TEST(GraphText, DifferenceSeesEveryPart) {
  Tables t;
  auto base = read_graph(kEverything, t.types);
  ASSERT_TRUE(base.ok());
  const std::pair<std::string_view, std::string_view> kEdits[] = {
      {"pragma main \"net\"", "pragma main \"nat\""},
      {"main $net", "main $root"},
      {"\"en\\\"c", "\"em\\\"c"},
      {"2*D+1", "2*D+2"},
      {"%m?:", "%m:"},
      {"bf16", "f16"},
      {"<T#>, -1", "<T#>, -2"},
      {"largest=true", "largest=false"},
      {"'layers.", "'layer."},
      {"from other", ""},
      {"core.binary.==", "core.binary.!="},
      {"{k=1.5}", "{j=1.5}"},
      {"<S+1>", "<S+2>"},
      {"@'weight'", "@@'weight'"},
      {"(2 :: Dim)", "2"},
      {"-inf", "inf"},
      {"<= <NN.WIDTH!>", "< <NN.WIDTH!>"},
      {"<B> != 3", "<B> != 4"},
      {"default %n = 3", "default %n = 4"},
      {"var i", "var j"},
      {"carry:0 input:4", "input:4 carry:0"},
      {"scan 4", "scan 3"},
      {"as logits", "as logit"},
      {"return %y, %m", "return %y, %y"},
      {"global $root", "module $root"},
      {"-> Tensor[B] {", "-> Tensor[C] {"},
  };
  for (auto [from, to] : kEdits) {
    std::string text(kEverything);
    size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
    auto edited = read_graph(text, t.types);
    ASSERT_TRUE(edited.ok()) << from << ": " << edited.error().message;
    EXPECT_NE(difference(*base, *edited, t.types), std::nullopt) << from;
  }
}

TEST(GraphText, BuilderWritesWhatItMade) {
  Tables t;
  Graph graph;
  ModuleId id = add_module(graph, t.names.intern("f"));
  Builder b(graph, id, t.types);
  DimId rows = t.dims.of(t.dims.symbol(t.names.intern("B"), SymbolKind::Variable));
  TypeId type = t.types.tensor_of({rows, t.dims.integer(4)});
  ValueId x = b.input("x", type, DType::F32);
  ValueId sum = b.add(Op::CoreBinaryAdd, {b(x), lit_int(2, t.types)}, type, "", DType::F32);
  b.output(b(sum));
  b.finish();
  graph.main = id;
  EXPECT_EQ(write_graph(graph, t.types),
            "graph-ir 1\nmain $f\n\nmodule $f(%x: Tensor[B,4] f32) -> Tensor[B,4] {\n"
            "  %_v1 = core.binary.+ %x, 2 : Tensor[B,4] f32\n  return %_v1\n}\n");
}

TEST(GraphText, ErrorsNameTheLine) {
  Tables t;
  auto message = [&](std::string_view text) {
    auto graph = read_graph(text, t.types);
    return graph ? std::string("no error") : graph.error().code + " " + graph.error().message;
  };
  EXPECT_EQ(message("graph-ir 2\n"), "GRAPH-SYNTAX graph text: expected `graph-ir 1` in line 1");
  EXPECT_EQ(message("graph-ir 1\nmodule $f() -> Int {\n  %a = add %b, 1 : Int\n}\n"),
            "GRAPH-SYNTAX graph text: value `%b` is not defined before its use in line 3");
  EXPECT_EQ(message("graph-ir 1\nmodule $f() -> Int {\n  %a = frob 1 : Int\n}\n"),
            "GRAPH-SYNTAX graph text: operation `frob` is not known in line 3");
  EXPECT_EQ(message("graph-ir 1\nmain $g\n"),
            "GRAPH-SYNTAX graph text: module `g` is not in the graph in line 2");
  // Cut anywhere, the reader must answer and never read past the end.
  std::string_view all = kEverything;
  for (size_t n = 0; n < all.size(); ++n) (void)read_graph(all.substr(0, n), t.types);
}

}  // namespace
}  // namespace axon::graph
