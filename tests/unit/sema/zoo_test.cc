// The real library and models through the whole front end, each stage stable on its own output.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "front_end.h"
#include "support/file.h"

namespace axon::sema::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> models() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(AXON_SOURCE_DIR "/zoo")) {
    if (entry.path().extension() == ".axon") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

MemoryLibrary library() {
  MemoryLibrary out;
  std::string root = AXON_SOURCE_DIR "/stdlib";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".axon") continue;
    out.files[fs::relative(entry.path(), root).string()] = *read_file(entry.path().string());
  }
  return out;
}

class SemaZoo : public ::testing::TestWithParam<std::string> {};

TEST_P(SemaZoo, FlattensAndRoundTrips) {
  Case input;
  input.root = *read_file(std::string(AXON_SOURCE_DIR) + "/zoo/" + GetParam() + ".axon");
  input.library = library();
  for (const char* stage : {"resolve", "normalize", "elaborate", "flatten"}) {
    Session first;
    std::string once = run_stage(input, stage, first);
    ASSERT_FALSE(first.sink.has_errors()) << stage << "\n" << show_diagnostics(first);
    Case again;
    again.root = once;
    Session second;
    std::string twice = run_stage(again, stage, second);
    ASSERT_FALSE(second.sink.has_errors()) << stage << "\n" << show_diagnostics(second);
    EXPECT_EQ(once, twice) << stage;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SemaZoo, ::testing::ValuesIn(models()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace axon::sema::testing
