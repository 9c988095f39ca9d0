// Result<T>: what a function returns when the world (a file, a checkpoint, an argument) may be
// wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "support/check.h"

namespace axon {

// A failure outside of our control. `code` is one of source/diag.def, which also gives the exit
// status; `file` and `offset` say where, when known.
struct Error {
  std::string code;
  std::string message;
  std::string file;
  int64_t offset = -1;
  std::string hint;
};

// Either a value or an Error. Reading the value of a failed result is our bug.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  T& operator*() { return get(); }
  const T& operator*() const { return get(); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  T& get() {
    AXON_CHECK(value_.has_value(), "value of a failed Result");
    return *value_;
  }
  const T& get() const {
    AXON_CHECK(value_.has_value(), "value of a failed Result");
    return *value_;
  }
  std::optional<T> value_;
  Error error_;
};

// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit on purpose
  explicit operator bool() const { return !failed_; }
  bool ok() const { return !failed_; }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace axon

#define AXON_CONCAT_INNER(a, b) a##b
#define AXON_CONCAT(a, b) AXON_CONCAT_INNER(a, b)
// AXON_TRY(auto x, f()): x is the value of f(), or the error is returned from this function.
#define AXON_TRY(decl, expr) AXON_TRY_INNER(AXON_CONCAT(axon_try_, __LINE__), decl, expr)
#define AXON_TRY_INNER(tmp, decl, expr)    \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp.error()); \
  decl = std::move(*tmp)
// AXON_TRY_VOID(f()): returns the error of f(), if any.
#define AXON_TRY_VOID(expr)                                      \
  do {                                                           \
    auto axon_try_void = (expr);                                 \
    if (!axon_try_void) return std::move(axon_try_void.error()); \
  } while (false)
