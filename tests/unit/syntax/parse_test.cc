// Parsing of texts that a file of the corpus cannot show well: positions, sizes, odd bytes.
#include "syntax/parse.h"

#include <gtest/gtest.h>

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
    : if x then a else b, d
)");
  EXPECT_EQ(parsed.messages(), "");
  EXPECT_EQ(parsed.module.definitions[0].body.size(), 10u);
}

}  // namespace
}  // namespace axon::syntax
