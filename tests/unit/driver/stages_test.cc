// Every stage as text: it reads back, writes the same bytes, and gives the same Graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "driver/frontend.h"
#include "driver/library.h"
#include "fuzz/subject.h"
#include "graph/text.h"
#include "source/render.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::driver {
namespace {

using fuzz::errors, fuzz::Subject;

// Whether the subject checks; nothing is asked of one that does not.
bool expect_stable(const Subject& subject, bool with_final = false) {
  Frontend whole = run_frontend(subject.options);
  if (!whole.ok()) return false;
  EXPECT_EQ(fuzz::unstable(subject, whole, with_final), "");
  return true;
}

Subject read_case(const std::string& path) {
  auto content = read_file(path);
  EXPECT_TRUE(content.ok()) << path;
  return fuzz::read_subject(path, *content);
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

// Programs whose texts once gave another Graph.
TEST(Stages, FactsOnSizesStay) {
  const char* texts[] = {
      // a constraint on a name that the parameters keep
      "main :: Tensor[S,B] -> Tensor[B] -> Tensor[2]\nmain x y = _reshape y [2]\n",
      // a size that is known to be a number, as a bound
      "main :: Tensor[K,3,S,4] -> Tensor\nmain x = do\n  y <- x\n"
      "  y <- for i <- [0..S) carry (y) do\n    yield _concat y x 1\n  return _matmul x y\n",
      // sizes that are returned under names of their own
      "main :: Tensor[B,S] -> (Dim, Dim)\nmain x = do\n"
      "  y <- ((_concat x x 0) :: Tensor[E,S])\n  return S, E\n",
      // a branch that is never taken
      "main :: Tensor[B] -> Any\nmain x = (2 > 1) ? null : x\n",
      // global bindings that only types mention
      "import Config\nA <- ((Config.dim @@a default=2) :: Dim)\n"
      "main :: Tensor[A] -> Tensor[A]\nmain x = x\n",
      // a name that an ascription brings in
      "main :: Tensor[B,S] -> Tensor\nmain x = do\n"
      "  y <- ((_linear @@w x) :: Tensor[B,E])\n  return _reshape y [E, B]\n"};
  for (const char* text : texts) {
    Subject subject{text, {}, {}};
    subject.options.path = "main.axon";
    subject.options.text = text;
    EXPECT_TRUE(expect_stable(subject, true)) << text;
  }
}

// The cleaned program: its text is stable and gives its Graph; cleaning it again changes nothing.
// Programs that do not check are left out.
void expect_clean_is_stable(const Subject& subject) {
  FrontendOptions options = subject.options;
  options.optimize_ast = true;
  Frontend whole = run_frontend(options);
  if (!whole.ok()) {
    EXPECT_FALSE(run_frontend(subject.options).ok()) << subject.name << errors(whole);
    return;
  }
  std::string text = dump_stage(whole, Stage::OptimizeAst);
  FrontendOptions from = options;
  from.text = text;
  from.overlays.clear();
  from.auto_overlay = false;
  from.optimize_ast = false;
  Frontend again = run_frontend(from);
  ASSERT_EQ(errors(again), "") << subject.name << text;
  EXPECT_EQ(dump_stage(again, Stage::OptimizeAst), text) << subject.name;
  EXPECT_EQ(graph::write_graph(*again.graph, again.session->types),
            graph::write_graph(*whole.graph, whole.session->types))
      << subject.name;
  FrontendOptions typed = from;
  typed.optimize_ast = true;
  typed.stop_after = Stage::OptimizeAst;
  typed.text = dump_stage(whole, Stage::GraphIrAxon);
  EXPECT_EQ(errors(run_frontend(typed)), "") << subject.name;
}

TEST(Stages, CleanedProgramsAreStable) {
  for (const ZooProgram& program : zoo_programs()) {
    Subject subject;
    subject.name = program.name;
    subject.options.path = program.name + ".axon";
    subject.options.text = std::string(program.text);
    expect_clean_is_stable(subject);
  }
  for (const char* folder : {"sema", "native"}) {
    for (const Subject& subject : corpus(folder)) expect_clean_is_stable(subject);
  }
}

TEST(Stages, CleaningTakesAtomsAndLiterals) {
  FrontendOptions options;
  options.path = "main.axon";
  options.stop_after = Stage::OptimizeAst;
  options.text =
      "unused :: Tensor[B] -> Tensor[B]\nunused x = x\n\n"
      "main :: Tensor[B] -> Tensor[B]\nmain x = do\n"
      "  y <- x\n  k <- 2 + 3 * 4\n  z <- y * k\n  x <- z + y\n  w <- x + y\n  return w\n";
  Frontend f = run_frontend(options);
  ASSERT_EQ(errors(f), "");
  EXPECT_EQ(dump_stage(f, Stage::OptimizeAst),
            "{-# STAGE \"optimize-ast\" #-}\n{-# MAIN \"main\" #-}\n\n"
            "main :: Tensor[B] -> Tensor[B]\nmain x = do\n"
            "  y <- (x :: Tensor[B])\n"
            "  z <- (((x :: Tensor[B]) * (14 :: Int)) :: Tensor[B])\n"
            "  x <- (((z :: Tensor[B]) + (x :: Tensor[B])) :: Tensor[B])\n"
            "  w <- (((x :: Tensor[B]) + (y :: Tensor[B])) :: Tensor[B])\n"
            "  return (w :: Tensor[B])\n");
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
  EXPECT_EQ(
      failure("{-# STAGE \"typecheck\" #-}\nf :: Int -> Int\nf x = do\n"
              "  return (y :: Int)\n"),
      "LOAD-STAGE the text is no program of stage `typecheck`: name `y` has no value in `f`\n");
  EXPECT_EQ(failure("{-# STAGE \"graph-ir-axon\" #-}\nf :: Int -> Int\nf x = do\n"
                    "  y <- ((_nothing (x :: Int)) :: Int)\n  return (y :: Int)\n"),
            "LOAD-STAGE the text is no program of stage `graph-ir-axon`: callee `_nothing` is "
            "unknown in `f`\n");
  EXPECT_EQ(
      failure("{-# STAGE \"typecheck\" #-}\nf :: ?Int -> Int\nf ?x=(y :: Int) = do\n"
              "  return (1 :: Int)\n"),
      "LOAD-STAGE the text is no program of stage `typecheck`: name `y` has no value in `f`\n");
  EXPECT_EQ(
      failure(
          "{-# STAGE \"flatten\" #-}\n{-# SCOPES [\"f:0-0 {n}\"] #-}\nf :: Int -> Int\nf x = do\n"
          "  y <- x + 1\n  return y\n"),
      "LOAD-STAGE the text is no program of stage `flatten`: name `n` has no value in `f`\n");
  EXPECT_EQ(failure("{-# STAGE \"typecheck\" #-}\nf :: Int -> Int\nf x = do\n"
                    "  y <- ((f (x :: Int)) :: Int)\n  return (y :: Int)\n"),
            "LOAD-STAGE the text is no program of stage `typecheck`: definitions use each other: "
            "f → f\n");
  EXPECT_EQ(failure("graph-ir 1\nmain $f\nmodule $f(%x: Tensor[B]) -> Tensor[m] {\n"
                    "  return %x as x\n}\n"),
            "LOAD-STAGE the text is no program of stage `graph-ir`: module `f`: nothing binds "
            "`m`\n");
  EXPECT_EQ(
      failure("{-# STAGE \"typecheck\" #-}\nf :: Int -> Path\nf x = do\n"
              "  return (x :: Int)\n"),
      "LOAD-STAGE the text is no program of stage `typecheck`: module `f`: the output has type "
      "Int, needs Path\n");
  EXPECT_EQ(failure("graph-ir 1\nmain $f\nmodule $f(%x: Int) -> Int {\n  return %x as y\n}\n"),
            "LOAD-STAGE the text is no program of stage `graph-ir`: output 0 is named `y`, what is "
            "returned has the name `x`\n");
  EXPECT_EQ(failure("{-# STAGE \"elaborate\" #-}\n{-# MAIN \"f\" #-}\nf :: Int -> Int\nf x = f\n"),
            "NORM-BARE-CALLABLE `f` has parameters and cannot stand as a value\n");
  EXPECT_NE(failure("graph-ir 1\nmain $f\n").find("GRAPH-SYNTAX"), std::string::npos);
}

// Each fault of a text that was changed by hand, with its line and column.
std::string places(std::string_view text) {
  FrontendOptions options;
  options.path = "main.axon";
  options.text = std::string(text);
  Frontend f = run_frontend(options);
  std::string out;
  for (const Diagnostic& d : f.session->sink.all()) {
    LineColumn at = f.session->files.line_column(d.span.file, d.span.begin);
    std::string message = message_of(d);
    size_t stage = message.find("`: ");
    out += std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
           (stage == message.npos ? message : message.substr(stage + 3)) + "\n";
  }
  return out;
}

TEST(Stages, FaultsHavePlaces) {
  const std::string stage = "{-# STAGE \"resolve\" #-}\n{-# MAIN \"f\" #-}\n";
  EXPECT_EQ(places(stage + "f x = do\n  y <- g@m\n  return y\n"),
            "4:8 callee `g` is unknown in `f`\n");
  EXPECT_EQ(places(stage + "f x = x |> g |> (h)\n"),
            "3:12 callee `g` is unknown in `f`\n3:18 callee `h` is unknown in `f`\n");
  EXPECT_EQ(places(stage + "f x = do\n  y <- x + x\n  return y@m\n"),
            "5:10 callee `y` is unknown in `f`\n");
  EXPECT_EQ(
      places("graph-ir 1\nmain $f\nmodule $f(%x: Tensor[B,4]) -> Tensor[B,4] {\n"
             "  %a = add %x, %x : Tensor[B,4] @ relative 'q'\n"
             "  %b = softmax %a : Tensor[B,4]  -- a comment\n"
             "  %c = params_param @'w' : Tensor[4,4]\n"
             "  %d = topk %b, 2 {largest=true} : (Tensor[B,2], Tensor[B,2])\n"
             "  %e = core.tuple 1, (rms_norm %x, %x {eps=0.1, unit_offset=false} : Tensor[B,4])"
             " : (Int, Tensor[B,4])\n"
             "  return %b as b\n}\n"),
      "8:22 module `f`: `rms_norm` is of optimised graphs alone\n"
      "4:3 module `f`: path @'q' is relative\n"
      "5:3 module `f`: operand `dim` of `softmax` is missing\n"
      "6:3 module `f`: path @'w' is relative\n"
      "7:3 module `f`: operand `largest` of `topk` is given by name\n");
  EXPECT_EQ(places("graph-ir 1\nmain $f\nmodule $f(%x: Int) -> Int {\n  return %y as y\n}\n"),
            "4:12 graph text: value `%y` is not defined before its use in line 4\n");
}

}  // namespace
}  // namespace axon::driver
