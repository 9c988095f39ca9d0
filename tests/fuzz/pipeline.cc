// Stages in order, each only after the one before succeeded.
#include "fuzz/pipeline.h"

#include <map>

#include "graph/verify.h"
#include "lower/lower.h"
#include "sema/stage_text.h"
#include "support/file.h"

namespace axon::fuzz {
namespace {

struct TreeLibrary : sema::LibrarySource {
  mutable std::map<std::string, std::string, std::less<>> texts;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  const std::string_view* find(std::string_view path) const override {
    auto found = views.find(path);
    if (found != views.end()) return found->second.data() ? &found->second : nullptr;
    auto text = read_file("stdlib/" + std::string(path));
    std::string_view& view = views[std::string(path)];
    if (!text) return nullptr;
    view = texts[std::string(path)] = *text;
    return &view;
  }
};

std::optional<sema::TypedProgram> typed(FileId file, const std::string& text, sema::Session& s) {
  auto failed = [&] { return s.sink.has_errors(); };
  auto check = [&](const sema::FlatProgram& flat) -> std::optional<sema::TypedProgram> {
    if (failed()) return {};
    auto out = sema::typecheck(flat, {}, s);
    if (failed()) return {};
    return out;
  };
  auto stage = sema::stage_of(text);
  if (stage == "typecheck") {
    auto out = sema::read_typed(file, *stage, s);
    if (failed()) return {};
    return out;
  }
  if (stage == "flatten") {
    auto read = sema::read_program(file, sema::Level::Flat, *stage, s);
    return check({std::move(read.program), std::move(read.main_defaults)});
  }
  static const TreeLibrary library;
  auto modules = sema::load(file, library, {}, s);
  if (failed()) return {};
  auto closed = sema::resolve(modules, {}, s);
  if (failed()) return {};
  auto materialized = sema::materialize(closed, {}, s);
  if (failed()) return {};
  auto normalized = sema::normalize(materialized.closed, s);
  if (failed()) return {};
  auto elaborated = sema::elaborate(normalized, s);
  if (failed()) return {};
  return check(sema::flatten(elaborated, s));
}

}  // namespace

std::string Compiled::bug() const {
  for (const Diagnostic& d : session->sink.all()) {
    if (diag_info(d.id).exit_status == 70) return message_of(d);
  }
  return "";
}

Compiled compile(const std::string& text) {
  Compiled out;
  out.session = std::make_unique<sema::Session>();
  sema::Session& s = *out.session;
  auto program = typed(s.files.add("fuzz.axon", text), text, s);
  if (!program) return out;
  out.graph = lower::lower(*program, s);
  if (!s.sink.has_errors()) graph::verify(*out.graph, s.types, "lower", s.sink);
  if (s.sink.has_errors()) out.graph.reset();
  return out;
}

}  // namespace axon::fuzz
