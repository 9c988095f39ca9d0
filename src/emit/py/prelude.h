// Helpers of emitted code: real Python files under prelude/, put into the output as they are.
//
// A file has a docstring, imports, then definitions. A relative import (`from .cache import Cache`)
// says which other file it needs; `# requires: NAME` does the same for what is used by name only.
// The output gets the files asked for and what they need, each once, dependencies first, and the
// union of their other imports.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emit/py/tree.h"

namespace axon::emit::py {

// One source of helpers: (path without `.py`, text), such as `torch/cache`.
struct PreludeFile {
  std::string_view path, text;
};

class Prelude {
 public:
  explicit Prelude(std::vector<PreludeFile> files) : files_(std::move(files)) {}
  // Asks for prelude/PATH.py. A path that does not exist is our bug.
  void use(std::string_view path);
  bool in_use(std::string_view path) const { return used_.count(path) != 0; }
  // Import lines, sorted, and the definitions of all files in use.
  const std::set<std::string>& imports() const { return imports_; }
  const std::vector<Stmt>& definitions() const { return definitions_; }
  // Names that the files in use bind at the top level, and those that any file would.
  const std::vector<std::string>& names() const { return names_; }
  std::vector<std::string> every_name() const;

 private:
  std::vector<PreludeFile> files_;
  std::set<std::string, std::less<>> used_;
  std::set<std::string> imports_;
  std::vector<Stmt> definitions_;
  std::vector<std::string> names_;
};

// Import statements in the order of the usual style: plain ones first, standard library apart.
std::vector<Stmt> import_statements(const std::set<std::string>& lines);

}  // namespace axon::emit::py
