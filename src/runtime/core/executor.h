// Runs one bound phase: every worker walks the straight line of instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/bound.h"
#include "runtime/core/int_table.h"
#include "runtime/core/memory.h"
#include "support/result.h"
#include "support/thread_pool.h"

namespace axon::runtime {

// What an instruction cost so far; counted only when asked for.
struct InstrCost {
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;
  uint64_t bytes = 0;                          // of the operands and results, as stored
  uint64_t weight_bytes = 0, state_bytes = 0;  // read from weights and from stores
};

enum class RunStatus : uint8_t { Done, Cancelled };

// Holds views and kernel choices for the shapes of the last call; a call with the same shape
// symbols allocates nothing. One executor is used by one thread at a time; the executors of a model
// may share an arena, whose outputs then live until the next call of any of them.
class Executor {
 public:
  Executor(const BoundProgram& bound, size_t phase, ThreadPool& pool, Arena& arena);

  // Bytes of arena and scratch that a call with these symbols needs. Data symbols may be unknown;
  // then their upper bounds are taken. Allocates no arena. Errors: RUN-OVERFLOW, RUN-SHAPE.
  Result<int64_t> measure(const Bindings& symbols);

  // One call. `inputs` by index of Phase::inputs (scalar inputs are ignored: they are symbols),
  // `states` by StateId, with the storage and the strides of the store; contents are read and
  // written in place. Errors: RUN-SHAPE, RUN-OVERFLOW, RUN-INDEX, RUN-DIV-ZERO, RUN-VALUE,
  // MEM-ALLOC.
  Result<RunStatus> run(const Bindings& symbols, const View* inputs, const View* states,
                        const CancelFlag* cancel = nullptr);

  // After run: an output, and a new value of a state scalar.
  View output(size_t index) const;
  int64_t update(size_t index) const;

  const Phase& phase() const { return *bound_phase_->phase; }
  const Program& program() const { return *bound_->program; }
  const Kernel& kernel(size_t instr) const { return *steps_[instr].kernel; }
  size_t barriers() const;
  // Bytes of its own that an executor of the phase holds.
  static int64_t table_bytes(const Phase& phase);
  void count_costs(bool on);
  const std::vector<InstrCost>& costs() const { return costs_; }

 private:
  struct Step {
    KernelArgs args;
    const Kernel* kernel = nullptr;
    bool barrier = false;
  };
  struct OperandPatch {
    int32_t instr, slot;
    bool output;
    ValId value;
  };
  struct ParamPatch {
    int32_t instr, slot;
    IntId expr;
  };

  void find_dynamic();
  Result<void> resolve_value(ValId id, const View* inputs, const View* states);
  Result<void> resolve_all(const View* inputs, const View* states);
  Result<void> patch(const View* inputs, const View* states);
  Result<void> set_params(size_t instr);
  Result<void> check_entry() const;
  Result<void> choose_kernels();
  void place_barriers();
  void work(int part, int parts, const CancelFlag* cancel);
  void count(size_t instr, uint64_t begin);
  void count_reads(size_t instr, size_t slot, InstrCost& cost) const;
  Error unknown(IntId expr, const char* what, const std::string& source) const;
  Error fault() const;

  const BoundProgram* bound_;
  const BoundPhase* bound_phase_;
  ThreadPool* pool_;
  Arena* arena_;
  IntTable ints_;
  Bindings symbols_;              // of the last resolve
  std::vector<View> values_;      // by ValId
  std::vector<uint8_t> dynamic_;  // by ValId: may change without a change of shape
  std::vector<Step> steps_;
  std::vector<ValId> dynamic_values_;
  std::vector<OperandPatch> operand_patches_;
  std::vector<ParamPatch> param_patches_;
  std::vector<InstrCost> costs_;
  bool resolved_ = false, counting_ = false;
  bool stop_[2] = {false, false};
  bool cancelled_ = false;
  Fault fault_;
  uint32_t arena_generation_ = 0;
  int64_t arena_bytes_ = 0, scratch_bytes_ = 0;
};

}  // namespace axon::runtime
