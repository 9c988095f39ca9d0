// What a kernel is to the executor: a few functions over raw views and evaluated parameters.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "runtime/core/program.h"
#include "runtime/core/view.h"

namespace axon::runtime {

constexpr int kMaxInputs = 8;
constexpr int kMaxOutputs = 2;
constexpr int kMaxParams = 8;

// Names of an operation's parameters, separated by blanks, as operations.def lists them.
constexpr std::string_view operation_params(Operation operation) {
  switch (operation) {
#define AXON_OPERATION(ident, name, number, version, in, out, operands, params) \
  case Operation::ident:                                                        \
    return params;
#include "runtime/core/operations.def"
  }
  return {};
}
constexpr std::string_view operation_operands(Operation operation) {
  switch (operation) {
#define AXON_OPERATION(ident, name, number, version, in, out, operands, params) \
  case Operation::ident:                                                        \
    return operands;
#include "runtime/core/operations.def"
  }
  return {};
}

// Slot of a parameter by name; -1 when the operation has none of that name.
constexpr int find_param(Operation operation, std::string_view wanted) {
  const std::string_view all = operation_params(operation);
  size_t pos = 0;
  for (int index = 0; pos < all.size(); ++index) {
    size_t end = pos;
    while (end < all.size() && all[end] != ' ') ++end;
    if (all.substr(pos, end - pos) == wanted) return index;
    pos = end + 1;
  }
  return -1;
}
// The same for names written in code: a wrong name does not compile.
consteval int param(Operation operation, std::string_view wanted) {
  const int index = find_param(operation, wanted);
  if (index < 0) throw "no such parameter";
  return index;
}

// An evaluated parameter: both readings are set, whatever was given.
struct ParamSlot {
  bool present = false;
  bool is_float = false;
  int64_t i = 0;
  double f = 0;
};

struct KernelArgs;

// The first operand of a call that an operation is not defined for. Kernels go on as if it were
// harmless and note it; parts may do so at the same time.
struct Fault {
  enum class Kind : uint8_t {
    Index,          // outside of what it indexes, where nothing is read or written
    DivideByZero,   // of integers
    NegativePower,  // of an integer
  } kind = Kind::Index;
  std::atomic<bool> taken{false};
  const KernelArgs* where = nullptr;
  int64_t index = 0, count = 0;

  void note(const KernelArgs& args, Kind what, int64_t at = 0, int64_t items = 0) {
    if (taken.exchange(true, std::memory_order_relaxed)) return;
    kind = what;
    where = &args;
    index = at;
    count = items;
  }
};

// Everything that a kernel sees of an instruction. Operand order is that of operations.def; an
// absent operand has rank -1. Outputs may share memory with an input only when the planner said so
// by giving both the same place and shape.
//
// The epilogue of the products, in this order, on the f32 sum s of one output element:
//   s += bias[o];  s = activation(s);  s *= gate[n,o];  s *= scale;  y = s + residual[n,o]
struct KernelArgs {
  Operation operation{};
  int8_t input_count = 0, output_count = 0;
  NumericPolicy policy;
  View in[kMaxInputs];
  View out[kMaxOutputs];
  ParamSlot params[kMaxParams];
  // attention only; filled from in[1], in[2] and the parameters
  StoreView keys, values;
  RowTable rows;
  // Scratch of a part: workspace + part * workspace_part, 64-byte aligned, contents undefined.
  uint8_t* workspace = nullptr;
  int64_t workspace_part = 0;
  Fault* fault = nullptr;

  // Whether 0 ≤ index < count; if not, that is noted.
  bool inside(int64_t index, int64_t count) const {
    if (index >= 0 && index < count) return true;
    if (fault != nullptr) fault->note(*this, Fault::Kind::Index, index, count);
    return false;
  }
  void undefined(Fault::Kind kind) const {
    if (fault != nullptr) fault->note(*this, kind);
  }
  uint8_t* scratch(int part) const { return workspace + part * workspace_part; }
  bool has(int slot) const { return params[slot].present; }
  int64_t integer(int slot, int64_t absent = 0) const {
    return params[slot].present ? params[slot].i : absent;
  }
  double real(int slot, double absent = 0) const {
    return params[slot].present ? params[slot].f : absent;
  }
};

// Fills keys, values and rows of an attention from its operands and parameters.
void complete_attention(KernelArgs& args);

// What `part` of `parts` counts, for messages and for checks of barriers.
enum class Partition : uint8_t { Sequential, Elements, Rows, Columns, Heads };

// One implementation of one operation. Functions throw nothing, allocate nothing and keep nothing.
struct Kernel {
  Operation operation{};
  std::string_view name;  // e.g. "ref.linear"
  std::string_view isa;   // "ref", "avx2", …
  Partition partition = Partition::Sequential;
  int32_t pack_format = 0;  // needs in[weight].packed in this form; 0: stored bytes
  // Whether these storages, shapes, strides and policy are handled. Data pointers may be null here.
  bool (*supports)(const KernelArgs&) = nullptr;
  // Bytes of scratch for one part; null: none.
  int64_t (*workspace)(const KernelArgs&, int parts) = nullptr;
  // Does the share `part` of `parts` (0 ≤ part < parts). All parts together do the whole; a share
  // may be empty.
  void (*run)(const KernelArgs&, int part, int parts) = nullptr;
};

// The half-open share of `count` things: equal shares, a multiple of `grain` each but the last.
struct Share {
  int64_t begin = 0, end = 0;
};
inline Share share_of(int64_t count, int64_t grain, int part, int parts) {
  const int64_t units = (count + grain - 1) / grain;
  const int64_t begin = units * part / parts * grain;
  const int64_t end = units * (part + 1) / parts * grain;
  return {begin < count ? begin : count, end < count ? end : count};
}

}  // namespace axon::runtime
