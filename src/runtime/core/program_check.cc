// What the ids, sizes and operands of a Program that was read may name.
#include "runtime/core/program_check.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace axon::runtime {
namespace {

class Checker {
 public:
  explicit Checker(const Program& program) : p_(program) {}

  // Null, or what is wrong.
  const char* run() {
    for (const Symbol& s : p_.symbols) optional_int(s.upper);
    for (size_t i = 0; i < p_.ints.size(); ++i) int_expr(i);
    for (const Weight& w : p_.weights) sizes(w.shape);
    for (const Constant& c : p_.constants) constant(c);
    for (const State& s : p_.states) state(s);
    for (const StateScalar& s : p_.scalars) symbol(s.symbol);
    for (const Phase& phase : p_.phases) this->phase(phase);
    for (const Pattern& p : p_.patterns) pattern(p);
    for (size_t i = 0; i < p_.routines.size(); ++i) routine(i);
    return why_;
  }

 private:
  void need(bool good, const char* why) {
    if (!good && !why_) why_ = why;
  }
  template <class Id>
  void id(Id id, size_t count, const char* why) {
    need(id.index >= 0 && static_cast<size_t>(id.index) < count, why);
  }
  void symbol(SymId s) { id(s, p_.symbols.size(), "symbol out of range"); }
  void integer(IntId e) { id(e, p_.ints.size(), "expression out of range"); }
  void optional_int(IntId e) {
    if (e.index != -1) integer(e);
  }
  void integers(const std::vector<IntId>& list) {
    for (IntId e : list) integer(e);
  }
  void sizes(const std::vector<int64_t>& shape) {
    need(shape.size() <= 16, "too many axes");
    for (int64_t d : shape) need(d >= 0, "negative size");
  }
  void int_expr(size_t i) {
    const IntExpr& e = p_.ints[p_.ints.id_at(i)];
    if (e.kind == IntExpr::Kind::Sym) return symbol(e.sym);
    if (e.kind == IntExpr::Kind::Const) return;
    id(e.a, i, "expression uses a later one");
    id(e.b, i, "expression uses a later one");
  }
  void constant(const Constant& c) {
    sizes(c.shape);
    need(c.dtype != DType::Unknown, "constant without element type");
    if (why_) return;
    size_t bytes = dtype_size(c.dtype);
    for (int64_t d : c.shape) {
      if (__builtin_mul_overflow(bytes, static_cast<size_t>(d), &bytes))
        return need(false, "constant too large");
    }
    need(bytes == c.bytes.size(), "constant of another size than its shape");
  }
  void state(const State& s) {
    integers(s.shape);
    auto rank = static_cast<int32_t>(s.shape.size());
    need(s.row_axis >= 0 && s.row_axis < rank, "row axis out of range");
    need(s.token_axis >= -1 && s.token_axis < rank, "token axis out of range");
  }
  void place(const Phase& phase, const Value& v) {
    if (auto* w = std::get_if<PlaceWeight>(&v.place))
      id(w->weight, p_.weights.size(), "weight out of range");
    if (auto* c = std::get_if<PlaceConstant>(&v.place))
      id(c->constant, p_.constants.size(), "constant out of range");
    if (auto* s = std::get_if<PlaceState>(&v.place))
      id(s->state, p_.states.size(), "state out of range");
    if (auto* a = std::get_if<PlaceArena>(&v.place)) integer(a->offset);
    if (auto* in = std::get_if<PlaceInput>(&v.place)) {
      need(in->input >= 0 && static_cast<size_t>(in->input) < phase.inputs.size(),
           "input out of range");
    }
    if (auto* view = std::get_if<PlaceView>(&v.place)) {
      id(view->of, phase.values.size(), "view of no value");
      integer(view->offset);
      integers(view->strides);
      need(view->strides.size() == v.shape.size(), "view with other rank than its value");
      if (!why_) need(phase.values[view->of].place_kind() != PlaceKind::View, "view of a view");
    }
  }
  void instr(const Phase& phase, const Instr& i) {
    for (ValId v : i.inputs) {
      if (v.index != -1) id(v, phase.values.size(), "operand out of range");
    }
    for (ValId v : i.outputs) id(v, phase.values.size(), "result out of range");
    for (const Param& p : i.params) {
      if (auto* e = std::get_if<IntId>(&p.value)) integer(*e);
    }
    optional_int(i.workspace);
    optional_int(i.workspace_offset);
    need(i.workspace.valid() == i.workspace_offset.valid(), "workspace without place");
  }
  void pattern(const Pattern& p) {
    for (IntId e : p.axes) optional_int(e);
    need(p.axes.size() <= 64, "too many axes");
    bool one = p.kind == Pattern::Kind::List;
    need(!one || p.items.size() == 1, "a list type without item");
    for (const Pattern& item : p.items) pattern(item);
  }
  void optional_pattern(PatternId p) {
    if (p.index != -1) id(p, p_.patterns.size(), "type out of range");
  }
  // A routine calls earlier ones only: nothing recurs.
  void callee(RoutineId r, size_t before) { id(r, before, "routine calls a later one"); }
  void reg(Register r, const Routine& of) {
    need(r >= 0 && r < of.registers, "register out of range");
  }
  void optional_reg(Register r, const Routine& of) {
    need(r < of.registers, "register out of range");
  }
  void fact(const RoutineFact& f, const Routine& of) {
    optional_int(f.left);
    optional_int(f.right);
    optional_reg(f.left_value, of);
    optional_reg(f.right_value, of);
    need(f.left.valid() || f.left_value >= 0, "fact without operand");
    bool unary = f.relation >= RoutineFact::Relation::IsTrue;
    need(unary || f.right.valid() || f.right_value >= 0, "fact without operand");
  }
  void source(const DimSource& s, const Routine& of, size_t self) {
    if (s.symbol.index != -1) symbol(s.symbol);
    if (s.global.index != -1) callee(s.global, self);
    optional_reg(s.value, of);
    optional_pattern(s.pattern);
    need(s.global.valid() || s.value >= 0, "size from nowhere");
    need(s.symbol.valid() || s.pattern.valid(), "size of nothing");
  }
  void routine(size_t self) {
    const Routine& r = p_.routines[p_.routines.id_at(self)];
    need(r.registers >= 0 && r.registers < (1 << 24), "too many registers");
    need(static_cast<size_t>(r.registers) >= r.inputs.size(), "too few registers");
    for (const RoutineInput& in : r.inputs) {
      optional_pattern(in.pattern);
      if (in.computed.index == -1) continue;
      callee(in.computed, self);
      if (!in.computed.valid() || static_cast<size_t>(in.computed.index) >= self) continue;
      const Routine& computed = p_.routines[in.computed];
      need(computed.inputs.empty() && computed.outputs.size() == 1, "default of another form");
    }
    for (const DimSource& s : r.named) source(s, r, self);
    for (const DimSource& s : r.sources) source(s, r, self);
    for (const RoutineCheck& c : r.checks) {
      fact(c.fact, r);
      for (const RoutineFact& g : c.guards) fact(g, r);
    }
    for (size_t i = 0; i < r.code.size(); ++i) general(r, i, self);
    for (const RoutineOutput& out : r.outputs) {
      reg(out.value, r);
      optional_pattern(out.pattern);
    }
  }
  void general(const Routine& r, size_t at, size_t self) {
    const GeneralInstr& i = r.code[at];
    for (Register in : i.inputs) optional_reg(in, r);
    for (Register in : i.outputs) reg(in, r);
    for (Register in : i.dead) reg(in, r);
    for (const PathPart& part : i.path) optional_reg(part.from, r);
    optional_pattern(i.pattern);
    size_t least = 0;
    switch (i.code) {
      case GeneralCode::Dim:
        integer(i.dim);
        break;
      case GeneralCode::Move:
      case GeneralCode::Branch:
        least = 1;
        break;
      case GeneralCode::Ascribe:
        least = 1;
        id(i.pattern, p_.patterns.size(), "type out of range");
        break;
      case GeneralCode::Global:
        callee(i.routine, self);
        break;
      case GeneralCode::Call:
        callee(i.routine, self);
        if (!why_)
          need(p_.routines[i.routine].inputs.size() == i.inputs.size(), "arguments of a call");
        break;
      case GeneralCode::Loop:
        loop(i, self);
        break;
      default:
        break;
    }
    need(i.inputs.size() >= least, "operand missing");
    for (size_t n = 0; n < least && !why_; ++n) reg(i.inputs[n], r);
    bool goes = i.code == GeneralCode::Branch || i.code == GeneralCode::Jump;
    // Forwards only: a routine ends.
    need(!goes || (i.target > static_cast<int64_t>(at) &&
                   i.target <= static_cast<int64_t>(r.code.size())),
         "jump out of range");
    bool looks = i.code == GeneralCode::Loop || i.code == GeneralCode::Ascribe;
    need(goes || looks || !i.outputs.empty(), "result goes nowhere");
  }
  void loop(const GeneralInstr& i, size_t self) {
    callee(i.routine, self);
    size_t carries = i.carries < 0 ? i.inputs.size() : static_cast<size_t>(i.carries);
    need(i.inputs.size() >= 3 + carries && i.carries >= 0, "operands of a loop");
    if (why_) return;
    need(p_.routines[i.routine].inputs.size() == i.args.size(), "arguments of a loop");
    need(i.outputs.size() <= std::max<size_t>(carries, 1), "results of a loop");
    for (const LoopArg& arg : i.args) {
      size_t count = arg.kind == LoopArg::Kind::Carry   ? carries
                     : arg.kind == LoopArg::Kind::Input ? i.inputs.size()
                                                        : 1;
      need(arg.index >= 0 && static_cast<size_t>(arg.index) < count, "argument of a loop");
    }
  }
  void phase(const Phase& phase) {
    if (phase.routine.index != -1) id(phase.routine, p_.routines.size(), "routine out of range");
    for (const Input& in : phase.inputs) {
      integers(in.shape);
      if (in.is_scalar) symbol(in.symbol);
    }
    for (const Value& v : phase.values) {
      integers(v.shape);
      need(v.shape.size() <= 16, "too many axes");
      place(phase, v);
    }
    for (const Instr& i : phase.code) instr(phase, i);
    for (const Output& o : phase.outputs) id(o.value, phase.values.size(), "output out of range");
    for (const ScalarUpdate& u : phase.updates) {
      need(u.scalar >= 0 && static_cast<size_t>(u.scalar) < p_.scalars.size(),
           "scalar out of range");
      integer(u.value);
    }
    for (const EntryCheck& c : phase.checks) {
      integer(c.left);
      integer(c.right);
    }
    integer(phase.arena_bytes);
  }

  const Program& p_;
  const char* why_ = nullptr;
};

}  // namespace

const char* unsound(const Program& program) { return Checker(program).run(); }

}  // namespace axon::runtime
