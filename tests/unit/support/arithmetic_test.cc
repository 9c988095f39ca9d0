// Arithmetic at the edges of its numbers.
#include "support/arithmetic.h"

#include <gtest/gtest.h>

#include <string>

namespace axon {
namespace {

std::string whole(Arith op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (whole_arithmetic(op, a, b, out)) {
    case ArithFault::None:
      return std::to_string(out);
    case ArithFault::Overflow:
      return "overflow";
    case ArithFault::DivideByZero:
      return "division by zero";
    case ArithFault::NegativePower:
      return "negative power";
  }
  return "";
}

TEST(Arithmetic, QuotientsRoundDown) {
  EXPECT_EQ(whole(Arith::Div, 7, 2), "3");
  EXPECT_EQ(whole(Arith::Div, -7, 2), "-4");
  EXPECT_EQ(whole(Arith::Div, 7, -2), "-4");
  EXPECT_EQ(whole(Arith::Mod, -7, 2), "1");
  EXPECT_EQ(whole(Arith::Mod, 7, -2), "-1");
  EXPECT_EQ(real_arithmetic(Arith::Mod, -7.5, 2), 0.5);
  EXPECT_EQ(real_arithmetic(Arith::Mod, 7.5, -2), -0.5);
}

TEST(Arithmetic, NothingWrapsAround) {
  EXPECT_EQ(whole(Arith::Add, INT64_MAX, 1), "overflow");
  EXPECT_EQ(whole(Arith::Sub, INT64_MIN, 1), "overflow");
  EXPECT_EQ(whole(Arith::Mul, INT64_MIN, -1), "overflow");
  EXPECT_EQ(whole(Arith::Div, INT64_MIN, -1), "overflow");
  EXPECT_EQ(whole(Arith::Mod, INT64_MIN, -1), "0");
  EXPECT_EQ(whole(Arith::Div, 1, 0), "division by zero");
  EXPECT_EQ(whole(Arith::Mod, 1, 0), "division by zero");
}

TEST(Arithmetic, PowersEnd) {
  EXPECT_EQ(whole(Arith::Pow, 3, 4), "81");
  EXPECT_EQ(whole(Arith::Pow, 2, 62), "4611686018427387904");
  EXPECT_EQ(whole(Arith::Pow, 2, 63), "overflow");
  EXPECT_EQ(whole(Arith::Pow, -2, 63), std::to_string(INT64_MIN));
  EXPECT_EQ(whole(Arith::Pow, 2, INT64_MAX), "overflow");
  EXPECT_EQ(whole(Arith::Pow, 0, 0), "1");
  EXPECT_EQ(whole(Arith::Pow, 0, INT64_MAX), "0");
  EXPECT_EQ(whole(Arith::Pow, -1, INT64_MAX), "-1");
  EXPECT_EQ(whole(Arith::Pow, -1, -3), "-1");
  EXPECT_EQ(whole(Arith::Pow, 2, -1), "negative power");
}

TEST(Arithmetic, NotANumberIsInNoOrder) {
  const double nan = real_arithmetic(Arith::Mod, 1, 0);
  EXPECT_FALSE(holds(Order::Le, nan, 1.0));
  EXPECT_FALSE(holds(Order::Ge, nan, 1.0));
  EXPECT_TRUE(holds(Order::Ne, nan, nan));
}

}  // namespace
}  // namespace axon
