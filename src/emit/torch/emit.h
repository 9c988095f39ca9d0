// `--target torch`: a standalone PyTorch module from a structured Graph (design.md 5).
//
// rows.h has one expression for each operation, scope.h names and inlines values within one
// function, forward.h writes the function of a block, classes.h the classes of the tree, emit.cc
// the file. What runs beside the classes are helpers under prelude/torch/.
#pragma once

#include <string>

#include "emit/outline/outline.h"
#include "source/file_table.h"

namespace axon::emit {

struct TorchRequest {
  const graph::Graph* graph = nullptr;  // structured
  opt::Answers answers;                 // of the checkpoint
  std::string program;                  // `llama`: names the class and stands in the header
  std::string command;                  // that makes the file again
  std::string version;                  // of the compiler
  std::string task;                     // `causal_lm`
  uint64_t hash = 0;                    // of the program and what it was compiled for
  const FileTable* files = nullptr;
};

// The source of the module. Errors: BACK-UNSUPPORTED; what the program itself does wrong is in
// `sink`.
Result<std::string> emit_torch(const TorchRequest& request, TypeTable& types, DiagSink& sink);

}  // namespace axon::emit
