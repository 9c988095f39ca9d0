// Random programs full of name clashes mean the same before and after flattening.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "front_end.h"
#include "interpreter.h"
#include "sema/program_text.h"
#include "syntax/render.h"

namespace axon::sema::testing {
namespace {

// Programs over few names, so that hiding and rebinding happen all the time. `z` is a constant that
// locals hide now and then.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program() {
    std::string out = "z <- 7\n";
    for (defs_ = 0; defs_ < 4; ++defs_) {
      bool path = kinds_.emplace_back(below(2) == 0);
      std::string name = "d" + std::to_string(defs_);
      out += "\n" + name + (path ? "@p" : "") + " a b = do\n";
      std::vector<std::string> scope = {"a", "b"};
      if (path) paths_ = {"p"};
      out += body(scope, 2, 3) + "  return " + expr(scope, 2) + "\n";
      paths_.clear();
    }
    out += "\nmain a b = do\n";
    std::vector<std::string> scope = {"a", "b"};
    out += body(scope, 2, 3) + "  return " + expr(scope, 2) + ", " + expr(scope, 2) + "\n";
    return out;
  }

 private:
  using Scope = std::vector<std::string>;

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string pick(const Scope& from) { return from[below(static_cast<unsigned>(from.size()))]; }
  std::string fresh_name() { return pick({"a", "b", "x", "y", "z", "i"}); }
  static void add(Scope& scope, const std::string& name) {
    if (std::find(scope.begin(), scope.end(), name) == scope.end()) scope.push_back(name);
  }
  std::string segment() { return pick({"s", "t", "u"}); }
  std::string path(const Scope& scope) {
    switch (below(4)) {
      case 0:
        return "@'" + segment() + ".{" + pick(scope) + "}'";
      case 1:
        return "@@" + segment();
      default:
        return "@" + segment();
    }
  }

  std::string expr(const Scope& scope, int depth) {
    if (depth == 0 || below(4) == 0) {
      if (below(4) == 0) return std::to_string(below(9));
      return below(5) == 0 ? "z" : pick(scope);
    }
    std::string a = expr(scope, depth - 1);
    switch (below(8)) {
      case 0:
        return "(_params_param " + path(scope) + ")";
      case 1:
        if (defs_ == 0) return "(" + a + " + 1)";
        return call(scope, depth);
      case 2: {
        std::string test = "(((" + a + ") % 2) == 0)";
        return "(" + test + " ? " + expr(scope, depth - 1) + " : " + expr(scope, depth - 1) + ")";
      }
      case 3: {
        std::string name = fresh_name();
        Scope inner = scope;
        add(inner, name);
        return "(" + a + " >>= \\" + name + " -> " + expr(inner, depth - 1) + ")";
      }
      case 4: {
        std::string first = fresh_name(), second = fresh_name();
        Scope inner = scope;
        add(inner, first);
        std::string b = expr(inner, depth - 1);
        add(inner, second);
        return "(do " + first + " <- " + a + "; " + second + " <- " + b + "; return " +
               expr(inner, depth - 1) + ")";
      }
      case 5:
        return "(" + a + " * " + expr(scope, depth - 1) + ")";
      default:
        return "(" + a + " - " + expr(scope, depth - 1) + ")";
    }
  }

  std::string call(const Scope& scope, int depth) {
    unsigned which = below(defs_);
    std::string out = "(d" + std::to_string(which);
    if (kinds_[which]) out += !paths_.empty() && below(3) == 0 ? "@p" : "@" + segment();
    out += " " + expr(scope, depth - 1) + " " + expr(scope, depth - 1) + ")";
    return out;
  }

  std::string body(Scope& scope, int indent, int depth) {
    std::string out;
    unsigned count = 1 + below(3);
    for (unsigned i = 0; i < count; ++i) out += statement(scope, indent, depth);
    return out;
  }

  std::string statement(Scope& scope, int indent, int depth) {
    std::string pad(static_cast<size_t>(indent), ' ');
    unsigned kind = depth == 0 ? 0 : below(7);
    switch (kind) {
      case 1:
        return loop(scope, indent, depth);
      case 2: {
        Scope inner = scope;
        std::string inside = body(inner, indent + 2, depth - 1);
        std::string target = fresh_name();
        std::string out = pad + target + " <- scope@" + segment() + " do\n" + inside + pad +
                          "  return " + expr(inner, 2) + "\n";
        add(scope, target);
        return out;
      }
      case 3: {
        std::string joined = fresh_name();
        std::string out = pad + "if ((" + expr(scope, 1) + ") % 2) == 0 then do\n";
        Scope then_scope = scope, else_scope = scope;
        out += body(then_scope, indent + 2, depth - 1);
        out += pad + "  " + joined + " <- " + expr(then_scope, 2) + "\n" + pad + "else do\n";
        out += body(else_scope, indent + 2, depth - 1);
        out += pad + "  " + joined + " <- " + expr(else_scope, 2) + "\n";
        add(scope, joined);
        return out;
      }
      case 4: {
        Scope inner = scope;
        std::string inside = body(inner, indent + 2, depth - 1);
        std::string target = fresh_name();
        std::string out =
            pad + target + " <- do\n" + inside + pad + "  return " + expr(inner, 2) + "\n";
        add(scope, target);
        return out;
      }
      default: {
        std::string value = expr(scope, 3);
        std::string target = fresh_name();
        add(scope, target);
        return pad + target + " <- " + value + "\n";
      }
    }
  }

  std::string loop(Scope& scope, int indent, int depth) {
    std::string pad(static_cast<size_t>(indent), ' ');
    std::string var = pick({"i", "j", "x"});
    Scope carry = {pick(scope)};
    std::string second = pick(scope);
    if (second != carry[0]) carry.push_back(second);
    Scope targets = {fresh_name()};
    while (targets.size() < carry.size()) add(targets, fresh_name());
    auto list = [](const Scope& names) {
      return names.size() == 1 ? names[0] : names[0] + ", " + names[1];
    };
    if (std::find(carry.begin(), carry.end(), var) != carry.end()) var = "k";
    std::string out = pad + list(targets) + " <- for" + (below(2) ? "@" + segment() : "") + " " +
                      var + " <- [0.." + std::to_string(below(3)) + ") carry (" + list(carry) +
                      ") do\n";
    Scope inner = scope;
    add(inner, var);
    out += body(inner, indent + 2, depth - 1);
    out += pad + "  yield " + expr(inner, 2);
    if (carry.size() == 2) out += ", " + expr(inner, 2);
    for (const std::string& target : targets) add(scope, target);
    return out + "\n";
  }

  std::mt19937 random_;
  std::vector<bool> kinds_;
  Scope paths_;
  unsigned defs_ = 0;
};

// The results, or nothing when the program runs too long for a test.
std::string replay(const Program& program, Session& session, std::vector<std::string>& reads) {
  Interpreter interpreter(program, session);
  Value value = interpreter.call(
      program.main, {{Value::Kind::Int, 5, {}, {}}, {Value::Kind::Int, 8, {}, {}}}, "");
  reads = interpreter.reads;
  return interpreter.exhausted() ? std::string() : show(value);
}

TEST(FlattenProperty, MeansTheSame) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::string source = Generator(seed).program();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + source);
    Session session;
    MemoryLibrary library;
    FileId root = session.files.add("main.axon", source);
    LoadedModules modules = load(root, library, {}, session);
    ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    ClosedProgram closed = resolve(modules, {}, session);
    ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    ElaboratedProgram elaborated = elaborate(normalize(closed, session), session);
    ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    FlatProgram flat = flatten(elaborated, session);
    ASSERT_FALSE(session.sink.has_errors()) << show_diagnostics(session);
    std::vector<std::string> expected_reads, reads;
    std::string expected = replay(elaborated.program, session, expected_reads);
    if (expected.empty()) continue;
    ++compared;
    std::string actual = replay(flat.program, session, reads);
    if (actual.empty()) continue;  // helpers are calls too
    std::string text = syntax::render(as_module(flat.program), session.ast, session.names);
    ASSERT_EQ(expected, actual) << text;
    ASSERT_EQ(expected_reads, reads) << text;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace axon::sema::testing
