// The cases of tests/conformance: what a rule promises, as sources with checks after them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/frontend.h"

namespace axon::driver::testing {

// One `>> WORD REST` line, and the `.. ` lines under it.
struct Check {
  std::string word, rest, block;
  int line = 0;
};

// A source, the library files and answers that go with it, and its checks.
struct Case {
  std::string text;
  std::map<std::string, std::string, std::less<>> files;
  std::vector<Check> checks;
};

// `== A-01 title`, then cases parted by `---`.
struct Rule {
  std::string id, title, file;
  std::vector<Case> cases;
};

std::vector<Rule> read_rules(const std::string& folder);
// What fails in the case, a line each; empty when nothing does.
std::string run_case(const Case& input);

}  // namespace axon::driver::testing
