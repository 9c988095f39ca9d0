// Puts the parts of an emitted file together.
#include "emit/write/file.h"

#include <fmt/format.h>

#include <cctype>

#include "emit/py/print.h"
#include "support/embedded.h"
#include "support/text.h"

namespace axon::emit {
namespace {

bool mentions(const std::string& text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    auto is_word = [&](size_t i) {
      return i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + name.size())) return true;
  }
  return false;
}

}  // namespace

py::Prelude prelude_of(std::string_view target) {
  std::vector<py::PreludeFile> files;
  std::string folder = std::string(target) + "/";
  for (const embedded::File& file : embedded::prelude()) {
    std::string_view path = file.path;
    if (starts_with(path, folder)) files.push_back({path.substr(0, path.size() - 3), file.text});
  }
  return py::Prelude(std::move(files));
}

std::string file_text(const EmitRequest& request, std::string_view what, const py::Prelude& prelude,
                      const std::vector<ImportRow>& rows, const std::vector<py::Stmt>& body) {
  std::string text = py::print(body);
  std::set<std::string> imports = prelude.imports();
  for (const ImportRow& row : rows) {
    if (mentions(text, row.name)) imports.insert(row.line);
  }
  std::vector<py::Stmt> file = {py::docstring(
      fmt::format("{} as {}, written by axon {}.\n\nMade again by: {}\nHash of the program and "
                  "its configuration: {:016x}",
                  request.program, what, request.version, request.command, request.hash))};
  std::vector<py::Stmt> lines = py::import_statements(imports);
  file.insert(file.end(), lines.begin(), lines.end());
  const std::vector<py::Stmt>& helpers = prelude.definitions();
  file.insert(file.end(), helpers.begin(), helpers.end());
  file.insert(file.end(), body.begin(), body.end());
  return py::print(file);
}

}  // namespace axon::emit
