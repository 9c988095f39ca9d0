// Anonymous mappings.
#include "runtime/core/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace axon::runtime {

Result<Buffer> Buffer::allocate(size_t bytes, Pages pages) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return Error{"MEM-ALLOC",
                 "cannot get " + std::to_string(bytes) + " bytes: " + std::strerror(errno)};
  }
  buffer.data_ = static_cast<uint8_t*>(at);
  buffer.size_ = bytes;
#ifdef MADV_HUGEPAGE
  if (pages == Pages::Large)
    ::madvise(at, bytes, MADV_HUGEPAGE);  // where the system has none: no harm
#endif
  return buffer;
}

void Buffer::discard(size_t from, size_t to) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = (from + page - 1) / page * page, last = to / page * page;
  if (first >= last) {
    std::memset(data_ + from, 0, to - from);
    return;
  }
  std::memset(data_ + from, 0, first - from);
  std::memset(data_ + last, 0, to - last);
  if (::madvise(data_ + first, last - first, MADV_DONTNEED) != 0) {
    std::memset(data_ + first, 0, last - first);
  }
}

void Buffer::free() {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

Result<void> Arena::ensure(size_t bytes) {
  if (bytes <= buffer_.size()) return {};
  AXON_TRY(Buffer larger, Buffer::allocate(bytes, Buffer::Pages::Large));
  buffer_ = std::move(larger);
  ++generation_;
  return {};
}

}  // namespace axon::runtime
