// The portable Program (design.md 4): what the planner makes and the runtime binds and runs. It
// names kernel operations, weights and states, holds no pointer and no machine fact, and is
// serialisable. This header knows nothing of graphs, syntax or types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/core/general.h"
#include "runtime/core/int_expr.h"
#include "support/ids.h"
#include "support/result.h"
#include "support/store.h"
#include "types/dtype.h"

namespace axon::runtime {

AXON_ID(ValId);  // a value of a phase
AXON_ID(WeightId);
AXON_ID(StateId);
AXON_ID(ConstId);

// ---- weights, constants, states ------------------------------------------------------------

// A logical weight: a tree over stored tensors (the loader knows their bytes; bind decides
// residency).
struct WeightNode {
  enum class Kind : uint8_t {
    Param,      // the stored tensor `name` (after the key resolution of model/param_index.h)
    Concat,     // parts joined on `axis`
    Stack,      // parts on a new axis 0 (a bank: a table of views, never copied)
    Slice,      // rows [from, to) of `axis` of the one part
    Select,     // item `from` of axis 0 of the one part
    Transpose,  // last two axes swapped
  } kind = Kind::Param;
  std::string name;
  int32_t axis = 0;
  int64_t from = 0, to = 0;
  std::vector<WeightNode> parts;
};
struct Weight {
  WeightNode source;
  std::vector<int64_t> shape;      // logical
  Storage storage = Storage::F32;  // of the stored parts, as the planner saw the header
  enum class Use : uint8_t { Elementwise, Matrix, Rows } use = Use::Elementwise;
};

// A tensor computed at plan time (rotary frequencies, slopes). Bytes are little-endian, contiguous.
struct Constant {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::string bytes;
};

// What survives between calls (design.md 4.2). One state is one leaf of the cache tree.
struct State {
  std::string name;  // place in the tree, e.g. `cache.0.3.1`
  // Fixed: written by the phase `encode` and only read by the others.
  enum class Kind : uint8_t { Token, Recurrent, Opaque, Fixed } kind = Kind::Token;
  DType dtype = DType::F32;  // as the program computes it; stores may be narrower (policy)
  std::vector<IntId> shape;  // of the whole leaf: [B,H,C,D] over shape symbols
  int32_t row_axis = 0;      // batch axis
  int32_t token_axis = -1;   // Token: the capacity axis
  int64_t window = -1;       // Token: keys further back are never read (-1: none)
};
// A scalar leaf of the cache tree: a data symbol that a call updates.
struct StateScalar {
  std::string name;
  SymId symbol;  // its value during a call of `extend`
  int64_t initial = 0;
};

// ---- values --------------------------------------------------------------------------------

struct PlaceWeight {
  WeightId weight;
};
struct PlaceConstant {
  ConstId constant;
};
struct PlaceInput {
  int32_t input = -1;
};
struct PlaceState {
  StateId state;
};
struct PlaceArena {
  IntId offset;
};                  // bytes from the arena's start, 64-byte aligned
struct PlaceView {  // strided view; offset and strides in elements
  ValId of;         // never itself a view
  IntId offset;
  std::vector<IntId> strides;
};
struct PlaceNone {};  // an output that nothing reads

enum class PlaceKind : uint8_t { None, Weight, Constant, Input, State, Arena, View };
struct Value {
  DType dtype = DType::F32;
  std::vector<IntId> shape;  // contiguous row-major unless a view
  std::variant<PlaceNone, PlaceWeight, PlaceConstant, PlaceInput, PlaceState, PlaceArena, PlaceView>
      place;
  std::string name;        // for traces and messages
  bool quantised = false;  // result of quantize_rows: blocks of int8 with scales
  PlaceKind place_kind() const { return static_cast<PlaceKind>(place.index()); }
};

// ---- instructions --------------------------------------------------------------------------

// Stable operation numbers; see operations.def for operands and parameters.
enum class Operation : uint16_t {
#define AXON_OPERATION(ident, name, number, version, in, out, operands, params) ident = number,
#include "runtime/core/operations.def"
};
// Strides that an operation takes, from the strictest to the freest.
enum class Layout : uint8_t {
  Dense,     // row-major without gaps
  Matrix,    // last axis of stride 1; the leading axes collapse to one row stride
  UnitLast,  // last axis of stride 1, any other strides
  Any,       // any strides, 0 included
};
struct OperationInfo {
  std::string_view name;
  int version = 1;
  Layout in = Layout::Dense;
  Layout out = Layout::Dense;  // what a planner may ask of the outputs
  std::string_view operands;   // `x[…,K] weight[O,K] ?bias[O] -> y[…,O]`
  std::string_view params;
};
const OperationInfo* operation_info(Operation operation);  // null: no such number

enum class Activation : uint8_t { None, Relu, Relu2, Silu, Gelu, GeluTanh, Sigmoid, Tanh };
enum class UnaryCode : uint8_t {
  Neg,
  Exp,
  Log,
  Sin,
  Cos,
  Acos,
  Sqrt,
  Rsqrt,
  Floor,
  Round,
  Relu,
  Relu2,
  Silu,
  Gelu,
  GeluTanh,
  Sigmoid,
  Tanh,
  Not,
  Abs
};
enum class BinaryCode : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Pow,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or
};
enum class ReduceCode : uint8_t { Sum, Max, Min, Prod, Mean };

// How an instruction may compute (design.md 4.4). Presets are made of these.
struct NumericPolicy {
  enum class Activations : uint8_t { F32, BF16, Int8Block } activations = Activations::F32;
  enum class Products : uint8_t { F32, SplitBF16, BF16, Int } products = Products::F32;
  DType store = DType::F32;
  bool reassociate = true;
};

// An operation's parameter: an integer expression, or a plain value.
using ParamValue = std::variant<IntId, int64_t, double, bool, std::string>;
struct Param {
  std::string name;
  ParamValue value;
};

struct Instr {
  Operation operation{};
  std::vector<ValId> inputs;  // in the order of operations.def; an invalid id is an absent operand
  std::vector<ValId> outputs;
  std::vector<Param> params;
  NumericPolicy policy;
  IntId workspace;  // bytes at `workspace_offset` of the arena; invalid: none
  IntId workspace_offset;
  bool barrier = true;  // a consumer's slice crosses a producer's: all workers wait before it
  std::string source;   // `llama.axon:41`, for messages and traces
  std::string scope;    // lexical prefix, attributes time and memory

  const ParamValue* param(std::string_view name) const;
};

// ---- phases --------------------------------------------------------------------------------

// Shape symbols are bound by the shapes of the given inputs (an axis that is a plain symbol) and by
// scalar inputs; data symbols by scalar inputs and by the state scalars.
struct Input {
  std::string name;  // of MAIN: `input_ids`; inside a tuple: `attn_mask.0`; or `logit_rows`
  DType dtype = DType::I64;
  std::vector<IntId> shape;  // empty with is_scalar
  bool is_scalar = false;    // a data symbol given by the caller
  SymId symbol;
};
struct Output {
  std::string name;  // logits, last_hidden_state, …
  ValId value;
};
struct ScalarUpdate {
  int32_t scalar = 0;
  IntId value;
};  // new value of a StateScalar after the call

// A fact that must hold on entry.
struct EntryCheck {
  enum class Relation : uint8_t {
    Eq,      // RUN-SHAPE
    Le,      // RUN-INDEX
    Fits,    // `left` <= `right`, which are sizes: RUN-SHAPE
    NotZero  // `left`: RUN-DIV-ZERO
  } relation = Relation::Eq;
  IntId left, right;
  std::string what;  // for the message: both places
};

struct Phase {
  std::string name;     // start, extend, step, score, encode
  bool masked = false;  // takes the padding mask as an input; else every token is real
  bool selects_rows =
      false;  // takes `logit_rows[R]` (rows of the flattened [B*S]); `logits` is [R,V]
  std::vector<Input> inputs;
  Store<ValId, Value> values;
  std::vector<Instr> code;
  std::vector<Output> outputs;
  std::vector<ScalarUpdate> updates;
  std::vector<EntryCheck> checks;
  IntId arena_bytes;               // size of the arena over shape symbols
  RoutineId routine;               // general: this runs instead of `code`; `inputs` may be unknown
  std::vector<std::string> notes;  // what the planner could not do as well as it wished
};

struct Program {
  static constexpr uint32_t kFormat = 4;  // of the serialised form
  std::string model;                      // program name, e.g. llama
  std::string task;                       // causal_lm, masked_lm, …
  Store<SymId, Symbol> symbols;
  Store<IntId, IntExpr> ints;
  Store<WeightId, Weight> weights;
  Store<ConstId, Constant> constants;
  Store<StateId, State> states;
  std::vector<StateScalar> scalars;
  std::vector<Phase> phases;
  Store<PatternId, Pattern> patterns;
  Store<RoutineId, Routine> routines;  // callees first

  // Instructions of the routines: 0 when every phase is a straight line.
  int64_t general_instructions() const;
  const Phase* phase(std::string_view name, bool masked = false) const;
  IntId constant(int64_t value);
  IntId symbol(SymId sym);
  // Folds constants and simple identities; equal expressions get one id.
  IntId make(IntExpr::Kind kind, IntId a, IntId b);
  // Index of `ints` for make(); rebuilt from them where it is missing.
  std::unordered_multimap<size_t, IntId> int_index;
};

// Nothing when a symbol is unbound, or on overflow or division by zero.
bool evaluate(const Program& program, const Bindings& bindings, IntId expr, int64_t& out);

std::string_view spelling(Operation operation);
// Text for people and tests (the `plan` stage), deterministic.
std::string show(const Program& program);
// Bytes that read back to an equal Program.
std::string serialise(const Program& program);
// Every id, enumerator, count and length is checked: FILE-FORMAT with the offset.
Result<Program> deserialise(std::string_view bytes);

}  // namespace axon::runtime
