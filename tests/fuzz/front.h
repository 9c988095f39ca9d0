// Any text at all through the front end: it may be wrong, but it must be told so.
#pragma once

#include <cstddef>
#include <string>

namespace axon::fuzz {

// How far texts came.
struct FrontCounts {
  size_t inputs = 0;
  size_t parsed = 0;   // without errors
  size_t checked = 0;  // came to a Graph
  size_t staged = 0;   // of those: every stage dumped and read again, passes run, plans made
  void (*begin_run)() = [] {};  // called before each run, which has its own clock
};

// Parses, renders and lays out; goes through all stages; shows what was reported. One text in
// `every` of those that come to a Graph goes through the costly rest, chosen by its contents.
// What is wrong with the compiler, or nothing; a crash is a crash.
std::string try_front(const std::string& text, size_t every, FrontCounts& counts);

}  // namespace axon::fuzz
