// Files of the user on disk: search order, one module under two names, cycles.
#include <gtest/gtest.h>

#include <filesystem>

#include "front_end.h"
#include "sema/program_text.h"
#include "support/file.h"
#include "syntax/render.h"

namespace axon::sema::testing {
namespace {

namespace fs = std::filesystem;

class LoadFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("axon_load_" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    ASSERT_TRUE(write_file((folder_ / path).string(), text).ok());
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string resolve_text(const std::string& root) {
    FileId file = session_.files.add(path(root), *read_file(path(root)));
    LoadedModules modules = load(file, library_, options_, session_);
    if (session_.sink.has_errors()) return {};
    ClosedProgram closed = resolve(modules, {}, session_);
    if (session_.sink.has_errors()) return {};
    return syntax::render(as_module(closed.program), session_.ast, session_.names);
  }

  fs::path folder_;
  Session session_;
  MemoryLibrary library_;
  LoadOptions options_;
};

constexpr const char* kId = "f :: Tensor[B] -> Tensor[B]\nf x = x\n";

TEST_F(LoadFiles, SearchOrder) {
  put("main.axon",
      "import Near\nimport Far\nimport Lib\n\nmain :: Tensor[B] -> Tensor[B]\n"
      "main x = Near.f (Far.f (Lib.f x))\n");
  put("Near.axon", kId);
  put("path/Near.axon", "f :: Int -> Int\nf x = x\n");
  put("path/Far.axon", kId);
  library_.files = {{"Far.axon", "f :: Int -> Int\nf x = x\n"}, {"Lib.axon", kId}};
  options_.search_path = {path("path"), path("path")};
  std::string text = resolve_text("main.axon");
  EXPECT_NE(text.find("Near.f :: Tensor[B]"), std::string::npos) << show_diagnostics(session_);
  EXPECT_NE(text.find("Far.f :: Tensor[B]"), std::string::npos);
  EXPECT_NE(text.find("Lib.f :: Tensor[B]"), std::string::npos);
}

TEST_F(LoadFiles, A26OneFileUnderTwoNames) {
  put("main.axon",
      "import parts.Inner\nimport parts.Outer\n\nmain :: Tensor[B] -> Tensor[B]\n"
      "main x = parts.Inner.f (parts.Outer.g x)\n");
  put("parts/Inner.axon", kId);
  put("parts/Outer.axon", "import Inner\n\ng :: Tensor[B] -> Tensor[B]\ng x = Inner.f x\n");
  std::string text = resolve_text("main.axon");
  EXPECT_FALSE(session_.sink.has_errors()) << show_diagnostics(session_);
  EXPECT_NE(text.find("parts.Outer.g x = parts.Inner.f x"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nInner.f"), std::string::npos);
}

TEST_F(LoadFiles, TwoFilesUnderOneName) {
  put("main.axon",
      "import Same\nimport sub.Use\n\nmain :: Tensor[B] -> Tensor[B]\n"
      "main x = Same.f (sub.Use.g x)\n");
  put("Same.axon", kId);
  put("sub/Same.axon", "f :: Tensor[B] -> Tensor[B]\nf x = x + 1\n");
  put("sub/Use.axon", "import Same\n\ng :: Tensor[B] -> Tensor[B]\ng x = Same.f x\n");
  std::string text = resolve_text("main.axon");
  EXPECT_FALSE(session_.sink.has_errors()) << show_diagnostics(session_);
  EXPECT_NE(text.find("sub.Use.g x = Same_2.f x"), std::string::npos) << text;
}

TEST_F(LoadFiles, CycleThroughTheRoot) {
  put("main.axon", "import Other\n\nmain :: Tensor[B] -> Tensor[B]\nmain x = x\n");
  put("Other.axon", std::string("import main\n\n") + kId);
  resolve_text("main.axon");
  std::string shown = show_diagnostics(session_);
  EXPECT_NE(shown.find("LOAD-CYCLE"), std::string::npos);
  EXPECT_NE(shown.find("main.axon → Other → main.axon"), std::string::npos) << shown;
}

TEST_F(LoadFiles, ErrorsOfImportedFilesAreShown) {
  put("main.axon", "import Bad\n\nmain :: Tensor[B] -> Tensor[B]\nmain x = Bad.f x\n");
  put("Bad.axon", "f x = (\n");
  resolve_text("main.axon");
  EXPECT_TRUE(session_.sink.has_errors());
  EXPECT_NE(show_diagnostics(session_).find("Bad.axon:"), std::string::npos);
}

}  // namespace
}  // namespace axon::sema::testing
