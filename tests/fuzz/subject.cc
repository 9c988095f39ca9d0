// Reading of subjects; stages read again.
#include "fuzz/subject.h"

#include "graph/text.h"
#include "support/text.h"

namespace axon::fuzz {
namespace {

using driver::Frontend, driver::FrontendOptions, driver::Stage;

std::string graph_text(const Frontend& f) { return graph::write_graph(*f.graph, f.session->types); }

// The first line in which two texts differ.
std::string first_difference(std::string_view a, std::string_view b) {
  std::vector<std::string_view> left = split(a, '\n'), right = split(b, '\n');
  for (size_t i = 0;; ++i) {
    std::string_view x = i < left.size() ? left[i] : "(end)";
    std::string_view y = i < right.size() ? right[i] : "(end)";
    if (x != y)
      return "line " + std::to_string(i + 1) + " is\n" + std::string(x) + "\nagainst\n" +
             std::string(y);
    if (i >= left.size() || i >= right.size()) return "nothing";
  }
}

}  // namespace

const std::string_view* MemoryLibrary::find(std::string_view path) const {
  auto file = files.find(path);
  if (file == files.end()) return nullptr;
  return &(views[file->first] = file->second);
}

Subject read_subject(const std::string& name, std::string_view text) {
  Subject out;
  out.name = name;
  out.library = std::make_shared<MemoryLibrary>();
  out.options.path = "main.axon";
  std::string* target = &out.options.text;
  bool ended = text.empty() || text.back() == '\n';
  if (ended && !text.empty()) text.remove_suffix(1);
  for (std::string_view line : split(text, '\n')) {
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
    *target += line;
    *target += '\n';
  }
  if (!ended && !target->empty()) target->pop_back();
  if (!out.library->files.empty()) out.options.library = out.library.get();
  return out;
}

std::string errors(const Frontend& f) {
  std::string out;
  for (const Diagnostic& d : f.session->sink.all()) {
    if (f.session->sink.severity(d) == Severity::Error)
      out += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
  }
  return out;
}

std::string bug(const Frontend& f) {
  for (const Diagnostic& d : f.session->sink.all()) {
    if (diag_info(d.id).exit_status == 70) return message_of(d);
  }
  return "";
}

const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = {Stage::Resolve,   Stage::Materialize, Stage::Normalize,
                                         Stage::Elaborate, Stage::Flatten,     Stage::Typecheck,
                                         Stage::GraphIr,   Stage::GraphIrAxon};
  return all;
}

std::string unstable(const Subject& subject, const Frontend& whole, bool with_final) {
  std::string wanted = graph_text(whole);
  auto again_from = [&](Stage stage) {
    FrontendOptions options = subject.options;
    options.text = dump_stage(whole, stage);
    options.auto_overlay = false;
    options.overlays.clear();
    return options;
  };
  for (Stage stage : stages()) {
    if (!has_stage(whole, stage)) continue;  // the subject is of a later one
    std::string where = subject.name + " from " + std::string(spelling(stage)) + ": ";
    FrontendOptions options = again_from(stage);
    subject.begin_run();
    Frontend again = run_frontend(options);
    if (!again.ok()) return where + errors(again) + options.text;
    if (has_stage(again, stage)) {
      std::string text = dump_stage(again, stage);
      if (text != options.text) return where + "text: " + first_difference(text, options.text);
    }
    if (!again.graph) continue;
    std::string graph = graph_text(again);
    if (graph != wanted) return where + "Graph: " + first_difference(graph, wanted);
  }
  if (!with_final) return "";
  // The form for readers computes sizes by statements: its text is only asked to be stable.
  FrontendOptions options = again_from(Stage::Final);
  subject.begin_run();
  Frontend again = run_frontend(options);
  std::string where = subject.name + " from final: ";
  if (!again.ok()) return where + errors(again) + options.text;
  std::string text = dump_stage(again, Stage::Final);
  return text == options.text ? "" : where + "text: " + first_difference(text, options.text);
}

}  // namespace axon::fuzz
