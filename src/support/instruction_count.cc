// A counter of the kernel's performance events.
#include "support/instruction_count.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace axon {

InstructionCount::InstructionCount() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long fd = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  fd_ = static_cast<int>(fd);
}

InstructionCount::~InstructionCount() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<int64_t> InstructionCount::read() const {
  int64_t count = 0;
  if (fd_ < 0 || ::read(fd_, &count, sizeof count) != sizeof count) return {};
  return count;
}

}  // namespace axon
