// The layout of source files: expected texts, and its laws over every program of the tree.
#include "syntax/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/file.h"
#include "support/text.h"
#include "syntax/fold.h"
#include "syntax/parse.h"
#include "syntax/render.h"

namespace axon::syntax {
namespace {

namespace fs = std::filesystem;

struct Session {
  FileTable files;
  Interner names;
  Ast ast;
  DiagSink sink;
  Module parse_text(std::string text) {
    return parse(files.add("text.axon", std::move(text)), files, names, ast, sink);
  }
  std::string text_of(const Module& module) { return std::string(files.text(module.file)); }
};

std::vector<std::string> axon_files(std::initializer_list<const char*> folders) {
  std::vector<std::string> out;
  for (const char* folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXON_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".axon") out.push_back(entry.path().string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string read(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? *text : std::string();
}

// Formatting keeps the tree and the comments, and formatting again changes nothing. Files with
// errors have no layout.
void check_laws(const std::string& text) {
  Session session;
  Module module = session.parse_text(text);
  if (session.sink.has_errors()) return;
  std::string once = format(module, session.files, session.ast, session.names);
  Module again = session.parse_text(once);
  ASSERT_FALSE(session.sink.has_errors()) << message_of(session.sink.all().back()) << "\n" << once;
  EXPECT_TRUE(equal(module, again, session.ast)) << once;
  EXPECT_TRUE(same_comments(session.text_of(module), module, once, again)) << once;
  EXPECT_EQ(format(again, session.files, session.ast, session.names), once);
}

TEST(Format, LawsHoldOnEveryProgram) {
  std::vector<std::string> files = axon_files({"stdlib", "zoo", "tests"});
  EXPECT_GT(files.size(), 100u);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    check_laws(read(path));
  }
}

// Comments behind every line and between all lines, indented in several ways.
TEST(Format, LawsHoldWithCommentsEverywhere) {
  for (const std::string& path : axon_files({"stdlib", "zoo", "tests"})) {
    SCOPED_TRACE(path);
    std::string source = read(path);
    for (int variant = 0; variant < 3; ++variant) {
      std::string text;
      int count = variant;
      for (std::string_view line : split(source, '\n')) {
        std::string number = std::to_string(++count);
        if (variant > 0 && count % 2 == 0)
          text += std::string(static_cast<size_t>(count % 7), ' ') + "-- above " + number + "\n";
        if (variant == 2 && count % 3 == 0) text += "\n\n";
        text += line;
        bool behind = variant != 1 && !line.empty();
        text += behind ? "  -- behind " + number + "\n" : "\n";
      }
      check_laws(text);
    }
  }
}

// Every line of every program may be broken at any width.
TEST(Format, NarrowLinesReadTheSame) {
  for (const std::string& path : axon_files({"stdlib", "zoo", "tests"})) {
    SCOPED_TRACE(path);
    for (size_t width : {10, 33, 60}) {
      Session session;
      Module module = session.parse_text(read(path));
      if (session.sink.has_errors()) break;
      std::string text = render(module, session.ast, session.names);
      std::string folded = fold_lines(text, width, session.names);
      Module again = session.parse_text(folded);
      ASSERT_FALSE(session.sink.has_errors()) << message_of(session.sink.all().back()) << "\n"
                                              << folded;
      EXPECT_TRUE(equal(module, again, session.ast)) << folded;
    }
  }
}

TEST(Format, ExpectedTexts) {
  for (const std::string& path : axon_files({"tests/format"})) {
    SCOPED_TRACE(path);
    Session session;
    Module module = session.parse_text(read(path));
    for (const Diagnostic& d : session.sink.all())
      EXPECT_NE(session.sink.severity(d), Severity::Error) << message_of(d);
    std::string actual = format(module, session.files, session.ast, session.names);
    std::string expected = path.substr(0, path.size() - 5) + ".fmt.exp";
    if (std::getenv("AXON_ACCEPT") != nullptr) {
      ASSERT_TRUE(write_file(expected, actual));
    } else {
      EXPECT_EQ(read(expected), actual);
    }
  }
}

}  // namespace
}  // namespace axon::syntax
