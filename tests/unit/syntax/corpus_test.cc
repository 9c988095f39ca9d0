// Walks the syntax corpus: caret comments for diagnostics, `.parse.exp` siblings for the canonical
// text, and the round trip of every file. With AXON_ACCEPT=1 expectations are rewritten.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "support/file.h"
#include "support/text.h"
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
  Module parse_text(const std::string& path, std::string text) {
    return parse(files.add(path, std::move(text)), files, names, ast, sink);
  }
};

bool accepting() { return std::getenv("AXON_ACCEPT") != nullptr; }

std::vector<std::string> axon_files(const std::string& folder) {
  std::vector<std::string> out;
  fs::path root = fs::path(AXON_SOURCE_DIR) / folder;
  if (!fs::exists(root)) return out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".axon") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string read(const std::string& path) {
  Result<std::string> text = read_file(path);
  return text ? *text : std::string();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::string_view line : split(text, '\n')) out.emplace_back(line);
  return out;
}

// An expectation is a comment below its line: carets under the range, or `@first-last` columns
// where carets do not fit; `..` behind says that the range goes on in the next line, `|` that it is
// empty.
bool is_expectation(const std::string& line) {
  if (!starts_with(line, "--")) return false;
  std::string_view rest = trim(std::string_view(line).substr(2));
  if (rest.empty() || std::string_view("^|@").find(rest[0]) == std::string_view::npos) return false;
  rest.remove_prefix(std::min(rest.find_first_not_of("^|@-.0123456789"), rest.size()));
  return starts_with(rest, " error ") || starts_with(rest, " warning ");
}

std::string expectation(const Diagnostic& d, const Session& session) {
  LineColumn begin = session.files.line_column(d.span.file, d.span.begin);
  LineColumn end = session.files.line_column(d.span.file, d.span.end);
  size_t line_end = session.files.line_text(d.span.file, begin.line).size();
  bool goes_on = end.line != begin.line;
  size_t first = static_cast<size_t>(begin.column);
  size_t length = goes_on ? line_end + 1 - first : static_cast<size_t>(end.column) - first;
  std::string mark;
  if (first >= 3 && length < 200 && first < 200) {
    mark = "--" + std::string(first - 3, ' ') + (length ? std::string(length, '^') : "|");
  } else {
    mark =
        "-- @" + std::to_string(first) + (length ? "-" + std::to_string(first + length - 1) : "");
  }
  mark += goes_on ? ".. " : " ";
  const char* severity = session.sink.severity(d) == Severity::Error ? "error " : "warning ";
  return mark + severity + std::string(diag_info(d.id).code) + ": " + message_of(d);
}

// The text with the expectations that the diagnostics ask for.
std::string annotated(const std::vector<std::string>& source, Session& session) {
  std::map<int, std::vector<std::string>> below;
  session.sink.sort();
  for (const Diagnostic& d : session.sink.all()) {
    below[session.files.line_column(d.span.file, d.span.begin).line].push_back(
        expectation(d, session));
  }
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    if (i) out += '\n';
    out += source[i];
    for (const std::string& comment : below[static_cast<int>(i) + 1]) out += "\n" + comment;
  }
  return out;
}

void check_text(const std::string& path, const std::string& actual) {
  std::string expected = read(path);
  if (expected == actual) return;
  if (accepting()) {
    ASSERT_TRUE(write_file(path, actual));
  } else {
    EXPECT_EQ(expected, actual) << path;
  }
}

// Rendering gives a file that parses to an equal tree, and renders to the same text.
void check_round_trip(const std::string& path, const Module& module, Session& session) {
  std::string text = render(module, session.ast, session.names);
  size_t errors = session.sink.error_count();
  Module again = session.parse_text(path + " (rendered)", text);
  EXPECT_EQ(session.sink.error_count(), errors)
      << path << "\n"
      << text << (session.sink.all().empty() ? "" : message_of(session.sink.all().back()));
  EXPECT_EQ(render(again, session.ast, session.names), text) << path;
  EXPECT_TRUE(equal(module, again, session.ast)) << path << "\n" << text;
}

void check_file(const std::string& path) {
  SCOPED_TRACE(path);
  std::vector<std::string> source = lines_of(read(path));
  source.erase(std::remove_if(source.begin(), source.end(), is_expectation), source.end());
  std::string text = join(source, "\n");
  Session session;
  Module module = session.parse_text(path, text);
  bool has_errors = session.sink.has_errors();
  check_text(path, annotated(source, session));
  std::string name = base_name(path);
  EXPECT_EQ(starts_with(name, "fail_"), has_errors)
      << "a file is called fail_ exactly when it has an error";
  if (has_errors) return;
  check_text(path.substr(0, path.size() - 5) + ".parse.exp",
             render(module, session.ast, session.names));
  check_round_trip(path, module, session);
}

class SyntaxCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(SyntaxCorpus, Matches) { check_file(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Files, SyntaxCorpus, ::testing::ValuesIn(axon_files("tests/syntax")),
                         [](const ::testing::TestParamInfo<std::string>& file) {
                           std::string name = base_name(file.param);
                           return name.substr(0, name.find('.'));
                         });

// The library and the programs parse without errors and survive the round trip.
TEST(Corpus, LibraryAndZoo) {
  for (const char* folder : {"stdlib", "zoo"}) {
    for (const std::string& path : axon_files(folder)) {
      SCOPED_TRACE(path);
      Session session;
      Module module = session.parse_text(path, read(path));
      for (const Diagnostic& d : session.sink.all()) ADD_FAILURE() << expectation(d, session);
      check_round_trip(path, module, session);
    }
  }
}

bool is_syntax_code(std::string_view code) {
  for (std::string_view prefix : {"LEX-", "LAY-", "PAR-", "AST-"}) {
    if (starts_with(code, prefix)) return true;
  }
  for (std::string_view warning :
       {"W-TABS", "W-GREEDY", "W-GENERATED-NAME", "W-PRAGMA-UNKNOWN", "W-PATH-PARAM-SEGMENT"}) {
    if (code == warning) return true;
  }
  return false;
}

// Every code of this layer has a file that is named for it and shows it.
TEST(Corpus, EveryCodeIsShown) {
  std::string folder = std::string(AXON_SOURCE_DIR) + "/tests/diag/";
  auto check = [&](std::string_view code) {
    if (!is_syntax_code(code)) return;
    std::string path = folder + std::string(code) + ".axon";
    ASSERT_TRUE(file_exists(path)) << path;
    std::vector<std::string> source = lines_of(read(path));
    source.erase(std::remove_if(source.begin(), source.end(), is_expectation), source.end());
    Session session;
    session.parse_text(path, join(source, "\n"));
    check_text(path, annotated(source, session));
    bool shown = false;
    for (const Diagnostic& d : session.sink.all()) shown = shown || diag_info(d.id).code == code;
    EXPECT_TRUE(shown) << path;
  };
#define AXON_DIAG(ident, code, severity, status, format) check(code);
#include "source/diag.def"
}

}  // namespace
}  // namespace axon::syntax
