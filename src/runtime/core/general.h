// General instructions: tagged registers, branches, loops and calls, for programs that no straight
// line can say. A routine is one definition; it is portable and names parameters by paths that are
// made while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ops/op.h"
#include "runtime/core/int_expr.h"
#include "support/ids.h"
#include "types/dtype.h"

namespace axon::runtime {

AXON_ID(RoutineId);
AXON_ID(PatternId);

using Register = int32_t;  // of a routine; negative: none

// A declared type as far as running needs it: ranks, sizes, and where integers become floats.
struct Pattern {
  enum class Kind : uint8_t { Any, Null, Bool, Int, Float, String, Path, Tensor, List, Tuple };
  Kind kind = Kind::Any;
  bool optional = false;
  bool ranked = false;      // Tensor: `axes` says something
  std::vector<IntId> axes;  // Tensor; an invalid id stands for a run of axes, a negative constant
                            // for an extent that the type leaves open
  std::vector<Pattern> items;
  std::string run;   // Tensor: the name of the run of axes, where there is one
  std::string text;  // as written
};

struct LiteralNull {};
using Literal = std::variant<LiteralNull, bool, int64_t, double, std::string>;

// A piece of a path: text, or what a register holds. `text` names the placeholder then.
struct PathPart {
  std::string text;
  Register from = -1;
  bool joined = false;  // goes on with the segment before it
};

// How a loop's routine gets its arguments.
struct LoopArg {
  enum class Kind : uint8_t { Iter, Carry, Input } kind = Kind::Iter;
  int32_t index = 0;  // Carry: which carry; Input: which of the instruction's inputs
};

enum class GeneralCode : uint8_t {
  Literal,  // literal
  Move,     // input 0
  Apply,    // a primitive or infix operation on the inputs; negative ones take their default
  List,
  Tuple,
  Path,     // of `path`
  Dim,      // the value of `dim`
  Global,   // the result of `routine`, which runs once a call of the program
  Ascribe,  // input 0, which must fit `pattern`; sizes named there first are bound
  Branch,   // goes on at `target` unless input 0 is true
  Jump,     // goes on at `target`
  Call,     // `routine` on the inputs
  Loop,     // inputs: from, to, step, `carries` first values, others
};
std::string_view spelling(GeneralCode code);

// The result is destructured when there are several outputs.
struct GeneralInstr {
  GeneralCode code = GeneralCode::Literal;
  Op op = Op::CoreAlias;
  std::vector<Register> inputs;
  std::vector<Register> outputs;
  std::vector<Register> dead;  // inputs that nothing reads any more
  Literal literal;
  std::vector<PathPart> path;
  bool absolute = true;  // Path
  IntId dim;
  PatternId pattern;  // integers in the result become floats where it says so
  RoutineId routine;
  std::vector<LoopArg> args;
  int32_t carries = 0;
  int32_t target = 0;
  std::string source;  // `mamba.axon:41`
};

// Where a dim symbol gets its value when nothing on entry bound it, in this order.
struct DimSource {
  SymId symbol;         // invalid: whatever the pattern mentions
  RoutineId global;     // the integer that it gives
  Register value = -1;  // an integer, or a value whose shape fits `pattern`
  PatternId pattern;
};

// A fact that must hold on entry of MAIN, under guards.
struct RoutineFact {
  enum class Relation : uint8_t { Eq, Ne, Le, Lt, IsTrue, IsFalse, IsNull, NotNull };
  Relation relation = Relation::Eq;
  IntId left, right;  // invalid: the registers
  Register left_value = -1, right_value = -1;
  std::string left_text, right_text;
};
struct RoutineCheck {
  RoutineFact fact;
  std::vector<RoutineFact> guards;
};

struct RoutineInput {
  std::string name;
  PatternId pattern;
  bool optional = false;
  bool has_default = false;
  Literal fallback;    // MAIN: what a missing input is,
  RoutineId computed;  // or what gives it, where it is no literal
};
struct RoutineOutput {
  std::string name;  // MAIN only
  Register value = -1;
  PatternId pattern;
};
// Inputs are the first registers.
struct Routine {
  std::string name;
  int32_t registers = 0;
  std::vector<RoutineInput> inputs;
  std::vector<DimSource> named;    // symbols that are integer inputs, bound on entry
  std::vector<DimSource> sources;  // for symbols that are read and may not be bound on entry
  std::vector<RoutineCheck> checks;
  std::vector<GeneralInstr> code;
  std::vector<RoutineOutput> outputs;
};

}  // namespace axon::runtime
