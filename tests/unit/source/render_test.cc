// Diagnostics as terminal text and as JSON.
#include "source/render.h"

#include <gtest/gtest.h>

namespace axon {
namespace {

struct Reported {
  FileTable files;
  DiagSink sink;
  FileId file = files.add("dir/m.axon", "f x = do\n  y\t<- g (\xC3\xA9, \"a\")\n");
  Span span(int begin, int end) const { return {file, begin, end}; }
};

TEST(Render, TerminalMarksTheRange) {
  Reported r;
  Diagnostic& d = r.sink.report(Diag::ParTupleArg, r.span(18, 27), {"x"});
  d.note(Note::NoteOpenedHere, r.span(0, 1)).fix(r.span(18, 18), "(").fix(r.span(27, 27), ")");
  EXPECT_EQ(render_terminal(d, r.files, Severity::Error, false),
            "dir/m.axon:2:10: error PAR-TUPLE-ARG: a tuple as an argument needs double "
            "parentheses: `(x)`\n"
            "  2 |   y    <- g (\xC3\xA9, \"a\")\n"
            "    |             ^~~~~~~~\n"
            "  note: opened here (dir/m.axon:1:1)\n"
            "  1 | f x = do\n"
            "    | ^\n"
            "  fix: insert `(` at dir/m.axon:2:10, then insert `)` at dir/m.axon:2:19\n");
}

TEST(Render, TerminalColoursAndPlaceless) {
  Reported r;
  Diagnostic& d = r.sink.report(Diag::WTabs, {}, {});
  EXPECT_EQ(render_terminal(d, r.files, Severity::Warning, false),
            "warning W-TABS: indentation mixes tabs and blanks\n");
  EXPECT_NE(render_terminal(d, r.files, Severity::Warning, true).find("\033[1;35mwarning"),
            std::string::npos);
}

TEST(Render, LongLinesAreCut) {
  Reported r;
  FileId file = r.files.add("long.axon", std::string(5000, 'a') + "!" + std::string(5000, 'b'));
  Diagnostic& d = r.sink.report(Diag::LexChar, {file, 5000, 5001}, {"!"});
  std::string text = render_terminal(d, r.files, Severity::Error, false);
  EXPECT_LT(text.size(), 600u);
  EXPECT_NE(text.find("...aaa"), std::string::npos);
  EXPECT_NE(text.find("!bbb"), std::string::npos);
}

TEST(Render, BytesThatAreNoTextAreCut) {
  Reported r;
  FileId file = r.files.add("bytes.axon", std::string(500, '\xBF'));
  for (int32_t begin : {0, 10, 200, 499}) {
    Diagnostic& d = r.sink.report(Diag::LexChar, {file, begin, begin + 1}, {"?"});
    EXPECT_LT(render_terminal(d, r.files, Severity::Error, false).size(), 1200u);
  }
}

TEST(Render, Json) {
  Reported r;
  Diagnostic& d = r.sink.report(Diag::LexChar, r.span(11, 19), {"\"\\\x01"});
  d.note(Note::NoteHere, {}, {"n"}).fix(r.span(0, 1), "h");
  EXPECT_EQ(
      render_json(d, r.files, Severity::Error),
      "{\"code\":\"LEX-CHAR\",\"severity\":\"error\",\"message\":\"`\\\"\\\\\\u0001` does not "
      "start anything here\","
      "\"file\":\"dir/m.axon\",\"line\":2,\"column\":3,\"end_line\":2,\"end_column\":11,"
      "\"notes\":[{\"message\":\"n\",\"file\":null,\"line\":null,\"column\":null,\"end_line\":null,"
      "\"end_column\":null}],\"fix\":[{\"text\":\"h\",\"file\":\"dir/"
      "m.axon\",\"line\":1,\"column\":1,"
      "\"end_line\":1,\"end_column\":2}]}");
}

}  // namespace
}  // namespace axon
