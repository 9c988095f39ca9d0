// Programs with an encoder: what its inputs decide alone runs once, in a phase of its own.
#include <algorithm>
#include <cmath>

#include "compare.h"
#include "runtime/gen/generate.h"

namespace axon::driver::ways {
namespace {

using runtime::NamedTensor;
using runtime::Session;

// An encoder, and a decoder that sees it in each round of its loop and once more after it.
constexpr const char* kProgram = R"(
{-# TASK "seq2seq_lm" #-}
import Attention
import Masking
import NN
import Tensor (TokenIds)

heads :: Path -> Tensor[B,S,8] -> Tensor[B,2,S,4]
heads@path x = NN.linear@path x dim=8 |> Attention.reshape_heads heads=2

see :: Tensor[B,T,8] -> Tensor[B,S,8] -> Tensor[B,1,T,S] -> Tensor[B,T,8]
see x seen keep = do
  q <- heads@q x
  k <- heads@k seen
  v <- heads@v seen
  return Attention.attention q k v keep |> Attention.merge_heads

tiny :: TokenIds[B,S] -> ?Tensor[B,S] -> TokenIds[B,T] -> Tensor[B,T,11]
tiny input_ids attention_mask decoder_input_ids = do
  seen <- NN.embedding@shared input_ids dim=8
  seen <- for@encoder i <- [0..2) carry (seen) do
    yield seen + NN.linear@w seen dim=8
  x <- NN.embedding@shared decoder_input_ids dim=8
  q <- Tensor.zeros x shape=[B, 1, T, 1]
  k <- Tensor.zeros x shape=[B, 1, S, 1]
  keep <- Masking.bidirectional_mask q k padding_mask=attention_mask
  x <- for@decoder i <- [0..3) carry (x) do
    yield x + see x seen keep
  logits <- NN.linear@shared (x + Tensor.slice seen 1 0 1) dim=11
  return logits
)";

std::vector<std::pair<std::string, graph::EvalTensor>> parameters() {
  std::vector<std::pair<std::string, graph::EvalTensor>> out;
  uint64_t state = 5;
  auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    out.emplace_back(name + ".weight", random_tensor(DType::F32, std::move(shape), state));
  };
  add("shared", {11, 8});
  for (int i = 0; i < 2; ++i) add("encoder." + std::to_string(i) + ".w", {8, 8});
  for (int i = 0; i < 3; ++i) {
    for (const char* part : {"q", "k", "v"})
      add("decoder." + std::to_string(i) + "." + part, {8, 8});
  }
  return out;
}

struct Loaded {
  MemorySource source{parameters()};
  std::unique_ptr<runtime::Model> model;

  explicit Loaded(bool classes) {
    FrontendOptions front;
    front.path = "tiny.axon";
    front.text = kProgram;
    front.main = "tiny";
    front.stop_after = Stage::GraphIr;
    Frontend frontend = run_frontend(front);
    EXPECT_TRUE(frontend.ok() && frontend.graph);
    if (!frontend.graph) return;
    plan::PlanOptions options;
    options.general = plan::PlanOptions::General::Never;
    options.classes = classes;
    auto program = plan::plan(*frontend.graph, frontend.session->types,
                              opt::Answers{&source.index()}, options, frontend.session->sink);
    for (const Diagnostic& d : frontend.session->sink.all()) ADD_FAILURE() << message_of(d);
    if (!program) return;
    auto read = runtime::deserialise(runtime::serialise(*program));
    EXPECT_TRUE(read.ok());
    runtime::ModelOptions how;
    how.threads = 2;
    auto loaded = runtime::Model::load(std::move(*read), source, how);
    EXPECT_TRUE(loaded.ok());
    model = std::move(*loaded);
  }
  const runtime::Phase& phase(std::string_view name, bool masked) const {
    return model->program().phases[static_cast<size_t>(model->phase_index(name, masked))];
  }
};

NamedTensor integers(const std::string& name, const std::vector<int64_t>& values, int64_t rows) {
  NamedTensor out{name, DType::I64, {rows, static_cast<int64_t>(values.size()) / rows}, {}};
  out.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  return out;
}

const std::vector<int64_t> kSource = {3, 1, 4, 1, 5, 9, 2, 6};
const std::vector<int64_t> kReal = {1, 1, 1, 1, 1, 1, 0, 0};
const std::vector<int64_t> kDecoded = {7, 7, 2, 5, 0, 1};

void steps_equal_one_call(Loaded& loaded, bool padded) {
  std::vector<NamedTensor> inputs = {integers("input_ids", kSource, 2),
                                     integers("decoder_input_ids", kDecoded, 2)};
  if (padded) inputs.push_back(integers("attention_mask", kReal, 2));
  auto whole = loaded.model->forward("score", inputs);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const auto* want = reinterpret_cast<const float*>((*whole)[0].bytes.data());
  auto session = Session::create(*loaded.model, {2, 8, 4, 4});
  ASSERT_TRUE(session.ok()) << session.error().message;
  std::vector<uint8_t> valid(kReal.begin(), kReal.end());
  ASSERT_TRUE((*session)->feed_source(kSource.data(), 4, padded ? valid.data() : nullptr).ok());
  for (int64_t t = 0; t < 3; ++t) {
    const int64_t ids[] = {kDecoded[static_cast<size_t>(t)], kDecoded[static_cast<size_t>(3 + t)]};
    auto status = (*session)->feed(ids, 1);
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (int64_t row = 0; row < 2; ++row) {
      for (int64_t v = 0; v < 11; ++v)
        EXPECT_NEAR((*session)->logits(row)[v], want[(row * 3 + t) * 11 + v], 1e-4);
    }
  }
}

TEST(Encoder, RunsOnce) {
  for (bool classes : {true, false}) {
    Loaded loaded(classes);
    ASSERT_TRUE(loaded.model);
    for (bool masked : {false, true}) {
      steps_equal_one_call(loaded, masked);
      // Keys and values of each round, the first row, and the mask.
      const runtime::Phase& rest = loaded.phase("start", masked);
      EXPECT_EQ(rest.inputs.size(), 1u);
      EXPECT_EQ(rest.inputs[0].name, "decoder_input_ids");
      EXPECT_EQ(loaded.phase("encode", masked).inputs.size(), masked ? 2u : 1u);
      auto products = std::count_if(rest.code.begin(), rest.code.end(), [](const auto& instr) {
        return instr.operation == runtime::Operation::Linear;
      });
      EXPECT_EQ(products, 4) << "queries of each round, and logits";
    }
    EXPECT_EQ(loaded.model->program().states.size(), 8u);
    for (const runtime::State& state : loaded.model->program().states)
      EXPECT_EQ(state.kind, runtime::State::Kind::Fixed);
  }
}

TEST(Encoder, GeneratesForSourcesOfDifferentLengths) {
  Loaded loaded(true);
  ASSERT_TRUE(loaded.model);
  const std::vector<std::vector<int64_t>> sources = {{3, 1, 4, 1}, {5, 9}};
  runtime::GenerateOptions options;
  options.max_tokens = 5;
  options.pad_right = true;
  options.start_id = 6;
  auto keep = [](const runtime::TokenEvent&) { return true; };
  auto batch = Session::create(*loaded.model, {2, 8, 4, 4});
  ASSERT_TRUE(batch.ok());
  auto together = runtime::generate(**batch, sources, options, keep);
  ASSERT_TRUE(together.ok()) << together.error().message;
  for (size_t row = 0; row < sources.size(); ++row) {
    auto alone =
        Session::create(*loaded.model, {1, 8, 4, static_cast<int64_t>(sources[row].size())});
    ASSERT_TRUE(alone.ok());
    auto own = runtime::generate(**alone, {sources[row]}, options, keep);
    ASSERT_TRUE(own.ok());
    EXPECT_EQ((*own)[0].ids, (*together)[row].ids);
    EXPECT_EQ((*own)[0].ids.size(), 5u);
  }
}

TEST(Encoder, NeedsItsTokens) {
  Loaded loaded(true);
  ASSERT_TRUE(loaded.model);
  EXPECT_EQ(Session::create(*loaded.model, {1, 8, 4, 0}).error().code, "RUN-INPUT");
  auto session = Session::create(*loaded.model, {1, 8, 4, 4});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ((*session)->feed(kSource.data(), 1).error().code, "RUN-INPUT");
  EXPECT_EQ((*session)->feed_source(kSource.data(), 3).error().code, "RUN-INPUT");
  ASSERT_TRUE((*session)->feed_source(kSource.data(), 4).ok());
  ASSERT_TRUE((*session)->feed(kSource.data(), 2).ok());
  const std::vector<float> before((*session)->logits(0), (*session)->logits(0) + 11);
  // Cut to nothing, the source is still there.
  ASSERT_TRUE((*session)->truncate(0).ok());
  ASSERT_TRUE((*session)->feed(kSource.data(), 2).ok());
  for (int64_t v = 0; v < 11; ++v)
    EXPECT_EQ((*session)->logits(0)[v], before[static_cast<size_t>(v)]);
}

}  // namespace
}  // namespace axon::driver::ways
