// Calls are checked again for what they pass, but each only once: the work stays linear.
#include <gtest/gtest.h>

#include "front_end.h"
#include "support/text.h"

namespace axon::sema::testing {
namespace {

// How many bodies were checked for a chain of definitions that each call the one before twice.
size_t bodies(int length, const std::string& first, const std::string& call,
              const std::string& type = "Tensor[B,S] -> Tensor[B,S]",
              const std::string& params = " x") {
  std::string text = "f0 :: " + first + "\n";
  for (int i = 1; i <= length; ++i) {
    std::string before = "f" + std::to_string(i - 1), name = "f" + std::to_string(i);
    text += "\n" + name + " :: " + type + "\n" + name + params + " = ";
    for (std::string_view part : split(call, '#')) text += std::string(part) + before;
    text.resize(text.size() - before.size());
    text += "\n";
  }
  Session session;
  FileId root = session.files.add("main.axon", text);
  MemoryLibrary library;
  LoadedModules modules = load(root, library, {}, session);
  ClosedProgram closed = resolve(modules, {}, session);
  FlatProgram flat = flatten(elaborate(normalize(closed, session), session), session);
  size_t out = typecheck(flat, {}, session).bodies_checked;
  EXPECT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
  return out;
}

constexpr const char* kFirst = "Tensor[B,S] -> Tensor[B,S]\nf0 x = x + x";

TEST(TypecheckWork, SixtyDefinitionsThatCallTheLastTwice) {
  size_t thirty = bodies(30, kFirst, "(# x) + (# x)");
  size_t sixty = bodies(60, kFirst, "(# x) + (# x)");
  EXPECT_LE(sixty, 2u * 61u);
  EXPECT_LE(sixty, 2 * thirty + 2);
  EXPECT_LE(bodies(60, kFirst, "# (# x)"), 2u * 61u);
}

// Each definition is checked once for each size that reaches it: S, 2*S, 4*S, … of the callers.
TEST(TypecheckWork, CallsOfDifferentSizes) {
  EXPECT_LE(bodies(60, kFirst, "(# x) + (_slice (# (_concat x x 1)) 1 0 S)"), 61u * 62u / 2u + 61u);
}

// Numbers and sizes that are twice as many at each level: from some on all are checked as one.
TEST(TypecheckWork, CallsWithDifferentNumbers) {
  auto check = [](const std::string& type, const std::string& first, const std::string& call) {
    auto work = [&](int length) {
      return bodies(length, type + "\nf0 x n = " + first, call, type, " x n");
    };
    size_t twenty = work(20), forty = work(40);
    EXPECT_LE(forty, 41u * 70u);
    EXPECT_LE(forty, 2 * twenty + 400);
  };
  check("Tensor[B,S] -> Int -> Tensor[B,S]", "x * n", "(# x (2 * n)) + (# x (2 * n + 1))");
  check("Tensor[B,S] -> Int -> Tensor[B,E]", "_zeros x [B, n]",
        "_concat (# x (2 * n)) (# x (2 * n + 1)) 1");
}

}  // namespace
}  // namespace axon::sema::testing
