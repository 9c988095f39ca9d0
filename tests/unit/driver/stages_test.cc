// Every stage as text: it reads back, writes the same bytes, and gives the same Graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "driver/frontend.h"
#include "driver/library.h"
#include "graph/text.h"
#include "source/render.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::driver {
namespace {

// Everything but the plan, which is no program of the language.
constexpr Stage kStages[] = {Stage::Resolve,   Stage::Materialize, Stage::Normalize,
                             Stage::Elaborate, Stage::Flatten,     Stage::Typecheck,
                             Stage::GraphIr,   Stage::GraphIrAxon};

struct MemoryLibrary : sema::LibrarySource {
  std::map<std::string, std::string, std::less<>> files;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  const std::string_view* find(std::string_view path) const override {
    auto file = files.find(path);
    if (file == files.end()) return nullptr;
    return &(views[file->first] = file->second);
  }
};

struct Subject {
  std::string name;
  FrontendOptions options;
  std::shared_ptr<MemoryLibrary> library;
};

std::string errors(const Frontend& f) {
  std::string out;
  for (const Diagnostic& d : f.session->sink.all()) {
    if (f.session->sink.severity(d) == Severity::Error)
      out += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
  }
  return out;
}

std::string graph_text(const Frontend& f) { return graph::write_graph(*f.graph, f.session->types); }

// Whether the subject checks; nothing is asked of one that does not.
bool expect_stable(const Subject& subject, bool with_final = false) {
  Frontend whole = run_frontend(subject.options);
  if (!whole.ok()) return false;
  std::string wanted = graph_text(whole);
  for (Stage stage : kStages) {
    SCOPED_TRACE(subject.name + " from " + std::string(spelling(stage)));
    FrontendOptions options = subject.options;
    options.text = dump_stage(whole, stage);
    options.auto_overlay = false;
    options.overlays.clear();
    Frontend again = run_frontend(options);
    EXPECT_EQ(errors(again), "") << options.text;
    if (!again.ok() || !has_stage(again, stage)) continue;
    std::string second = dump_stage(again, stage);
    // Comments of the graph text name the file that each node came from.
    if (stage == Stage::GraphIr) {
      EXPECT_EQ(graph_text(again), wanted);
      continue;
    }
    EXPECT_EQ(second, options.text);
    if (!again.graph) continue;
    EXPECT_EQ(graph_text(again), wanted) << options.text;
  }
  if (!with_final) return true;
  // The form for readers computes sizes by statements: its text is only asked to be stable.
  FrontendOptions options = subject.options;
  options.text = dump_stage(whole, Stage::Final);
  options.auto_overlay = false;
  options.overlays.clear();
  Frontend again = run_frontend(options);
  EXPECT_EQ(errors(again), "") << options.text;
  if (again.ok()) {
    EXPECT_EQ(dump_stage(again, Stage::Final), options.text) << subject.name;
  }
  return true;
}

// A case of tests/sema or tests/typecheck: sections of library files, an entry, overlays.
Subject read_case(const std::string& path) {
  Subject out;
  out.name = path;
  out.library = std::make_shared<MemoryLibrary>();
  out.options.path = "main.axon";
  std::string* target = &out.options.text;
  auto content = read_file(path);
  EXPECT_TRUE(content.ok()) << path;
  for (std::string_view line : split(*content, '\n')) {
    auto option = [&](std::string_view head) {
      return starts_with(line, head) ? std::string(trim(line.substr(head.size()))) : std::string();
    };
    if (std::string file = option("-- file: "); !file.empty()) {
      target = &out.library->files[file];
      continue;
    }
    if (std::string overlay = option("-- overlay: "); !overlay.empty())
      out.options.overlays.push_back(overlay);
    if (std::string main = option("-- main: "); !main.empty()) out.options.main = main;
    *target += std::string(line) + "\n";
  }
  if (!out.library->files.empty()) out.options.library = out.library.get();
  return out;
}

std::vector<Subject> corpus(const std::string& folder) {
  std::vector<Subject> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(AXON_SOURCE_DIR "/tests/" + folder)) {
    if (entry.path().extension() == ".axon") out.push_back(read_case(entry.path().string()));
  }
  std::sort(out.begin(), out.end(),
            [](const Subject& a, const Subject& b) { return a.name < b.name; });
  return out;
}

// The names that a file defines and that take values: each may be an entry.
std::vector<std::string> entries(const std::string& text) {
  std::vector<std::string> out;
  for (std::string_view line : split(text, '\n')) {
    size_t mark = line.find(" :: ");
    if (mark == line.npos || line[0] == ' ' || line[0] == '-') continue;
    out.emplace_back(line.substr(0, mark));
  }
  return out;
}

TEST(Stages, A67ZooProgramsAreStable) {
  for (const ZooProgram& program : zoo_programs()) {
    std::vector<std::string> mains{""};
    for (const ArchitectureEntry& entry : program.architectures) mains.push_back(entry.main);
    std::sort(mains.begin(), mains.end());
    mains.erase(std::unique(mains.begin(), mains.end()), mains.end());
    for (const std::string& main : mains) {
      for (const char* overlay : {"", "static"}) {
        Subject subject;
        subject.name = program.name + " " + main + " " + overlay;
        subject.options.path = program.name + ".axon";
        subject.options.text = std::string(program.text);
        subject.options.main = main;
        if (*overlay) subject.options.overlays.push_back(overlay);
        EXPECT_TRUE(expect_stable(subject, true)) << subject.name;
      }
    }
  }
}

TEST(Stages, CorpusIsStable) {
  int checked = 0;
  for (const Subject& subject : corpus("sema")) checked += expect_stable(subject, true) ? 1 : 0;
  EXPECT_GE(checked, 10);
}

TEST(Stages, EveryCheckedDefinitionIsStable) {
  int checked = 0;
  for (Subject& subject : corpus("typecheck")) {
    std::string name = subject.name;
    for (const std::string& main : entries(subject.options.text)) {
      subject.options.main = main;
      subject.name = name + " " + main;
      checked += expect_stable(subject, true) ? 1 : 0;
    }
  }
  EXPECT_GE(checked, 40);
}

TEST(Stages, WarningsAreTheSame) {
  constexpr const char* kText = R"(import Tensor

f :: Tensor[B,S] -> Tensor[B,S]
f x = x + x

main :: Tensor[B,S] -> ?Tensor[B,S] -> Tensor[B,S]
main x m = f (Tensor.transpose (Tensor.transpose m 0 1) 0 1)
)";
  Subject subject{"warnings", {}, {}};
  subject.options.path = "main.axon";
  subject.options.text = kText;
  Frontend whole = run_frontend(subject.options);
  ASSERT_EQ(errors(whole), "");
  auto codes = [](const Frontend& f) {
    std::string out;
    for (const Diagnostic& d : f.session->sink.all()) {
      if (starts_with(diag_info(d.id).code, "W-OPT")) out += message_of(d) + "\n";
    }
    return out;
  };
  EXPECT_NE(codes(whole), "");
  for (Stage stage : {Stage::Resolve, Stage::Normalize, Stage::Elaborate, Stage::Flatten}) {
    FrontendOptions options = subject.options;
    options.text = dump_stage(whole, stage);
    EXPECT_EQ(codes(run_frontend(options)), codes(whole)) << spelling(stage);
  }
}

std::string failure(std::string_view text) {
  FrontendOptions options;
  options.path = "main.axon";
  options.text = std::string(text);
  return errors(run_frontend(options));
}

TEST(Stages, TextsThatAreNotWhatTheySay) {
  EXPECT_EQ(failure("{-# STAGE \"flat\" #-}\nf x = x\n"),
            "LOAD-STAGE the text is no program of stage `flat`: there is no such stage to begin "
            "with\n");
  EXPECT_EQ(failure("{-# STAGE \"flatten\" #-}\nf x = _matmul (_matmul x x) x\n"),
            "LOAD-STAGE the text is no program of stage `flatten`: the body is no block in `f`\n");
  EXPECT_EQ(failure("{-# STAGE \"typecheck\" #-}\nf :: Int -> Int\nf x = do\n  return x\n"),
            "LOAD-STAGE the text is no program of stage `typecheck`: an expression has no type\n");
  EXPECT_EQ(failure("{-# STAGE \"resolve\" #-}\nimport NN\nf x = x\n"),
            "LOAD-STAGE the text is no program of stage `resolve`: it imports `NN`\n");
  EXPECT_EQ(failure("{-# STAGE \"flatten\" #-}\n{-# SCOPES [\"f:0-7 a\"] #-}\nf x = do\n"
                    "  return x\n"),
            "LOAD-STAGE the text is no program of stage `flatten`: pragma `SCOPES` does not fit: "
            "`f:0-7 a`\n");
  EXPECT_EQ(failure("{-# STAGE \"flatten\" #-}\n{-# HELPERS [\"f: loop i\"] #-}\nf x = do\n"
                    "  return x\n"),
            "LOAD-STAGE the text is no program of stage `flatten`: pragma `HELPERS` does not fit: "
            "`f: loop i`\n");
  EXPECT_NE(failure("graph-ir 1\nmain $f\n").find("GRAPH-SYNTAX"), std::string::npos);
}

}  // namespace
}  // namespace axon::driver
