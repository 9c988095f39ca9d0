// The portable Program (design.md 4): what the planner makes and the runtime binds and runs. It names
// kernel operations, weights and states, holds no pointer and no machine fact, and is serialisable.
// This header knows nothing of graphs, syntax or types.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "support/ids.h"
#include "support/store.h"
#include "types/dtype.h"

namespace axon::runtime {

AXON_ID(SymId);     // a symbol of the program
AXON_ID(IntId);     // an integer expression
AXON_ID(ValId);     // a value of a phase
AXON_ID(WeightId);
AXON_ID(StateId);
AXON_ID(ConstId);

// ---- integers ------------------------------------------------------------------------------

enum class SymKind : uint8_t {
  Shape,  // buffer sizes depend on it: B, S, C
  Data,   // lengths, positions, counts: operands only, with a proven upper bound
};
struct Symbol {
  std::string name;
  SymKind kind = SymKind::Shape;
  IntId upper;       // Data: bound over shape symbols
};

// Expressions over symbols; operands come before their users in the store.
struct IntExpr {
  enum class Kind : uint8_t { Const, Sym, Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max } kind =
      Kind::Const;
  int64_t value = 0;  // Const
  SymId sym;          // Sym
  IntId a, b;
};

// ---- weights, constants, states ------------------------------------------------------------

// A logical weight: a tree over stored tensors (the loader knows their bytes; bind decides residency).
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
  std::string name;                     // place in the tree, e.g. `cache.0.3.1`
  enum class Kind : uint8_t { Token, Recurrent, Opaque } kind = Kind::Token;
  DType dtype = DType::F32;             // as the program computes it; stores may be narrower (policy)
  std::vector<IntId> shape;             // of the whole leaf: [B,H,C,D] over shape symbols
  int32_t row_axis = 0;                 // batch axis
  int32_t token_axis = -1;              // Token: the capacity axis
  int64_t window = -1;                  // Token: keys further back are never read (-1: none)
};
// A scalar leaf of the cache tree: a data symbol that a call updates.
struct StateScalar {
  std::string name;
  SymId symbol;       // its value during a call of `extend`
  int64_t initial = 0;
};

// ---- values --------------------------------------------------------------------------------

struct PlaceWeight { WeightId weight; };
struct PlaceConstant { ConstId constant; };
struct PlaceInput { int32_t input = -1; };
struct PlaceState { StateId state; };
struct PlaceArena { IntId offset; };              // bytes from the arena's start, 64-byte aligned
struct PlaceView {                                // strided view; offset and strides in elements
  ValId of;                                       // never itself a view
  IntId offset;
  std::vector<IntId> strides;
};
struct PlaceNone {};                              // an output that nothing reads

enum class PlaceKind : uint8_t { None, Weight, Constant, Input, State, Arena, View };
struct Value {
  DType dtype = DType::F32;
  std::vector<IntId> shape;                       // contiguous row-major unless a view
  std::variant<PlaceNone, PlaceWeight, PlaceConstant, PlaceInput, PlaceState, PlaceArena, PlaceView>
      place;
  std::string name;                               // for traces and messages
  bool quantised = false;                         // result of quantize_rows: blocks of int8 with scales
  PlaceKind place_kind() const { return static_cast<PlaceKind>(place.index()); }
};

// ---- instructions --------------------------------------------------------------------------

// Stable operation numbers; see operations.def for operands and parameters.
enum class Operation : uint16_t {
#define AXON_OPERATION(ident, name, number, version, operands, params) ident = number,
#include "runtime/core/operations.def"
};

enum class Activation : uint8_t { None, Relu, Relu2, Silu, Gelu, GeluTanh, Sigmoid, Tanh };
enum class UnaryCode : uint8_t {
  Neg, Exp, Log, Sin, Cos, Acos, Sqrt, Rsqrt, Floor, Round, Relu, Relu2, Silu, Gelu, GeluTanh, Sigmoid, Tanh,
  Not, Abs
};
enum class BinaryCode : uint8_t {
  Add, Sub, Mul, Div, Mod, Pow, Min, Max, Eq, Ne, Lt, Le, Gt, Ge, And, Or
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
  std::vector<ValId> inputs;      // in the order of operations.def; an invalid id is an absent operand
  std::vector<ValId> outputs;
  std::vector<Param> params;
  NumericPolicy policy;
  IntId workspace;                // bytes at `workspace_offset` of the arena; invalid: none
  IntId workspace_offset;
  bool barrier = true;            // a consumer's slice crosses a producer's: all workers wait before it
  std::string source;             // `llama.axon:41`, for messages and traces
  std::string scope;              // lexical prefix, attributes time and memory
};

// ---- phases --------------------------------------------------------------------------------

struct Input {
  std::string name;               // of MAIN: input_ids, attn_mask, …; or generated: logit_rows
  DType dtype = DType::I64;
  std::vector<IntId> shape;       // empty with is_scalar
  bool is_scalar = false;         // a data symbol given by the caller
  SymId symbol;
};
struct Output {
  std::string name;               // logits, last_hidden_state, …
  ValId value;
};
struct ScalarUpdate { int32_t scalar = 0; IntId value; };  // new value of a StateScalar after the call

struct Phase {
  std::string name;               // start, extend, step, score, encode
  std::vector<Input> inputs;
  Store<ValId, Value> values;
  std::vector<Instr> code;
  std::vector<Output> outputs;
  std::vector<ScalarUpdate> updates;
  IntId arena_bytes;              // size of the arena over shape symbols
  std::vector<std::string> notes; // what the planner could not do as well as it wished
};

struct Program {
  std::string model;              // program name, e.g. llama
  std::string task;               // causal_lm, masked_lm, …
  Store<SymId, Symbol> symbols;
  Store<IntId, IntExpr> ints;
  Store<WeightId, Weight> weights;
  Store<ConstId, Constant> constants;
  Store<StateId, State> states;
  std::vector<StateScalar> scalars;
  std::vector<Phase> phases;

  const Phase* phase(std::string_view name) const;
  IntId constant(int64_t value);
  IntId symbol(SymId sym);
  // Folds constants and simple identities; equal expressions get one id.
  IntId make(IntExpr::Kind kind, IntId a, IntId b);
};

// Values of symbols during a call, and the evaluation of expressions over them.
struct Bindings {
  std::vector<int64_t> values;    // by SymId
  std::vector<bool> known;
};
// Nothing when a symbol is unbound, or on overflow or division by zero.
bool evaluate(const Program& program, const Bindings& bindings, IntId expr, int64_t& out);

std::string_view spelling(Operation operation);
// Text for people and tests (the `plan` stage), deterministic.
std::string show(const Program& program);
// Bytes that read back to an equal Program; checked on reading (FILE-FORMAT).
std::string serialise(const Program& program);

}  // namespace axon::runtime
