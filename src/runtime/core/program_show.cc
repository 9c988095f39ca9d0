// The text form of a Program: for people, for `dump --stage plan` and for expectations in tests.
#include <fmt/format.h>

#include "runtime/core/program.h"
#include "support/text.h"

namespace axon::runtime {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    out_ += fmt::format("program {} task {}\n", program_.model, program_.task);
    for (const Symbol& s : program_.symbols) {
      out_ += fmt::format("symbol {} {}", s.name, s.kind == SymKind::Shape ? "shape" : "data");
      if (s.upper.valid()) out_ += " <= " + show_int(s.upper);
      out_ += '\n';
    }
    for (size_t i = 0; i < program_.weights.size(); ++i) {
      const Weight& w = program_.weights[program_.weights.id_at(i)];
      out_ += fmt::format("weight w{} {} {} {}\n", i, show_source(w.source), show_sizes(w.shape),
                          storage_info(w.storage).name);
    }
    for (size_t i = 0; i < program_.constants.size(); ++i) {
      const Constant& c = program_.constants[program_.constants.id_at(i)];
      out_ += fmt::format("constant c{} {} {}\n", i, spelling(c.dtype), show_sizes(c.shape));
    }
    for (size_t i = 0; i < program_.states.size(); ++i) show_state(i);
    for (const StateScalar& s : program_.scalars) {
      out_ += fmt::format("scalar {} is {} from {}\n", s.name, program_.symbols[s.symbol].name,
                          s.initial);
    }
    for (size_t i = 0; i < program_.routines.size(); ++i) show_routine(i);
    for (const Phase& phase : program_.phases) show_phase(phase);
    return std::move(out_);
  }

 private:
  std::string show_int(IntId id, int level = 0) const {
    using Kind = IntExpr::Kind;
    if (!id.valid()) return "none";
    const IntExpr& e = program_.ints[id];
    auto infix = [&](const char* op, int mine) {
      std::string text = show_int(e.a, mine) + op + show_int(e.b, mine + 1);
      return mine < level ? "(" + text + ")" : text;
    };
    auto call = [&](const char* name) {
      return fmt::format("{}({},{})", name, show_int(e.a), show_int(e.b));
    };
    switch (e.kind) {
      case Kind::Const:
        return std::to_string(e.value);
      case Kind::Sym:
        return program_.symbols[e.sym].name;
      case Kind::Add:
        return infix("+", 1);
      case Kind::Sub:
        return infix("-", 1);
      case Kind::Mul:
        return infix("*", 2);
      case Kind::FloorDiv:
        return infix("/", 2);
      case Kind::CeilDiv:
        return call("ceil_div");
      case Kind::Mod:
        return infix("%", 2);
      case Kind::Min:
        return call("min");
      case Kind::Max:
        return call("max");
    }
    return "?";
  }

  std::string show_shape(const std::vector<IntId>& shape) const {
    std::vector<std::string> parts;
    for (IntId d : shape) parts.push_back(show_int(d));
    return "[" + join(parts, ",") + "]";
  }

  static std::string show_sizes(const std::vector<int64_t>& shape) {
    std::vector<std::string> parts;
    for (int64_t d : shape) parts.push_back(std::to_string(d));
    return "[" + join(parts, ",") + "]";
  }

  static std::string show_source(const WeightNode& node) {
    using Kind = WeightNode::Kind;
    std::vector<std::string> parts;
    for (const WeightNode& p : node.parts) parts.push_back(show_source(p));
    std::string inner = join(parts, ", ");
    switch (node.kind) {
      case Kind::Param:
        return "`" + node.name + "`";
      case Kind::Concat:
        return fmt::format("concat({}, axis={})", inner, node.axis);
      case Kind::Stack:
        return fmt::format("stack({})", inner);
      case Kind::Slice:
        return fmt::format("slice({}, axis={}, {}:{})", inner, node.axis, node.from, node.to);
      case Kind::Select:
        return fmt::format("select({}, {})", inner, node.from);
      case Kind::Transpose:
        return fmt::format("transpose({})", inner);
    }
    return "?";
  }

  void show_state(size_t i) {
    static constexpr const char* kKinds[] = {"token", "recurrent", "opaque", "fixed"};
    const State& s = program_.states[program_.states.id_at(i)];
    out_ +=
        fmt::format("state s{} {} {} {} {} rows={}", i, s.name, kKinds[static_cast<int>(s.kind)],
                    spelling(s.dtype), show_shape(s.shape), s.row_axis);
    if (s.token_axis >= 0) out_ += fmt::format(" tokens={}", s.token_axis);
    if (s.window >= 0) out_ += fmt::format(" window={}", s.window);
    out_ += '\n';
  }

  std::string show_place(const Value& v) const {
    switch (v.place_kind()) {
      case PlaceKind::None:
        return "nowhere";
      case PlaceKind::Weight:
        return fmt::format("w{}", std::get<PlaceWeight>(v.place).weight.index);
      case PlaceKind::Constant:
        return fmt::format("c{}", std::get<PlaceConstant>(v.place).constant.index);
      case PlaceKind::Input:
        return fmt::format("input {}", std::get<PlaceInput>(v.place).input);
      case PlaceKind::State:
        return fmt::format("s{}", std::get<PlaceState>(v.place).state.index);
      case PlaceKind::Arena:
        return "at " + show_int(std::get<PlaceArena>(v.place).offset);
      case PlaceKind::View: {
        const PlaceView& view = std::get<PlaceView>(v.place);
        return fmt::format("view of {} + {} strides {}", show_val(view.of), show_int(view.offset),
                           show_shape(view.strides));
      }
    }
    return "?";
  }

  static std::string show_val(ValId id) { return id.valid() ? fmt::format("%{}", id.index) : "_"; }

  std::string show_param(const Param& p) const {
    std::string text = p.name + "=";
    if (const IntId* id = std::get_if<IntId>(&p.value)) return text + show_int(*id);
    if (const int64_t* n = std::get_if<int64_t>(&p.value)) return text + std::to_string(*n);
    if (const double* d = std::get_if<double>(&p.value)) return text + show_double(*d);
    if (const bool* b = std::get_if<bool>(&p.value)) return text + (*b ? "true" : "false");
    return text + std::get<std::string>(p.value);
  }

  static std::string show_policy(const NumericPolicy& policy) {
    static constexpr const char* kActivations[] = {"f32", "bf16", "int8_block"};
    static constexpr const char* kProducts[] = {"f32", "split_bf16", "bf16", "int"};
    std::string text;
    if (policy.activations != NumericPolicy::Activations::F32) {
      text += fmt::format(" activations={}", kActivations[static_cast<int>(policy.activations)]);
    }
    if (policy.products != NumericPolicy::Products::F32) {
      text += fmt::format(" products={}", kProducts[static_cast<int>(policy.products)]);
    }
    if (policy.store != DType::F32) text += fmt::format(" store={}", spelling(policy.store));
    if (!policy.reassociate) text += " in_order";
    return text;
  }

  void show_instr(const Instr& instr) {
    std::vector<std::string> outputs, operands;
    for (ValId id : instr.outputs) outputs.push_back(show_val(id));
    for (ValId id : instr.inputs) operands.push_back(show_val(id));
    for (const Param& p : instr.params) operands.push_back(show_param(p));
    out_ += "  ";
    if (!outputs.empty()) out_ += join(outputs, ", ") + " = ";
    out_ += fmt::format("{}({})", spelling(instr.operation), join(operands, ", "));
    out_ += show_policy(instr.policy);
    if (!instr.barrier) out_ += " no_barrier";
    if (instr.workspace.valid()) {
      out_ += fmt::format(" workspace {} at {}", show_int(instr.workspace),
                          show_int(instr.workspace_offset));
    }
    if (!instr.scope.empty()) out_ += " @" + instr.scope;
    if (!instr.source.empty()) out_ += " ; " + instr.source;
    out_ += '\n';
  }

  std::string show_pattern(PatternId id) const {
    return id.valid() ? program_.patterns[id].text : std::string("_");
  }
  std::string show_routine_name(RoutineId id) const {
    return id.valid() ? fmt::format("{}#{}", program_.routines[id].name, id.index) : "_";
  }
  static std::string show_register(Register r) { return r < 0 ? "_" : fmt::format("r{}", r); }

  static std::string show_literal(const Literal& literal) {
    if (const bool* b = std::get_if<bool>(&literal)) return *b ? "true" : "false";
    if (const int64_t* n = std::get_if<int64_t>(&literal)) return std::to_string(*n);
    if (const double* d = std::get_if<double>(&literal)) return show_double(*d);
    if (const std::string* s = std::get_if<std::string>(&literal))
      return "\"" + json_escape(*s) + "\"";
    return "null";
  }

  static std::string show_path(const GeneralInstr& instr) {
    std::string text = instr.absolute ? "@" : "@.";
    for (size_t i = 0; i < instr.path.size(); ++i) {
      const PathPart& part = instr.path[i];
      if (i > 0 && !part.joined) text += '.';
      text += part.from < 0 ? part.text : "{" + show_register(part.from) + "}";
    }
    return text;
  }

  std::string show_general_operands(const GeneralInstr& instr) const {
    std::vector<std::string> parts;
    if (instr.code == GeneralCode::Literal) parts.push_back(show_literal(instr.literal));
    if (instr.code == GeneralCode::Path) parts.push_back(show_path(instr));
    if (instr.code == GeneralCode::Dim) parts.push_back(show_int(instr.dim));
    if (instr.routine.valid()) parts.push_back(show_routine_name(instr.routine));
    for (Register r : instr.inputs) parts.push_back(show_register(r));
    for (const LoopArg& arg : instr.args) {
      static constexpr const char* kKinds[] = {"iter", "carry", "input"};
      parts.push_back(fmt::format("{}{}", kKinds[static_cast<int>(arg.kind)], arg.index));
    }
    if (instr.code == GeneralCode::Branch || instr.code == GeneralCode::Jump)
      parts.push_back(fmt::format("to {}", instr.target));
    return join(parts, ", ");
  }

  void show_general(size_t at, const GeneralInstr& instr) {
    std::vector<std::string> outputs, dead;
    for (Register r : instr.outputs) outputs.push_back(show_register(r));
    for (Register r : instr.dead) dead.push_back(show_register(r));
    bool apply = instr.code == GeneralCode::Apply;
    out_ += fmt::format("  {}: ", at);
    if (!outputs.empty()) out_ += join(outputs, ", ") + " = ";
    out_ += fmt::format("{}({})", apply ? spelling(instr.op) : spelling(instr.code),
                        show_general_operands(instr));
    if (instr.pattern.valid()) out_ += " : " + show_pattern(instr.pattern);
    if (!dead.empty()) out_ += " drops " + join(dead, ", ");
    out_ += instr.source.empty() ? "\n" : " ; " + instr.source + "\n";
  }

  std::string show_fact(const RoutineFact& fact) const {
    static constexpr const char* kRelations[] = {"==",      "!=",       "<=",      "<",
                                                 "is true", "is false", "is null", "is not null"};
    auto relation = static_cast<size_t>(fact.relation);
    std::string text = fact.left_text + " " + kRelations[relation];
    return relation < 4 ? text + " " + fact.right_text : text;
  }

  void show_routine(size_t i) {
    const Routine& r = program_.routines[program_.routines.id_at(i)];
    out_ += fmt::format("routine {}#{} registers {}\n", r.name, i, r.registers);
    for (size_t n = 0; n < r.inputs.size(); ++n) {
      const RoutineInput& in = r.inputs[n];
      out_ += fmt::format("  input r{} {}{} : {}", n, in.optional ? "?" : "", in.name,
                          show_pattern(in.pattern));
      if (in.has_default) {
        out_ += " default " +
                (in.computed.valid() ? show_routine_name(in.computed) : show_literal(in.fallback));
      }
      out_ += '\n';
    }
    for (const auto* list : {&r.named, &r.sources}) {
      for (const DimSource& s : *list) {
        out_ += "  size ";
        if (s.symbol.valid()) out_ += program_.symbols[s.symbol].name + " ";
        out_ += "from " + (s.global.valid() ? show_routine_name(s.global) : show_register(s.value));
        if (s.pattern.valid()) out_ += " : " + show_pattern(s.pattern);
        out_ += '\n';
      }
    }
    for (const RoutineCheck& c : r.checks) {
      out_ += "  check " + show_fact(c.fact);
      for (size_t g = 0; g < c.guards.size(); ++g)
        out_ += (g == 0 ? " if " : " and ") + show_fact(c.guards[g]);
      out_ += '\n';
    }
    for (size_t n = 0; n < r.code.size(); ++n) show_general(n, r.code[n]);
    for (const RoutineOutput& o : r.outputs) {
      out_ += fmt::format("  output {}{}{} : {}\n", o.name, o.name.empty() ? "" : " ",
                          show_register(o.value), show_pattern(o.pattern));
    }
  }

  void show_phase(const Phase& phase) {
    out_ += fmt::format("phase {}{}{} arena {}\n", phase.name, phase.masked ? " masked" : "",
                        phase.selects_rows ? " selects_rows" : "", show_int(phase.arena_bytes));
    if (phase.routine.valid()) out_ += "  runs " + show_routine_name(phase.routine) + "\n";
    for (const Input& in : phase.inputs) {
      out_ += fmt::format("  input {} {}", in.name, spelling(in.dtype));
      out_ +=
          in.is_scalar ? " scalar " + program_.symbols[in.symbol].name : " " + show_shape(in.shape);
      out_ += '\n';
    }
    for (const EntryCheck& check : phase.checks) {
      constexpr std::string_view kSigns[] = {"==", "<=", "<=", "!="};
      out_ += fmt::format("  check {} {} {} ; {}\n", show_int(check.left),
                          kSigns[static_cast<size_t>(check.relation)], show_int(check.right),
                          check.what);
    }
    for (size_t i = 0; i < phase.values.size(); ++i) {
      const Value& v = phase.values[phase.values.id_at(i)];
      out_ += fmt::format("  value %{} {} {}{} {}", i, spelling(v.dtype), show_shape(v.shape),
                          v.quantised ? " quantised" : "", show_place(v));
      out_ += v.name.empty() ? "\n" : " `" + v.name + "`\n";
    }
    for (const Instr& instr : phase.code) show_instr(instr);
    for (const Output& o : phase.outputs)
      out_ += fmt::format("  output {} {}\n", o.name, show_val(o.value));
    for (const ScalarUpdate& u : phase.updates) {
      out_ += fmt::format("  update {} to {}\n",
                          program_.scalars[static_cast<size_t>(u.scalar)].name, show_int(u.value));
    }
    for (const std::string& note : phase.notes) out_ += "  note " + note + "\n";
  }

  const Program& program_;
  std::string out_;
};

}  // namespace

std::string show(const Program& program) { return Printer(program).run(); }

}  // namespace axon::runtime
