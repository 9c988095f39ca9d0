// Weight trees, residency, memory answers, and a bound Program run by the executor.
#include <gtest/gtest.h>

#include "runtime/bind/model.h"
#include "runtime/core/number.h"
#include "runtime/kernels/kernel.h"
#include "tiny_model.h"

namespace axon::runtime::test {
namespace {

WeightNode param_node(const std::string& name) {
  WeightNode node;
  node.name = name;
  return node;
}
WeightNode over(WeightNode::Kind kind, std::vector<WeightNode> parts, int32_t axis = 0,
                int64_t from = 0, int64_t to = 0) {
  WeightNode node;
  node.kind = kind;
  node.parts = std::move(parts);
  node.axis = axis;
  node.from = from;
  node.to = to;
  return node;
}

struct Held {
  MemorySource source;
  WeightStore store{source};
  Held() {
    std::vector<float> a(12), b(8);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = 100 + static_cast<float>(i);
    source.add_floats("a", {3, 4}, a);
    source.add_floats("b", {2, 4}, b);
    std::string half;
    for (int i = 0; i < 4; ++i) {
      const uint16_t h = float_to_f16(static_cast<float>(i) + 0.5f);
      half.append(reinterpret_cast<const char*>(&h), 2);
    }
    source.add("odd", Storage::F16, {4}, half, 1);
    std::string blocks(2 * 2 * 34, '\0');
    for (size_t r = 0; r < 4; ++r) {
      store_as(blocks.data() + r * 34, float_to_f16(1.0f));
      for (size_t i = 0; i < 32; ++i) blocks[r * 34 + 2 + i] = static_cast<char>(r * 32 + i);
    }
    source.add("q8", Storage::Q8_0, {2, 64}, blocks);
    std::string ints;
    for (int64_t v : {int64_t{1} << 40, int64_t{7}})
      ints.append(reinterpret_cast<const char*>(&v), 8);
    source.add("ints", Storage::I64, {2}, ints);
  }
  Result<HeldWeight> hold(const WeightNode& node, std::vector<int64_t> shape, bool dense = false,
                          Storage storage = Storage::F32) {
    Weight weight;
    weight.source = node;
    weight.shape = std::move(shape);
    return store.hold(weight, dense, storage);
  }
  std::vector<float> rows(HeldWeight& held) {
    for (const DenseCopy& copy : held.copies) {
      for (int part = 0; part < 3; ++part) run_copy(copy, part, 3);
    }
    const View& v = held.view;
    std::vector<float> out(static_cast<size_t>(v.count()));
    for (int64_t r = 0; r < v.count() / v.last(); ++r) {
      read_weight_row(v, r, 0, v.last(), out.data() + r * v.last());
    }
    return out;
  }
};

using Kind = WeightNode::Kind;

TEST(WeightTrees, PlainIsMappedInPlace) {
  Held h;
  auto held = h.hold(param_node("a"), {3, 4}, true);
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE(held->copies.empty());
  EXPECT_EQ(held->stored_bytes, 48);
}

TEST(WeightTrees, ConcatSliceTransposeSelectStack) {
  Held h;
  auto joined = h.hold(over(Kind::Concat, {param_node("a"), param_node("b")}), {5, 4});
  ASSERT_TRUE(joined.ok());
  EXPECT_TRUE(joined->copies.empty());
  EXPECT_EQ(h.rows(*joined)[12], 100.0f);
  auto cut = h.hold(over(Kind::Slice, {param_node("a")}, 1, 1, 3), {3, 2});
  ASSERT_TRUE(cut.ok());
  EXPECT_TRUE(cut->copies.empty());
  EXPECT_EQ(h.rows(*cut), (std::vector<float>{1, 2, 5, 6, 9, 10}));
  auto turned = h.hold(over(Kind::Transpose, {param_node("b")}), {4, 2});
  ASSERT_TRUE(turned.ok());
  EXPECT_TRUE(turned->copies.empty());
  EXPECT_EQ(h.rows(*turned), (std::vector<float>{100, 104, 101, 105, 102, 106, 103, 107}));
  auto item = h.hold(over(Kind::Select, {param_node("b")}, 0, 1), {4});
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(h.rows(*item)[0], 104.0f);
  const WeightNode bank =
      over(Kind::Stack, {param_node("b"), over(Kind::Slice, {param_node("a")}, 0, 1, 3)});
  auto stacked = h.hold(bank, {2, 2, 4});
  ASSERT_TRUE(stacked.ok());
  EXPECT_TRUE(stacked->copies.empty());
  EXPECT_EQ(h.rows(*stacked)[8], 4.0f);
  auto chosen = h.hold(over(Kind::Select, {bank}, 0, 1), {2, 4});
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(h.rows(*chosen)[0], 4.0f);
}

TEST(WeightTrees, WhatViewsCannotSayIsCopied) {
  Held h;
  auto small = h.hold(param_node("odd"), {4}, true);
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small->copies.size(), 1u);
  EXPECT_EQ(small->dense_bytes, 16);
  EXPECT_EQ(h.rows(*small), (std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f}));
  auto cut = h.hold(over(Kind::Slice, {param_node("q8")}, 1, 16, 48), {2, 32});
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->copies.size(), 1u);
  EXPECT_EQ(h.rows(*cut)[0], 16.0f);
  EXPECT_EQ(h.rows(*cut)[32], 80.0f);
  auto whole = h.hold(over(Kind::Slice, {param_node("q8")}, 1, 32, 64), {2, 32});
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->copies.empty());
  EXPECT_EQ(h.rows(*whole)[0], 32.0f);
  auto turned = h.hold(
      over(Kind::Transpose, {over(Kind::Concat, {param_node("a"), param_node("b")})}), {4, 5});
  ASSERT_TRUE(turned.ok());
  EXPECT_EQ(h.rows(*turned)[3], 100.0f);
  auto ints = h.hold(over(Kind::Slice, {param_node("ints")}, 0, 0, 1), {1}, true, Storage::I64);
  ASSERT_TRUE(ints.ok());
  EXPECT_EQ(load_as<int64_t>(ints->view.data), int64_t{1} << 40);
}

TEST(WeightTrees, Errors) {
  Held h;
  EXPECT_EQ(h.hold(param_node("none"), {1}).error().code, "RUN-PARAM");
  EXPECT_EQ(h.hold(param_node("a"), {4, 3}).error().code, "RUN-PARAM-SHAPE");
  EXPECT_EQ(h.hold(over(Kind::Slice, {param_node("a")}, 0, 2, 4), {2, 4}).error().code,
            "RUN-PARAM-SHAPE");
  EXPECT_EQ(h.hold(over(Kind::Select, {param_node("a")}, 0, 3), {4}).error().code,
            "RUN-PARAM-SHAPE");
  EXPECT_EQ(h.hold(over(Kind::Concat, {param_node("a"), param_node("b")}, 1), {5, 4}).error().code,
            "RUN-PARAM-SHAPE");
}

std::vector<float> run_score(BoundModel& model, ThreadPool& pool, const std::vector<int64_t>& ids) {
  Arena arena;
  Executor executor(model.bound(), 0, pool, arena);
  model.prepare(0, pool);
  View input;
  input.storage = Storage::I64;
  input.rank = 2;
  input.shape[0] = 1;
  input.shape[1] = static_cast<int64_t>(ids.size());
  set_contiguous(input);
  input.data = reinterpret_cast<const uint8_t*>(ids.data());
  Bindings bindings;
  bindings.set(SymId{0}, 1);
  bindings.set(SymId{1}, input.shape[1]);
  const auto needed = executor.measure(bindings);
  EXPECT_TRUE(needed.ok());
  for (int call = 0; call < 2; ++call) {  // the second call keeps its views
    const auto status = executor.run(bindings, &input, nullptr);
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  }
  EXPECT_EQ(static_cast<int64_t>(arena.size()), *needed);
  const View logits = executor.output(0);
  const auto* at = reinterpret_cast<const float*>(logits.data);
  return {at, at + logits.count()};
}

TEST(BoundModel, RunsAsWrittenOut) {
  const TinyWeights weights;
  const std::vector<int64_t> ids = {3, 1, 12, 0, 7, 7, 2};
  const auto expected = tiny_forward(weights, ids);
  for (const bool fused : {false, true}) {
    MemorySource source;
    weights.give(source);
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      BindOptions options;
      options.kernels = *choose_kernels("ref");
      auto model = BoundModel::bind(tiny_program(false, fused), source, options);
      ASSERT_TRUE(model.ok()) << model.error().message;
      const auto got = run_score(**model, pool, ids);
      for (size_t t = 0; t < ids.size(); ++t) {
        for (size_t v = 0; v < kVocab; ++v) EXPECT_NEAR(got[t * kVocab + v], expected[t][v], 2e-4);
      }
    }
  }
}

TEST(BoundModel, SerialisedProgramGivesTheSameBytes) {
  const TinyWeights weights;
  MemorySource source;
  weights.give(source);
  ThreadPool pool(2);
  BindOptions options;
  options.kernels = *choose_kernels("");
  const Program program = tiny_program(false);
  auto again = deserialise(serialise(program));
  ASSERT_TRUE(again.ok());
  auto first = BoundModel::bind(program, source, options);
  auto second = BoundModel::bind(std::move(*again), source, options);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(run_score(**first, pool, {1, 2, 3}), run_score(**second, pool, {1, 2, 3}));
}

TEST(BoundModel, ReportsAndRefuses) {
  MemorySource source;
  TinyWeights().give(source);
  BindOptions options;
  options.kernels = *choose_kernels("ref");
  auto model = BoundModel::bind(tiny_program(), source, options);
  ASSERT_TRUE(model.ok());
  const MemoryAnswer answer = (*model)->memory();
  EXPECT_EQ(answer.mapped,
            4 * (2 * kVocab * kWidth + kWidth + 2 * kWidth * kWidth + 2 * kHead * kWidth));
  EXPECT_EQ(answer.packed + answer.dense, 0);
  for (const WeightReport& report : (*model)->weights()) {
    EXPECT_EQ(report.residency, Residency::Mapped);
  }
  MemoryAnswer large;
  large.states = int64_t{1} << 40;
  EXPECT_TRUE(check_fits(large, int64_t{1} << 41).ok());
  EXPECT_TRUE(check_fits(large, 0).ok());
  const auto refused = check_fits(large, int64_t{1} << 30);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "MEM-LIMIT");
  EXPECT_GT(available_memory(), 0);
}

// The least a plan can do with: one row, one token. What falls when a size grows is not judged.
TEST(BoundModel, PlansThatNeverFitAreRefused) {
  Program program = tiny_program();
  const IntId large = program.constant(int64_t{1} << 40);
  const IntId rows = program.symbol(program.symbols.id_at(0));
  for (Phase& phase : program.phases)
    phase.arena_bytes = program.make(IntExpr::Kind::Mul, large, rows);
  const auto refused = check_plan(program, int64_t{1} << 30);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "PLAN-MEMORY");
  EXPECT_EQ(refused.error().message, "needs 1099511627776 bytes, available are 1073741824");
  EXPECT_TRUE(check_plan(program, int64_t{1} << 40).ok());
  EXPECT_TRUE(check_plan(program, 0).ok());
  for (Phase& phase : program.phases)
    phase.arena_bytes =
        program.make(IntExpr::Kind::Mul, large, program.make(IntExpr::Kind::Mul, large, rows));
  const auto uncounted = check_plan(program, int64_t{1} << 40);
  ASSERT_FALSE(uncounted.ok());
  EXPECT_EQ(uncounted.error().message.rfind("needs more than ", 0), 0u);
  program.phases[0].arena_bytes = program.make(IntExpr::Kind::FloorDiv, large, rows);
  EXPECT_TRUE(check_plan(program, int64_t{1} << 30).ok());
}

TEST(BoundModel, MissingWeightIsAnError) {
  MemorySource source;
  BindOptions options;
  options.kernels = *choose_kernels("ref");
  const auto model = BoundModel::bind(tiny_program(), source, options);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, "RUN-PARAM");
}

TEST(Executor, CancelAndBarriers) {
  MemorySource source;
  TinyWeights().give(source);
  BindOptions options;
  options.kernels = *choose_kernels("ref");
  auto model = BoundModel::bind(tiny_program(false), source, options);
  ASSERT_TRUE(model.ok());
  ThreadPool pool(3);
  Arena arena;
  Executor executor((*model)->bound(), 0, pool, arena);
  const std::vector<int64_t> ids = {1, 2};
  View input;
  input.storage = Storage::I64;
  input.rank = 2;
  input.shape[0] = 1;
  input.shape[1] = 2;
  set_contiguous(input);
  input.data = reinterpret_cast<const uint8_t*>(ids.data());
  Bindings bindings;
  bindings.set(SymId{0}, 1);
  bindings.set(SymId{1}, 2);
  CancelFlag cancel;
  cancel.set();
  auto status = executor.run(bindings, &input, nullptr, &cancel);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(*status, RunStatus::Cancelled);
  cancel.clear();
  executor.count_costs(true);
  status = executor.run(bindings, &input, nullptr, &cancel);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(*status, RunStatus::Done);
  // embedding | norm | q k v (one barrier) | attention | o | norm | head
  EXPECT_EQ(executor.barriers(), 6u);
  uint64_t bytes = 0;
  for (const InstrCost& cost : executor.costs()) {
    EXPECT_EQ(cost.calls, 1u);
    bytes += cost.bytes;
  }
  EXPECT_GT(bytes, 4u * kWidth * kWidth);
  input.shape[1] = 3;
  const auto wrong = executor.run(bindings, &input, nullptr);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, "RUN-SHAPE");
}

}  // namespace
}  // namespace axon::runtime::test
