// One conversation or one batch: stores of a fixed capacity, fed token by token or chunk by chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/gen/model.h"
#include "runtime/gen/roles.h"
#include "runtime/gen/states.h"
#include "support/result.h"

namespace axon::runtime {

struct SessionOptions {
  int64_t rows = 1;
  int64_t capacity = 0;  // positions; fixed for the session's life
  int64_t chunk = 512;   // most tokens of one call
  int64_t source = 0;    // tokens of the encoder, where the program has one; fixed as well
  // The program gets a mask even where nothing is padding: the caller gave one, and a program may
  // tell a mask of ones from none. Who only generates gives none, and padding alone makes one.
  bool marked = false;
};

// The state of one row as save() gives it.
struct SavedRow {
  std::string stores;
  std::vector<uint8_t> mask;
  std::vector<int64_t> scalars;
  int64_t length = 0;
  bool encoded = false, padded = false;  // there is a source, and some of it is padding
};

class Session {
 public:
  // Plans and checks the memory first (MEM-LIMIT), then allocates. The model must outlive the
  // session, and a model runs one session's call at a time. Errors: MEM-*, USE-CONTEXT, RUN-INPUT.
  static Result<std::unique_ptr<Session>> create(Model& model, const SessionOptions& options);

  int64_t rows() const { return options_.rows; }
  int64_t capacity() const { return options_.capacity; }
  int64_t length() const { return length_; }  // positions taken, padding included
  // 0: a program on general instructions, which has not run yet, does not say it.
  int64_t vocabulary() const { return vocabulary_; }

  // Feeds `count` tokens to every row: ids[rows][count]. `valid`, when given, marks real tokens
  // with non-zero; without it all are. Runs in chunks; nothing is allocated for a count seen
  // before. Afterwards logits(row) are those of the row's last real token among these; a row
  // without any keeps its old ones. Errors: USE-CONTEXT when the capacity is passed, those of the
  // executor.
  Result<RunStatus> feed(const int64_t* ids, int64_t count, const uint8_t* valid = nullptr,
                         const CancelFlag* cancel = nullptr);
  const float* logits(int64_t row) const { return logits_.data() + row * vocabulary_; }

  // Runs the encoder on ids[rows][source], once for everything that is fed afterwards; what was fed
  // before is forgotten. Errors: RUN-INPUT, those of the executor.
  Result<RunStatus> feed_source(const int64_t* ids, int64_t count, const uint8_t* valid = nullptr,
                                const CancelFlag* cancel = nullptr);
  bool encodes() const { return encodes_; }

  // Like feed, and calls `each(first, count, logits)` per chunk with all its logits,
  // [rows][count][vocabulary], valid during the call only. `first` counts from this feed's start.
  using EachChunk = function_ref<void(int64_t first, int64_t count, const View& logits)>;
  Result<RunStatus> feed_all(const int64_t* ids, int64_t count, const uint8_t* valid,
                             EachChunk each, const CancelFlag* cancel = nullptr);

  void reset();  // as new
  // Forgets positions from `length` on. Needs stores that are all per token. Errors: RUN-VALUE.
  Result<void> truncate(int64_t length);
  void reorder(const std::vector<int64_t>& perm);  // row r becomes what perm[r] was
  void fork(int64_t from, int64_t to);
  SavedRow save(int64_t row) const;
  // Only at the length at which it was saved, or into a session of one row. Errors: FILE-FORMAT.
  Result<void> restore(int64_t row, const SavedRow& saved);
  int64_t state_bytes() const { return states_.bytes(); }
  uint64_t tokens_run() const { return tokens_run_; }  // token rows computed so far
  // Of the last call: its phase (-1: none yet), and the sizes and lengths that it ran with.
  int last_phase() const { return last_phase_; }
  const Bindings& last_bindings() const { return bindings_; }

 private:
  explicit Session(Model& model) : model_(&model) {}
  Result<void> find_phases();
  Result<void> check_inputs(const Phase& phase) const;
  Result<void> allocate();
  void set_source_inputs(const Phase& phase, const int64_t* ids, const uint8_t* valid,
                         std::string& mask);
  bool always_masked() const { return options_.marked && !encodes_; }  // else it is the source's
  int choose_phase(int64_t count, bool masked) const;
  Result<RunStatus> run_chunk(const int64_t* ids, int64_t stride, int64_t count,
                              const uint8_t* valid, bool all, EachChunk* each, int64_t first,
                              const CancelFlag* cancel);
  Result<RunStatus> feed_chunks(const int64_t* ids, int64_t count, const uint8_t* valid,
                                EachChunk* each, const CancelFlag* cancel);
  Result<RunStatus> rerun_history(const int64_t* ids, int64_t count, const uint8_t* valid,
                                  EachChunk* each, const CancelFlag* cancel);
  void write_inputs(const Phase& phase, int64_t count, int64_t rows_wanted);
  int64_t last_real(const uint8_t* valid, int64_t stride, int64_t row, int64_t count) const;
  void keep_logits(const View& logits, bool selected, int64_t count, const uint8_t* valid,
                   int64_t stride);
  void advance(int phase, int64_t count);
  void mark(int64_t count, const uint8_t* valid, int64_t stride);

  // session_general.cc: programs on general instructions
  Result<void> find_general();
  Result<std::vector<Datum>> general_inputs(int64_t from, int64_t total, std::vector<int64_t>& ids,
                                            std::vector<uint8_t>& mask);
  Result<RunStatus> run_general(const std::vector<int64_t>& history,
                                const std::vector<uint8_t>& marks, int64_t known, int64_t total,
                                EachChunk* each, const CancelFlag* cancel);
  void forget_cache();

  Model* model_;
  SessionOptions options_;
  StateSet states_;
  bool encodes_ = false, encoded_ = false;  // the program has an encoder; it has run
  bool source_padded_ = false;
  bool cached_ = false;  // the program has states; else each call runs the whole history
  // General programs: the cache as the program made it, and for how many positions.
  Datum cache_;
  int64_t cache_length_ = 0;
  int logits_output_ = -1, cache_output_ = -1;
  int64_t vocabulary_ = 0;
  int64_t length_ = 0;
  bool masked_ = false;  // the mask is given: some position is padding, or `marked`
  uint64_t tokens_run_ = 0;
  int last_phase_ = -1;
  Bindings bindings_;
  std::vector<int64_t> scalars_;   // values of the state scalars
  std::vector<uint8_t> advances_;  // which of them grow by one per token
  std::vector<View> inputs_;       // of the phase being run
  std::vector<int64_t> ids_;       // the chunk, row-major; without states the history by row
  std::vector<uint8_t> mask_;      // [rows][capacity]
  std::vector<int64_t> wanted_;    // logit_rows
  std::string mask_bytes_;         // mask_ in the element type of the input
  std::vector<float> logits_;
};

}  // namespace axon::runtime
