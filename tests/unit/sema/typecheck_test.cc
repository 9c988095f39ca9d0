// Type checking of flat programs given as text.
#include <gtest/gtest.h>

#include "sema/stages.h"
#include "syntax/parse.h"

namespace axon::sema {
namespace {

struct Checked {
  Session session;
  TypedProgram typed;
  bool parsed = false;

  explicit Checked(const std::string& text) {
    FileId file = session.files.add("test.axon", text);
    syntax::Module module = syntax::parse(file, session.files, session.names, session.ast, session.sink);
    if (session.sink.has_errors()) return;
    parsed = true;
    FlatProgram flat;
    for (const auto& def : module.definitions) {
      flat.program.by_name[def.name] = flat.program.definitions.size();
      flat.program.definitions.push_back(def);
      flat.program.main = def.name;
    }
    typed = typecheck(flat, {}, session);
  }
  std::string diags() {
    std::string out;
    for (const Diagnostic& d : session.sink.all()) {
      out += std::string(diag_info(d.id).code) + ": " + message_of(d) + "\n";
    }
    return out;
  }
  // The result type of a definition.
  std::string result(std::string_view name) {
    auto found = typed.flat.program.by_name.find(session.names.find(name));
    if (found == typed.flat.program.by_name.end()) return "no definition";
    return session.types.show(typed.definitions[found->second].return_type);
  }
};

TEST(Typecheck, C31Existential) {
  const char* split =
      "split :: Tensor[B,S,D] -> Dim -> Tensor[B,S,H,E]\n"
      "split x heads = do\n"
      "  e <- D / heads\n"
      "  return _reshape x [B, S, heads, e]\n\n";
  Checked good(std::string(split) + "use :: Tensor[B,S,12] -> Tensor[B,S,4,3]\nuse x = split x 4\n");
  EXPECT_EQ(good.diags(), "");
  EXPECT_EQ(good.result("split"), "Tensor[B,S,heads,D/heads]");
  EXPECT_EQ(good.result("use"), "Tensor[B,S,4,3]");
  Checked bad(std::string(split) + "use :: Tensor[B,S,12] -> Tensor[B,S,4,4]\nuse x = split x 4\n");
  EXPECT_EQ(bad.diags(), "TYPE-DIM: the result of `use` got dimension 3, needs 4\n");
}

TEST(Typecheck, C32Dependent) {
  Checked c(
      "K <- 9\n"
      "fit :: Tensor[B] -> Dim -> Tensor[B,n]\n"
      "fit x n = _expand (_unsqueeze x 1) [B, n]\n"
      "seven :: Tensor[B] -> Tensor[B,m]\n"
      "seven a = fit a 7\n"
      "const :: Tensor[B] -> Tensor[B,m]\n"
      "const a = fit a K\n");
  EXPECT_EQ(c.diags(), "");
  EXPECT_EQ(c.result("seven"), "Tensor[B,7]");
  EXPECT_EQ(c.result("const"), "Tensor[B,K]");
}

}  // namespace
}  // namespace axon::sema
