// All verbs and their options as data, for completion scripts and the manual page.
#pragma once

#include <string>
#include <vector>

namespace axon::cli {

struct OptionInfo {
  std::vector<std::string> names;  // `-p`, `--prompt`; none for a positional argument
  std::string text;
  std::string value;                 // what it takes: TEXT, INT; empty for a flag
  std::vector<std::string> choices;  // when only these are allowed
  bool required = false;
  std::string positional = {};  // name of a positional argument
};

struct VerbInfo {
  std::string name, text;
  std::vector<OptionInfo> options;
};

// In the order of `axon --help`.
std::vector<VerbInfo> verb_table();

}  // namespace axon::cli
