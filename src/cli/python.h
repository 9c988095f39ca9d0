// Runs the Python scripts that come with the command, in an interpreter of the user's.
#pragma once

#include <string>
#include <vector>

#include "support/embedded.h"
#include "support/result.h"

namespace axon::cli {

// A new folder that is removed, with all in it, at the end.
class ScratchFolder {
 public:
  static Result<ScratchFolder> create();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The interpreter asked for, else $AXON_PYTHON, else `python3`, as a path. Errors: FILE-READ.
Result<std::string> find_python(const std::string& asked);
// Writes the files below `folder`.
Result<void> unpack(const embedded::Files& files, const std::string& folder);
// Runs a command with our standard streams; its exit status, or 128 and the signal that ended it.
// An interrupt reaches the child too: it shares our terminal. Errors: FILE-READ.
Result<int> run_child(const std::vector<std::string>& words);

}  // namespace axon::cli
