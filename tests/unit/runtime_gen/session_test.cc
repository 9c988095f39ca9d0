// Sessions against the written-out forward pass: chunks, capacities, padding, rows, cutting,
// saving.

#include "runtime/gen/session.h"

#include <gtest/gtest.h>

#include "../runtime_bind/tiny_model.h"
#include "../support/counted_allocations.h"
#include "runtime/gen/generate.h"

namespace axon::runtime::test {
namespace {

struct Tiny {
  TinyWeights weights;
  MemorySource source;
  std::unique_ptr<Model> model;
  explicit Tiny(int threads = 2, DType store = DType::F32, bool cached = true, bool fused = false) {
    weights.give(source);
    ModelOptions options;
    options.threads = threads;
    options.isa = "ref";
    options.store = store;
    auto loaded = Model::load(tiny_program(cached, fused), source, options);
    AXON_CHECK(loaded.ok(), "the tiny model loads");
    model = std::move(*loaded);
  }
  std::unique_ptr<Session> session(int64_t rows = 1, int64_t capacity = 24, int64_t chunk = 512) {
    SessionOptions options;
    options.rows = rows;
    options.capacity = capacity;
    options.chunk = chunk;
    auto made = Session::create(*model, options);
    AXON_CHECK(made.ok(), "the session is made");
    return std::move(*made);
  }
};

const std::vector<int64_t> kIds = {3, 1, 12, 0, 7, 7, 2, 9, 4, 11, 5};

void expect_logits(const Session& session, int64_t row, const std::vector<double>& expected,
                   double tolerance = 3e-4) {
  for (int64_t v = 0; v < kVocab; ++v) {
    ASSERT_NEAR(session.logits(row)[v], expected[static_cast<size_t>(v)], tolerance)
        << "token " << v;
  }
}

void feed(Session& session, const std::vector<int64_t>& ids, const uint8_t* valid = nullptr) {
  const auto status =
      session.feed(ids.data(), static_cast<int64_t>(ids.size()) / session.rows(), valid);
  ASSERT_TRUE(status.ok()) << status.error().message;
  ASSERT_EQ(*status, RunStatus::Done);
}

TEST(Session, ChunksTurnsAndCapacitiesAgree) {
  for (const int threads : {1, 3}) {
    Tiny setup(threads, DType::F32, true, threads == 3);
    const auto expected = tiny_forward(setup.weights, kIds);
    for (const int64_t chunk : {1, 2, 4, 512}) {
      for (const int64_t capacity : {11, 12, 64}) {
        auto session = setup.session(1, capacity, chunk);
        feed(*session, kIds);
        expect_logits(*session, 0, expected.back());
        EXPECT_EQ(session->tokens_run(), kIds.size());
      }
    }
    auto turns = setup.session();
    feed(*turns, {kIds.begin(), kIds.begin() + 4});
    expect_logits(*turns, 0, expected[3]);
    feed(*turns, {kIds.begin() + 4, kIds.end()});
    expect_logits(*turns, 0, expected.back());
    EXPECT_EQ(turns->tokens_run(), kIds.size());
  }
}

TEST(Session, NarrowStoresAreClose) {
  for (const DType store : {DType::F16, DType::BF16}) {
    Tiny setup(1, store);
    auto session = setup.session();
    feed(*session, kIds);
    expect_logits(*session, 0, tiny_forward(setup.weights, kIds).back(), 0.05);
    EXPECT_EQ(session->state_bytes(), 2 * 24 * kHead * 2);
  }
}

TEST(Session, AllLogits) {
  Tiny setup;
  auto session = setup.session(1, 24, 4);
  const auto expected = tiny_forward(setup.weights, kIds);
  int64_t seen = 0;
  const auto status = session->feed_all(
      kIds.data(), static_cast<int64_t>(kIds.size()), nullptr,
      [&](int64_t first, int64_t count, const View& logits) {
        EXPECT_EQ(first, seen);
        for (int64_t t = 0; t < count; ++t) {
          const auto* row = reinterpret_cast<const float*>(logits.data) + t * logits.stride[1];
          for (int64_t v = 0; v < kVocab; ++v) {
            EXPECT_NEAR(row[v], expected[static_cast<size_t>(first + t)][static_cast<size_t>(v)],
                        3e-4);
          }
        }
        seen += count;
      });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(seen, static_cast<int64_t>(kIds.size()));
}

TEST(Session, PaddedRowsEqualRowsAlone) {
  const std::vector<std::vector<int64_t>> rows = {{3, 1, 12, 0, 7}, {9}, {4, 4, 8}};
  for (const bool right : {false, true}) {
    for (const int64_t chunk : {2, 512}) {
      Tiny setup;
      auto session = setup.session(3, 16, chunk);
      std::vector<int64_t> ids(15, 0);
      std::vector<uint8_t> valid(15, 0);
      for (size_t r = 0; r < 3; ++r) {
        const size_t at = r * 5 + (right ? 0 : 5 - rows[r].size());
        std::copy(rows[r].begin(), rows[r].end(), ids.begin() + static_cast<int64_t>(at));
        std::fill_n(valid.begin() + static_cast<int64_t>(at), rows[r].size(), 1);
      }
      feed(*session, ids, valid.data());
      for (size_t r = 0; r < 3; ++r) {
        expect_logits(*session, static_cast<int64_t>(r),
                      tiny_forward(setup.weights, rows[r]).back());
      }
      feed(*session, {1, 2, 3});  // one more token each
      for (size_t r = 0; r < 3; ++r) {
        auto longer = rows[r];
        longer.push_back(static_cast<int64_t>(r) + 1);
        expect_logits(*session, static_cast<int64_t>(r),
                      tiny_forward(setup.weights, longer).back());
      }
    }
  }
}

TEST(Session, TruncateForkReorderSaveRestore) {
  Tiny setup;
  const auto expected = tiny_forward(setup.weights, kIds);
  auto session = setup.session();
  feed(*session, kIds);
  ASSERT_TRUE(session->truncate(4).ok());
  EXPECT_EQ(session->length(), 4);
  feed(*session, {kIds.begin() + 4, kIds.end()});
  expect_logits(*session, 0, expected.back());
  EXPECT_FALSE(session->truncate(99).ok());
  ASSERT_TRUE(session->truncate(0).ok());
  feed(*session, kIds);
  expect_logits(*session, 0, expected.back());

  auto pair = setup.session(2);
  feed(*pair, {3, 1, 12, 0, 9, 9, 9, 9});
  pair->reorder({1, 0});
  feed(*pair, {5, 7});
  expect_logits(*pair, 1, expected[4]);
  expect_logits(*pair, 0, tiny_forward(setup.weights, {9, 9, 9, 9, 5}).back());
  pair->fork(1, 0);
  feed(*pair, {7, 7});
  expect_logits(*pair, 0, expected[5]);
  expect_logits(*pair, 1, expected[5]);

  const SavedRow saved = pair->save(1);
  auto fresh = setup.session(1, 20);
  ASSERT_TRUE(fresh->restore(0, saved).ok());
  EXPECT_EQ(fresh->length(), 6);
  feed(*fresh, {2});
  expect_logits(*fresh, 0, expected[6]);
  auto small = setup.session(1, 3);
  EXPECT_EQ(small->restore(0, saved).error().code, "FILE-FORMAT");
  SavedRow broken = saved;
  broken.stores.resize(broken.stores.size() / 2);
  EXPECT_EQ(fresh->restore(0, broken).error().code, "FILE-FORMAT");
}

TEST(Session, CapacityAndOptions) {
  Tiny setup;
  auto session = setup.session(1, 4);
  EXPECT_EQ(session->feed(kIds.data(), 5).error().code, "USE-CONTEXT");
  EXPECT_EQ(session->feed(kIds.data(), 0).error().code, "USE-PROMPT");
  SessionOptions options;
  EXPECT_EQ(Session::create(*setup.model, options).error().code, "USE-CONTEXT");
  CancelFlag cancel;
  cancel.set();
  const auto status = session->feed(kIds.data(), 3, nullptr, &cancel);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(*status, RunStatus::Cancelled);
  EXPECT_EQ(session->length(), 0);
}

TEST(Session, MemoryAnswerIsWhatIsTaken) {
  Tiny setup(1);
  const auto answer = setup.model->memory(2, 30, 8);
  ASSERT_TRUE(answer.ok());
  auto session = setup.session(2, 30, 8);
  EXPECT_EQ(answer->states, session->state_bytes());
  EXPECT_GT(answer->arena, 0);
}

TEST(Generate, C52GreedyEqualsTheWrittenOutModel) {
  for (const bool cached : {true, false}) {
    Tiny setup(2, DType::F32, cached);
    auto session = setup.session(1, 24);
    std::vector<int64_t> history = {3, 1};
    GenerateOptions options;
    options.max_tokens = 12;
    std::vector<int64_t> streamed;
    GenerateTimes times;
    const auto result = generate(
        *session, {history}, options,
        [&](const TokenEvent& e) {
          streamed.push_back(e.choice.id);
          return true;
        },
        nullptr, &times);
    ASSERT_TRUE(result.ok()) << result.error().message;
    std::vector<int64_t> expected;
    for (int i = 0; i < 12; ++i) {
      const auto logits = tiny_forward(setup.weights, history).back();
      expected.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin());
      history.push_back(expected.back());
    }
    EXPECT_EQ((*result)[0].ids, expected);
    EXPECT_EQ(streamed, expected);
    EXPECT_EQ((*result)[0].finish, Finish::Length);
    EXPECT_EQ(times.generated_tokens, 12);
    EXPECT_EQ(times.prompt_tokens, 2);
  }
}

TEST(Generate, BatchEqualsRowsAlone) {
  Tiny setup;
  const std::vector<std::vector<int64_t>> prompts = {{3, 1, 12, 0, 7}, {9}, {4, 4, 8}};
  GenerateOptions options;
  options.max_tokens = 6;
  const auto on_token = [](const TokenEvent&) { return true; };
  std::vector<std::vector<int64_t>> alone;
  for (const auto& prompt : prompts) {
    auto session = setup.session();
    alone.push_back((*generate(*session, {prompt}, options, on_token))[0].ids);
  }
  for (const bool right : {false, true}) {
    options.pad_right = right;
    auto session = setup.session(3);
    const auto rows = generate(*session, prompts, options, on_token);
    ASSERT_TRUE(rows.ok());
    for (size_t r = 0; r < 3; ++r) EXPECT_EQ((*rows)[r].ids, alone[r]);
  }
}

TEST(Generate, EndsForEveryReason) {
  Tiny setup;
  const auto go_on = [](const TokenEvent&) { return true; };
  GenerateOptions options;
  options.max_tokens = 8;
  auto first = setup.session();
  const auto ids = (*generate(*first, {{3, 1}}, options, go_on))[0].ids;
  ASSERT_EQ(ids.size(), 8u);
  auto run = [&](const GenerateOptions& o, OnToken on_token, int64_t capacity = 24) {
    auto session = setup.session(1, capacity);
    return (*generate(*session, {{3, 1}}, o, on_token))[0];
  };
  GenerateOptions eos = options;
  eos.eos = {kVocab + 5, ids[3]};
  const auto ended = run(eos, go_on);
  EXPECT_EQ(ended.finish, Finish::Eos);
  EXPECT_LE(ended.ids.size(), 3u);
  GenerateOptions stop = options;
  stop.stop = {{ids[1], ids[2]}};
  const auto stopped = run(stop, go_on);
  EXPECT_EQ(stopped.finish, Finish::Stop);
  EXPECT_EQ(stopped.ids.back(), ids[2]);
  const auto told = run(options, [](const TokenEvent& e) { return e.index < 1; });
  EXPECT_EQ(told.finish, Finish::Stop);
  EXPECT_EQ(told.ids.size(), 2u);
  const auto full = run(options, go_on, 5);
  EXPECT_EQ(full.finish, Finish::Length);
  EXPECT_EQ(full.ids.size(), 4u);  // three more positions, and one token that needs none
  CancelFlag cancel;
  auto session = setup.session();
  const auto cut = generate(
      *session, {{3, 1}}, options,
      [&](const TokenEvent& e) {
        if (e.index == 2) cancel.set();
        return true;
      },
      &cancel);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)[0].finish, Finish::Cancelled);
  EXPECT_EQ((*cut)[0].ids.size(), 3u);
}

TEST(Generate, RefusesBadPrompts) {
  Tiny setup;
  auto session = setup.session(1, 4);
  const auto go_on = [](const TokenEvent&) { return true; };
  EXPECT_EQ(generate(*session, {{}}, {}, go_on).error().code, "USE-PROMPT");
  EXPECT_EQ(generate(*session, {{kVocab}}, {}, go_on).error().code, "USE-PROMPT");
  EXPECT_EQ(generate(*session, {{1}, {2}}, {}, go_on).error().code, "USE-PROMPT");
  EXPECT_EQ(generate(*session, {{1, 2, 3, 4, 5}}, {}, go_on).error().code, "USE-CONTEXT");
}

TEST(Generate, NothingIsAllocatedBetweenTokens) {
  for (const bool sample : {false, true}) {
    Tiny setup(2);
    auto session = setup.session(1, 80);
    GenerateOptions options;
    options.max_tokens = 64;
    options.sampling.sample = sample;
    options.sampling.top_k = 5;
    options.sampling.top_p = 0.9;
    options.sampling.logprobs = 3;
    options.sampling.repetition_penalty = 1.1;
    size_t at_second = 0, at_last = 0;
    const auto result = generate(*session, {{3, 1, 4}}, options, [&](const TokenEvent& e) {
      if (e.index == 1) at_second = g_allocations;
      if (e.index == 63) at_last = g_allocations;
      return true;
    });
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(at_last - at_second, 0u);
  }
}

TEST(Math, PresetsAgreeWithinTheirPrecision) {
  TinyWeights weights;
  MemorySource source;
  weights.give_q8(source);
  const auto expected = tiny_forward(weights, kIds).back();
  for (const bool fused : {false, true}) {
    for (const Math preset : {Math::Exact, Math::Auto, Math::Fast}) {
      ModelOptions options;
      options.threads = 2;
      options.math.preset = preset;
      auto model = Model::load(tiny_program(true, fused, Storage::Q8_0), source, options);
      ASSERT_TRUE(model.ok()) << model.error().message;
      size_t quantises = 0;
      for (const Instr& instr : (*model)->program().phases[0].code) {
        quantises += instr.operation == Operation::QuantizeRows ? 1 : 0;
      }
      const bool int8 = preset != Math::Exact && (machine_isa() & isa_bit(Isa::Avx2)) != 0;
      EXPECT_EQ(quantises, int8 ? 3u : 0u);  // q, k and v share one
      EXPECT_EQ((*model)->options().store, preset == Math::Exact ? DType::F32 : DType::F16);
      SessionOptions sizes;
      sizes.capacity = 16;
      auto session = Session::create(**model, sizes);
      ASSERT_TRUE(session.ok());
      feed(**session, kIds);
      expect_logits(**session, 0, expected, preset == Math::Exact ? 3e-4 : 0.25);
    }
  }
}

TEST(Forward, ByName) {
  Tiny setup(1, DType::F32, false);
  const auto expected = tiny_forward(setup.weights, {3, 1, 12});
  NamedTensor ids{"input_ids", DType::I32, {1, 3}, {}};
  for (int32_t id : {3, 1, 12}) ids.bytes.append(reinterpret_cast<const char*>(&id), 4);
  const auto outputs = setup.model->forward("score", {ids});
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ((*outputs)[0].name, "logits");
  EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{1, 3, kVocab}));
  const auto* logits = reinterpret_cast<const float*>((*outputs)[0].bytes.data());
  for (int64_t i = 0; i < 3 * kVocab; ++i) {
    EXPECT_NEAR(logits[i],
                expected[static_cast<size_t>(i / kVocab)][static_cast<size_t>(i % kVocab)], 3e-4);
  }
  EXPECT_EQ(setup.model->forward("score", {}).error().code, "RUN-INPUT");
  EXPECT_EQ(setup.model->forward("sing", {ids}).error().code, "RUN-INPUT");
  ids.shape = {3};
  EXPECT_EQ(setup.model->forward("score", {ids}).error().code, "RUN-RANK");
}

TEST(Forward, PaddedCallOfAStatefulStart) {
  Tiny setup(1);
  NamedTensor ids{"input_ids", DType::I64, {2, 3}, {}},
      mask{"attention_mask", DType::I64, {2, 3}, {}};
  for (int64_t id : {3, 1, 12, 0, 9, 4}) ids.bytes.append(reinterpret_cast<const char*>(&id), 8);
  for (int64_t m : {1, 1, 1, 0, 1, 1}) mask.bytes.append(reinterpret_cast<const char*>(&m), 8);
  NamedTensor capacity{"capacity", DType::I64, {}, std::string("\x07\0\0\0\0\0\0\0", 8)};
  for (const bool with_capacity : {false, true}) {
    std::vector<NamedTensor> inputs = {ids, mask};
    if (with_capacity) inputs.push_back(capacity);
    const auto outputs = setup.model->forward("start", inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    const auto expected = tiny_forward(setup.weights, {9, 4}).back();
    const auto* logits = reinterpret_cast<const float*>((*outputs)[0].bytes.data());
    EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{6, kVocab}));
    for (int64_t v = 0; v < kVocab; ++v) {
      EXPECT_NEAR(logits[5 * kVocab + v], expected[static_cast<size_t>(v)], 3e-4);
    }
  }
}

}  // namespace
}  // namespace axon::runtime::test
