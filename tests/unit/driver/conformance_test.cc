// Each rule of tests/conformance is a test by its name.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance_case.h"

namespace axon::driver::testing {

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.title; }

namespace {

class Conformance : public ::testing::TestWithParam<Rule> {};

TEST_P(Conformance, Holds) {
  ASSERT_FALSE(GetParam().cases.empty());
  for (const Case& one : GetParam().cases) {
    EXPECT_FALSE(one.checks.empty()) << one.text;
    EXPECT_EQ(run_case(one), "") << GetParam().file << "\n" << one.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, Conformance,
                         ::testing::ValuesIn(read_rules(AXON_SOURCE_DIR "/tests/conformance")),
                         [](const auto& info) {
                           std::string name = info.param.id;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace axon::driver::testing
