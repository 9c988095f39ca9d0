// Instructions that this thread has run in user mode, where the machine counts them.
#pragma once

#include <cstdint>
#include <optional>

namespace axon {

class InstructionCount {
 public:
  InstructionCount();
  ~InstructionCount();
  InstructionCount(const InstructionCount&) = delete;
  InstructionCount& operator=(const InstructionCount&) = delete;
  // Since the making of this; nothing where neither the processor nor the system counts for us.
  std::optional<int64_t> read() const;

 private:
  int fd_ = -1;
};

}  // namespace axon
