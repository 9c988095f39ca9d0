// The programs of tests/native: natively as the evaluator says, on general instructions and, where
// there is one, as a straight line.
#include <algorithm>
#include <filesystem>

#include "compare.h"
#include "support/file.h"

namespace axon::driver::ways {
namespace {

TEST(Native, ProgramsEqualTheEvaluator) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/native"))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  EXPECT_GT(paths.size(), 0u);
  for (const std::string& path : paths) {
    auto text = read_file(path);
    ASSERT_TRUE(text.ok());
    compare(read_case(path, *text));
  }
}

}  // namespace
}  // namespace axon::driver::ways
