// The verifier: sound graphs pass, each broken contract is named.
#include "graph/verify.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/text.h"

namespace axon::graph {
namespace {

struct Tables {
  Interner names;
  DimTable dims{names};
  TypeTable types{dims};
};

constexpr std::string_view kSound = R"(graph-ir 1
main $net

global $root() -> String {
  return "enc"
}

module $step(%i: Int, %x: Tensor[B,4] f32, %k: Dim) -> Tensor[B,4] {
  %w = params_param @@'{r=$root}.{i}.w' : Tensor[4,4]
  %y = matmul %x, %w : Tensor[B,4] @ 'h.{i}'
  return %y
}

module $net(%x: Tensor[B,4] f32, %m?: ?Tensor[B,4]) -> (Tensor[B,4], Int) {
  default %m = null
  %c = core.binary.== %m, null : Bool
  %s = core.select %c, %x, (core.binary.+ %x, (%m :: Tensor[B,4]) : Tensor[B,4]) : Tensor[B,4]
  %r = core.repeat 0, 3, 1, %s, <B> loop($step; var i; carry x; args iter carry:0 input:4) : Tensor[B,4]
  %a: Tensor[B,2], %b: Tensor[B,2] = topk %r, 2 {largest=true} : (Tensor[B,2], Tensor[B,2])
  %n = core.alias 3 : Int
  %t = core.tuple %r, %n : (Tensor[B,4], Int)
  %l = core.list <B>, 4 : List[Dim]
  %z = core.call $step 1, %x, %n : Tensor[B,4]
  constraint <B> <= 8 if %m is not null
  return %r as logits, %n as n
}
)";

std::string faults(std::string_view text, Compatibility how = Compatibility::Tolerant) {
  Tables t;
  auto graph = read_graph(text, t.types);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  if (!graph) return "unreadable";
  std::string out;
  for (const Fault& f : find_faults(*graph, t.types, how)) out += f.message + "\n";
  return out;
}

TEST(GraphVerify, SoundGraphHasNoFaults) {
  EXPECT_EQ(faults(kSound), "");
  EXPECT_EQ(faults(kSound, Compatibility::Strict), "");
}

TEST(GraphVerify, FaultsAreReportedByTheirCode) {
  Tables t;
  std::string text(kSound);
  text.replace(text.find("main $net"), 9, "");
  auto graph = read_graph(text, t.types);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  DiagSink sink;
  EXPECT_FALSE(verify(*graph, t.types, "pass `fold`", sink));
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(diag_info(sink.all()[0].id).code, "GRAPH-INVALID");
  EXPECT_EQ(message_of(sink.all()[0]),
            "graph is malformed after pass `fold`: graph has no main module");
}

struct Edit {
  std::string_view from, to, message;
};

class GraphVerifyEdit : public testing::TestWithParam<Edit> {};

TEST_P(GraphVerifyEdit, IsNamed) {
  std::string text(kSound);
  size_t at = text.find(GetParam().from);
  ASSERT_NE(at, text.npos);
  text.replace(at, GetParam().from.size(), GetParam().to);
  EXPECT_NE(faults(text).find(GetParam().message), std::string::npos) << faults(text);
}

INSTANTIATE_TEST_SUITE_P(
    All, GraphVerifyEdit,
    testing::Values(
        Edit{"main $net", "", "graph has no main module"},
        Edit{"main $net", "main $root", "main module is a global binding"},
        Edit{"global $root()", "global $root(%q: Int)", "no inputs and one output"},
        Edit{"@@'{r=$root}", "@@'{r=$step}", "placeholder `r` names no global binding"},
        Edit{"default %m = null", "default %m = %x", "a default refers to a value"},
        Edit{"matmul %x, %w", "matmul %x", "operand `y` is missing"},
        Edit{"matmul %x, %w", "matmul %x, %w, %w", "takes 2 operands, found 3"},
        Edit{"{largest=true}", "{largets=true}", "operand `largets` is unknown"},
        Edit{"{largest=true}", "{k=2}", "operand `k` is duplicate"},
        Edit{"core.binary.== %m, null", "core.binary.== %m", "takes 2 operands, found 1"},
        Edit{"core.select %c", "core.select 3", "the condition is no truth value"},
        Edit{"core.select %c, %x", "core.select %c, 3", "a branch of type Int"},
        Edit{"$step 1, %x, %n", "$step 1, %x", "argument for `k` of `step` is missing"},
        Edit{"$step 1, %x, %n", "$step 1, %x, %n, 4", "takes 3 arguments, found 4"},
        Edit{"$step 1, %x, %n", "$step 1, \"s\", %n", "argument for `x` has type String"},
        Edit{"%x, %n : Tensor[B,4]", "%x, %n : Tensor[B,5]", "the result of `step`"},
        Edit{"$step 1, %x", "$net 1, %x", "takes 2 arguments"},
        Edit{"carry x;", "carry x y;", "outputs and carries differ"},
        Edit{"carry:0 input:4", "carry:1 input:4", "names no carry"},
        Edit{"carry:0 input:4", "carry:0 input:9", "names no input"},
        Edit{"carry:0 input:4", "carry:0", "`step` has 3 inputs, the loop gives 2"},
        Edit{"input:4)", "input:4; scan 2)", "a scan mark names no input"},
        Edit{"0, 3, 1, %s, <B>", "0, 3, 1, %s, <Q>", "dim `Q` occurs in no type"},
        Edit{"%b: Tensor[B,2] = topk", "%b: Int = topk", "output 1 has type Int"},
        Edit{"core.tuple %r, %n", "core.tuple %r", "makes (Tensor[B,4], Int) of 1 items"},
        Edit{"core.list <B>, 4", "core.list <B>, %x", "item 1 does not fit"},
        Edit{"core.alias 3", "core.alias 3, 4", "takes 1 operands, found 2"},
        Edit{"return %r as logits, %n as n", "return %r, %n", "differ in number"},
        Edit{"return %r as logits, %n as n", "return %r as logits", "the output has type"},
        Edit{"return %y", "return", "the module has no output"},
        Edit{"(%m :: Tensor[B,4])", "(%m :: Int)", "use of `m` has type Int"}));

TEST(GraphVerify, SeesStorageMistakes) {
  Tables t;
  auto graph = read_graph(kSound, t.types);
  ASSERT_TRUE(graph.ok());
  Module& net = graph->modules[2];
  std::swap(net.order[0], net.order[1]);
  auto found = find_faults(*graph, t.types);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].message,
            "module `net`, node 1 `s` (core.select): value `c` is used before it is made");
  std::swap(net.order[0], net.order[1]);
  net.values[net.nodes[net.order[2]].outputs[0]].name = net.values[net.inputs[0]].name;
  EXPECT_FALSE(find_faults(*graph, t.types).empty());
}

TEST(GraphVerify, SeesRecursion) {
  constexpr std::string_view kLoop =
      "graph-ir 1\nmain $f\nmodule $f(%x: Int) -> Int {\n  %y = core.call $g %x : Int\n"
      "  return %y as y\n}\nmodule $g(%x: Int) -> Int {\n  %y = core.call $f %x : Int\n"
      "  return %y\n}\n";
  EXPECT_EQ(faults(kLoop), "module `f` reaches itself\n");
}

TEST(GraphVerify, ReportsAfterWhichStage) {
  Tables t;
  auto graph = read_graph("graph-ir 1\n", t.types);
  ASSERT_TRUE(graph.ok());
  DiagSink sink;
  EXPECT_FALSE(verify(*graph, t.types, "lower", sink));
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(message_of(sink.all()[0]), "graph is malformed after lower: graph has no main module");
}

TEST(GraphVerify, TolerantAndStrictRelations) {
  Tables t;
  auto type = [&](std::string_view text) {
    auto g = read_graph("graph-ir 1\nmodule $f() -> " + std::string(text) + " {\n  return 1\n}\n",
                        t.types);
    EXPECT_TRUE(g.ok()) << text;
    return g->modules[0].return_type;
  };
  struct Row {
    std::string_view actual, formal;
    bool tolerant, strict;
  };
  const Row kRows[] = {
      {"Int", "Dim", true, true},
      {"Dim", "Float", true, true},
      {"Float", "Int", true, false},
      {"Bool", "Int", false, false},
      {"Null", "?Int", true, true},
      {"Null", "Int", true, false},
      {"?Int", "Int", true, true},
      {"Any", "Path", true, true},
      {"_T1", "String", true, true},
      {"Tensor", "Tensor[B]", true, true},
      {"Tensor[B,3]", "Tensor[C,3]", true, false},
      {"Tensor[B,3]", "Tensor[B,4]", false, false},
      {"Tensor[B]", "Tensor[B,S]", false, false},
      {"Tensor[..S,3]", "Tensor[B,C,3]", true, true},
      {"Tensor[..S,3]", "Tensor[B,C,4]", false, false},
      {"Tensor[B,C]", "Tensor[..S,A,B,C]", false, false},
      {"(Int, Int)", "(Int, Dim)", true, true},
      {"(Int, Int)", "(Int, Int, Int)", false, false},
      {"List[Int]", "List[Path]", false, false},
      {"List[Tensor[..R]]", "(Tensor[B], Tensor[B])", true, true},
      {"(Int, String)", "List[Int]", false, false},
  };
  for (const Row& r : kRows) {
    EXPECT_EQ(compatible(type(r.actual), type(r.formal), t.types, Compatibility::Tolerant),
              r.tolerant)
        << r.actual << " " << r.formal;
    EXPECT_EQ(compatible(type(r.actual), type(r.formal), t.types, Compatibility::Strict), r.strict)
        << r.actual << " " << r.formal;
  }
}

}  // namespace
}  // namespace axon::graph
