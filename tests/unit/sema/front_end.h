// Runs the front end on text with a library held in memory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sema/stages.h"

namespace axon::sema::testing {

struct MemoryLibrary : LibrarySource {
  std::map<std::string, std::string, std::less<>> files;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  const std::string_view* find(std::string_view path) const override;
};

// A root text with library files behind `-- file: PATH` lines and options in comment lines
// `-- overlay: NAME`, `-- main: NAME`, `-- expect: STAGE, …`.
struct Case {
  std::string root;
  MemoryLibrary library;
  LoadOptions load;
  ResolveOptions resolve;
  std::vector<std::string> expect;
};
Case read_case(std::string_view text);

// The rendered output of a stage, or the empty text when an earlier stage reported an error.
std::string run_stage(const Case& input, std::string_view stage, Session& session);
// Runs through flatten and lists what was reported, one line each.
std::string run_diagnostics(const Case& input, Session& session);
std::string show_diagnostics(const Session& session);

}  // namespace axon::sema::testing
