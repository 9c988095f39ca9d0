// The file: header, imports, helpers, classes.
#include "emit/torch/emit.h"

#include "emit/outline/early.h"
#include "emit/torch/classes.h"
#include "emit/torch/joints.h"
#include "emit/torch/root.h"
#include "emit/write/file.h"
#include "emit/write/labels.h"

namespace axon::emit {
namespace {

using namespace torch;

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

// What the classes import beside what helpers do.
const std::vector<ImportRow> kImports = {{"math", "import math"},
                                         {"torch", "import torch"},
                                         {"F", "import torch.nn.functional as F"},
                                         {"nn", "from torch import nn"},
                                         {"Tensor", "from torch import Tensor"},
                                         {"Path", "from pathlib import Path"},
                                         {"Sequence", "from collections.abc import Sequence"},
                                         {"NamedTuple", "from typing import NamedTuple"}};

}  // namespace

Result<std::string> emit_torch(const EmitRequest& request, TypeTable& types, DiagSink& sink) {
  AXON_TRY(Calls calls,
           specialise_calls(*request.graph, types, request.answers, request.fusions, sink));
  AXON_TRY(Joined joined, join_calls(calls, *request.graph, types));
  AXON_TRY(Outline tree, outline(joined, types, *request.answers.params));
  split_early(tree, joined, calls, types);
  py::Prelude prelude = prelude_of("torch");
  py::NamePlan names = file_names(prelude);
  Program program{request, calls, joined, tree, types, std::move(prelude), std::move(names)};
  program.names.reserve(root_name(program));
  program.names.reserve(output_name(program));
  program.names.reserve(encoded_name(program));
  find_needs(program);
  find_joints(program, joined);
  AXON_TRY(std::vector<py::Stmt> classes, write_classes(program));
  if (calls.cached) program.prelude.use("torch/cache");
  std::vector<py::Stmt> results = result_classes(program);
  classes.insert(classes.begin(), results.begin(), results.end());
  return file_text(request, "a PyTorch module", program.prelude, kImports, classes);
}

}  // namespace axon::emit
