// Models of the zoo with the base library and with its static forms; time of deep call chains.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "front_end.h"
#include "sema/validate_typed.h"
#include "support/file.h"

namespace axon::sema::testing {
namespace {

namespace fs = std::filesystem;

FlatProgram flatten_case(const Case& input, Session& session) {
  FileId root = session.files.add("main.axon", input.root);
  LoadedModules modules = load(root, input.library, input.load, session);
  if (session.sink.has_errors()) return {};
  ClosedProgram closed = resolve(modules, input.resolve, session);
  if (session.sink.has_errors()) return {};
  NormalizedProgram normalized = normalize(closed, session);
  if (session.sink.has_errors()) return {};
  ElaboratedProgram elaborated = elaborate(normalized, session);
  if (session.sink.has_errors()) return {};
  return flatten(elaborated, session);
}

std::vector<std::string> models() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(AXON_SOURCE_DIR "/zoo")) {
    if (entry.path().extension() == ".axon") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class TypecheckZoo : public ::testing::TestWithParam<std::string> {
 protected:
  void check(const char* overlay) {
    Case input;
    input.root = *read_file(std::string(AXON_SOURCE_DIR) + "/zoo/" + GetParam() + ".axon");
    std::string root = AXON_SOURCE_DIR "/stdlib";
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".axon") continue;
      input.library.files[fs::relative(entry.path(), root).string()] =
          *read_file(entry.path().string());
    }
    if (overlay) input.load.overlays.emplace_back(overlay);
    Session session;
    FlatProgram flat = flatten_case(input, session);
    ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    session.sink.clear();
    TypedProgram typed = typecheck(flat, {}, session);
    if (!session.sink.has_errors()) validate_typed(typed, session);
    EXPECT_EQ(show_diagnostics(session), "");
  }
};

TEST_P(TypecheckZoo, Base) { check(nullptr); }
TEST_P(TypecheckZoo, Static) { check("static"); }

INSTANTIATE_TEST_SUITE_P(Models, TypecheckZoo, ::testing::ValuesIn(models()),
                         [](const auto& info) { return info.param; });

// Each definition calls the one before twice: checks are shared, so the time is linear.
TEST(TypecheckTime, DoublingChain) {
  Case input;
  input.root = "f0 :: Tensor[B,S] -> ?Bool -> Tensor[B,S]\nf0 x flag = x + x\n\n";
  for (int i = 1; i <= 60; ++i) {
    std::string me = "f" + std::to_string(i);
    std::string callee = "f" + std::to_string(i - 1);
    input.root += me + " :: Tensor[B,S] -> ?Bool -> Tensor[B,S]\n" + me + " x flag = " + callee +
                  " (" + callee + " x true) flag\n\n";
  }
  Session session;
  FlatProgram flat = flatten_case(input, session);
  ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
  auto begin = std::chrono::steady_clock::now();
  typecheck(flat, {}, session);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
  EXPECT_LT(took.count(), 5.0);
}

// Long chains, in either order of definition, with facts that make each call a check of its own.
TEST(TypecheckTime, LongChain) {
  constexpr int kLength = 600;
  for (bool reversed : {false, true}) {
    std::vector<std::string> parts;
    for (int i = 0; i <= kLength; ++i) {
      std::string me = "f" + std::to_string(i);
      std::string body = i == 0 ? "_expand x [B, n]" : "f" + std::to_string(i - 1) + " x n";
      parts.push_back(me + " :: Tensor[B,1] -> Dim -> Tensor[B,n]\n" + me + " x n = " + body +
                      "\n\n");
    }
    if (reversed) std::reverse(parts.begin(), parts.end());
    Case input;
    for (const std::string& part : parts) input.root += part;
    input.root +=
        "main :: Tensor[B,1] -> Tensor[B,7]\nmain x = f" + std::to_string(kLength) + " x 7\n";
    Session session;
    FlatProgram flat = flatten_case(input, session);
    ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    typecheck(flat, {}, session);
    EXPECT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
  }
}

}  // namespace
}  // namespace axon::sema::testing
