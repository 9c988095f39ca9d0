// The file: header, imports, helpers, classes.
#include "emit/torch/emit.h"

#include <fmt/format.h>

#include "emit/outline/early.h"
#include "emit/py/print.h"
#include "emit/torch/classes.h"
#include "emit/torch/root.h"
#include "emit/write/labels.h"
#include "support/embedded.h"
#include "support/text.h"

namespace axon::emit {
namespace {

using namespace torch;

py::Prelude prelude_files() {
  std::vector<py::PreludeFile> files;
  for (const embedded::File& file : embedded::prelude()) {
    std::string_view path = file.path;
    files.push_back({path.substr(0, path.size() - 3), file.text});
  }
  return py::Prelude(std::move(files));
}

// Names that classes and locals must leave alone.
py::NamePlan file_names(const py::Prelude& prelude) {
  py::NamePlan names;
  for (const char* name : {"torch", "nn",  "F",     "Tensor", "Path", "Sequence", "NamedTuple",
                           "self",  "zip", "range", "len",    "list", "next",     "min",
                           "max",   "int", "float", "bool",   "str",  "super",    "isinstance"})
    names.reserve(name);
  for (const std::string& name : prelude.every_name()) names.reserve(name);
  return names;
}

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

// What the classes import beside what helpers do.
std::set<std::string> class_imports(const std::string& text) {
  struct Row {
    const char *name, *line;
  };
  constexpr Row kRows[] = {{"torch", "import torch"},
                           {"F", "import torch.nn.functional as F"},
                           {"nn", "from torch import nn"},
                           {"Tensor", "from torch import Tensor"},
                           {"Path", "from pathlib import Path"},
                           {"Sequence", "from collections.abc import Sequence"},
                           {"NamedTuple", "from typing import NamedTuple"}};
  std::set<std::string> out;
  for (const Row& row : kRows) {
    if (mentions(text, row.name)) out.insert(row.line);
  }
  return out;
}

}  // namespace

Result<std::string> emit_torch(const EmitRequest& request, TypeTable& types, DiagSink& sink) {
  opt::FusionSet fusions;
  fusions.linear = false;
  AXON_TRY(Calls calls, specialise_calls(*request.graph, types, request.answers, fusions, sink));
  AXON_TRY(Joined joined, join_calls(calls, *request.graph, types));
  AXON_TRY(Outline tree, outline(joined, types, *request.answers.params));
  split_early(tree, joined, calls, types);
  py::Prelude prelude = prelude_files();
  py::NamePlan names = file_names(prelude);
  Program program{request, calls, joined, tree, types, std::move(prelude), std::move(names)};
  program.names.reserve(root_name(program));
  program.names.reserve(output_name(program));
  program.names.reserve(encoded_name(program));
  find_needs(program);
  AXON_TRY(std::vector<py::Stmt> classes, write_classes(program));
  if (calls.cached) program.prelude.use("torch/cache");
  std::vector<py::Stmt> results = result_classes(program);
  classes.insert(classes.begin(), results.begin(), results.end());
  std::set<std::string> imports = class_imports(py::print(classes));
  imports.insert(program.prelude.imports().begin(), program.prelude.imports().end());
  std::vector<py::Stmt> file;
  file.push_back(py::docstring(fmt::format(
      "{} as a PyTorch module, written by axon {}.\n\nMade again by: {}\nHash of the program and "
      "its configuration: {:016x}",
      request.program, request.version, request.command, request.hash)));
  std::vector<py::Stmt> lines = py::import_statements(imports);
  file.insert(file.end(), lines.begin(), lines.end());
  const std::vector<py::Stmt>& helpers = program.prelude.definitions();
  file.insert(file.end(), helpers.begin(), helpers.end());
  file.insert(file.end(), classes.begin(), classes.end());
  return py::print(file);
}

}  // namespace axon::emit
