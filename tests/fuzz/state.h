// What a fuzzing process is at, in a file that outlives it: the text under test and the counts.
#pragma once

#include <cstdint>
#include <string>

namespace axon::fuzz {

// Read by scripts/fuzz.py.
enum class Count : uint8_t {
  Next,          // index of the text to go on with after the one under test
  Inputs,        // texts tried
  Parsed,        // texts without errors of syntax
  Checked,       // texts or programs that come to a Graph
  Staged,        // texts that went through the costly rest
  Programs,      // programs made
  Satisfied,     // programs that check for which sizes were found that their entry lets pass
  Runs,          // evaluations past the entry
  Compared,      // native results compared with the evaluator's
  Unstable,      // results that rounding alone decides, which are not compared
  Failures,      // of the runs, those that end in an error, which all ways must give
  Straight,      // programs that some plan runs as a straight line
  SlowestMs,     // processor time of the slowest text or program
  Milliseconds,  // processor time of all
  Length,        // of the text under test
  kCount
};

class State {
 public:
  // Aborts when the file cannot be made.
  explicit State(const char* path);
  uint64_t& operator[](Count count) { return words_[static_cast<size_t>(count)]; }
  void note(const std::string& text);

 private:
  uint64_t* words_;
  char* text_;
};

// Processor time of this process.
double cpu_seconds();
// Ends the process with status 3 when one run takes too long; call for each.
void restart_clock();

}  // namespace axon::fuzz
