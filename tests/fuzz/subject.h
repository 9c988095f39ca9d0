// A text to compile: a program, with the library files and options that its comment lines name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/frontend.h"

namespace axon::fuzz {

struct MemoryLibrary : sema::LibrarySource {
  std::map<std::string, std::string, std::less<>> files;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  const std::string_view* find(std::string_view path) const override;
};

// Library files stand behind `-- file: PATH` lines; `-- overlay: NAME` and `-- main: NAME` are
// options. Without files the library is the built-in one.
struct Subject {
  std::string name;
  driver::FrontendOptions options;
  std::shared_ptr<MemoryLibrary> library;
  void (*begin_run)() = [] {};  // before each run through the front end, which has its own clock
};
Subject read_subject(const std::string& name, std::string_view text);

// Errors of a compilation, one line each.
std::string errors(const driver::Frontend& f);
// What the compiler blames itself for, or nothing.
std::string bug(const driver::Frontend& f);

// The stages whose texts the compiler goes on from, all but `final`.
const std::vector<driver::Stage>& stages();
// Dumps each stage of a compilation that came to its Graph and goes on from there: what differs
// from the text and the Graph, or nothing.
std::string unstable(const Subject& subject, const driver::Frontend& whole, bool with_final);

}  // namespace axon::fuzz
