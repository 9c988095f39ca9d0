// The walk over the instructions, and what happens around it on every call.
#include "runtime/core/executor.h"

#include <algorithm>
#include <chrono>

namespace axon::runtime {
namespace {

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

uint64_t bytes_of(const View& view) {
  if (!view.present()) return 0;
  uint64_t bytes = 0;
  for (int32_t p = 0; p < view.part_count; ++p) bytes += bytes_of(view.parts[p]);
  if (view.part_count > 0) return bytes;
  const StorageInfo& info = storage_info(view.storage);
  return static_cast<uint64_t>(view.count()) / static_cast<uint64_t>(info.block) *
         static_cast<uint64_t>(info.block_bytes);
}

bool has(const Bindings& b, SymId id) {
  return static_cast<size_t>(id.index) < b.known.size() && b.known[static_cast<size_t>(id.index)];
}
int64_t get(const Bindings& b, SymId id) {
  return has(b, id) ? b.values[static_cast<size_t>(id.index)] : 0;
}

// Whether the shape symbols agree; data symbols may differ.
bool same_shapes(const Program& program, const Bindings& a, const Bindings& b) {
  for (size_t i = 0; i < program.symbols.size(); ++i) {
    const SymId id = program.symbols.id_at(i);
    if (program.symbols[id].kind != SymKind::Shape) continue;
    if (has(a, id) != has(b, id) || get(a, id) != get(b, id)) return false;
  }
  return true;
}

}  // namespace

Executor::Executor(const BoundProgram& bound, size_t phase, ThreadPool& pool, Arena& arena)
    : bound_(&bound),
      bound_phase_(&bound.phases[phase]),
      pool_(&pool),
      arena_(&arena),
      ints_(*bound.program),
      values_(bound_phase_->phase->values.size()),
      steps_(bound_phase_->phase->code.size()) {
  for (const Instr& instr : bound_phase_->phase->code) {
    AXON_CHECK(instr.inputs.size() <= kMaxInputs && instr.outputs.size() <= kMaxOutputs,
               "an instruction with more operands than kernels take");
  }
  find_dynamic();
}

Result<int64_t> Executor::measure(const Bindings& symbols) {
  Bindings all = symbols;
  ints_.evaluate(all);
  const Program& program = *bound_->program;
  for (size_t i = 0; i < program.symbols.size(); ++i) {
    const SymId id = program.symbols.id_at(i);
    const Symbol& symbol = program.symbols[id];
    if (symbol.kind == SymKind::Data && !has(all, id) && ints_.known(symbol.upper)) {
      all.set(id, ints_[symbol.upper]);
    }
  }
  ints_.evaluate(all);
  resolved_ = false;
  if (auto resolved = resolve_all(nullptr, nullptr); !resolved) {
    AXON_TRY_VOID(check_entry());  // says more where a fact of the program is why
    return std::move(resolved.error());
  }
  return arena_bytes_ + pool_->threads() * scratch_bytes_;
}

Result<void> Executor::check_entry() const {
  using Relation = EntryCheck::Relation;
  for (const EntryCheck& check : bound_phase_->phase->checks) {
    for (IntId side : {check.left, check.right}) {
      if (!ints_.known(side)) return unknown(side, "a size", check.what);
    }
    const int64_t left = ints_[check.left], right = ints_[check.right];
    if (check.relation == Relation::NotZero) {
      if (left == right) return Error{"RUN-DIV-ZERO", "division by zero: " + check.what};
      continue;
    }
    const bool equal = check.relation == Relation::Eq;
    if (equal ? left == right : left <= right) continue;
    return Error{check.relation == Relation::Le ? "RUN-INDEX" : "RUN-SHAPE",
                 check.what + ": " + std::to_string(left) + " is not " +
                     (equal ? "equal to " : "at most ") + std::to_string(right)};
  }
  return {};
}

Result<RunStatus> Executor::run(const Bindings& symbols, const View* inputs, const View* states,
                                const CancelFlag* cancel) {
  const bool same = resolved_ && arena_generation_ == arena_->generation() &&
                    same_shapes(*bound_->program, symbols_, symbols);
  ints_.evaluate(symbols);
  symbols_.values.assign(symbols.values.begin(), symbols.values.end());
  symbols_.known.assign(symbols.known.begin(), symbols.known.end());
  AXON_TRY_VOID(check_entry());
  if (same) {
    AXON_TRY_VOID(patch(inputs, states));
  } else {
    resolved_ = false;
    AXON_TRY_VOID(resolve_all(inputs, states));
    AXON_TRY_VOID(
        arena_->ensure(static_cast<size_t>(arena_bytes_ + pool_->threads() * scratch_bytes_)));
    AXON_TRY_VOID(resolve_all(inputs, states));  // now that the arena has its address
    arena_generation_ = arena_->generation();
    for (Step& step : steps_) {
      step.args.workspace = arena_->data() + arena_bytes_;
      step.args.workspace_part = scratch_bytes_;
      step.args.fault = &fault_;
    }
    place_barriers();
    resolved_ = true;
  }
  stop_[0] = stop_[1] = cancelled_ = false;
  fault_.taken.store(false, std::memory_order_relaxed);
  pool_->run([&](int part, int parts) { work(part, parts, cancel); });
  if (fault_.taken.load(std::memory_order_relaxed)) return fault();
  return cancelled_ ? RunStatus::Cancelled : RunStatus::Done;
}

// What a kernel met. What an index was to pick from is the weight among the operands, where there
// is one.
Error Executor::fault() const {
  const Phase& phase = *bound_phase_->phase;
  std::string what, place;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (&steps_[i].args != fault_.where) continue;
    const Instr& instr = phase.code[i];
    std::string name;
    for (ValId id : instr.inputs) {
      if (id.valid() && phase.values[id].place_kind() == PlaceKind::Weight)
        name = phase.values[id].name;
    }
    what = std::to_string(fault_.count) + (name.empty() ? " items" : " rows of `" + name + "`");
    place = " in `" + std::string(spelling(instr.operation)) + "`";
    if (!instr.source.empty()) place += " at " + instr.source;
  }
  switch (fault_.kind) {
    case Fault::Kind::Index:
      return Error{"RUN-INDEX",
                   "index " + std::to_string(fault_.index) + " is outside of " + what + place};
    case Fault::Kind::DivideByZero:
      return Error{"RUN-DIV-ZERO", "an integer tensor is divided by zero" + place};
    case Fault::Kind::NegativePower:
      return Error{"RUN-VALUE", "an integer is raised to a negative power" + place};
  }
  AXON_UNREACHABLE("fault");
}

// Worker 0 reads the cancel flag before a barrier and all obey after it, so that none waits for
// another that has left. Two places in turn: the next write waits until all have read the last.
void Executor::work(int part, int parts, const CancelFlag* cancel) {
  unsigned turn = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.barrier || parts == 1) {
      ++turn;
      if (part == 0) stop_[turn & 1] = cancel != nullptr && cancel->is_set();
      pool_->barrier();
      if (stop_[turn & 1]) {
        if (part == 0) cancelled_ = true;
        return;
      }
    }
    const uint64_t begin = counting_ && part == 0 ? now() : 0;
    step.kernel->run(step.args, part, parts);
    if (counting_ && part == 0) count(i, begin);
  }
}

void Executor::count(size_t instr, uint64_t begin) {
  InstrCost& cost = costs_[instr];
  const KernelArgs& args = steps_[instr].args;
  ++cost.calls;
  cost.nanoseconds += now() - begin;
  for (int s = 0; s < args.input_count; ++s) {
    cost.bytes += bytes_of(args.in[s]);
    if (args.in[s].present()) count_reads(instr, static_cast<size_t>(s), cost);
  }
  for (int s = 0; s < args.output_count; ++s) cost.bytes += bytes_of(args.out[s]);
}

// What the kernel takes from weights and stores: packed panels, looked-up rows, visible keys.
void Executor::count_reads(size_t index, size_t slot, InstrCost& cost) const {
  const Phase& phase = *bound_phase_->phase;
  const Step& step = steps_[index];
  const KernelArgs& args = step.args;
  const View& view = args.in[slot];
  const Value* value = &phase.values[phase.code[index].inputs[slot]];
  if (const auto* of = std::get_if<PlaceView>(&value->place)) value = &phase.values[of->of];
  if (const auto* weight = std::get_if<PlaceWeight>(&value->place)) {
    const bool rows = args.operation == Operation::Embedding && slot == 1;
    const bool packed = step.kernel->pack_format != 0 && view.pack_format != 0;
    const auto row =
        view.last() > 0 ? static_cast<int64_t>(bytes_of(view)) / (view.count() / view.last()) : 0;
    const auto id = static_cast<size_t>(weight->weight.index);
    cost.weight_bytes += rows     ? static_cast<uint64_t>(args.in[0].count() * row)
                         : packed ? static_cast<uint64_t>(bound_->weight_bytes[id].whole)
                                  : bytes_of(view);
  }
  if (value->place_kind() != PlaceKind::State) return;
  if (args.operation == Operation::StoreWrite && slot == 0) return;
  if (args.operation != Operation::Attention || (slot != 1 && slot != 2)) {
    cost.state_bytes += bytes_of(view);
    return;
  }
  const StoreView& store = slot == 1 ? args.keys : args.values;
  const int64_t window = args.integer(param(Operation::Attention, "window"), INT64_MAX);
  for (int64_t b = 0; b < args.rows.rows; ++b) {
    const int64_t keys = args.rows.keys(b);
    const int64_t first = window < keys ? std::max<int64_t>(args.rows.query(b) - window + 1, 0) : 0;
    cost.state_bytes += static_cast<uint64_t>((keys - first) * store.heads * store.width *
                                              storage_info(store.storage).block_bytes);
  }
}

View Executor::output(size_t index) const {
  const Output& output = bound_phase_->phase->outputs[index];
  return values_[static_cast<size_t>(output.value.index)];
}

int64_t Executor::update(size_t index) const {
  return ints_[bound_phase_->phase->updates[index].value];
}

int64_t Executor::table_bytes(const Phase& phase) {
  return static_cast<int64_t>(phase.code.size() * sizeof(Step) +
                              phase.values.size() * sizeof(View));
}

size_t Executor::barriers() const {
  return static_cast<size_t>(
      std::count_if(steps_.begin(), steps_.end(), [](const Step& s) { return s.barrier; }));
}

void Executor::count_costs(bool on) {
  counting_ = on;
  costs_.assign(on ? steps_.size() : 0, InstrCost{});
}

}  // namespace axon::runtime
