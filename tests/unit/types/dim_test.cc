// Canonical dims and types.
#include "types/dim.h"

#include <gtest/gtest.h>

#include <map>

#include "types/type.h"

namespace axon {
namespace {

struct Dims : testing::Test {
  Interner names;
  DimTable t{names};
  DimId v(std::string_view name) { return t.of(sym(name)); }
  SymbolId sym(std::string_view name) { return t.symbol(names.intern(name), SymbolKind::Variable); }
  DimId n(int64_t value) { return t.integer(value); }
  std::optional<int64_t> eval(DimId dim, std::map<std::string, int64_t> values) {
    return t.evaluate(dim, [&](SymbolId s) -> std::optional<int64_t> {
      auto found = values.find(std::string(names.text(t.symbol(s).name)));
      if (found == values.end()) return {};
      return found->second;
    });
  }
  bool le(DimId a, DimId b, int64_t lower = 0) {
    return t.proves_le(a, b, [&](SymbolId) -> std::optional<int64_t> { return lower; });
  }
};

TEST_F(Dims, C33AffineEquality) {
  DimId P = v("P"), S = v("S"), H = v("H"), D = v("D");
  EXPECT_EQ(t.add(P, S), t.add(S, P));
  EXPECT_EQ(t.show(t.add(S, P)), "P+S");
  EXPECT_EQ(t.sub(t.mul(n(2), t.add(S, n(1))), n(2)), t.mul(n(2), S));
  EXPECT_EQ(t.mul(H, t.div(D, H)), D);
  EXPECT_EQ(t.mul(t.div(D, H), H), D);
  EXPECT_EQ(t.div(t.mul(D, H), H), D);
  EXPECT_EQ(t.sub(t.add(S, P), P), S);
  EXPECT_EQ(t.sub(S, S), n(0));
  EXPECT_EQ(t.add(t.div(D, n(2)), t.div(D, n(2))), D);
}

TEST_F(Dims, QuotientsOfSums) {
  DimId S = v("S"), C = v("C"), H = v("H"), K = v("K"), W = v("W");
  DimId head = t.div(W, t.add(H, t.mul(n(2), K)));
  EXPECT_EQ(t.show(head), "W/(2*K+H)");
  EXPECT_EQ(t.add(t.mul(H, head), t.mul(n(2), t.mul(K, head))), W);
  DimId chunks = t.div(t.sub(t.add(S, C), n(1)), C);
  EXPECT_NE(t.mul(chunks, C), t.sub(t.add(S, C), n(1))) << "rounding up is not undone";
  EXPECT_EQ(eval(t.mul(chunks, C), {{"S", 6}, {"C", 4}}), 8);
  EXPECT_EQ(eval(chunks, {{"S", 5}, {"C", 4}}), 2);
  EXPECT_EQ(t.mul(t.div(t.add(S, C), H), H), t.add(S, C));
  EXPECT_EQ(t.div(t.add(t.mul(n(2), S), n(2)), n(4)), t.div(t.add(S, n(1)), n(2)));
  EXPECT_EQ(t.div(t.add(t.mul(S, C), C), C), t.add(S, n(1)));
  EXPECT_EQ(t.div(t.div(S, C), H), t.div(S, t.mul(C, H)));
}

TEST_F(Dims, IntegersFloor) {
  EXPECT_EQ(t.as_integer(t.div(n(7), n(2))), 3);
  EXPECT_EQ(t.as_integer(t.div(n(-7), n(2))), -4);
  EXPECT_EQ(t.as_integer(t.mod(n(-7), n(3))), 2);
  EXPECT_FALSE(t.as_integer(t.div(n(7), n(0))));
  EXPECT_EQ(t.mod(t.mul(n(4), v("S")), n(2)), n(0));
  EXPECT_EQ(eval(t.div(v("S"), n(2)), {{"S", 7}}), 3);
  EXPECT_FALSE(eval(t.div(v("S"), v("Z")), {{"S", 7}, {"Z", 0}}));
}

TEST_F(Dims, Extrema) {
  DimId a = v("A"), b = v("B"), c = v("C");
  EXPECT_EQ(t.min(a, t.min(b, c)), t.min(t.min(c, a), b));
  EXPECT_EQ(t.max(a, t.add(a, n(2))), t.add(a, n(2)));
  EXPECT_EQ(t.min(a, t.add(a, n(2))), a);
  EXPECT_EQ(t.show(t.min(b, a)), "min(A,B)");
  EXPECT_EQ(t.as_integer(t.max(n(3), n(5))), 5);
}

TEST_F(Dims, ShowAndSolve) {
  DimId S = v("S"), D = v("D"), K = v("K");
  EXPECT_EQ(t.show(t.add(t.mul(S, n(2)), n(1))), "2*S+1");
  EXPECT_EQ(t.show(t.sub(n(0), S)), "0-S");
  EXPECT_EQ(t.show(t.sub(K, S)), "K-S");
  EXPECT_EQ(t.show(t.div(t.mul(n(3), S), t.mul(n(2), D))), "3*S/(2*D)");
  EXPECT_EQ(t.show(t.mod(t.add(S, n(1)), D)), "(S+1)%D");
  EXPECT_EQ(t.show(n(-3)), "-3");
  EXPECT_EQ(t.solve(t.add(S, K), sym("S"), D), t.sub(D, K));
  EXPECT_EQ(t.solve(t.sub(K, S), sym("S"), D), t.sub(K, D));
  EXPECT_FALSE(t.solve(t.mul(K, S), sym("S"), D));
  EXPECT_EQ(t.solve_exact(t.mul(K, S), sym("S"), D), t.div(D, K));
  EXPECT_EQ(t.solve_exact(t.div(S, n(2)), sym("S"), D), t.mul(n(2), D));
  EXPECT_FALSE(t.solve_exact(t.mul(S, S), sym("S"), D));
}

TEST_F(Dims, Substitute) {
  DimId S = v("S"), D = v("D");
  auto put = [&](int64_t value) {
    return [this, value](SymbolId s) { return s == sym("S") ? n(value) : DimId{}; };
  };
  EXPECT_EQ(t.substitute(t.add(t.mul(S, n(2)), D), put(3)), t.add(D, n(6)));
  EXPECT_EQ(t.substitute(t.div(S, n(2)), put(7)), n(3));
  EXPECT_EQ(t.substitute(t.min(S, n(9)), put(7)), n(7));
  EXPECT_EQ(t.substitute(t.div(t.add(D, n(1)), S), put(1)), t.add(D, n(1)));
}

TEST_F(Dims, Order) {
  DimId S = v("S"), D = v("D");
  EXPECT_TRUE(le(S, t.add(S, D)));
  EXPECT_FALSE(le(t.add(S, D), S));
  EXPECT_FALSE(le(S, t.mul(S, D)));
  EXPECT_TRUE(le(S, t.mul(S, D), 1));
  EXPECT_TRUE(le(t.min(S, D), S));
  EXPECT_TRUE(le(S, t.max(S, D)));
  EXPECT_FALSE(le(S, t.min(S, D)));
  EXPECT_TRUE(le(t.div(S, n(2)), S));
  EXPECT_TRUE(le(t.div(t.add(S, n(1)), n(2)), S, 1));
  EXPECT_TRUE(le(t.mod(S, n(4)), n(3)));
}

// Integers as they run: nothing cancels a quotient, and what says the same is the same.
TEST_F(Dims, ValuesRound) {
  DimId N = v("N"), M = v("M"), two = n(2);
  DimId half = t.value_div(N, two);
  EXPECT_EQ(half, t.div(N, two));
  DimId even = t.value_mul(half, two);
  EXPECT_EQ(t.show(even), "2*(N/2)");
  EXPECT_NE(even, N);
  EXPECT_EQ(t.exact(even), N);
  EXPECT_EQ(t.value_add(half, half), even);
  EXPECT_EQ(t.value_sub(even, half), half);
  EXPECT_EQ(t.value_add(t.value_sub(N, half), half), N);
  EXPECT_EQ(t.value_sub(t.value_add(even, M), even), M);
  EXPECT_EQ(t.value_div(even, two), half);
  EXPECT_EQ(t.mod(even, two), n(0));
  EXPECT_EQ(t.value_div(half, n(3)), t.value_div(N, n(6)));
  struct Case {
    DimId dim;
    int64_t (*value)(int64_t n, int64_t m);
  };
  auto floor = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
  static auto f = floor;
  const Case cases[] = {
      {even, [](int64_t a, int64_t) { return f(a, 2) * 2; }},
      {t.value_sub(N, half), [](int64_t a, int64_t) { return a - f(a, 2); }},
      {t.value_mul(half, n(3)), [](int64_t a, int64_t) { return f(a, 2) * 3; }},
      {t.value_mul(half, M), [](int64_t a, int64_t b) { return f(a, 2) * b; }},
      {t.value_mul(t.value_div(N, M), M), [](int64_t a, int64_t b) { return f(a, b) * b; }},
      {t.value_sub(half, t.value_div(N, n(4))),
       [](int64_t a, int64_t) { return f(a, 2) - f(a, 4); }},
      {t.value_add(half, t.value_div(M, two)),
       [](int64_t a, int64_t b) { return f(a, 2) + f(b, 2); }},
      {t.value_div(t.value_sub(n(0), half), M),
       [](int64_t a, int64_t b) { return f(-f(a, 2), b); }},
      {t.value_mul(t.value_div(t.add(N, M), two), two),
       [](int64_t a, int64_t b) { return f(a + b, 2) * 2; }},
      {t.substitute(t.value_mul(M, t.value_div(N, two)),
                    [&](SymbolId s) { return s == sym("N") ? half : DimId{}; }),
       [](int64_t a, int64_t b) { return b * f(f(a, 2), 2); }},
  };
  for (const Case& c : cases) {
    for (int64_t a = 1; a < 14; ++a) {
      for (int64_t b = 1; b < 5; ++b)
        EXPECT_EQ(eval(c.dim, {{"N", a}, {"M", b}}), c.value(a, b)) << t.show(c.dim) << a << b;
    }
  }
}

TEST_F(Dims, OrderOfValues) {
  DimId S = v("S"), D = v("D"), two = n(2);
  DimId half = t.value_div(S, two);
  EXPECT_TRUE(le(t.value_mul(half, two), S));
  EXPECT_FALSE(le(S, t.value_mul(half, two)));
  EXPECT_TRUE(le(half, t.value_sub(S, half)));
  EXPECT_TRUE(le(n(0), half));
  EXPECT_FALSE(le(n(1), t.value_add(half, t.value_div(D, two)), 1));
  EXPECT_FALSE(le(n(0), t.div(t.sub(S, n(5)), two)));
  EXPECT_FALSE(le(n(0), t.min(S, t.sub(D, n(1)))));
  EXPECT_TRUE(le(n(0), t.max(S, t.sub(D, n(1)))));
}

// However often a value is used, what is written of it stays short.
TEST_F(Dims, LargeFormulasAreUnknown) {
  DimId low = v("S"), product = v("S"), quotient = v("S");
  for (int i = 0; i < 200; ++i) {
    low = t.min(t.add(t.mul(low, low), n(1)), t.div(low, n(3)));
    product = t.mul(product, product);
    quotient = t.value_div(t.add(quotient, n(1)), t.add(t.value_div(quotient, n(7)), n(2)));
    for (DimId dim : {low, product, quotient}) EXPECT_LE(t.show(dim).size(), 8192u);
  }
  EXPECT_EQ(t.min(low, v("S")), t.min(v("S"), low));
}

TEST_F(Dims, OverflowGivesAnUnknown) {
  DimId big = n(INT64_MAX);
  DimId product = t.mul(big, big);
  EXPECT_FALSE(t.as_integer(product));
  EXPECT_EQ(product, t.mul(big, big));
  EXPECT_NE(product, t.mul(big, n(3)));
}

TEST_F(Dims, FreshNamesAreUnique) {
  SymbolId s = sym("S");
  SymbolId a = t.fresh("S", SymbolKind::Variable);
  EXPECT_NE(s, a);
  EXPECT_NE(t.symbol(a).name, t.symbol(s).name);
  EXPECT_EQ(names.text(t.symbol(t.fresh("_d", SymbolKind::Unknown)).name), "_d1");
}

TEST_F(Dims, Types) {
  TypeTable types(t);
  TypeId tensor = types.tensor_of({v("B"), t.add(v("S"), n(1))});
  EXPECT_EQ(types.show(types.optional(tensor)), "?Tensor[B,S+1]");
  EXPECT_EQ(types.optional(types.optional(tensor)), types.optional(tensor));
  EXPECT_EQ(types.optional(types.null()), types.null());
  EXPECT_EQ(types.tensor({}), types.tensor());
  EXPECT_EQ(types.show(types.tuple({types.list(types.int_()), types.any()})), "(List[Int], Any)");
  EXPECT_EQ(types.show(types.tensor({{{}, sym("S")}, {v("D"), {}}})), "Tensor[..S,D]");
  TypeId replaced = types.substitute(
      types.tensor({{{}, sym("R")}, {v("D"), {}}}), [](SymbolId) { return DimId{}; },
      [&](SymbolId, bool& found) {
        found = true;
        return std::vector<Axis>{{v("B"), {}}, {v("S"), {}}};
      },
      [](SymbolId) { return TypeId{}; });
  EXPECT_EQ(types.show(replaced), "Tensor[B,S,D]");
}

}  // namespace
}  // namespace axon
