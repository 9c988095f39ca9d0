// Writing results to standard output and text to standard error.
#include "cli/output.h"

#include <unistd.h>

#include <cerrno>

#include "cli/signals.h"

namespace axon::cli {
namespace {

int g_output_error = 0;

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

bool put(std::string_view text) {
  if (g_output_error != 0) return false;
  if (write_all(STDOUT_FILENO, text)) return true;
  g_output_error = errno;
  return false;
}

int output_error() { return g_output_error; }

void note(std::string_view text) { write_all(STDERR_FILENO, text); }

std::string read_standard_input() {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR && interrupt_status() == 0) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace axon::cli
