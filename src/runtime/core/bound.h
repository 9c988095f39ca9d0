// A Program bound to weights and kernels: what runtime/bind makes and the executor runs.
#pragma once

#include <string>
#include <vector>

#include "runtime/core/kernel.h"
#include "runtime/core/needs.h"
#include "runtime/core/program.h"
#include "support/function_ref.h"

namespace axon::runtime {

// An instruction's kernels, best first; the last supports everything.
struct BoundInstr {
  std::vector<const Kernel*> kernels;
};
struct BoundPhase {
  const Phase* phase = nullptr;
  std::vector<BoundInstr> code;
  std::vector<WeightId> weights;  // read by this phase, each once, in order of first use
};

// Views point into memory that the maker owns and that outlives the executors.
struct BoundProgram {
  const Program* program = nullptr;
  std::vector<View> weights;  // by WeightId
  std::vector<WeightBytes> weight_bytes;
  std::vector<View> constants;     // by ConstId
  std::vector<BoundPhase> phases;  // as program->phases
};

// Names of the codes that a parameter given as text may use: activations, unary, binary and reduce
// codes, in lower case with underscores (`gelu_tanh`). -1: unknown.
int64_t code_of(Operation operation, std::string_view param, std::string_view text);

}  // namespace axon::runtime
