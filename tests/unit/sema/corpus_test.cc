// Every tests/sema/*.axon against its siblings `NAME.<stage>.exp`; AXON_ACCEPT=1 rewrites them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "front_end.h"
#include "support/file.h"

namespace axon::sema::testing {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(AXON_SOURCE_DIR "/tests/sema")) {
    if (entry.path().extension() == ".axon") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string path_of(const std::string& name) {
  return std::string(AXON_SOURCE_DIR) + "/tests/sema/" + name;
}

void compare(const std::string& path, const std::string& actual) {
  if (std::getenv("AXON_ACCEPT")) {
    ASSERT_TRUE(write_file(path, actual).ok());
    return;
  }
  auto expected = read_file(path);
  ASSERT_TRUE(expected.ok()) << "missing " << path << "; actual:\n" << actual;
  EXPECT_EQ(*expected, actual) << path;
}

class SemaCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(SemaCorpus, Matches) {
  auto text = read_file(path_of(GetParam() + ".axon"));
  ASSERT_TRUE(text.ok());
  Case input = read_case(*text);
  ASSERT_FALSE(input.expect.empty()) << "no `-- expect:` line";
  for (const std::string& stage : input.expect) {
    Session session;
    std::string actual;
    if (stage == "diag") {
      actual = run_diagnostics(input, session);
    } else {
      actual = run_stage(input, stage, session);
      EXPECT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    }
    compare(path_of(GetParam() + "." + stage + ".exp"), actual);
  }
}

// Each stage on its own rendered output gives that output again (language.md 11.2).
TEST_P(SemaCorpus, RoundTrips) {
  auto text = read_file(path_of(GetParam() + ".axon"));
  ASSERT_TRUE(text.ok());
  Case input = read_case(*text);
  for (const char* stage : {"resolve", "normalize", "elaborate", "flatten"}) {
    Session first;
    std::string once = run_stage(input, stage, first);
    if (first.sink.has_errors()) return;
    Case again;
    again.root = once;
    Session second;
    std::string twice = run_stage(again, stage, second);
    EXPECT_FALSE(second.sink.has_errors()) << stage << "\n" << show_diagnostics(second) << once;
    EXPECT_EQ(once, twice) << stage;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, SemaCorpus, ::testing::ValuesIn(corpus()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace axon::sema::testing
