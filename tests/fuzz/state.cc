// The mapped file, and the clock of hangs.
#include "fuzz/state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace axon::fuzz {
namespace {

constexpr size_t kBytes = size_t{1} << 20;
constexpr size_t kHead = 256;
// Processor time is what the promise is about. Waiting for others is allowed, but not for ever.
constexpr time_t kHangSeconds = 2;
constexpr time_t kStuckSeconds = 120;

void on_time(int) {
  constexpr char kText[] = "fuzz: hang\n";
  if (write(2, kText, sizeof kText - 1) < 0) _exit(3);
  _exit(3);
}

}  // namespace

static_assert(static_cast<size_t>(Count::kCount) * sizeof(uint64_t) <= kHead);

State::State(const char* path) {
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, kBytes) != 0) std::abort();
  void* at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) std::abort();
  close(file);
  words_ = static_cast<uint64_t*>(at);
  text_ = static_cast<char*>(at) + kHead;
}

void State::note(const std::string& text) {
  size_t length = std::min(text.size(), kBytes - kHead);
  (*this)[Count::Length] = length;
  std::memcpy(text_, text.data(), length);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void restart_clock() {
  std::signal(SIGPROF, on_time);
  std::signal(SIGALRM, on_time);
  itimerval timer{};
  timer.it_value.tv_sec = kHangSeconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
  timer.it_value.tv_sec = kStuckSeconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace axon::fuzz
