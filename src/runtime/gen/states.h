// What survives between calls: the stores of a session, one buffer per state of the Program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/memory.h"
#include "runtime/core/program.h"
#include "runtime/core/view.h"
#include "support/result.h"

namespace axon::runtime {

// Sizes of all states; nothing is allocated before allocate(). Stores are zero at first and commit
// their pages as they are written.
class StateSet {
 public:
  // `token_dtype`: storage of token states whose program dtype is f32 (f32, f16 or bf16).
  // Errors: RUN-SHAPE when a size is unknown or negative.
  static Result<StateSet> plan(const Program& program, const Bindings& bindings, DType token_dtype);
  Result<void> allocate();  // Errors: MEM-ALLOC

  int64_t bytes() const { return bytes_; }
  // By StateId, for Executor::run.
  const View* views() const { return views_.data(); }
  size_t size() const { return views_.size(); }
  // Whether every state is of kind token, or fixed: only then truncate is possible.
  bool all_token() const;

  void reset(int64_t row);  // as never written
  // Row `to` becomes a copy of row `from`, in its first `length` tokens.
  void fork(int64_t from, int64_t to, int64_t length);
  // Row r becomes what row perm[r] was; perm has an entry per row and may repeat rows.
  void reorder(const std::vector<int64_t>& perm, int64_t length);
  // Forgets the tokens from `length` on; their pages go back. Other states are fixed and stay.
  void truncate(int64_t row, int64_t length);
  // The first `length` tokens of a row (all of it for other kinds), and putting them back into a
  // row of a set of the same Program and storage. Errors of restore: FILE-FORMAT.
  std::string save(int64_t row, int64_t length) const;
  Result<void> restore(int64_t row, std::string_view bytes);

 private:
  // Calls body(byte offset, bytes) for each contiguous run of tokens [from, to) of a row.
  template <class Body>
  void each_run(size_t state, int64_t row, int64_t from, int64_t to, Body&& body) const;
  int64_t tokens(size_t state) const;

  const Program* program_ = nullptr;
  std::vector<View> views_;
  std::vector<Buffer> buffers_;
  int64_t bytes_ = 0;
};

}  // namespace axon::runtime
