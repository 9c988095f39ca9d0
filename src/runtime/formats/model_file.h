// One opened model file: positioned reads for headers, mapped or read bytes for data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "support/result.h"

namespace axon::formats {

// How tensor data reaches memory.
enum class DataAccess : uint8_t { Map, Read };

// Safe to use from several threads.
class ModelFile {
 public:
  // Errors: FILE-READ.
  static Result<std::unique_ptr<ModelFile>> open(const std::string& path, DataAccess access);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened
  // Copies bytes without mapping anything. Errors: FILE-READ, FILE-TRUNCATED.
  Result<void> read(uint64_t offset, void* to, size_t bytes) const;
  // The bytes of a range, valid until release() of that range. With DataAccess::Map the first call
  // maps the whole file; pages come in when they are touched. Errors: FILE-READ, FILE-TRUNCATED.
  Result<const uint8_t*> data(uint64_t offset, size_t bytes);
  void release(uint64_t offset, size_t bytes);
  // Whether an address lies in the mapping; may be called from a signal handler.
  bool maps(const void* address) const noexcept;

 private:
  struct Impl;
  ModelFile(std::string path, uint64_t size, DataAccess access, std::unique_ptr<Impl> impl);
  Result<void> check_size(uint64_t end) const;
  std::string path_;
  uint64_t size_ = 0;
  DataAccess access_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace axon::formats
