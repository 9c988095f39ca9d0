// Frames, instructions, calls and loops.
#include "runtime/general/machine.h"

#include <algorithm>

#include "support/text.h"

namespace axon::runtime {
namespace {

using Kind = Datum::Kind;

Datum widen(Datum value, const Pattern& pattern) {
  if (pattern.kind == Pattern::Kind::Float)
    return value.kind == Kind::Int ? Datum::of(value.as_double()) : value;
  const bool list = pattern.kind == Pattern::Kind::List;
  if ((!list && pattern.kind != Pattern::Kind::Tuple) || !value.is_sequence()) return value;
  const bool shared = value.items.use_count() > 1;
  auto items = shared ? std::make_shared<std::vector<Datum>>(*value.items) : value.items;
  for (size_t i = 0; i < items->size() && (list || i < pattern.items.size()); ++i)
    (*items)[i] = widen(std::move((*items)[i]), pattern.items[list ? 0 : i]);
  value.items = std::move(items);
  return value;
}

bool is_open(const Pattern& pattern) {
  return pattern.optional || pattern.kind == Pattern::Kind::Any ||
         pattern.kind == Pattern::Kind::Null;
}

Error stopped() { return run_error(Diag::RunInterrupted); }

}  // namespace

// One activation of a routine.
struct Machine::Frame {
  const Routine& routine;
  std::vector<Datum> registers;
  std::vector<Datum> outlines;  // by DimSource: what stood in its register
  Sizes sizes;
  size_t next = 0;
};

Datum Machine::widened(Datum value, PatternId pattern) const {
  return pattern.valid() ? widen(std::move(value), program_->patterns[pattern]) : value;
}

Result<std::optional<std::vector<Datum>>> Machine::run(RoutineId routine, Data inputs,
                                                       const CancelFlag* cancel) {
  cancel_ = cancel;
  cancelled_ = false;
  globals_.assign(program_->routines.size(), std::nullopt);
  const Routine& r = program_->routines[routine];
  inputs.resize(r.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const RoutineInput& in = r.inputs[i];
    const bool given = inputs[i].kind != Kind::Unset;
    if (!given || inputs[i].is_null()) {
      if (in.computed.valid()) {
        auto computed = call(in.computed, {}, false);
        if (cancelled_) return std::optional<Data>();
        if (!computed) return computed.error();
        inputs[i] = std::move((*computed)[0]);
      } else {
        inputs[i] = in.has_default ? Datum::of(in.fallback) : Datum::null();
      }
    }
    if (inputs[i].is_null() && !in.optional)
      return run_error(Diag::RunInput, {in.name, given ? "is null" : "is missing"});
  }
  auto out = call(routine, std::move(inputs), true);
  globals_.clear();
  if (cancelled_) return std::optional<Data>();
  if (!out) return out.error();
  return std::optional<Data>(std::move(*out));
}

namespace {

// Where in the program's text, if that is known, else in which routine: branches and bodies of
// loops are routines that nobody gave their names.
std::string place_of(const GeneralInstr& instr, const Routine& routine) {
  constexpr std::string_view kOperator = "core.binary.";
  std::string_view what =
      instr.code == GeneralCode::Apply ? spelling(instr.op) : spelling(instr.code);
  if (what.substr(0, kOperator.size()) == kOperator) what.remove_prefix(kOperator.size());
  return "at `" + std::string(what) + "`" +
         (instr.source.empty() ? " in `" + routine.name + "`" : ", " + instr.source);
}

}  // namespace

Result<std::vector<Datum>> Machine::call(RoutineId id, Data inputs, bool entry) {
  const Routine& r = program_->routines[id];
  Frame frame{r, Data(static_cast<size_t>(r.registers)), Data(r.sources.size()), Sizes(*program_)};
  AXON_TRY_VOID(enter(frame, std::move(inputs), entry));
  if (entry) AXON_TRY_VOID(check(frame));
  while (frame.next < r.code.size()) {
    const GeneralInstr& instr = r.code[frame.next++];
    auto done = step(frame, instr);
    if (done) continue;
    if (done.error().hint.empty()) {
      done.error().hint = place_of(instr, r);
    }
    return std::move(done.error());
  }
  Data out;
  for (const RoutineOutput& output : r.outputs) {
    out.push_back(widened(frame.registers[static_cast<size_t>(output.value)], output.pattern));
    if (output.pattern.valid())
      AXON_TRY_VOID(fits(frame, program_->patterns[output.pattern], out.back(), "the result"));
  }
  return out;
}

// What nothing knew before is looked at now: a size is what it is the first time.
Result<void> Machine::fits(Frame& frame, const Pattern& pattern, const Datum& value,
                           const char* what) {
  AXON_TRY_VOID(know_constants(frame, pattern));
  AXON_TRY_VOID(frame.sizes.bind(pattern, value));
  return frame.sizes.check(pattern, value, what);
}

// ---- entry ---------------------------------------------------------------------------------

Result<void> Machine::enter(Frame& frame, Data inputs, bool entry) {
  const Routine& r = frame.routine;
  AXON_CHECK(inputs.size() == r.inputs.size(), "arguments of a routine");
  auto pattern_of = [&](size_t i) -> const Pattern* {
    return r.inputs[i].pattern.valid() ? &program_->patterns[r.inputs[i].pattern] : nullptr;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Pattern* pattern = pattern_of(i);
    const bool ranked =
        pattern != nullptr && pattern->kind == Pattern::Kind::Tensor && pattern->ranked &&
        std::all_of(pattern->axes.begin(), pattern->axes.end(), [](IntId a) { return a.valid(); });
    if (entry && ranked && inputs[i].is_tensor() &&
        static_cast<size_t>(inputs[i].tensor->view.rank) != pattern->axes.size()) {
      return run_error(Diag::RunRank,
                       {r.inputs[i].name, int{inputs[i].tensor->view.rank}, pattern->axes.size()});
    }
    put(frame, static_cast<Register>(i), widened(std::move(inputs[i]), r.inputs[i].pattern));
  }
  for (const DimSource& named : r.named) {
    const Datum& value = frame.registers[static_cast<size_t>(named.value)];
    if (value.kind == Kind::Int) frame.sizes.set(named.symbol, value.integer);
  }
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    if (pattern_of(i) != nullptr) AXON_TRY_VOID(know_constants(frame, *pattern_of(i)));
  }
  auto bind_inputs = [&](bool plain) -> Result<bool> {
    bool any = false;
    for (size_t i = 0; i < r.inputs.size(); ++i) {
      if (pattern_of(i) == nullptr) continue;
      AXON_TRY(const bool bound, frame.sizes.bind(*pattern_of(i), frame.registers[i], plain));
      any = any || bound;
    }
    return any;
  };
  // Names of whole axes first: half of a size does not say what was halved.
  AXON_TRY_VOID(bind_inputs(true));
  // A compound may wait for a symbol that a later input binds.
  for (bool progress = true; progress;) {
    AXON_TRY(progress, bind_inputs(false));
  }
  for (size_t i = 0; i < r.inputs.size(); ++i) {
    if (pattern_of(i) == nullptr) continue;
    const std::string what = "`" + r.inputs[i].name + "`";
    AXON_TRY_VOID(frame.sizes.check(*pattern_of(i), frame.registers[i], what));
    if (entry) AXON_TRY_VOID(frame.sizes.check_runs(*pattern_of(i), frame.registers[i], what));
  }
  return {};
}

// Global constants that the pattern names have values of their own: no axis says what they are.
Result<void> Machine::know_constants(Frame& frame, const Pattern& pattern) {
  for (const DimSource& source : frame.routine.sources) {
    if (!source.global.valid() || frame.sizes.get(source.symbol) ||
        !frame.sizes.mentions(pattern, source.symbol))
      continue;
    AXON_TRY_VOID(set_constant(frame, source.symbol, source.global));
  }
  return {};
}

// A constant whose name is a size.
Result<void> Machine::set_constant(Frame& frame, SymId symbol, RoutineId constant) {
  AXON_TRY(const Datum value, global(constant));
  if (value.kind == Kind::Int) {
    frame.sizes.set(symbol, value.integer);
  } else if (value.kind != Kind::Null) {
    return run_error(Diag::RunDim,
                     {program_->symbols[symbol].name, "is " + show(value) + ", no integer"});
  }
  return {};
}

Result<std::optional<bool>> Machine::holds(Frame& frame, const RoutineFact& fact) {
  using Relation = RoutineFact::Relation;
  const std::optional<bool> unknown;
  auto side = [&](IntId expr, Register value) -> std::optional<Datum> {
    if (!expr.valid()) return frame.registers[static_cast<size_t>(value)];
    for (SymId s = frame.sizes.unbound(expr); s.valid(); s = frame.sizes.unbound(expr)) {
      auto found = find_size(frame, s);
      if (!found || !*found) return std::nullopt;
    }
    const std::optional<int64_t> size = frame.sizes.value(expr);
    return size ? std::optional<Datum>(Datum::of(*size)) : std::nullopt;
  };
  const std::optional<Datum> left = side(fact.left, fact.left_value);
  if (!left) return unknown;
  if (fact.relation == Relation::IsNull) return std::optional(left->is_null());
  if (fact.relation == Relation::NotNull) return std::optional(!left->is_null());
  if (fact.relation == Relation::IsTrue || fact.relation == Relation::IsFalse) {
    if (left->kind != Kind::Bool) return unknown;
    return std::optional(left->truth == (fact.relation == Relation::IsTrue));
  }
  const std::optional<Datum> right = side(fact.right, fact.right_value);
  if (!right || !left->is_number() || !right->is_number()) return unknown;
  const double a = left->as_double(), b = right->as_double();
  switch (fact.relation) {
    case Relation::Eq:
      return std::optional(a == b);
    case Relation::Ne:
      return std::optional(a != b);
    case Relation::Le:
      return std::optional(a <= b);
    default:
      return std::optional(a < b);
  }
}

Result<void> Machine::check(Frame& frame) {
  for (const RoutineCheck& check : frame.routine.checks) {
    bool applies = true;
    for (const RoutineFact& guard : check.guards) {
      AXON_TRY(const std::optional<bool> holding, holds(frame, guard));
      applies = applies && holding.value_or(false);
    }
    if (!applies) continue;
    AXON_TRY(const std::optional<bool> holding, holds(frame, check.fact));
    if (holding.value_or(true)) continue;
    auto text = [&](IntId expr, Register value) {
      if (value >= 0) return show(frame.registers[static_cast<size_t>(value)]);
      return expr.valid() ? std::to_string(frame.sizes.value(expr).value_or(0)) : std::string();
    };
    const RoutineFact& f = check.fact;
    return run_error(Diag::RunShape, {f.left_text, text(f.left, f.left_value), f.right_text,
                                      text(f.right, f.right_value)});
  }
  return {};
}

// ---- instructions --------------------------------------------------------------------------

void Machine::put(Frame& frame, Register target, Datum value) {
  const std::vector<DimSource>& sources = frame.routine.sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].value == target) frame.outlines[i] = value.outline();
  }
  frame.registers[static_cast<size_t>(target)] = std::move(value);
}

// The inputs of an instruction; what nothing reads any more is moved out of its register.
std::vector<Datum> Machine::take(Frame& frame, const GeneralInstr& instr) {
  Data out(instr.inputs.size());
  for (size_t i = 0; i < instr.inputs.size(); ++i) {
    const Register r = instr.inputs[i];
    if (r < 0) continue;
    Datum& value = frame.registers[static_cast<size_t>(r)];
    AXON_CHECK(value.kind != Kind::Unset, "register read before it is written");
    const bool dead = std::find(instr.dead.begin(), instr.dead.end(), r) != instr.dead.end();
    const bool again = std::find(instr.inputs.begin() + static_cast<int64_t>(i) + 1,
                                 instr.inputs.end(), r) != instr.inputs.end();
    if (dead && !again) {
      out[i] = std::move(value);
      value = Datum();
    } else {
      out[i] = value;
    }
  }
  return out;
}

Result<void> Machine::step(Frame& frame, const GeneralInstr& instr) {
  if (cancel_ != nullptr && cancel_->is_set()) {
    cancelled_ = true;
    return stopped();
  }
  if (instr.code == GeneralCode::Jump) {
    frame.next = static_cast<size_t>(instr.target);
    return {};
  }
  if (instr.code == GeneralCode::Branch) {
    AXON_TRY(const bool chosen, condition(frame.registers[static_cast<size_t>(instr.inputs[0])]));
    if (!chosen) frame.next = static_cast<size_t>(instr.target);
    return {};
  }
  AXON_TRY(Datum result, result_of(frame, instr));
  result = widened(std::move(result), instr.pattern);
  if (instr.outputs.empty()) return {};
  if (instr.outputs.size() == 1) {
    put(frame, instr.outputs[0], std::move(result));
    return {};
  }
  if (result.is_null()) return run_error(Diag::RunNull, {"destructuring"});
  if (result.size() != instr.outputs.size())
    return run_error(Diag::RunDestructure, {instr.outputs.size(), result.size()});
  for (size_t i = 0; i < instr.outputs.size(); ++i) put(frame, instr.outputs[i], result[i]);
  return {};
}

Result<Datum> Machine::result_of(Frame& frame, const GeneralInstr& instr) {
  switch (instr.code) {
    case GeneralCode::Literal:
      return Datum::of(instr.literal);
    case GeneralCode::Move:
      return std::move(take(frame, instr)[0]);
    case GeneralCode::Apply:
      return apply(instr.op, take(frame, instr), eager_);
    case GeneralCode::List:
      return Datum::list(take(frame, instr));
    case GeneralCode::Tuple:
      return Datum::tuple(take(frame, instr));
    case GeneralCode::Path:
      return path(frame, instr);
    case GeneralCode::Dim: {
      AXON_TRY(const int64_t size, dim(frame, instr.dim));
      return Datum::of(size);
    }
    case GeneralCode::Global:
      return global(instr.routine);
    case GeneralCode::Ascribe:
      return ascribed(frame, instr);
    case GeneralCode::Call: {
      AXON_TRY(Data out, call(instr.routine, take(frame, instr), false));
      return out.size() == 1 ? std::move(out[0]) : Datum::tuple(std::move(out));
    }
    case GeneralCode::Loop:
      return loop(frame, instr);
    case GeneralCode::Branch:
    case GeneralCode::Jump:
      break;
  }
  AXON_UNREACHABLE("an instruction without result");
}

Result<Datum> Machine::loop(Frame& frame, const GeneralInstr& instr) {
  Data inputs = take(frame, instr);
  for (size_t i = 0; i < 3; ++i) {
    if (inputs[i].is_null()) return run_error(Diag::RunNull, {"a loop bound"});
    if (inputs[i].kind != Kind::Int) {
      return run_error(Diag::RunValue,
                       {"a loop bound is " + show(inputs[i]) + ", needs an integer"});
    }
  }
  const int64_t to = inputs[1].integer, step = inputs[2].integer;
  if (step == 0) return run_error(Diag::RunStep);
  const auto count = static_cast<size_t>(instr.carries);
  Data carries(inputs.begin() + 3, inputs.begin() + 3 + instr.carries);
  for (size_t c = 0; c < count; ++c) {  // one owner only, unless the rounds read the first value
    const bool read = std::any_of(instr.args.begin(), instr.args.end(), [&](const LoopArg& arg) {
      return arg.kind == LoopArg::Kind::Input && static_cast<size_t>(arg.index) == 3 + c;
    });
    if (!read) inputs[3 + c] = Datum();
  }
  for (int64_t at = inputs[0].integer; step > 0 ? at < to : at > to;) {
    Data args;
    for (size_t a = 0; a < instr.args.size(); ++a) {
      const LoopArg& arg = instr.args[a];
      const auto index = static_cast<size_t>(arg.index);
      if (arg.kind == LoopArg::Kind::Iter) {
        args.push_back(Datum::of(at));
      } else if (arg.kind == LoopArg::Kind::Input) {
        args.push_back(inputs[index]);
      } else {
        const bool again =
            std::any_of(instr.args.begin() + static_cast<int64_t>(a) + 1, instr.args.end(),
                        [&](const LoopArg& other) {
                          return other.kind == LoopArg::Kind::Carry && other.index == arg.index;
                        });
        args.push_back(again ? carries[index] : std::move(carries[index]));
      }
    }
    AXON_TRY(Data next, call(instr.routine, std::move(args), false));
    // A step may return its carries as one tuple.
    if (next.size() == 1 && count > 1) {
      if (!next[0].is_sequence()) return run_error(Diag::RunDestructure, {count, 1});
      next = Data(*next[0].items);
    }
    if (next.size() > 1 && count == 1) {  // and one carry may be a tuple
      Datum whole = Datum::tuple(std::move(next));
      next.clear();
      next.push_back(std::move(whole));
    }
    if (next.size() != std::max<size_t>(count, 1))
      return run_error(Diag::RunDestructure, {count, next.size()});
    if (count > 0) carries = std::move(next);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  if (instr.outputs.size() == 1 && count > 0) return std::move(carries[0]);
  return Datum::tuple(std::move(carries));
}

// Placeholders give their text; then empty segments vanish.
Result<Datum> Machine::path(Frame& frame, const GeneralInstr& instr) {
  std::string text;
  for (size_t i = 0; i < instr.path.size(); ++i) {
    const PathPart& part = instr.path[i];
    if (i > 0 && !part.joined) text += '.';
    if (part.from < 0) {
      text += part.text;
      continue;
    }
    const Datum& value = frame.registers[static_cast<size_t>(part.from)];
    if (value.kind == Kind::Int)
      text += std::to_string(value.integer);
    else if (value.kind == Kind::String || value.kind == Kind::Path)
      text += value.text;
    else
      return run_error(Diag::RunPlaceholder, {part.text, show(value)});
  }
  std::vector<std::string> segments;
  for (std::string_view segment : split(text, '.')) {
    if (!segment.empty()) segments.emplace_back(segment);
  }
  return Datum::path(join(segments, "."), instr.absolute);
}

// An ascription asserts: not null where the type is not optional, and the sizes.
Result<Datum> Machine::ascribed(Frame& frame, const GeneralInstr& instr) {
  const Pattern& pattern = program_->patterns[instr.pattern];
  Datum value = std::move(take(frame, instr)[0]);
  if (value.is_null() && !is_open(pattern))
    return run_error(Diag::RunNull, {"an ascription to " + pattern.text});
  AXON_TRY_VOID(
      fits(frame, pattern, value, instr.outputs.empty() ? "a result" : "an ascribed value"));
  return value;
}

Result<Datum> Machine::global(RoutineId id) {
  auto& memo = globals_[static_cast<size_t>(id.index)];
  if (!memo) {
    AXON_TRY(Data out, call(id, {}, false));
    memo = out.size() == 1 ? std::move(out[0]) : Datum::tuple(std::move(out));
  }
  return *memo;
}

Result<int64_t> Machine::dim(Frame& frame, IntId expr) {
  for (SymId symbol = frame.sizes.unbound(expr); symbol.valid();
       symbol = frame.sizes.unbound(expr)) {
    AXON_TRY(const bool found, find_size(frame, symbol));
    if (!found) {
      return run_error(Diag::RunDim, {program_->symbols[symbol].name,
                                      "has no value: what carries it is null or not there"});
    }
  }
  const std::optional<int64_t> value = frame.sizes.value(expr);
  if (!value) return run_error(Diag::RunDivZero);
  return *value;
}

Result<bool> Machine::find_size(Frame& frame, SymId symbol) {
  const std::vector<DimSource>& sources = frame.routine.sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    const DimSource& source = sources[i];
    if (source.symbol.valid() && source.symbol != symbol) continue;
    if (source.global.valid()) {
      AXON_TRY_VOID(set_constant(frame, symbol, source.global));
    } else if (!source.pattern.valid()) {
      const Datum& value = frame.outlines[i];
      if (value.kind == Kind::Int) frame.sizes.set(symbol, value.integer);
    } else if (frame.outlines[i].kind != Kind::Unset) {
      const Pattern& pattern = program_->patterns[source.pattern];
      AXON_TRY_VOID(know_constants(frame, pattern));
      AXON_TRY(const bool bound, frame.sizes.bind(pattern, frame.outlines[i]));
      if (!bound) continue;
    }
    if (frame.sizes.get(symbol)) return true;
  }
  return false;
}

}  // namespace axon::runtime
