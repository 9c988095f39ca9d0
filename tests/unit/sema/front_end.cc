// The test front end.
#include "front_end.h"

#include "sema/program_text.h"
#include "support/text.h"
#include "syntax/render.h"

namespace axon::sema::testing {

const std::string_view* MemoryLibrary::find(std::string_view path) const {
  auto file = files.find(path);
  if (file == files.end()) return nullptr;
  std::string_view& view = views[file->first];
  view = file->second;
  return &view;
}

Case read_case(std::string_view text) {
  Case out;
  std::string* target = &out.root;
  auto option = [&](std::string_view line, std::string_view name) -> std::string_view {
    std::string head = "-- " + std::string(name) + ": ";
    return starts_with(line, head) ? trim(line.substr(head.size())) : std::string_view();
  };
  for (std::string_view line : split(text, '\n')) {
    if (auto file = option(line, "file"); !file.empty()) {
      target = &out.library.files[std::string(file)];
      continue;
    }
    if (auto overlay = option(line, "overlay"); !overlay.empty()) {
      out.load.overlays.emplace_back(overlay);
    }
    if (auto main = option(line, "main"); !main.empty()) out.resolve.main = std::string(main);
    if (auto expect = option(line, "expect"); !expect.empty()) {
      for (std::string_view stage : split(expect, ',')) out.expect.emplace_back(trim(stage));
    }
    *target += std::string(line) + "\n";
  }
  return out;
}

std::string run_stage(const Case& input, std::string_view stage, Session& session) {
  FileId root = session.files.add("main.axon", input.root);
  auto text = [&](const Program& program) {
    return syntax::render(as_module(program), session.ast, session.names);
  };
  LoadedModules modules = load(root, input.library, input.load, session);
  if (session.sink.has_errors()) return {};
  ClosedProgram closed = resolve(modules, input.resolve, session);
  if (session.sink.has_errors()) return {};
  if (stage == "resolve") return text(closed.program);
  NormalizedProgram normalized = normalize(closed, session);
  if (session.sink.has_errors()) return {};
  if (stage == "normalize") return text(normalized.program);
  ElaboratedProgram elaborated = elaborate(normalized, session);
  if (session.sink.has_errors()) return {};
  if (stage == "elaborate") return text(elaborated.program);
  FlatProgram flat = flatten(elaborated, session);
  if (session.sink.has_errors()) return {};
  return text(flat.program);
}

std::string show_diagnostics(const Session& session) {
  std::string out;
  auto where = [&](Span span) {
    if (!span.valid()) return std::string("-");
    LineColumn at = session.files.line_column(span.file, span.begin);
    return session.files.path(span.file) + ":" + std::to_string(at.line) + ":" +
           std::to_string(at.column);
  };
  for (const Diagnostic& diagnostic : session.sink.all()) {
    std::string_view code = diag_info(diagnostic.id).code;
    if (code == "W-PRIM" || code == "W-NO-SIGNATURE") continue;
    out += std::string(code) + " " + where(diagnostic.span) + " " + message_of(diagnostic) + "\n";
    for (const DiagNote& note : diagnostic.notes) {
      out += "  " + where(note.span) + " " + message_of(note) + "\n";
    }
  }
  return out;
}

std::string run_diagnostics(const Case& input, Session& session) {
  run_stage(input, "flatten", session);
  session.sink.sort();
  return show_diagnostics(session);
}

}  // namespace axon::sema::testing
