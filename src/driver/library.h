// The built-in library and zoo as the compiler sees them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sema/stages.h"
#include "support/result.h"

namespace axon::driver {

// The library that is compiled into the binary.
const sema::LibrarySource& builtin_library();
// Its overlays, sorted (language.md 7.1).
std::vector<std::string> library_overlays();

// One entry of an ARCHITECTURES pragma (language.md 4.3).
struct ArchitectureEntry {
  std::string architecture;  // the name in config.json
  std::string main;          // empty: the program's own
  std::string task;          // empty: the program's own
};
// A program of the zoo.
struct ZooProgram {
  std::string name;  // llama
  std::string_view text;
  std::vector<ArchitectureEntry> architectures;
  std::string task;
  std::vector<std::string> checkpoints;
};
// All programs, by name.
std::vector<ZooProgram> zoo_programs();
// Their texts alone.
std::vector<std::string_view> zoo_texts();
// The program whose file implements the architecture, with the entry that fits.
struct Choice {
  ZooProgram program;
  ArchitectureEntry entry;
};
std::optional<Choice> choose_program(const std::vector<std::string>& architectures);
std::optional<ZooProgram> find_zoo_program(std::string_view name);

}  // namespace axon::driver
