// The front end over the library's files, from source or from the text of a stage.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graph/graph.h"
#include "sema/stages.h"

namespace axon::fuzz {

struct Compiled {
  std::unique_ptr<sema::Session> session;
  std::optional<graph::Graph> graph;  // nothing after errors
  // What the compiler blames itself for, or nothing.
  std::string bug() const;
};

Compiled compile(const std::string& text);

}  // namespace axon::fuzz
