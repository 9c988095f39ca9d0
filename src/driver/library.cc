// The built-in library and zoo as the compiler sees them.
#include "driver/library.h"

#include <algorithm>
#include <unordered_map>

#include "support/embedded.h"
#include "support/text.h"
#include "syntax/parse.h"

namespace axon::driver {
namespace {

class EmbeddedLibrary : public sema::LibrarySource {
 public:
  EmbeddedLibrary() {
    for (const embedded::File& file : embedded::library()) files_.emplace(file.path, file.text);
  }
  const std::string_view* find(std::string_view path) const override {
    auto found = files_.find(path);
    return found == files_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> paths() const override {
    std::vector<std::string> out;
    for (const embedded::File& file : embedded::library()) out.emplace_back(file.path);
    return out;
  }

 private:
  std::unordered_map<std::string_view, std::string_view> files_;
};

std::string string_of(const sema::Session& session, syntax::ExprId id) {
  const auto* text = session.ast[id].get<syntax::String>();
  return text ? std::string(session.names.text(text->value)) : std::string();
}

std::vector<syntax::ExprId> items_of(const sema::Session& session, syntax::ExprId id) {
  const syntax::Expr& expr = session.ast[id];
  if (const auto* list = expr.get<syntax::List>()) return list->items;
  if (const auto* tuple = expr.get<syntax::Tuple>()) return tuple->items;
  return {id};
}

void read_pragma(const sema::Session& session, const syntax::Pragma& pragma, ZooProgram& program) {
  std::string_view name = session.names.text(pragma.name);
  if (name == "architectures") {
    for (syntax::ExprId item : items_of(session, pragma.value)) {
      std::vector<syntax::ExprId> parts = items_of(session, item);
      ArchitectureEntry entry;
      entry.architecture = string_of(session, parts[0]);
      if (parts.size() > 1) entry.main = string_of(session, parts[1]);
      if (parts.size() > 2) entry.task = string_of(session, parts[2]);
      program.architectures.push_back(entry);
    }
  } else if (name == "task") {
    program.task = string_of(session, items_of(session, pragma.value)[0]);
  } else if (name == "checkpoints") {
    for (syntax::ExprId item : items_of(session, pragma.value)) {
      program.checkpoints.push_back(string_of(session, item));
    }
  }
}

ZooProgram read_program(const embedded::File& file) {
  ZooProgram program;
  program.name = std::string(file.path.substr(0, file.path.size() - 5));
  program.text = file.text;
  sema::Session session;
  FileId id = session.files.add(std::string(file.path), std::string(file.text));
  syntax::Module module =
      syntax::parse(id, session.files, session.names, session.ast, session.sink);
  for (const syntax::Pragma& pragma : module.pragmas) read_pragma(session, pragma, program);
  return program;
}

bool is_program(const embedded::File& file) {
  return ends_with(file.path, ".axon") && file.path.find('/') == file.path.npos;
}

}  // namespace

const sema::LibrarySource& builtin_library() {
  static const EmbeddedLibrary kLibrary;
  return kLibrary;
}

std::vector<std::string> library_overlays() {
  std::vector<std::string> out;
  for (const embedded::File& file : embedded::library()) {
    size_t slash = file.path.find('/');
    if (slash == file.path.npos) continue;
    std::string folder(file.path.substr(0, slash));
    if (std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(folder);
  }
  return out;
}

std::vector<ZooProgram> zoo_programs() {
  std::vector<ZooProgram> programs;
  for (const embedded::File& file : embedded::zoo()) {
    if (is_program(file)) programs.push_back(read_program(file));
  }
  return programs;
}

std::vector<std::string_view> zoo_texts() {
  std::vector<std::string_view> texts;
  for (const embedded::File& file : embedded::zoo()) {
    if (is_program(file)) texts.push_back(file.text);
  }
  return texts;
}

std::optional<Choice> choose_program(const std::vector<std::string>& architectures) {
  for (const std::string& wanted : architectures) {
    for (const embedded::File& file : embedded::zoo()) {
      // Parsing every file would cost as much as compiling one: look for the quoted name first.
      if (!is_program(file) || file.text.find('"' + wanted + '"') == file.text.npos) continue;
      ZooProgram program = read_program(file);
      for (const ArchitectureEntry& entry : program.architectures) {
        if (entry.architecture == wanted) return Choice{program, entry};
      }
    }
  }
  return {};
}

std::optional<ZooProgram> find_zoo_program(std::string_view name) {
  for (const embedded::File& file : embedded::zoo()) {
    if (is_program(file) && file.path.substr(0, file.path.size() - 5) == name) {
      return read_program(file);
    }
  }
  return {};
}

}  // namespace axon::driver
