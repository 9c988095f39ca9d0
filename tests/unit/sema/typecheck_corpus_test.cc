// Every tests/typecheck/*.axon: its own caret comments say what is reported where, and its lines
// `-- result NAME :: TYPE` what definitions return. AXON_ACCEPT=1 rewrites both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "front_end.h"
#include "sema/validate_typed.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::sema::testing {
namespace {

std::string root_path(const std::string& name) {
  return std::string(AXON_SOURCE_DIR) + "/tests/typecheck/" + name;
}

std::vector<std::string> corpus() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(root_path(""))) {
    if (entry.path().extension() == ".axon") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_expectation(std::string_view line) {
  if (starts_with(line, "--@") || starts_with(line, "--   note ")) return true;
  size_t caret = line.find_first_not_of(' ', 2);
  return starts_with(line, "--") && caret != line.npos && line.substr(caret, 2) == "^ ";
}

// The file without its expectations, and the names of `-- result` lines.
std::string strip(std::string_view text, std::vector<std::string>& results) {
  std::string out;
  for (std::string_view line : split(text, '\n')) {
    if (starts_with(line, "-- result ")) {
      std::string_view name = line.substr(10);
      results.emplace_back(trim(name.substr(0, name.find("::"))));
    } else if (!is_expectation(line)) {
      out += std::string(line) + "\n";
    }
  }
  while (ends_with(out, "\n\n")) out.pop_back();
  return out;
}

struct Findings {
  std::set<std::pair<std::pair<int, int>, std::string>> reports;  // line, column, text
  std::map<std::string, std::string> results;
};

// Checks with one definition as the main one.
void check_as(const std::string& text, const std::string& main, bool last, Findings& out) {
  Session session;
  Case input = read_case(text);
  input.resolve.main = main;
  FileId root = session.files.add("main.axon", input.root);
  auto note = [&] {
    for (const Diagnostic& d : session.sink.all()) {
      std::string code(diag_info(d.id).code);
      bool of_main = code == "W-DIM-MERGED" || code == "TYPE-MAIN-SIG";
      if (code == "W-PRIM" || code == "W-NO-SIGNATURE" || code == "W-UNUSED-DEF" ||
          (of_main && !last))
        continue;
      LineColumn at =
          d.span.valid() ? session.files.line_column(d.span.file, d.span.begin) : LineColumn{};
      bool warning = session.sink.severity(d) == Severity::Warning;
      std::string report = (warning ? "warning " : "error ") + code + ": " + message_of(d);
      for (const DiagNote& n : d.notes) {
        std::string_view where =
            n.span.valid() ? session.files.text(n.span.file) : std::string_view();
        where = where.substr(static_cast<size_t>(n.span.begin),
                             static_cast<size_t>(n.span.end - n.span.begin));
        where = where.substr(0, std::min(where.find('\n'), size_t{40}));
        report += "\n--   note " + std::string(where) + " | " + message_of(n);
      }
      out.reports.insert({{at.line, at.column}, report});
    }
  };
  LoadedModules modules = load(root, input.library, input.load, session);
  if (session.sink.has_errors()) return note();
  ClosedProgram closed = resolve(modules, input.resolve, session);
  if (session.sink.has_errors()) return note();
  NormalizedProgram normalized = normalize(closed, session);
  if (session.sink.has_errors()) return note();
  ElaboratedProgram elaborated = elaborate(normalized, session);
  if (session.sink.has_errors()) return note();
  FlatProgram flat = flatten(elaborated, session);
  if (session.sink.has_errors()) return note();
  TypedProgram typed = typecheck(flat, {}, session);
  bool failed = session.sink.has_errors();
  if (!failed) validate_typed(typed, session);
  note();
  if (failed) return;
  for (size_t i = 0; i < typed.definitions.size(); ++i) {
    std::string name(session.names.text(flat.program.definitions[i].name));
    if (name == main) out.results[name] = session.types.show(typed.definitions[i].return_type);
  }
}

std::vector<std::string> definitions(const std::string& text) {
  Session session;
  Case input = read_case(text);
  FileId root = session.files.add("main.axon", input.root);
  LoadedModules modules = load(root, input.library, input.load, session);
  std::vector<std::string> out;
  if (modules.modules.empty()) return out;
  for (const auto& def : modules.modules.back().module.definitions) {
    if (!def.is_global && def.path_params.empty()) out.emplace_back(session.names.text(def.name));
  }
  return out;
}

std::string annotate(const std::string& text, const Findings& found,
                     const std::vector<std::string>& results) {
  std::string out;
  int number = 0;
  auto lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (std::string_view line : lines) {
    ++number;
    out += std::string(line) + "\n";
    for (const auto& [at, report] : found.reports) {
      if (at.first != number) continue;
      std::string mark = at.second >= 3
                             ? "--" + std::string(static_cast<size_t>(at.second - 3), ' ') + "^ "
                             : "--@" + std::to_string(at.second) + " ";
      out += mark + report + "\n";
    }
  }
  for (const std::string& name : results) {
    auto result = found.results.find(name);
    out += "-- result " + name +
           " :: " + (result == found.results.end() ? "nothing" : result->second) + "\n";
  }
  return out;
}

class TypecheckCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(TypecheckCorpus, Matches) {
  std::string path = root_path(GetParam() + ".axon");
  auto text = read_file(path);
  ASSERT_TRUE(text.ok());
  std::vector<std::string> results;
  std::string source = strip(*text, results);
  auto names = definitions(source);
  ASSERT_FALSE(names.empty());
  Findings found;
  for (const std::string& name : names) check_as(source, name, name == names.back(), found);
  std::string actual = annotate(source, found, results);
  if (std::getenv("AXON_ACCEPT")) {
    ASSERT_TRUE(write_file(path, actual).ok());
    return;
  }
  EXPECT_EQ(*text, actual);
}

INSTANTIATE_TEST_SUITE_P(Files, TypecheckCorpus, ::testing::ValuesIn(corpus()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace axon::sema::testing
