// Runs the Python scripts that come with the command, in an interpreter of the user's.
#include "cli/python.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/signals.h"
#include "support/file.h"
#include "support/text.h"

extern char** environ;

namespace axon::cli {

namespace fs = std::filesystem;

Result<ScratchFolder> ScratchFolder::create() {
  std::error_code wrong;
  std::string path = (fs::temp_directory_path(wrong) / "axon-XXXXXX").string();
  if (wrong || !::mkdtemp(path.data()))
    return Error{"FILE-WRITE", "cannot make a folder for scratch files", path, -1, {}};
  return ScratchFolder(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<std::string> find_python(const std::string& asked) {
  const char* variable = std::getenv("AXON_PYTHON");
  std::string name = !asked.empty() ? asked : variable && *variable ? variable : "python3";
  std::vector<std::string> places;
  if (name.find('/') != std::string::npos) {
    places.push_back(name);
  } else if (const char* path = std::getenv("PATH")) {
    for (std::string_view folder : split(path, ':')) places.push_back(path_join(folder, name));
  }
  for (const std::string& place : places) {
    if (!is_directory(place) && ::access(place.c_str(), X_OK) == 0) return place;
  }
  return Error{"FILE-READ",
               "there is no Python interpreter `" + name + "`",
               {},
               -1,
               "name one that has Transformers with --python or $AXON_PYTHON"};
}

Result<void> unpack(const embedded::Files& files, const std::string& folder) {
  for (const embedded::File& file : files) {
    std::string path = path_join(folder, file.path);
    std::error_code wrong;
    fs::create_directories(parent_path(path), wrong);
    AXON_TRY_VOID(write_file(path, file.text));
  }
  return {};
}

Result<int> run_child(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // What we ignore, a child would ignore too.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  int failed = ::posix_spawn(&child, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    return Error{
        "FILE-READ", "cannot run `" + words[0] + "`: " + std::strerror(failed), {}, -1, {}};
  int status = 0;
  bool passed_on = false;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    if (interrupt_status() == 0 || passed_on) continue;
    passed_on = true;
    ::kill(child, SIGTERM);  // we may have been told alone, not through the terminal
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace axon::cli
