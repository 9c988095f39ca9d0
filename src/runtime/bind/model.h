// A Program bound to a checkpoint and a machine: kernels chosen, every weight's residency decided.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/param_source.h"
#include "runtime/bind/weights.h"
#include "runtime/core/bound.h"
#include "runtime/core/executor.h"
#include "runtime/kernels/kernel.h"
#include "support/result.h"
#include "support/thread_pool.h"

namespace axon::runtime {

struct BindOptions {
  KernelChoice kernels;
  bool pack = true;  // false: only kernels that read stored bytes
};

// Where a weight's bytes are when it is read.
enum class Residency : uint8_t { Mapped, Packed, Dense };
std::string_view spelling(Residency residency);

struct WeightReport {
  std::string name;  // of the first stored tensor
  Storage storage = Storage::F32;
  Residency residency = Residency::Mapped;
  std::string_view form;     // of a packed weight
  int64_t stored_bytes = 0;  // read from the file's pages while running: 0 unless mapped
  int64_t own_bytes = 0;     // of memory besides the file
};

// Bytes, predicted before anything is packed.
struct MemoryAnswer {
  int64_t mapped = 0, packed = 0, dense = 0, constants = 0, states = 0, arena = 0;
  int64_t tables = 0;     // what executors know of their instructions
  int64_t looked_up = 0;  // the part of `mapped` of which single rows are read
  int64_t around = 0;     // of the file, mapped because it lies beside what is read
  int64_t passing = 0;    // beyond the rest while weights are packed: sources not yet given back
  int64_t total() const { return mapped + packed + dense + constants + states + arena + tables; }
  // Pages of this process once everything has been used, on top of what it holds before.
  int64_t resident() const { return total() - looked_up + around + passing; }
  std::string show() const;
};

class BoundModel {
 public:
  // Maps the weights and decides; packs and copies nothing yet. The source must outlive the model.
  // Errors: RUN-PARAM, RUN-PARAM-SHAPE, FILE-*, MEM-ALLOC.
  static Result<std::unique_ptr<BoundModel>> bind(Program program, model::ParamSource& source,
                                                  const BindOptions& options);
  BoundModel(const BoundModel&) = delete;
  BoundModel& operator=(const BoundModel&) = delete;

  const Program& program() const { return program_; }
  const BoundProgram& bound() const { return bound_; }
  // Packs and copies what the phase reads and is not there yet, on all workers, and gives the pages
  // of packed tensors back. Cheap when nothing is left to do. False when `cancel` ended it between
  // two weights: the rest waits for the next call.
  bool prepare(size_t phase, ThreadPool& pool, const CancelFlag* cancel = nullptr);
  std::vector<WeightReport> weights() const;
  // Of weights and constants; states and arena are the caller's to add.
  MemoryAnswer memory() const;

 private:
  BoundModel() = default;
  struct Use {
    bool product = false, rows = false, other = false;
    NumericPolicy policy;
    DType dtype;
  };
  std::vector<Use> find_uses() const;
  Result<void> bind_weights(const BindOptions& options);
  Result<void> place_packed();
  Result<void> bind_constants();
  void bind_phases(const BindOptions& options);
  int64_t passing_bytes() const;
  int64_t window_bytes() const;

  struct Bound {
    HeldWeight held;
    const PackFormat* format = nullptr;
    int64_t packed_at = 0, packed_bytes = 0;  // in packed_
    bool keeps_source = false;                // something reads the stored bytes besides the packer
    bool only_rows = false;                   // … and that takes single rows of them
    bool ready = false;
  };
  void pack(const Bound& bound, int part, int parts, ThreadPool& pool);
  void release(const Bound& bound);
  Program program_;
  model::ParamSource* source_ = nullptr;
  std::unique_ptr<WeightStore> store_;
  std::vector<Bound> weights_;
  Buffer packed_, constants_;
  BoundProgram bound_;
  std::vector<uint8_t> prepared_;  // by phase
};

// Memory that the machine and the control group can still give; 0: unknown.
int64_t available_memory();
// Refuses a plan of which no phase could run, were it for one row and one token. Errors:
// PLAN-MEMORY.
Result<void> check_plan(const Program& program, int64_t available);
// Refuses what cannot fit. Mapped pages can be dropped by the system and do not count. Errors:
// MEM-LIMIT.
Result<void> check_fits(const MemoryAnswer& answer, int64_t available);

}  // namespace axon::runtime
