// Texts through the front end.
#include "fuzz/front.h"

#include <algorithm>
#include <filesystem>

#include "fuzz/pipeline.h"
#include "support/file.h"

namespace axon::fuzz {

std::string try_front(const std::string& text) { return compile(text).bug(); }

std::vector<std::string> read_corpus(const std::vector<std::string>& folders) {
  std::vector<std::string> paths, out;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".axon") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    if (auto text = read_file(path)) out.push_back(*text);
  }
  return out;
}

}  // namespace axon::fuzz
