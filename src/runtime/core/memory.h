// Large aligned allocations whose pages are committed as they are written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/result.h"

namespace axon::runtime {

class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { free(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // Zeroed, at least page-aligned. Memory that is written as a whole asks for large pages, of which
  // the system clears and maps hundreds of small ones at once. Errors: MEM-ALLOC.
  enum class Pages : uint8_t { Small, Large };
  static Result<Buffer> allocate(size_t bytes, Pages pages = Pages::Small);
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  // Makes [from, to) read as zeros again and gives whole pages back.
  void discard(size_t from, size_t to);

 private:
  void free();
  void swap(Buffer& other) noexcept;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// The one scratch region of a model's phases; grows, never shrinks. Contents do not survive a call.
class Arena {
 public:
  // Errors: MEM-ALLOC. Growing changes data() and generation().
  Result<void> ensure(size_t bytes);
  uint8_t* data() { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }
  uint32_t generation() const { return generation_; }

 private:
  Buffer buffer_;
  uint32_t generation_ = 0;
};

}  // namespace axon::runtime
