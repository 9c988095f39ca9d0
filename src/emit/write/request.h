// What a target is asked to write.
#pragma once

#include <string>

#include "emit/outline/outline.h"
#include "opt/fuse.h"
#include "source/file_table.h"

namespace axon::emit {

struct EmitRequest {
  const graph::Graph* graph = nullptr;  // structured
  opt::Answers answers;                 // of the checkpoint
  std::string program;                  // `llama`: names the class and stands in the header
  std::string command;                  // that makes the file again
  std::string version;                  // of the compiler
  std::string task;                     // `causal_lm`
  uint64_t hash = 0;                    // of the program and what it was compiled for
  opt::FusionSet fusions;               // that the target has, and is to take
  bool scan_layers = false;             // loops over layers stay loops of the compiled program
  const FileTable* files = nullptr;
  DiagSink* sink = nullptr;  // gets operations that the target lacks, where they are used
};

}  // namespace axon::emit
