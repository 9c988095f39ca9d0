// Programs made from a small decoder: states, phases, and their serialised form.
#include <cstdlib>

#include "mini.h"
#include "plan/view.h"

namespace axon::plan {
namespace {

size_t count(const runtime::Phase& phase, runtime::Operation operation) {
  size_t n = 0;
  for (const runtime::Instr& i : phase.code) n += i.operation == operation;
  return n;
}

TEST(Plan, MakesEveryPhase) {
  Mini mini;
  auto program = mini.run();
  ASSERT_TRUE(program);
  if (std::getenv("AXON_SHOW")) puts(runtime::show(*program).c_str());
  EXPECT_EQ(program->task, "causal_lm");
  EXPECT_EQ(program->phases.size(), 6u);
  EXPECT_EQ(program->states.size(), 4u);
  ASSERT_EQ(program->scalars.size(), 1u);
  for (bool masked : {false, true}) {
    const runtime::Phase* start = program->phase("start", masked);
    const runtime::Phase* extend = program->phase("extend", masked);
    const runtime::Phase* score = program->phase("score", masked);
    ASSERT_TRUE(start && extend && score);
    EXPECT_EQ(count(*start, runtime::Operation::StoreWrite), 4u);
    EXPECT_EQ(count(*extend, runtime::Operation::StoreWrite), 4u);
    EXPECT_EQ(count(*extend, runtime::Operation::Fill), 0u);
    EXPECT_EQ(count(*score, runtime::Operation::StoreWrite), 0u);
    EXPECT_EQ(count(*score, runtime::Operation::Linear), 15u);
  }
}

TEST(Plan, ReadsBackWhatItWrote) {
  Mini mini;
  auto program = mini.run();
  ASSERT_TRUE(program);
  std::string bytes = runtime::serialise(*program);
  auto read = runtime::deserialise(bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(runtime::show(*read), runtime::show(*program));
  EXPECT_EQ(runtime::serialise(*read), bytes);
}

// Cut and damaged files give an error or a program whose ids are good; never a crash.
TEST(Plan, DamagedProgramsAreRefused) {
  Mini mini;
  PlanOptions options;
  options.masked = options.score = options.extend = false;
  auto program = mini.run(options);
  ASSERT_TRUE(program);
  std::string bytes = runtime::serialise(*program);
  for (size_t n = 0; n < bytes.size(); n += 97)
    EXPECT_FALSE(runtime::deserialise(bytes.substr(0, n)).ok());
  uint32_t seed = 7;
  for (int round = 0; round < 400; ++round) {
    std::string bad = bytes;
    seed = seed * 1664525u + 1013904223u;
    bad[seed % bad.size()] = static_cast<char>(seed >> 24);
    auto read = runtime::deserialise(bad);
    if (read) runtime::show(*read);
  }
}

TEST(Plan, ViewsOfSymbolicSizes) {
  Interner names;
  DimTable dims(names);
  Views views(dims);
  DimId b = dims.of(dims.symbol(names.intern("B"), SymbolKind::Variable));
  DimId s = dims.of(dims.symbol(names.intern("S"), SymbolKind::Variable));
  auto n = [&](int64_t v) { return dims.integer(v); };
  View x = views.dense(runtime::ValId{0}, {b, s, n(12)}, DType::F32);
  auto split = views.reshaped(x, {b, s, n(3), n(4)});
  ASSERT_TRUE(split);
  View heads = views.permuted(*split, {0, 2, 1, 3});
  EXPECT_FALSE(views.is_dense(heads));
  EXPECT_TRUE(views.fits(heads, runtime::Layout::UnitLast));
  EXPECT_FALSE(views.reshaped(heads, {b, n(3), dims.mul(s, n(4))}));
  auto back = views.reshaped(views.permuted(heads, {0, 2, 1, 3}), {dims.mul(b, s), n(12)});
  ASSERT_TRUE(back);
  EXPECT_TRUE(views.is_dense(*back));
  View part = views.sliced(x, 2, n(4), n(4));
  EXPECT_TRUE(views.fits(part, runtime::Layout::Matrix));
  EXPECT_TRUE(views.reshaped(part, {b, s, n(2), n(2)}));
  EXPECT_FALSE(views.reshaped(part, {b, dims.mul(s, n(4))}));
  View row = views.unsqueezed(views.expanded(part, {b, s, n(4)}), 1);
  EXPECT_TRUE(views.reshaped(row, {dims.mul(b, s), n(4)}));
}

}  // namespace
}  // namespace axon::plan
