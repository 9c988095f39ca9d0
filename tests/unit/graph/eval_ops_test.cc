// Primitives of the reference evaluator against values computed with PyTorch
// (tests/graph/make_fixtures.py).
#include "graph/eval_ops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::graph {
namespace {

using Kind = EvalValue::Kind;

bool near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

double tolerance(DType dtype) {
  return dtype == DType::F16 ? 1e-3 : dtype == DType::BF16 ? 8e-3 : 1e-6;
}

bool same(const EvalValue& got, const EvalValue& want) {
  if (got.kind != want.kind) return false;
  switch (got.kind) {
    case Kind::Null:
      return true;
    case Kind::Bool:
      return got.boolean == want.boolean;
    case Kind::Int:
      return got.integer == want.integer;
    case Kind::Float:
      return near(got.number, want.number, 1e-12);
    case Kind::String:
    case Kind::Path:
      return got.text == want.text;
    case Kind::List:
    case Kind::Tuple:
      if (got.items.size() != want.items.size()) return false;
      for (size_t i = 0; i < got.items.size(); ++i) {
        if (!same(got.items[i], want.items[i])) return false;
      }
      return true;
    case Kind::Tensor:
      break;
  }
  const EvalTensor &a = *got.tensor, &b = *want.tensor;
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (!a.real()) return a.ints == b.ints;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (!near(a.get(i), b.get(i), tolerance(a.dtype))) return false;
  }
  return true;
}

std::string whole(const EvalValue& value) {
  std::string out = show(value);
  for (const EvalValue& item : value.items) out += ", " + whole(item);
  for (int64_t i = 0; value.is_tensor() && i < value.tensor->count(); ++i) {
    out += " " + (value.tensor->real() ? show_double(value.tensor->get(i))
                                       : std::to_string(value.tensor->get_int(i)));
  }
  return out;
}

class EvalOps : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EvalOps, MatchFixtures) {
  std::string path =
      std::string(AXON_SOURCE_DIR "/tests/graph/fixtures/") + std::string(GetParam()) + ".txt";
  auto text = read_file(path);
  ASSERT_TRUE(text.ok()) << text.error().message;
  std::vector<testing::OpCase> cases = testing::read_cases(*text);
  ASSERT_GT(cases.size(), 20u);
  for (testing::OpCase& c : cases) {
    std::string where = path + ":" + std::to_string(c.line) + " " + std::string(spelling(c.op));
    EvalOptions options;
    options.params = &c.params;
    auto got = evaluate_op(c.op, c.args, options);
    if (!c.error.empty()) {
      EXPECT_EQ(got.ok() ? "no error" : got.error().code, c.error) << where;
      continue;
    }
    if (!got) {
      ADD_FAILURE() << where << ": " << got.error().code << " " << got.error().message;
      continue;
    }
    EXPECT_TRUE(same(*got, c.out))
        << where << "\n  got  " << whole(*got) << "\n  want " << whole(c.out);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, EvalOps,
                         ::testing::Values("elementwise", "scalars", "layout", "reductions",
                                           "layers", "more"),
                         [](const auto& info) { return std::string(info.param); });

TEST(EvalOpsRandom, DependsOnSeedAndPositionOnly) {
  EvalValue ref = EvalValue::of(EvalTensor::make(DType::F32, {1}));
  auto draw = [&](Op op, int64_t n, int64_t seed) {
    auto out = evaluate_op(op, {ref, EvalValue::list({EvalValue::of(n)}), EvalValue::of(seed)}, {});
    EXPECT_TRUE(out.ok());
    return *out->tensor;
  };
  EvalTensor a = draw(Op::RandomNormal, 4000, 7), b = draw(Op::RandomNormal, 10, 7);
  for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(a.get(i), b.get(i));
  EXPECT_NE(a.get(0), draw(Op::RandomNormal, 1, 8).get(0));
  double mean = 0, square = 0;
  for (int64_t i = 0; i < 4000; ++i) {
    mean += a.get(i) / 4000;
    square += a.get(i) * a.get(i) / 4000;
  }
  EXPECT_NEAR(mean, 0, 0.06);
  EXPECT_NEAR(square, 1, 0.1);
  EvalTensor u = draw(Op::RandomUniform, 4000, 7);
  for (int64_t i = 0; i < 4000; ++i) {
    ASSERT_GE(u.get(i), 0);
    ASSERT_LT(u.get(i), 1);
  }
}

}  // namespace
}  // namespace axon::graph
