// Parsing of texts that a file of the corpus cannot show well: positions, sizes, odd bytes.
#include "syntax/parse.h"

#include <gtest/gtest.h>

#include "syntax/render.h"

namespace axon::syntax {
namespace {

struct Parsed {
  FileTable files;
  Interner names;
  Ast ast;
  DiagSink sink;
  Module module;

  explicit Parsed(std::string text) {
    module = parse(files.add("test.axon", std::move(text)), files, names, ast, sink);
  }
  // Codes with line:column of their beginning.
  std::string codes() {
    std::string out;
    for (const Diagnostic& d : sink.all()) {
      LineColumn at = files.line_column(d.span.file, d.span.begin);
      out += std::string(out.empty() ? "" : " ") + std::string(diag_info(d.id).code) + "@" +
             std::to_string(at.line) + ":" + std::to_string(at.column);
    }
    return out;
  }
  std::string messages() {
    std::string out;
    for (const Diagnostic& d : sink.all()) out += message_of(d) + "\n";
    return out;
  }
};

constexpr const char* kExample = R"({-# CHECKPOINTS ["example/tiny-ffn"] #-}
{-# TASK "causal_lm" #-}

import Activations (silu)
import Config
import NN

WIDTH <- ((Config.dim @@hidden_size default=64) :: Dim)

ffn :: Tensor[B,S,D] -> Tensor[B,S,D]
ffn x = do
  h <- NN.rmsnorm@norm x
  y <- scope@mlp do
    return NN.linear@up h dim=WIDTH |> silu |> NN.linear@down dim=WIDTH
  return x + y

tiny :: TokenIds[B,S] -> Tensor[B,S,V]
tiny input_ids = do
  x <- NN.embedding@tok input_ids dim=WIDTH
  x <- for@blocks i <- [0..DEPTH) carry (x) do
    x <- ffn x
    yield x
  logits <- NN.linear@tok x
  return logits
)";

TEST(Parse, WholeProgram) {
  Parsed parsed(kExample);
  EXPECT_EQ(parsed.messages(), "");
  ASSERT_EQ(parsed.module.definitions.size(), 3u);
  EXPECT_EQ(parsed.module.pragmas.size(), 3u);
  EXPECT_EQ(parsed.module.definitions[1].body.size(), 3u);
  EXPECT_EQ(parsed.module.definitions[2].body.size(), 4u);
}

TEST(Parse, ScopesAndLoops) {
  Parsed parsed(R"(f x = do
  a <- scope@{i}.attn do return x
  b <- scope a.{i}.b do
    return x
  c <- scope "a.b" do return x
  d <- scope@@a.b do return x
  e <- scope @ 'a.{i}.b' do return x
  for@blocks.0 i <- (0..3] do yield a
  for@{g}.items i <- [0..n -1) step=-1 carry (a, b) (a, b)
  if a and b then do
    a <- c
  else do b <- c
  y <- a ? (do
      z <- b
      return z
    ) : c
  return (y == null)
    ? do
      q <- y + 1
      return q
    : if x then a else (b, d)
)");
  EXPECT_EQ(parsed.messages(), "");
  EXPECT_EQ(parsed.module.definitions[0].body.size(), 10u);
}

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// Parses, renders and parses again without a report; returns the canonical text.
std::string round_trip(const std::string& text) {
  Parsed parsed(text);
  EXPECT_EQ(parsed.messages(), "");
  std::string shown = render(parsed.module, parsed.ast, parsed.names);
  Module again = parse(parsed.files.add("again.axon", shown), parsed.files, parsed.names,
                       parsed.ast, parsed.sink);
  EXPECT_EQ(parsed.messages(), "");
  EXPECT_TRUE(equal(parsed.module, again, parsed.ast));
  return shown;
}

TEST(Parse, LongChains) {
  constexpr int kLength = 10000;
  round_trip("f x = x" + repeated(" |> g", kLength) + "\n");
  round_trip("f x = x" + repeated(" + x * 2 == x and x", kLength / 4) + "\n");
  round_trip("f x = g x" + repeated(" - 1", kLength) + "\n");
  round_trip("f x = (x :: Tensor[N" + repeated(" + N * 2", kLength) + "])\n");
  round_trip("f x = [x" + repeated(", x", kLength) + "]\n");
  round_trip("f x = g x" + repeated(" x k=1", kLength) + "\n");
  round_trip("f x = do\n" + repeated("  x <- g x\n", kLength) + "  return x\n");
}

TEST(Parse, LineOfAMegabyte) {
  round_trip("f x = \"" + repeated("a", 1 << 20) + "\"\n");
  round_trip("f " + repeated("a", 1 << 20) + " = 1\n");
  round_trip("f x = x -- " + repeated("a", 1 << 20) + "\n");
  EXPECT_EQ(Parsed("f x = x " + repeated("+ (x * 2) ", 100000) + "\n").messages(), "");
}

TEST(Parse, NestingUpToTheLimit) {
  constexpr int kDeep = 1000;
  round_trip("f x = " + repeated("(", kDeep) + "x" + repeated(")", kDeep) + "\n");
  round_trip("f x = " + repeated("g (", kDeep) + "x" + repeated(")", kDeep) + "\n");
  round_trip("f x = " + repeated("[", kDeep) + "x" + repeated("]", kDeep) + "\n");
  round_trip("f x = " + repeated("x ? x : ", kDeep) + "x\n");
  round_trip("f x = x" + repeated(" >>= \\y -> x", kDeep) + "\n");
  round_trip("f :: " + repeated("List[", kDeep) + "T" + repeated("]", kDeep) + "\nf = 1\n");
}

TEST(Parse, NestingBeyondTheLimit) {
  constexpr int kDeep = 100000;
  for (const char* open :
       {"(", "[", "g (", "x ? x : ", "if x then ", "do a <- ", "x >>= \\y -> ", "f (do a <- "}) {
    Parsed parsed("f x = " + repeated(open, kDeep));
    EXPECT_EQ(parsed.sink.all().size(), 1u) << open;
    EXPECT_EQ(parsed.codes().substr(0, 9), "PAR-DEPTH") << open;
  }
  Parsed types("f :: " + repeated("List[", kDeep));
  EXPECT_EQ(types.codes().substr(0, 9), "PAR-DEPTH");
  Parsed optional("f :: " + repeated("?", kDeep) + "T");
  EXPECT_EQ(optional.codes().substr(0, 9), "PAR-DEPTH");
  for (const char* line :
       {"if x then do", "for i <- [0..2) carry (x) do", "y <- scope@a do", "y <- x ? do"}) {
    std::string blocks = "f x = do\n";
    for (int i = 1; i < 1500; ++i) blocks += std::string(static_cast<size_t>(i), ' ') + line + "\n";
    EXPECT_EQ(Parsed(blocks).codes().substr(0, 9), "PAR-DEPTH");
  }
}

TEST(Parse, OddBytes) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBF"
                   "f x = x\r\ng x = do\r\n  return x\r\n")
                .messages(),
            "");
  EXPECT_EQ(Parsed("f x = \"gr\xC3\xBC\xC3\x9F dich\" -- \xE2\x9C\x93\n").messages(), "");
  EXPECT_EQ(Parsed("f x = \xFF\n").codes(), "LEX-CHAR@1:7");
  EXPECT_EQ(Parsed("f x = \"\xFF\"\n").codes(), "LEX-CHAR@1:7");
  EXPECT_EQ(Parsed(std::string("f x = \0\n", 8)).codes(), "LEX-CHAR@1:7");
  EXPECT_EQ(Parsed("").codes(), "PAR-EMPTY@1:1");
  EXPECT_EQ(Parsed("f x = x\rg x = x\n").codes(), "LEX-CHAR@1:8");
}

// Every beginning of a text parses without a crash and without reporting one place twice.
TEST(Parse, Truncated) {
  std::string text = kExample;
  for (size_t length = 0; length < text.size(); ++length) {
    Parsed parsed(text.substr(0, length));
    EXPECT_LE(parsed.sink.error_count(), 2u) << text.substr(0, length) << "\n" << parsed.messages();
  }
}

// Texts of random tokens: no crash, no endless loop, at most one report for each place.
TEST(Parse, TokenSoup) {
  const char* pieces[] = {
      "f",      "x",         "do",     "if",    "then", "else", "for", "scope", "return",
      "yield",  "<-",        "=",      "::",    "->",   "(",    ")",   "[",     "]",
      "|>",     ">>=",       "\\",     "+",     "-",    "-1",   "1",   "2.5",   "\"s\"",
      "@a.b",   "@@'{i}.a'", "g@p",    "..",    ",",    ";",    "?",   ":",     "\n",
      "\n  ",   "\n    ",    " ",      " ",     "{-#",  "#-}",  "and", "or",    "null",
      "import", "type",      "export", "carry", "step", "{",    "$",   "'"};
  uint64_t state = 12345;
  auto random = [&](uint64_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % bound;
  };
  for (int round = 0; round < 1500; ++round) {
    std::string text = "f x = ";
    for (uint64_t i = random(60); i > 0; --i) {
      text += pieces[random(std::size(pieces))];
      if (random(3) > 0) text += ' ';
    }
    Parsed parsed(text);
    if (!parsed.sink.has_errors()) round_trip(text);
  }
}

}  // namespace
}  // namespace axon::syntax
