// The typed Graph (language.md 12): one Node struct for every operation, in stores named by ids.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ops/op.h"
#include "source/span.h"
#include "support/store.h"
#include "types/dtype.h"
#include "types/type.h"

namespace axon::graph {

AXON_ID(ValueId);   // within a module
AXON_ID(NodeId);    // within a module
AXON_ID(NestedId);  // a nested expression, within a module
AXON_ID(ModuleId);  // within a graph

// ---- operands ------------------------------------------------------------------------------

// A piece of a path segment, as in the syntax: literal text, or a placeholder that names a value.
struct PathPiece {
  NameId text;  // literal text, or the printed name of the placeholder
  bool placeholder = false;
  bool joined = false;  // continues the segment of the piece before it
  ValueId value;        // placeholder: the value it reads (an invalid id means the dim `dim`)
  DimId dim;            // placeholder on a dim symbol
  ModuleId global;      // placeholder on a global binding
  friend bool operator==(const PathPiece&, const PathPiece&) = default;
};
struct Path {
  bool absolute = true;
  std::vector<PathPiece> pieces;
  friend bool operator==(const Path&, const Path&) = default;
};

struct Ref {
  ValueId value;
};
struct GlobalRef {
  ModuleId module;
};  // the value of a global binding
struct DimRef {
  DimId dim;
};  // a symbolic integer; a literal Dim is a DimRef too
struct LitNull {};
struct LitBool {
  bool value = false;
};
struct LitInt {
  int64_t value = 0;
};
struct LitFloat {
  double value = 0;
};
struct LitString {
  NameId value;
};
struct Nested {
  NestedId expr;
};  // evaluated lazily only under core.select

enum class OperandKind : uint8_t { Ref, Global, Dim, Null, Bool, Int, Float, String, Path, Nested };
struct Operand {
  std::variant<Ref, GlobalRef, DimRef, LitNull, LitBool, LitInt, LitFloat, LitString, Path, Nested>
      data = LitNull{};
  TypeId type;
  OperandKind kind() const { return static_cast<OperandKind>(data.index()); }
  template <class T>
  const T& as() const {
    return std::get<T>(data);
  }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* get() {
    return std::get_if<T>(&data);
  }
};

// ---- nodes ---------------------------------------------------------------------------------

struct Attr {
  NameId name;
  Operand value;
};

struct NestedExpr {
  Op op = Op::CoreAlias;
  ModuleId callee;  // CoreCall
  std::vector<Operand> inputs;
  std::vector<Attr> attrs;
  TypeId type;
  Span span;
};

// How the callee of core.repeat gets its arguments.
struct RepeatArg {
  enum class Kind : uint8_t { Iter, Carry, Input } kind = Kind::Iter;
  int32_t index = 0;  // Carry: which carry; Input: index into Node::inputs
};
// Facts of core.repeat (language.md 12.4). Node::inputs = from, to, step, initial carries, others.
struct RepeatInfo {
  ModuleId callee;
  NameId var;
  std::vector<NameId> carry_names;
  std::vector<RepeatArg> args;
  std::vector<int32_t> scan_inputs;    // marks: list inputs only indexed at the loop variable
  std::vector<int32_t> stack_carries;  // marks: list carries only appended to once per round
};

struct Node {
  Op op = Op::CoreAlias;
  ModuleId callee;  // CoreCall
  std::vector<Operand> inputs;
  std::vector<Attr> attrs;  // fused rows, and primitives' keyword operands after optimisation
  std::vector<ValueId> outputs;
  int32_t repeat = -1;  // CoreRepeat: index into Module::repeats
  NameId source;        // the source definition that the node came from
  Path scope;           // its lexical prefix; structural equality includes it
  Span span;
  std::vector<Span> more_spans;  // of merged nodes
  TypeId type;                   // of the whole result: a tuple when there are several outputs
};

struct Value {
  NameId name;  // unique within its module
  TypeId type;
  DType dtype = DType::Unknown;  // tensors; filled by the dtype rules
  bool optional = false;         // inputs declared `?T`
  NodeId producer;               // invalid for inputs
  int32_t output_index = 0;
};

// A fact `left rel right`, under guards (language.md 6.14).
enum class Relation : uint8_t { Eq, Ne, Le, Lt, IsTrue, IsFalse, IsNull, NotNull };
struct Fact {
  Relation relation = Relation::Eq;
  Operand left, right;
};
struct Constraint {
  Fact fact;
  std::vector<Fact> guards;
  Span span;
};

struct InputDefault {
  int32_t input = 0;
  Operand value;
};

struct Module {
  NameId name;
  std::vector<ValueId> inputs;
  Store<ValueId, Value> values;
  Store<NodeId, Node> nodes;  // storage; execution order is `order`
  std::vector<NodeId> order;
  Store<NestedId, NestedExpr> nested;
  std::vector<RepeatInfo> repeats;
  std::vector<Operand> outputs;
  std::vector<NameId> output_names;  // MAIN: fixed by the return statement (14.3)
  TypeId return_type;
  std::vector<Constraint> constraints;
  std::vector<InputDefault> defaults;  // MAIN: interface defaults (14.2)
  bool is_global = false;              // a global binding: no inputs, one output
  Span span;
};

struct Pragma {
  NameId name;
  std::string value;
};  // value in source form

// A whole program. Types, dims and names belong to the session that made it.
struct Graph {
  std::vector<Module> modules;  // dependencies first
  ModuleId main;
  std::vector<Pragma> pragmas;
  Module& operator[](ModuleId id) { return modules[static_cast<size_t>(id.index)]; }
  const Module& operator[](ModuleId id) const { return modules[static_cast<size_t>(id.index)]; }
};

}  // namespace axon::graph
