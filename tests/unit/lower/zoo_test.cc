// The zoo programs lower to sound graphs that survive their text form, under both overlays.
#include <gtest/gtest.h>

#include <map>

#include "graph/text.h"
#include "graph/verify.h"
#include "lower/lower.h"
#include "support/file.h"

namespace axon::lower {
namespace {

// Library files from the source tree.
struct TreeLibrary : sema::LibrarySource {
  mutable std::map<std::string, std::string, std::less<>> texts;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  const std::string_view* find(std::string_view path) const override {
    auto found = views.find(path);
    if (found != views.end()) return &found->second;
    auto text = read_file(std::string(AXON_SOURCE_DIR "/stdlib/") + std::string(path));
    if (!text) return nullptr;
    std::string& kept = texts[std::string(path)] = *text;
    return &(views[std::string(path)] = kept);
  }
};

std::string errors_of(const sema::Session& session) {
  std::string out;
  for (const Diagnostic& d : session.sink.all()) {
    if (session.sink.severity(d) != Severity::Error) continue;
    out += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
  }
  return out;
}

class LowerZoo : public testing::TestWithParam<std::pair<std::string_view, std::string_view>> {};

TEST_P(LowerZoo, IsSound) {
  auto [name, overlay] = GetParam();
  auto text = read_file(std::string(AXON_SOURCE_DIR "/zoo/") + std::string(name) + ".axon");
  ASSERT_TRUE(text.ok());
  sema::Session s;
  TreeLibrary library;
  sema::LoadOptions options;
  if (!overlay.empty()) options.overlays.emplace_back(overlay);
  FileId file = s.files.add(std::string(name) + ".axon", *text);
  auto modules = sema::load(file, library, options, s);
  ASSERT_EQ(errors_of(s), "");
  auto closed = sema::resolve(modules, {}, s);
  ASSERT_EQ(errors_of(s), "");
  auto normalized = sema::normalize(closed, s);
  ASSERT_EQ(errors_of(s), "");
  auto elaborated = sema::elaborate(normalized, s);
  ASSERT_EQ(errors_of(s), "");
  auto flat = sema::flatten(elaborated, s);
  ASSERT_EQ(errors_of(s), "");
  auto typed = sema::typecheck(flat, {}, s);
  ASSERT_EQ(errors_of(s), "");
  graph::Graph g = lower(typed, s);
  graph::verify(g, s.types, "lower", s.sink);
  ASSERT_EQ(errors_of(s), "");
  std::string written = write_graph(g, s.types);
  auto again = graph::read_graph(written, s.types);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(difference(g, *again, s.types), std::nullopt);
  EXPECT_EQ(write_graph(*again, s.types), written);
}

INSTANTIATE_TEST_SUITE_P(All, LowerZoo,
                         testing::Values(std::pair{"llama", ""}, std::pair{"llama", "static"},
                                         std::pair{"gpt2", ""}, std::pair{"gpt2", "static"},
                                         std::pair{"bert", ""}),
                         [](const auto& info) {
                           return std::string(info.param.first) + "_" +
                                  (info.param.second.empty() ? "base"
                                                             : std::string(info.param.second));
                         });

}  // namespace
}  // namespace axon::lower
