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
  AXON_TRY_VOID(resolve_all(nullptr, nullptr));
  return arena_bytes_ + pool_->threads() * scratch_bytes_;
}

Result<void> Executor::check_entry() const {
  for (const EntryCheck& check : bound_phase_->phase->checks) {
    if (!ints_.known(check.left) || !ints_.known(check.right)) return unknown("a size", check.what);
    const int64_t left = ints_[check.left], right = ints_[check.right];
    const bool equal = check.relation == EntryCheck::Relation::Eq;
    if (equal ? left == right : left <= right) continue;
    return Error{"RUN-SHAPE", check.what + ": " + std::to_string(left) + " is not " +
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
    }
    place_barriers();
    resolved_ = true;
  }
  stop_[0] = stop_[1] = cancelled_ = false;
  pool_->run([&](int part, int parts) { work(part, parts, cancel); });
  return cancelled_ ? RunStatus::Cancelled : RunStatus::Done;
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
  for (int s = 0; s < args.input_count; ++s) cost.bytes += bytes_of(args.in[s]);
  for (int s = 0; s < args.output_count; ++s) cost.bytes += bytes_of(args.out[s]);
}

View Executor::output(size_t index) const {
  const Output& output = bound_phase_->phase->outputs[index];
  return values_[static_cast<size_t>(output.value.index)];
}

int64_t Executor::update(size_t index) const {
  return ints_[bound_phase_->phase->updates[index].value];
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
