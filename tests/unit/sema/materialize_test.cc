// Config reads become literals; constants, presence tests and placeholders feed them.
#include <gtest/gtest.h>

#include "front_end.h"
#include "sema/program_text.h"
#include "syntax/render.h"

namespace axon::sema::testing {
namespace {

using model::ConfigValue;

constexpr const char* kConfig = R"(
export (bool, dim, float, has_key, has_value, int, list, str, value)

has_key :: Path -> Bool
has_key key = _config_has key

has_value :: Path -> Bool
has_value key = _config_has_value key

int :: Path -> ?Int -> Int
int key ?default=null = _config_int key default

dim :: Path -> ?Dim -> Dim
dim key ?default=null = _config_dim key default

float :: Path -> ?Float -> Float
float key ?default=null = _config_float key default

str :: Path -> ?String -> String
str key ?default=null = _config_str key default

bool :: Path -> ?Bool -> Bool
bool key ?default=null = _config_bool key default

list :: Path -> ?List[T] -> List[T]
list key ?default=null = _config_list key default

value :: Path -> ?Any -> Any
value key ?default=null = _config_value key default
)";

constexpr const char* kParams = R"(
export (has_root)

has_root :: Any -> Bool
has_root root = _params_has_root root
)";

constexpr const char* kMath = R"(
export (floor, pow, sqrt)

floor :: Any -> Any
floor x = _floor x

pow :: Any -> Any -> Any
pow x y = _pow x y

sqrt :: Float -> Float
sqrt x = _sqrt x
)";

ConfigValue config() {
  ConfigValue a;
  a.set("n", ConfigValue::of(int64_t{4}));
  a.set("z", ConfigValue::null());
  ConfigValue list;
  list.kind = ConfigValue::Kind::List;
  list.items = {ConfigValue::of(int64_t{1}), ConfigValue::of(std::string("x"))};
  ConfigValue root;
  root.set("a", a);
  root.set("theta", ConfigValue::of(int64_t{10000}));
  root.set("size", ConfigValue::of(8.0));
  root.set("half", ConfigValue::of(0.5));
  root.set("digits", ConfigValue::of(std::string("+12")));
  root.set("flag", ConfigValue::of(std::string("True")));
  root.set("kinds", list);
  root.set("deep8", ConfigValue::of(int64_t{80}));
  return root;
}

struct Outcome {
  Session session;
  std::vector<ConfigRead> reads;
  std::string text;
  // The text of one definition's line.
  std::string line(const std::string& name) const {
    size_t at = text.find("\n" + name + " ");
    if (at == text.npos) return {};
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  }
};

void run(Outcome& out, const std::string& root, const Answers& answers) {
  Case input;
  input.library.files = {{"Config.axon", kConfig}, {"Params.axon", kParams}, {"Math.axon", kMath}};
  FileId file =
      out.session.files.add("main.axon", "import Config\nimport Params\nimport Math\n\n" + root);
  LoadedModules modules = load(file, input.library, {}, out.session);
  ClosedProgram closed = resolve(modules, {}, out.session);
  ASSERT_FALSE(out.session.sink.has_errors()) << show_diagnostics(out.session);
  Materialized done = materialize(closed, answers, out.session);
  ASSERT_FALSE(out.session.sink.has_errors()) << show_diagnostics(out.session);
  out.reads = done.config_reads;
  out.text = syntax::render(as_module(done.closed.program), out.session.ast, out.session.names);
}

// C46.
TEST(Materialize, ReadsConvertAndDefault) {
  ConfigValue values = config();
  Outcome out;
  run(out, R"(
A <- Config.int @@a.n

B <- Config.int @@a.z default=9

C <- Config.int @@a.q

D <- Config.has_key @@a.z

E <- Config.has_value @@a.z

F2 <- Config.bool @@a.n

G <- Config.int @'a.n'

H <- Config.float @@theta

I <- Config.dim @@size

J <- Config.int @@half

K <- Config.int@digits

L <- Config.bool@@flag

M <- Config.list @@kinds

N <- Config.value @@nothing

O <- ((Config.dim @@a.n default=64) :: Dim)

P <- Config.float @@none default=1

Q <- Config.int @@a.n.deeper default=1

R <- @@a.n |> Config.int

main :: Tensor[X] -> List[Any]
main x = [A, B, C, D, E, F2, G, H, I, J, K, L, M, N, O, P, Q, R]
)",
      {&values, nullptr});
  EXPECT_EQ(out.line("A"), "A <- 4");
  EXPECT_EQ(out.line("B"), "B <- 9");
  EXPECT_EQ(out.line("C"), "C <- Config.int @@a.q");
  EXPECT_EQ(out.line("D"), "D <- true");
  EXPECT_EQ(out.line("E"), "E <- false");
  EXPECT_EQ(out.line("F2"), "F2 <- Config.bool @@a.n");
  EXPECT_EQ(out.line("G"), "G <- 4");
  EXPECT_EQ(out.line("H"), "H <- 10000.0");
  EXPECT_EQ(out.line("I"), "I <- 8");
  EXPECT_EQ(out.line("J"), "J <- Config.int @@half");
  EXPECT_EQ(out.line("K"), "K <- 12");
  EXPECT_EQ(out.line("L"), "L <- true");
  EXPECT_EQ(out.line("M"), "M <- [1, \"x\"]");
  EXPECT_EQ(out.line("N"), "N <- null");
  EXPECT_EQ(out.line("O"), "O <- (4 :: Dim)");
  EXPECT_EQ(out.line("P"), "P <- 1.0");
  EXPECT_EQ(out.line("Q"), "Q <- Config.int @@a.n.deeper default=1");
  EXPECT_EQ(out.line("R"), "R <- 4");
  EXPECT_NE(show_diagnostics(out.session).find("W-CONFIG-CONV"), std::string::npos);
}

TEST(Materialize, RecordsOutcomes) {
  ConfigValue values = config();
  Outcome out;
  const char* source = R"(
A <- Config.int @@a.n

B <- Config.int @@b default=3

C <- Config.int @@c

main :: Tensor[X] -> Int
main x = A + B + C
)";
  run(out, source, {&values, nullptr});
  ASSERT_EQ(out.reads.size(), 3u);
  EXPECT_EQ(out.reads[0].outcome, ConfigRead::Outcome::Read);
  EXPECT_EQ(out.reads[0].value, "4");
  EXPECT_EQ(out.reads[1].outcome, ConfigRead::Outcome::Defaulted);
  EXPECT_EQ(out.reads[2].outcome, ConfigRead::Outcome::Missing);
  EXPECT_EQ(out.reads[2].key, "c");
  // Without a config nothing is replaced, but the keys are known.
  Outcome none;
  run(none, source, {nullptr, nullptr});
  EXPECT_EQ(none.line("B"), "B <- Config.int @@b default=3");
  EXPECT_EQ(none.reads.size(), 3u);
}

TEST(Materialize, ConstantsFeedKeysAndDefaults) {
  ConfigValue values = config();
  model::ParamIndex params({{"enc.weight", Storage::F32, {2}}});
  Outcome out;
  run(out, R"(
LATE <- Config.int @@none default=(SECOND + 1)

WHERE <- (Params.has_root "enc") ? "a" : "b"

SECOND <- do
  half <- Math.floor (Math.sqrt 17.0)
  return half / 2

A <- Config.int @@'{WHERE}.n'

B <- Config.int @@'deep{DEPTH}'

DEPTH <- (4 :: Dim) * 2

main :: Tensor[X] -> Int
main x = do
  WHERE <- x
  y <- Config.int @@a.n default=LATE
  return LATE + A + B + y
)",
      {&values, &params});
  EXPECT_EQ(out.line("LATE"), "LATE <- 3");
  EXPECT_EQ(out.line("A"), "A <- 4");
  EXPECT_EQ(out.line("B"), "B <- 80");
  // Only reads are replaced, not what surrounds them.
  EXPECT_EQ(out.line("DEPTH"), "DEPTH <- (4 :: Dim) * 2");
  EXPECT_NE(out.text.find("  y <- 4\n"), std::string::npos);
}

// Locals hide constants: what a definition does not know stays a read.
TEST(Materialize, LocalsAreNotConstants) {
  ConfigValue values = config();
  Outcome out;
  run(out, R"(
KEY <- "a"

read :: Path -> Int
read p = Config.int p

main :: Tensor[X] -> String -> Int
main x KEY = (Config.int @@'{KEY}.n') + read @@a.n
)",
      {&values, nullptr});
  EXPECT_NE(out.text.find("Config.int @@'{KEY}.n'"), std::string::npos);
  EXPECT_EQ(out.line("read p"), "read p = Config.int p");
}

}  // namespace
}  // namespace axon::sema::testing
