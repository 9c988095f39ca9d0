// The file: helpers, functions.
#include "emit/jax/emit.h"

#include "emit/jax/functions.h"
#include "emit/jax/recompiles.h"
#include "emit/jax/root.h"
#include "emit/outline/early.h"
#include "emit/write/file.h"
#include "emit/write/labels.h"

namespace axon::emit {
namespace {

using namespace jax;

// Names that functions and locals must leave alone.
py::NamePlan file_names(const py::Prelude& prelude) {
  py::NamePlan names;
  for (const char* name : {"jax",         "jnp",        "lax",
                           "Array",       "DTypeLike",  "Path",
                           "Sequence",    "NamedTuple", "Any",
                           "zip",         "range",      "enumerate",
                           "len",         "self",       "list",
                           "tuple",       "min",        "max",
                           "int",         "float",      "bool",
                           "str",         "isinstance", "shapes",
                           "forward",     "load",       "stack_layers",
                           "compiled",    "init_cache", "generate",
                           "next_logits", "encode",     "compiled_encode"})
    names.reserve(name);
  for (const std::string& name : prelude.every_name()) names.reserve(name);
  return names;
}

// What the functions import beside what helpers do.
const std::vector<ImportRow> kImports = {{"math", "import math"},
                                         {"jax", "import jax"},
                                         {"jnp", "import jax.numpy as jnp"},
                                         {"lax", "from jax import lax"},
                                         {"Array", "from jax import Array"},
                                         {"DTypeLike", "from jax.typing import DTypeLike"},
                                         {"Path", "from pathlib import Path"},
                                         {"Sequence", "from collections.abc import Sequence"},
                                         {"Any", "from typing import Any"},
                                         {"NamedTuple", "from typing import NamedTuple"}};

bool names_type(const graph::Node& node) {
  return node.inputs.back().kind() == graph::OperandKind::String;
}

// Arrays are made from nothing: what only said where is not needed.
void forget_references(Joined& joined) {
  for (graph::NodeId id : joined.order) {
    graph::Node& node = joined.steps[id].node;
    bool filled = node.op == Op::Full || node.op == Op::Zeros;
    if (node.op == Op::Arange || (filled && names_type(node))) node.inputs[0] = graph::Operand{};
  }
  drop_unused(joined);
}

}  // namespace

Result<std::string> emit_jax(const EmitRequest& request, TypeTable& types, DiagSink& sink) {
  AXON_TRY(Calls calls,
           specialise_calls(*request.graph, types, request.answers, request.fusions, sink));
  AXON_TRY(Joined joined, join_calls(calls, *request.graph, types));
  forget_references(joined);
  warn_recompiles(joined, types, sink);
  AXON_TRY(Outline tree, outline(joined, types, *request.answers.params));
  split_early(tree, joined, calls, types);
  py::Prelude prelude = prelude_of("jax");
  py::NamePlan names = file_names(prelude);
  Program program{request, calls, joined, tree, types, std::move(prelude), std::move(names)};
  program.names.reserve(output_name(program));
  program.names.reserve(encoded_name(program));
  find_needs(program);
  AXON_TRY(Weights weights, find_weights(program));
  AXON_TRY(std::vector<py::Stmt> body, write_functions(program, weights));
  std::vector<py::Stmt> more = root_functions(program, weights);
  body.insert(body.end(), more.begin(), more.end());
  std::vector<py::Stmt> results = result_classes(program);
  body.insert(body.begin(), results.begin(), results.end());
  return file_text(request, "JAX functions", program.prelude, kImports, body);
}

}  // namespace axon::emit
