// What is promised of programs that check: run on inputs that their entry lets pass, they meet no
// shape that contradicts a checked type (language.md 6.6), and every way to run them gives the
// same.
#pragma once

#include <cstddef>
#include <string>

namespace axon::fuzz {

struct Counts {
  size_t programs = 0;          // tried
  size_t checked = 0;           // those that check
  size_t satisfied = 0;         // those of them that some inputs get past the entry
  size_t runs = 0;              // evaluations past the entry
  size_t failures = 0;          // of the runs, those that end in an error
  size_t compared = 0;          // results of other ways compared with the evaluator's
  size_t unstable = 0;          // results that rounding decides, which were not
  size_t straight = 0;          // programs that run as a straight line
  void (*begin_run)() = [] {};  // called before each run, which has its own clock
};

// Checks a program, reads its stages again, evaluates it, runs it all ways. What is wrong, or
// nothing. Comment lines say what it needs: `-- param NAME SIZES`, `-- dtype INPUT int64`.
std::string try_text(const std::string& text, Counts& counts);

}  // namespace axon::fuzz
