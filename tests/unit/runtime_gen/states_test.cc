// Row and token operations on stores of every kind and axis order.
#include "runtime/gen/states.h"

#include <gtest/gtest.h>

#include "runtime/core/number.h"

namespace axon::runtime {
namespace {

// A token state [B,H,C,D], one with tokens before rows [C,B,D], and a recurrent one [L,B,D].
struct Fixture {
  Program p;
  StateSet set;
  static constexpr int64_t kRows = 3, kTokens = 4;
  explicit Fixture(bool recurrent) {
    const SymId b = p.symbols.add({"B", SymKind::Shape, {}}),
                c = p.symbols.add({"C", SymKind::Shape, {}});
    const IntId B = p.symbol(b), C = p.symbol(c), two = p.constant(2);
    p.states.add({"a", State::Kind::Token, DType::F32, {B, two, C, two}, 0, 2, -1});
    p.states.add({"b", State::Kind::Token, DType::F32, {C, B, two}, 1, 0, -1});
    if (recurrent)
      p.states.add({"c", State::Kind::Recurrent, DType::F32, {two, B, two}, 1, -1, -1});
    Bindings bindings;
    bindings.set(b, kRows);
    bindings.set(c, kTokens);
    auto planned = StateSet::plan(p, bindings, DType::F32);
    AXON_CHECK(planned.ok() && planned->allocate().ok(), "states are made");
    set = std::move(*planned);
    for (size_t s = 0; s < set.size(); ++s) {
      for (int64_t i = 0; i < set.views()[s].count(); ++i) {
        store_as(set.views()[s].out() + i * 4, static_cast<float>(1000 * static_cast<int>(s) + i));
      }
    }
  }
  float at(size_t s, std::vector<int64_t> index) const {
    const View& v = set.views()[s];
    int64_t offset = 0;
    for (size_t a = 0; a < index.size(); ++a) offset += index[a] * v.stride[a];
    return load_as<float>(v.data + offset * 4);
  }
};

TEST(States, ResetTouchesOneRow) {
  Fixture f(true);
  const float kept = f.at(0, {0, 1, 3, 1}), kept_c = f.at(2, {1, 2, 0});
  f.set.reset(1);
  EXPECT_EQ(f.at(0, {1, 1, 3, 1}), 0.0f);
  EXPECT_EQ(f.at(1, {2, 1, 0}), 0.0f);
  EXPECT_EQ(f.at(2, {0, 1, 1}), 0.0f);
  EXPECT_EQ(f.at(0, {0, 1, 3, 1}), kept);
  EXPECT_EQ(f.at(2, {1, 2, 0}), kept_c);
}

TEST(States, ForkCopiesTokens) {
  Fixture f(true);
  const float old = f.at(0, {2, 0, 3, 0});
  f.set.fork(0, 2, 3);
  EXPECT_EQ(f.at(0, {2, 1, 2, 1}), f.at(0, {0, 1, 2, 1}));
  EXPECT_EQ(f.at(1, {2, 2, 1}), f.at(1, {2, 0, 1}));
  EXPECT_EQ(f.at(2, {1, 2, 1}), f.at(2, {1, 0, 1}));
  EXPECT_EQ(f.at(0, {2, 0, 3, 0}), old);  // beyond the length
}

TEST(States, ReorderPermutesAndRepeats) {
  Fixture f(true);
  const float first = f.at(0, {0, 1, 1, 0}), second = f.at(0, {1, 1, 1, 0});
  const float first_b = f.at(1, {3, 0, 1}), first_c = f.at(2, {1, 0, 1});
  f.set.reorder({1, 0, 0}, 4);
  EXPECT_EQ(f.at(0, {0, 1, 1, 0}), second);
  EXPECT_EQ(f.at(0, {1, 1, 1, 0}), first);
  EXPECT_EQ(f.at(0, {2, 1, 1, 0}), first);
  EXPECT_EQ(f.at(1, {3, 2, 1}), first_b);
  EXPECT_EQ(f.at(2, {1, 1, 1}), first_c);
}

TEST(States, TruncateClearsTheRest) {
  Fixture f(false);
  EXPECT_TRUE(f.set.all_token());
  EXPECT_FALSE(Fixture(true).set.all_token());
  const float kept = f.at(0, {1, 0, 1, 1});
  f.set.truncate(1, 2);
  EXPECT_EQ(f.at(0, {1, 0, 1, 1}), kept);
  EXPECT_EQ(f.at(0, {1, 0, 2, 0}), 0.0f);
  EXPECT_EQ(f.at(1, {3, 1, 0}), 0.0f);
  EXPECT_NE(f.at(0, {0, 0, 2, 0}), 0.0f);
}

TEST(States, SaveAndRestore) {
  Fixture f(true), other(true);
  const std::string saved = f.set.save(2, 3);
  other.set.reset(0);
  ASSERT_TRUE(other.set.restore(0, saved).ok());
  EXPECT_EQ(other.at(0, {0, 1, 2, 1}), f.at(0, {2, 1, 2, 1}));
  EXPECT_EQ(other.at(0, {0, 1, 3, 1}), 0.0f);
  EXPECT_EQ(other.at(1, {1, 0, 0}), f.at(1, {1, 2, 0}));
  EXPECT_EQ(other.at(2, {0, 0, 1}), f.at(2, {0, 2, 1}));
  for (const size_t cut : {size_t{0}, size_t{5}, saved.size() - 1}) {
    EXPECT_FALSE(other.set.restore(0, std::string_view(saved).substr(0, cut)).ok());
  }
  EXPECT_FALSE(other.set.restore(0, saved + "x").ok());
  std::string large = saved;
  store_as(large.data(), int64_t{99});
  EXPECT_FALSE(other.set.restore(0, large).ok());
}

}  // namespace
}  // namespace axon::runtime
