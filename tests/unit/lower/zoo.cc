// Programs of the zoo through the front end.
#include "zoo.h"

#include <map>

#include "graph/verify.h"
#include "support/file.h"

namespace axon::lower {
namespace {

// Library files from the source tree.
struct TreeLibrary : sema::LibrarySource {
  mutable std::map<std::string, std::string, std::less<>> texts;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  const std::string_view* find(std::string_view path) const override {
    auto found = views.find(path);
    if (found != views.end()) return &found->second;
    auto text = read_file(std::string(AXON_SOURCE_DIR "/stdlib/") + std::string(path));
    if (!text) return nullptr;
    std::string& kept = texts[std::string(path)] = *text;
    return &(views[std::string(path)] = kept);
  }
};

graph::Graph front_end(FileId file, const sema::LibrarySource& library,
                       const sema::LoadOptions& options, std::string_view main,
                       sema::Session& session) {
  auto failed = [&] { return session.sink.has_errors(); };
  auto modules = sema::load(file, library, options, session);
  if (failed()) return {};
  auto closed = sema::resolve(modules, {std::string(main)}, session);
  if (failed()) return {};
  auto normalized = sema::normalize(closed, session);
  if (failed()) return {};
  auto elaborated = sema::elaborate(normalized, session);
  if (failed()) return {};
  auto flat = sema::flatten(elaborated, session);
  if (failed()) return {};
  auto typed = sema::typecheck(flat, {}, session);
  if (failed()) return {};
  graph::Graph out = lower(typed, session);
  graph::verify(out, session.types, "lower", session.sink);
  return out;
}

}  // namespace

std::string errors_of(const sema::Session& session) {
  std::string out;
  for (const Diagnostic& d : session.sink.all()) {
    if (session.sink.severity(d) != Severity::Error) continue;
    out += std::string(diag_info(d.id).code) + " " + message_of(d) + "\n";
  }
  return out;
}

graph::Graph lower_zoo(std::string_view name, std::string_view overlay, std::string_view main,
                       sema::Session& session) {
  std::string path = std::string(AXON_SOURCE_DIR "/zoo/") + std::string(name) + ".axon";
  auto text = read_file(path);
  AXON_CHECK(text.ok(), "program of the zoo is not there");
  sema::LoadOptions options;
  if (!overlay.empty()) options.overlays.emplace_back(overlay);
  return front_end(session.files.add(path, *text), TreeLibrary(), options, main, session);
}

graph::Graph lower_text(std::string_view text, sema::Session& session) {
  return front_end(session.files.add("program.axon", std::string(text)), TreeLibrary(), {}, "",
                   session);
}

}  // namespace axon::lower
