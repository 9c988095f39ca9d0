// Any text at all through the front end: it may be wrong, but it must be told so.
#pragma once

#include <string>
#include <vector>

namespace axon::fuzz {

// Runs all stages. What is wrong with the compiler, or nothing; a crash is a crash.
std::string try_front(const std::string& text);
// The texts of the .axon files below the folders, sorted by name.
std::vector<std::string> read_corpus(const std::vector<std::string>& folders);

}  // namespace axon::fuzz
