// Runs the routines of a program: frames of tagged registers.
#pragma once

#include <optional>
#include <vector>

#include "runtime/core/executor.h"
#include "runtime/core/program.h"
#include "runtime/general/apply.h"
#include "runtime/general/sizes.h"

namespace axon::runtime {

// A machine is used by one thread at a time; values that it gives out outlive it, except views of
// parameters, which live as long as the host.
class Machine {
 public:
  Machine(const Program& program, GeneralHost& host, ThreadPool& pool)
      : program_(&program), eager_(host, pool), globals_(program.routines.size()) {}

  // MAIN on its inputs in order; Unset and null ones get their default. Nothing when cancelled.
  // Errors: RUN-*, MEM-ALLOC, with the place in `hint`.
  Result<std::optional<std::vector<Datum>>> run(RoutineId routine, std::vector<Datum> inputs,
                                                const CancelFlag* cancel = nullptr);
  Eager& eager() { return eager_; }

 private:
  using Data = std::vector<Datum>;
  struct Frame;

  Result<Data> call(RoutineId id, Data inputs, bool entry);
  Result<void> enter(Frame& frame, Data inputs, bool entry);
  Result<void> know_constants(Frame& frame, const Pattern& pattern);
  Result<void> set_constant(Frame& frame, SymId symbol, RoutineId constant);
  Result<void> fits(Frame& frame, const Pattern& pattern, const Datum& value, const char* what);
  Result<void> check(Frame& frame);
  Result<std::optional<bool>> holds(Frame& frame, const RoutineFact& fact);
  Result<void> step(Frame& frame, const GeneralInstr& instr);
  Result<Datum> result_of(Frame& frame, const GeneralInstr& instr);
  Result<Datum> loop(Frame& frame, const GeneralInstr& instr);
  Result<Datum> path(Frame& frame, const GeneralInstr& instr);
  Result<Datum> ascribed(Frame& frame, const GeneralInstr& instr);
  Result<Datum> global(RoutineId id);
  Result<int64_t> dim(Frame& frame, IntId expr);
  Result<bool> find_size(Frame& frame, SymId symbol);
  Data take(Frame& frame, const GeneralInstr& instr);
  void put(Frame& frame, Register target, Datum value);
  Datum widened(Datum value, PatternId pattern) const;

  const Program* program_;
  Eager eager_;
  std::vector<std::optional<Datum>> globals_;  // by RoutineId, of the run
  const CancelFlag* cancel_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace axon::runtime
