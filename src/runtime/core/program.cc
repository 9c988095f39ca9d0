// Building and querying Programs.
#include "runtime/core/program.h"

#include <algorithm>

#include "support/check.h"

namespace axon::runtime {
namespace {

size_t hash_of(const IntExpr& e) {
  size_t h = hash_mix(static_cast<size_t>(e.kind), static_cast<size_t>(e.value));
  h = hash_mix(h, static_cast<size_t>(e.sym.index + 1));
  h = hash_mix(h, static_cast<size_t>(e.a.index + 1));
  return hash_mix(h, static_cast<size_t>(e.b.index + 1));
}

IntId intern(Program& program, const IntExpr& e) {
  if (program.int_index.size() != program.ints.size()) {
    program.int_index.clear();
    for (size_t i = 0; i < program.ints.size(); ++i) {
      IntId id = program.ints.id_at(i);
      program.int_index.emplace(hash_of(program.ints[id]), id);
    }
  }
  size_t hash = hash_of(e);
  auto [from, to] = program.int_index.equal_range(hash);
  for (auto it = from; it != to; ++it) {
    if (program.ints[it->second] == e) return it->second;
  }
  IntId id = program.ints.add(e);
  program.int_index.emplace(hash, id);
  return id;
}

// The constant value of an expression without symbols of its own.
bool constant_of(const Program& program, IntId id, int64_t& out) {
  const IntExpr& e = program.ints[id];
  if (e.kind != IntExpr::Kind::Const) return false;
  out = e.value;
  return true;
}

// Identities with one constant operand; an invalid id where none applies.
IntId fold_right_constant(Program& program, IntExpr::Kind kind, IntId a, int64_t b) {
  using Kind = IntExpr::Kind;
  bool additive = kind == Kind::Add || kind == Kind::Sub;
  bool division = kind == Kind::FloorDiv || kind == Kind::CeilDiv;
  if (b == 0 && additive) return a;
  if (b == 0 && kind == Kind::Mul) return program.constant(0);
  if (b == 1 && (kind == Kind::Mul || division)) return a;
  if (b == 1 && kind == Kind::Mod) return program.constant(0);
  const IntExpr inner = program.ints[a];
  int64_t c = 0;
  if (inner.kind != kind || additive == (kind == Kind::Mul)) return {};
  if (!constant_of(program, inner.b, c)) return {};
  int64_t merged = 0;
  if (kind == Kind::Mul && !__builtin_mul_overflow(b, c, &merged)) {
    return program.make(Kind::Mul, inner.a, program.constant(merged));
  }
  if (additive && !__builtin_add_overflow(b, c, &merged)) {
    return program.make(kind, inner.a, program.constant(merged));
  }
  return {};
}

}  // namespace

const OperationInfo* operation_info(Operation operation) {
  struct Row {
    Operation operation;
    OperationInfo info;
  };
  static constexpr Row kRows[] = {
#define AXON_OPERATION(ident, name, number, version, in, out, operands, params) \
  {Operation::ident, {name, version, Layout::in, Layout::out, operands, params}},
#include "runtime/core/operations.def"
  };
  for (const Row& row : kRows) {
    if (row.operation == operation) return &row.info;
  }
  return nullptr;
}

std::string_view spelling(Operation operation) {
  const OperationInfo* info = operation_info(operation);
  return info ? info->name : "unknown";
}

const ParamValue* Instr::param(std::string_view name) const {
  for (const Param& p : params) {
    if (p.name == name) return &p.value;
  }
  return nullptr;
}

std::string_view spelling(GeneralCode code) {
  static constexpr std::string_view kNames[] = {"literal", "move", "apply",  "list",    "tuple",
                                                "path",    "dim",  "global", "ascribe", "branch",
                                                "jump",    "call", "loop"};
  return kNames[static_cast<size_t>(code)];
}

int64_t Program::general_instructions() const {
  int64_t count = 0;
  for (const Routine& routine : routines) count += static_cast<int64_t>(routine.code.size());
  return count;
}

const Phase* Program::phase(std::string_view name, bool masked) const {
  for (const Phase& p : phases) {
    if (p.name == name && p.masked == masked) return &p;
  }
  return nullptr;
}

IntId Program::constant(int64_t value) {
  IntExpr e;
  e.value = value;
  return intern(*this, e);
}

IntId Program::symbol(SymId sym) {
  IntExpr e;
  e.kind = IntExpr::Kind::Sym;
  e.sym = sym;
  return intern(*this, e);
}

IntId Program::make(IntExpr::Kind kind, IntId a, IntId b) {
  using Kind = IntExpr::Kind;
  AXON_CHECK(a.valid() && b.valid(), "operands of an integer expression");
  bool commutes = kind == Kind::Add || kind == Kind::Mul || kind == Kind::Min || kind == Kind::Max;
  int64_t va = 0, vb = 0;
  bool ca = constant_of(*this, a, va), cb = constant_of(*this, b, vb);
  IntExpr e;
  e.kind = kind;
  e.a = a;
  e.b = b;
  if (ca && cb) {
    Store<IntId, IntExpr> closed;
    IntExpr x, y;
    x.value = va;
    y.value = vb;
    e.a = closed.add(x);
    e.b = closed.add(y);
    IntId result = closed.add(e);
    IntValues values;
    evaluate_all(closed, {}, values);
    int64_t value = 0;
    if (values.get(result, value)) return constant(value);
    e.a = a;
    e.b = b;
  }
  // A constant stands on the right, else the older expression on the left.
  if (commutes && (ca != cb ? ca : b < a)) {
    std::swap(e.a, e.b);
    std::swap(ca, cb);
    std::swap(va, vb);
  }
  if (e.a == e.b) {
    if (kind == Kind::Sub) return constant(0);
    if (kind == Kind::Min || kind == Kind::Max) return e.a;
  }
  if (cb) {
    IntId folded = fold_right_constant(*this, kind, e.a, vb);
    if (folded.valid()) return folded;
  }
  return intern(*this, e);
}

bool evaluate(const Program& program, const Bindings& bindings, IntId expr, int64_t& out) {
  IntValues values;
  evaluate_all(program.ints, bindings, values);
  return values.get(expr, out);
}

}  // namespace axon::runtime
