// Texts through the front end.
#include "fuzz/front.h"

#include "driver/optimise.h"
#include "fuzz/subject.h"
#include "fuzz/texts.h"
#include "plan/plan.h"
#include "source/render.h"
#include "support/text.h"
#include "syntax/format.h"
#include "syntax/parse.h"
#include "syntax/render.h"

namespace axon::fuzz {
namespace {

using driver::Frontend;

// One parse after another in one set of tables.
struct Syntax {
  FileTable files;
  Interner names;
  syntax::Ast ast;
  DiagSink sink;
  syntax::Module parse(const std::string& text) {
    return syntax::parse(files.add("main.axon", text), files, names, ast, sink);
  }
};

// A text without errors is, rendered and laid out, the same tree.
std::string try_syntax(const std::string& text, FrontCounts& counts) {
  Syntax s;
  syntax::Module module = s.parse(text);
  if (s.sink.has_errors()) return "";
  ++counts.parsed;
  std::string rendered = syntax::render(module, s.ast, s.names);
  syntax::Module again = s.parse(rendered);
  if (s.sink.has_errors()) return "the rendered text does not parse:\n" + rendered;
  if (!syntax::equal(module, again, s.ast))
    return "the rendered text is another tree:\n" + rendered;
  if (syntax::render(again, s.ast, s.names) != rendered) return "rendered again it is another text";
  std::string laid_out = syntax::format(module, s.files, s.ast, s.names);
  again = s.parse(laid_out);
  if (s.sink.has_errors()) return "the layout does not parse:\n" + laid_out;
  if (!syntax::equal(module, again, s.ast)) return "the layout is another tree:\n" + laid_out;
  if (!syntax::same_comments(s.files.text(module.file), module, laid_out, again))
    return "the layout has other comments:\n" + laid_out;
  if (syntax::format(again, s.files, s.ast, s.names) != laid_out)
    return "laid out again it is another text:\n" + laid_out;
  return "";
}

// What people and programs are shown.
std::string try_reports(const Frontend& f) {
  for (const Diagnostic& d : f.session->sink.all()) {
    Severity severity = f.session->sink.severity(d);
    std::string json = render_json(d, f.session->files, severity);
    std::string shown = render_terminal(d, f.session->files, severity, false);
    if (find_invalid_utf8(json) != json.npos) return "a report is no UTF-8: " + json;
    if (shown.empty() || json.find('\n') != json.npos) return "a report without form: " + json;
  }
  return "";
}

std::string try_rest(const Subject& subject, Frontend& f) {
  if (std::string wrong = unstable(subject, f, true); !wrong.empty()) return wrong;
  for (bool optimised : {false, true}) {
    subject.begin_run();
    if (optimised) {
      driver::PassRequest request;
      request.options.verify = true;
      driver::PassReport report;
      if (!run_structured_passes(f, {}, request, report)) return "passes: " + errors(f);
    }
    for (auto general : {plan::PlanOptions::General::Always, plan::PlanOptions::General::Never}) {
      DiagSink sink;
      plan::PlanOptions options;
      options.general = general;
      options.files = &f.session->files;
      auto program = plan::plan(*f.graph, f.session->types, {}, options, sink);
      for (const Diagnostic& d : sink.all()) {
        if (diag_info(d.id).exit_status == 70) return "planning: " + message_of(d);
      }
      if (!program && !sink.has_errors()) return "neither a plan nor a report";
    }
  }
  return bug(f);
}

}  // namespace

std::string try_front(const std::string& text, size_t every, FrontCounts& counts) {
  ++counts.inputs;
  Subject subject = read_subject("text", text);
  subject.begin_run = counts.begin_run;
  if (!starts_with(subject.options.text, "graph-ir ")) {
    std::string wrong = try_syntax(subject.options.text, counts);
    if (!wrong.empty()) return wrong;
  }
  subject.options.later_errors = hash_of(text) % 4 == 0;  // most texts fail, and few need that
  Frontend f = run_frontend(subject.options);
  if (std::string wrong = bug(f); !wrong.empty()) return wrong;
  if (std::string wrong = try_reports(f); !wrong.empty()) return wrong;
  if (!f.ok() || !f.graph) return f.ok() ? "neither a Graph nor a report" : "";
  ++counts.checked;
  if (hash_of(text) % every != 0) return "";
  ++counts.staged;
  return try_rest(subject, f);
}

}  // namespace axon::fuzz
