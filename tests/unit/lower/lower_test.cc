// Lowering: the graphs of small programs, verified strictly and run.
#include "lower/lower.h"

#include <gtest/gtest.h>

#include "graph/evaluate.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace axon::lower {
namespace {

struct NoLibrary : sema::LibrarySource {
  const std::string_view* find(std::string_view) const override { return nullptr; }
};

std::string messages(const sema::Session& session) {
  std::string out;
  for (const Diagnostic& d : session.sink.all()) {
    if (session.sink.severity(d) != Severity::Error) continue;
    out += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
  }
  return out;
}

graph::Graph graph_of(std::string_view text, sema::Session& s) {
  FileId file = s.files.add("main.axon", std::string(text));
  NoLibrary library;
  auto modules = sema::load(file, library, {}, s);
  auto stop = [&] { return s.sink.has_errors(); };
  if (stop()) return {};
  auto closed = sema::resolve(modules, {}, s);
  if (stop()) return {};
  auto normalized = sema::normalize(closed, s);
  if (stop()) return {};
  auto elaborated = sema::elaborate(normalized, s);
  if (stop()) return {};
  auto flat = sema::flatten(elaborated, s);
  if (stop()) return {};
  auto typed = sema::typecheck(flat, {}, s);
  if (stop()) return {};
  graph::Graph out = lower(typed, s);
  graph::verify(out, s.types, "lower", s.sink);
  return out;
}

// The graph's text, or the errors on the way to it.
std::string text_of(std::string_view text) {
  sema::Session s;
  graph::Graph g = graph_of(text, s);
  std::string errors = messages(s);
  if (!errors.empty()) return errors;
  std::string out = write_graph(g, s.types);
  auto again = graph::read_graph(out, s.types);
  EXPECT_TRUE(again.ok()) << again.error().message;
  if (again) {
    EXPECT_EQ(difference(g, *again, s.types), std::nullopt);
    EXPECT_EQ(write_graph(*again, s.types), out);
  }
  return out;
}

graph::EvalValue vec(std::vector<float> values, std::vector<int64_t> shape) {
  graph::EvalTensor out = graph::EvalTensor::make(DType::F32, std::move(shape));
  out.reals = std::move(values);
  return graph::EvalValue::of(std::move(out));
}

// MAIN's outputs, "name=value …" with tensors as their elements.
std::string run(std::string_view text, const graph::NamedValues& inputs,
                graph::EvalParams* params = nullptr) {
  sema::Session s;
  graph::Graph g = graph_of(text, s);
  std::string errors = messages(s);
  if (!errors.empty()) return errors;
  graph::EvalOptions options;
  options.params = params;
  auto out = graph::evaluate(g, s.types, inputs, options);
  if (!out) return out.error().code + " " + out.error().message + " " + out.error().hint;
  std::string shown;
  for (const auto& [name, value] : *out) {
    shown += (shown.empty() ? "" : " ") + name + "=";
    if (!value.is_tensor()) shown += show(value);
    for (int64_t i = 0; value.is_tensor() && i < value.tensor->count(); ++i) {
      shown += (i > 0 ? "," : "") + std::to_string(value.tensor->get_int(i));
    }
  }
  return shown;
}

constexpr std::string_view kScopes = R"(
proj :: Path -> Tensor[B,S,D] -> Tensor[B,S,E]
proj@p x = _matmul x (_params_param @weight)

mix :: Tensor[B,S,D] -> Tensor[B,S,D]
mix x = do
  y <- scope@inner do
    return proj@a x |> proj@b
  return x + y

net :: Tensor[B,S,D] -> Tensor[B,S,D]
net x = do
  x <- for@layers i <- [0..3) carry (x) do
    x <- mix x
    yield x
  return x
)";

// C50 of the conformance examples.
TEST(Lower, GraphOfScopesLoopsAndHiddenPrefix) {
  std::string text = text_of(kScopes);
  auto has = [&](std::string_view line) {
    EXPECT_NE(text.find(line), text.npos) << line << "\n" << text;
  };
  has("module $mix(%__scope: Path, %x: Tensor[B,S,D]) -> Tensor[B,S,D] {\n");
  has("%_v1 = core.call $proj @@'{__scope}.inner.a', %x : ");
  has("%_v2 = core.call $proj @@'{__scope}.inner.b', %_v1 : ");
  has("%y = core.alias %_v2 : ");
  has("%_v3 = core.binary.+ %x, %y : Tensor[B,S,D]");
  has("return %_v3\n");
  has("%x__g1 = core.repeat 0, 3, 1, %x loop($net__loop_layers_step_1; var i; carry x; args iter "
      "carry:0) : ");
  has("return %x__g1 as x\n");
}

TEST(Lower, ScopedLoopReadsItsParameters) {
  graph::MemoryParams params;
  for (const char* layer : {"0", "1", "2"}) {
    for (const char* part : {"a", "b"}) {
      params.set(std::string("layers.") + layer + ".inner." + part + ".weight",
                 *vec({2, 0, 0, 1}, {2, 2}).tensor);
    }
  }
  // Each round adds diag(4, 1) x to x.
  EXPECT_EQ(run(kScopes, {{"x", vec({1, 1}, {1, 1, 2})}}, &params), "x=125,8");
}

// A local of `pick` has the name of the definition that calls it.
TEST(Lower, LocalsHideDefinitionsOfTheSameName) {
  std::string text = text_of(R"(
pick :: Tensor[B] -> Tensor[B]
pick x = do
  chosen <- x * 2
  return chosen + x

chosen :: Tensor[B] -> Tensor[B]
chosen x = pick x

net :: Tensor[B] -> Tensor[B]
net x = chosen x
)");
  EXPECT_NE(text.find("core.call $pick %x"), text.npos) << text;
}

// C51 of the conformance examples, and the rules beside it.
TEST(Lower, OutputNames) {
  auto names = [](std::string_view pragma, std::string_view returned) {
    std::string text = std::string(pragma) +
                       "\nf :: Tensor[B] -> Tensor[B]\nf x = x + 1\n\n"
                       "net :: Tensor[B] -> Tensor[B] -> Any\nnet x kv = do\n  z <- f x\n  new_kv "
                       "<- f kv\n  return " +
                       std::string(returned) + "\n";
    sema::Session s;
    graph::Graph g = graph_of(text, s);
    EXPECT_EQ(messages(s), "");
    std::string out;
    for (NameId name : g[g.main].output_names)
      out += (out.empty() ? "" : " ") + std::string(s.names.text(name));
    return out;
  };
  EXPECT_EQ(names("{-# TASK \"causal_lm\" #-}", "(f x), kv"), "logits kv");
  EXPECT_EQ(names("{-# TASK [\"causal_lm\", \"other\"] #-}", "z, kv"), "logits kv");
  EXPECT_EQ(names("{-# TASK \"embedding\" #-}", "z, kv"), "z kv");
  EXPECT_EQ(names("", "z, new_kv"), "z new_kv");
  EXPECT_EQ(names("", "f x"), "logits");
  EXPECT_EQ(names("", "(f x), (f kv)"), "out0 out1");
}

TEST(Lower, RebindingAndUnusedTargetsGetFreshNames) {
  std::string text = text_of(
      "net :: Tensor[B,4] -> Tensor[B,4]\nnet x = do\n  x <- x + 1\n  x <- x * 2\n"
      "  _, b <- _topk x 4\n  _ <- x + x\n  return x\n");
  EXPECT_NE(text.find("%x__g1 = core.binary.+ %x, 1 :"), text.npos) << text;
  EXPECT_NE(text.find("%x__g2 = core.binary.* %x__g1, 2 :"), text.npos) << text;
  EXPECT_NE(text.find("return %x__g2 as x\n"), text.npos) << text;
  EXPECT_EQ(
      run("net :: Tensor[B] -> Tensor[B]\nnet x = do\n  x <- x + 1\n  x <- x * 2\n  return x\n",
          {{"x", vec({1, 2}, {2})}}),
      "x=4,6");
}

TEST(Lower, LazyBranchesDimsGlobalsAndDefaults) {
  constexpr std::string_view kText = R"(
WIDTH <- 3

h :: Tensor[B,S] -> Dim -> Tensor[B,S]
h m k = do
  t <- m * (S + WIDTH)
  return t + k

f :: Tensor[B,S] -> ?Tensor[B,S] -> ?Int -> Tensor[B,S]
f x ?m=null ?k=2 = do
  y <- (m == null) ? x : (h (h m k) 1) + x
  return y
)";
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {1, 2})}}), "y=1,2");
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {1, 2})}, {"m", vec({1, 1}, {1, 2})}}), "y=37,38");
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {1, 2})},
                        {"m", vec({1, 1}, {1, 2})},
                        {"k", graph::EvalValue::of(int64_t{0})}}),
            "y=27,28");
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {1, 2})}, {"m", vec({1, 1}, {2, 1})}}).substr(0, 9),
            "RUN-SHAPE");
}

TEST(Lower, LoopsWithSeveralCarriesAndLists) {
  constexpr std::string_view kText = R"(
net :: Tensor[B] -> Int -> (Tensor[B], Int)
net x n = do
  total <- 0
  items <- _list_init
  x, items, total <- for i <- [0..n) carry (x, items, total) do
    x <- x + i
    items <- _list_append items x
    yield x, items, (total + i)
  y <- _list_index items 1
  return y, total
)";
  EXPECT_EQ(run(kText, {{"x", vec({1, 2}, {2})}, {"n", graph::EvalValue::of(int64_t{4})}}),
            "y=2,3 total=6");
}

TEST(Lower, SpansAndSourcesAreKept) {
  sema::Session s;
  graph::Graph g = graph_of(kScopes, s);
  ASSERT_EQ(messages(s), "");
  for (const graph::Module& m : g.modules) {
    for (graph::NodeId id : m.order) {
      EXPECT_TRUE(m.nodes[id].span.valid()) << s.names.text(m.name);
      EXPECT_TRUE(m.nodes[id].source.valid());
    }
  }
}

}  // namespace
}  // namespace axon::lower
