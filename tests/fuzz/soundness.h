// The promise of the type checker: a program that checks, run on inputs that its entry lets pass,
// meets no shape that contradicts a checked type (language.md 6.6).
#pragma once

#include <string>

#include "fuzz/random.h"

namespace axon::fuzz {

struct Counts {
  size_t programs = 0;   // generated
  size_t checked = 0;    // those that check
  size_t satisfied = 0;  // those of them that some inputs get past the entry
  size_t runs = 0;       // evaluations past the entry
};

// Makes a program, checks it, runs it. What is wrong, or nothing.
std::string try_program(Random& random, Counts& counts);
// The same for a given text.
std::string try_text(const std::string& text, Random& random, Counts& counts);

}  // namespace axon::fuzz
