// The document tree: templates, precedence, line breaking, names, prelude files.
#include <gtest/gtest.h>

#include "emit/py/names.h"
#include "emit/py/prelude.h"
#include "emit/py/print.h"
#include "emit/py/template.h"

namespace axon::emit::py {
namespace {

std::string round_trip(std::string_view text) { return flat(expand(text)); }

TEST(Template, ReadsWhatThePrinterWrites) {
  for (std::string_view text : {"a + b * c",
                                "(a + b) * c",
                                "-a**2",
                                "(-a)**2",
                                "a - (b - c)",
                                "a - b - c",
                                "not a and b",
                                "a if b else c",
                                "x[:, None, 1:]",
                                "x[a + 1 :]",
                                "f(x, dim=-1, *rest)",
                                "(a, b)",
                                "(a,)",
                                "[1, 2.5, 1e-05]",
                                "a is not None",
                                "x.view(B, S, -1).transpose(1, 2)",
                                "(a or b) and c",
                                "a <= b",
                                "f(\"same\")",
                                "x.y ** f(2)",
                                "~a & b"}) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(Template, PlaceholdersAreDocumentsNotText) {
  Expr sum = binary(atom("a"), "+", atom("b"));
  EXPECT_EQ(flat(expand("{0} * {1}", {sum, atom("c")})), "(a + b) * c");
  EXPECT_EQ(flat(expand("{0}.sum(-1)", {sum})), "(a + b).sum(-1)");
  EXPECT_EQ(flat(expand("f({0})", {sum})), "f(a + b)");
}

TEST(Number, IsWrittenAsAPersonDoes) {
  EXPECT_EQ(flat(number(8.517193191416238)), "math.log(5000)");
  EXPECT_EQ(flat(number(-8.517193191416238)), "-math.log(5000)");
  EXPECT_EQ(flat(number(1.2039728043259361)), "math.log(10 / 3)");
  EXPECT_EQ(flat(number(7.745966692414834)), "math.sqrt(60)");
  EXPECT_EQ(flat(number(0.22360679774997896)), "1 / math.sqrt(20)");
  for (double written : {0.5, 1e-5, 2.0, 0.044715, 1e-12, 10000.0})
    EXPECT_EQ(flat(number(written)), flat(real(written)));
  for (double other : {3.141592653589793, 0.1234567890123456, 1.2345678901234567e300})
    EXPECT_EQ(flat(number(other)), flat(real(other)));
}

TEST(Print, LongCallsBreakWithinTheirBrackets) {
  std::string long_name(40, 'n');
  Stmt wide = assign(atom("value"), call(atom("function"), {atom(long_name), atom(long_name)}));
  EXPECT_EQ(print({wide}), "value = function(\n    " + long_name + ", " + long_name + "\n)\n");
  Stmt wider = assign(atom("value"), call(atom("function"), {atom(long_name), atom(long_name),
                                                             keyword("flag", atom("True"))}));
  EXPECT_EQ(print({wider}), "value = function(\n    " + long_name + ",\n    " + long_name +
                                ",\n    flag=True,\n)\n");
}

TEST(Print, AnOperationThatEndsInACallBreaksWithinIt) {
  std::string a(40, 'a'), b(50, 'b');
  Stmt last = return_(expand("f({0}) / g({1})", {atom(a), atom(b)}));
  EXPECT_EQ(print({last}), "return f(" + a + ") / g(\n    " + b + "\n)\n");
  Stmt several = return_(expand("f({0}) / g({1}) * h(x)", {atom(a), atom(b)}));
  EXPECT_EQ(print({several}), "return (\n    f(" + a + ")\n    / g(" + b + ")\n    * h(x)\n)\n");
}

TEST(Print, OperatorsAndChainsBreakWithinParentheses) {
  std::string a(40, 'a'), b(50, 'b');
  Stmt sum = return_(binary(atom(a), "+", atom(b)));
  EXPECT_EQ(print({sum}), "return (\n    " + a + "\n    + " + b + "\n)\n");
  // Tighter operators break too where their part is too long, on either side.
  Expr product = binary(atom(a), "@", atom(b));
  EXPECT_EQ(print({return_(binary(product, "+", atom("c")))}),
            "return (\n    " + a + "\n    @ " + b + "\n    + c\n)\n");
  EXPECT_EQ(print({return_(binary(atom("c"), "+", product))}),
            "return (\n    c\n    + " + a + "\n    @ " + b + "\n)\n");
  Stmt chain =
      assign(atom("q"), expand("{0}(x).view(B, S, {1}).transpose(1, 2)", {atom(a), atom(b)}));
  EXPECT_EQ(print({chain}),
            "q = (\n    " + a + "(x)\n    .view(B, S, " + b + ")\n    .transpose(1, 2)\n)\n");
}

TEST(Print, DefinitionsStandApart) {
  Stmt method = def("forward", {{"self", {}, {}}, {"x", atom("Tensor"), {}}}, atom("Tensor"),
                    {docstring("Gives x."), return_(atom("x"))});
  Stmt type = class_("Layer", {expand("nn.Module")}, {docstring("A layer."), method, method});
  EXPECT_EQ(
      print({type}),
      "class Layer(nn.Module):\n    \"\"\"A layer.\"\"\"\n\n    def forward(self, x: Tensor) -> "
      "Tensor:\n        \"\"\"Gives x.\"\"\"\n        return x\n\n    def forward(self, x: "
      "Tensor) -> Tensor:\n        \"\"\"Gives x.\"\"\"\n        return x\n");
  EXPECT_NE(print({type, type}).find("return x\n\n\nclass Layer"), std::string::npos);
}

TEST(Names, SourceNamesAreKeptWherePythonAllows) {
  NamePlan plan;
  plan.reserve("torch");
  EXPECT_EQ(plan.unique("x"), "x");
  EXPECT_EQ(plan.unique("x"), "x_2");
  EXPECT_EQ(plan.unique("lambda"), "lambda_");
  EXPECT_EQ(plan.unique("torch"), "torch_2");
  EXPECT_EQ(plan.unique("3d-map"), "_3d_map");
  EXPECT_EQ(class_name("self_attn"), "SelfAttn");
}

TEST(Prelude, FilesComeOnceAfterWhatTheyNeed) {
  Prelude prelude(
      {{"t/a",
        "\"\"\"A.\"\"\"\n\nimport torch\nfrom torch import Tensor\n\nfrom .b import "
        "b\n\n\ndef a() -> int:\n    return b()\n"},
       {"t/b", "\"\"\"B.\"\"\"\n\nfrom torch import nn\n\n\ndef b() -> int:\n    return 1\n"}});
  prelude.use("t/a");
  prelude.use("t/b");
  std::vector<Stmt> all = import_statements(prelude.imports());
  all.insert(all.end(), prelude.definitions().begin(), prelude.definitions().end());
  EXPECT_EQ(
      print(all),
      "import torch\nfrom torch import Tensor, nn\n\n\ndef b() -> int:\n    return 1\n\n\ndef a() "
      "-> int:\n    return b()\n");
  EXPECT_EQ(prelude.names(), (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace axon::emit::py
