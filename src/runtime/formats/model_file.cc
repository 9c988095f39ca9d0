// One opened model file: positioned reads for headers, mapped or read bytes for data.
#include "runtime/formats/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace axon::formats {
namespace {

Error read_error(const std::string& path, int64_t offset) {
  return Error{
      "FILE-READ", "cannot read `" + path + "`: " + std::strerror(errno), path, offset, {}};
}

Error truncated(const std::string& path, uint64_t size, uint64_t end) {
  return Error{"FILE-TRUNCATED",
               "`" + path + "` ends at byte " + std::to_string(size) + ", its header needs " +
                   std::to_string(end),
               path, static_cast<int64_t>(size), "the file may be only partly downloaded"};
}

}  // namespace

struct ModelFile::Impl {
  int fd = -1;
  std::mutex mutex;
  std::atomic<const uint8_t*> base{nullptr};
  std::map<std::pair<uint64_t, size_t>, std::unique_ptr<uint8_t[]>> ranges;  // DataAccess::Read
};

ModelFile::ModelFile(std::string path, uint64_t size, DataAccess access, std::unique_ptr<Impl> impl)
    : path_(std::move(path)), size_(size), access_(access), impl_(std::move(impl)) {}

ModelFile::~ModelFile() {
  if (const uint8_t* base = impl_->base) ::munmap(const_cast<uint8_t*>(base), size_);
  ::close(impl_->fd);
}

Result<std::unique_ptr<ModelFile>> ModelFile::open(const std::string& path, DataAccess access) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return read_error(path, -1);
  struct stat info;
  bool known = ::fstat(fd, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    if (known) errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    Error error = read_error(path, -1);
    ::close(fd);
    return error;
  }
  auto impl = std::make_unique<Impl>();
  impl->fd = fd;
  return std::unique_ptr<ModelFile>(
      new ModelFile(path, static_cast<uint64_t>(info.st_size), access, std::move(impl)));
}

Result<void> ModelFile::read(uint64_t offset, void* to, size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return truncated(path_, size_, offset + bytes);
  auto* out = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    ssize_t n = ::pread(impl_->fd, out, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return read_error(path_, static_cast<int64_t>(offset));
    if (n == 0) return truncated(path_, offset, offset + bytes);
    out += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return {};
}

// A file that shrank since it was opened must not be mapped: touching the lost pages is a fault.
Result<void> ModelFile::check_size(uint64_t end) const {
  struct stat info;
  if (::fstat(impl_->fd, &info) != 0) return read_error(path_, -1);
  auto now = static_cast<uint64_t>(info.st_size);
  if (end > now) return truncated(path_, now, end);
  return {};
}

Result<const uint8_t*> ModelFile::data(uint64_t offset, size_t bytes) {
  if (offset > size_ || bytes > size_ - offset) return truncated(path_, size_, offset + bytes);
  std::lock_guard lock(impl_->mutex);
  if (access_ == DataAccess::Map) {
    AXON_TRY_VOID(check_size(offset + bytes));
    if (!impl_->base) {
      void* base = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, impl_->fd, 0);
      if (base == MAP_FAILED) return read_error(path_, -1);
      impl_->base = static_cast<const uint8_t*>(base);
    }
    return impl_->base + offset;
  }
  auto key = std::make_pair(offset, bytes);
  auto found = impl_->ranges.find(key);
  if (found != impl_->ranges.end()) return static_cast<const uint8_t*>(found->second.get());
  std::unique_ptr<uint8_t[]> buffer(new (std::nothrow) uint8_t[bytes ? bytes : 1]);
  if (!buffer) {
    return Error{"MEM-ALLOC",
                 "no memory for " + std::to_string(bytes) + " bytes of `" + path_ + "`",
                 path_,
                 static_cast<int64_t>(offset),
                 {}};
  }
  AXON_TRY_VOID(read(offset, buffer.get(), bytes));
  const uint8_t* out = buffer.get();
  impl_->ranges.emplace(key, std::move(buffer));
  return out;
}

void ModelFile::release(uint64_t offset, size_t bytes) {
  std::lock_guard lock(impl_->mutex);
  if (access_ == DataAccess::Read) {
    impl_->ranges.erase(std::make_pair(offset, bytes));
    return;
  }
  if (!impl_->base || offset > size_ || bytes > size_ - offset) return;
  // A fault maps the pages around it as well, so those go too. A neighbour that is still read gets
  // its pages back from the system's cache.
  constexpr uint64_t kAround = uint64_t{64} << 10;
  uint64_t begin = offset / kAround * kAround;
  uint64_t end = std::min((offset + bytes + kAround - 1) / kAround * kAround, size_);
  if (begin < end)
    ::madvise(const_cast<uint8_t*>(impl_->base.load()) + begin, end - begin, MADV_DONTNEED);
}

bool ModelFile::maps(const void* address) const noexcept {
  const uint8_t* base = impl_->base.load(std::memory_order_relaxed);
  auto* at = static_cast<const uint8_t*>(address);
  return base && at >= base && at < base + size_;
}

}  // namespace axon::formats
