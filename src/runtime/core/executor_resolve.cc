// Where everything lies for the shapes of a call: views, parameters, kernels, scratch, barriers.
#include <algorithm>
#include <string>

#include "runtime/core/executor.h"
#include "runtime/core/quant_rows.h"

namespace axon::runtime {
namespace {

constexpr int64_t kAlign = 64;
int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::string show_shape(const int64_t* shape, int rank) {
  std::string out = "[";
  for (int a = 0; a < rank; ++a) {
    if (a > 0) out += ',';
    out += std::to_string(shape[a]);
  }
  return out + "]";
}

}  // namespace

Error Executor::unknown(IntId expr, const char* what, const std::string& source) const {
  if (ints_.divides_by_zero(expr))
    return Error{"RUN-DIV-ZERO", "division by zero" + (source.empty() ? "" : " (" + source + ")")};
  return Error{"RUN-OVERFLOW", std::string(what) +
                                   " cannot be computed from the sizes of this call" +
                                   (source.empty() ? "" : " (" + source + ")")};
}

// A value is dynamic when its pointer or its numbers may change while the shape symbols stay.
void Executor::find_dynamic() {
  const Phase& phase = *bound_phase_->phase;
  dynamic_.assign(phase.values.size(), 0);
  for (size_t i = 0; i < phase.values.size(); ++i) {
    const Value& value = phase.values[phase.values.id_at(i)];
    bool dynamic = std::any_of(value.shape.begin(), value.shape.end(),
                               [&](IntId dim) { return ints_.is_data(dim); });
    if (const auto* view = std::get_if<PlaceView>(&value.place)) {
      const auto place = phase.values[view->of].place_kind();
      dynamic |= place == PlaceKind::Input || place == PlaceKind::State;
      dynamic |= dynamic_[static_cast<size_t>(view->of.index)] != 0 || ints_.is_data(view->offset);
      for (IntId stride : view->strides) dynamic |= ints_.is_data(stride);
    } else if (const auto* arena = std::get_if<PlaceArena>(&value.place)) {
      dynamic |= ints_.is_data(arena->offset);
    } else {
      dynamic |= value.place_kind() == PlaceKind::Input || value.place_kind() == PlaceKind::State;
    }
    dynamic_[i] = dynamic;
    if (dynamic) dynamic_values_.push_back(phase.values.id_at(i));
  }
  for (size_t i = 0; i < phase.code.size(); ++i) {
    const Instr& instr = phase.code[i];
    auto add = [&](const std::vector<ValId>& ids, bool output) {
      for (size_t s = 0; s < ids.size(); ++s) {
        if (!ids[s].valid() || dynamic_[static_cast<size_t>(ids[s].index)] == 0) continue;
        operand_patches_.push_back(
            {static_cast<int32_t>(i), static_cast<int32_t>(s), output, ids[s]});
      }
    };
    add(instr.inputs, false);
    add(instr.outputs, true);
    for (const Param& p : instr.params) {
      const auto* expr = std::get_if<IntId>(&p.value);
      if (expr == nullptr || !ints_.is_data(*expr)) continue;
      param_patches_.push_back(
          {static_cast<int32_t>(i), find_param(instr.operation, p.name), *expr});
    }
  }
}

Result<void> Executor::resolve_value(ValId id, const View* inputs, const View* states) {
  const Phase& phase = *bound_phase_->phase;
  const Value& value = phase.values[id];
  View& view = values_[static_cast<size_t>(id.index)];
  view = {};
  view.storage = plain_storage(value.dtype);
  view.quantised_rows = value.quantised;
  view.rank = static_cast<int8_t>(value.shape.size());
  for (size_t a = 0; a < value.shape.size(); ++a) {
    const IntId extent = value.shape[a];
    if (!ints_.known(extent)) return unknown(extent, "a shape", value.name);
    view.shape[a] = ints_[extent];
    if (view.shape[a] < 0) return unknown(extent, "a shape", value.name);
  }
  set_contiguous(view);
  if (value.place_kind() == PlaceKind::None) {
    view = {};
  } else if (const auto* arena = std::get_if<PlaceArena>(&value.place)) {
    if (!ints_.known(arena->offset)) return unknown(arena->offset, "an address", value.name);
    if (arena_->data() != nullptr) view.data = arena_->data() + ints_[arena->offset];
  } else if (const auto* weight = std::get_if<PlaceWeight>(&value.place)) {
    view = bound_->weights[static_cast<size_t>(weight->weight.index)];
  } else if (const auto* constant = std::get_if<PlaceConstant>(&value.place)) {
    view = bound_->constants[static_cast<size_t>(constant->constant.index)];
  } else if (const auto* input = std::get_if<PlaceInput>(&value.place)) {
    if (inputs == nullptr) return {};
    const View& given = inputs[input->input];
    const std::string& name = phase.inputs[static_cast<size_t>(input->input)].name;
    if (given.storage != view.storage || given.rank != view.rank ||
        !std::equal(given.shape, given.shape + std::max<int>(given.rank, 0), view.shape)) {
      return Error{"RUN-SHAPE", "input `" + name + "` is " +
                                    std::string(storage_info(given.storage).name) +
                                    show_shape(given.shape, given.rank) + ", but the program has " +
                                    std::string(storage_info(view.storage).name) +
                                    show_shape(view.shape, view.rank)};
    }
    view = given;
  } else if (const auto* state = std::get_if<PlaceState>(&value.place)) {
    if (states == nullptr) return {};
    const View& store = states[state->state.index];
    if (store.rank != view.rank || !std::equal(store.shape, store.shape + view.rank, view.shape)) {
      return Error{"RUN-SHAPE", "state `" + bound_->program->states[state->state].name + "` is " +
                                    show_shape(store.shape, store.rank) + ", but the program has " +
                                    show_shape(view.shape, view.rank)};
    }
    view = store;
  } else if (const auto* of = std::get_if<PlaceView>(&value.place)) {
    const View& base = values_[static_cast<size_t>(of->of.index)];
    if (!ints_.known(of->offset)) return unknown(of->offset, "an address", value.name);
    view.storage = base.storage;
    if (base.data != nullptr) {
      const StorageInfo& info = storage_info(base.storage);
      view.data = base.data + ints_[of->offset] / info.block * info.block_bytes;
    }
    for (size_t a = 0; a < of->strides.size(); ++a) {
      if (!ints_.known(of->strides[a])) return unknown(of->strides[a], "a stride", value.name);
      view.stride[a] = ints_[of->strides[a]];
    }
  }
  return {};
}

Result<void> Executor::set_params(size_t index) {
  const Instr& instr = bound_phase_->phase->code[index];
  KernelArgs& args = steps_[index].args;
  for (const Param& p : instr.params) {
    const int slot = find_param(instr.operation, p.name);
    AXON_CHECK(slot >= 0 && slot < kMaxParams, "parameter of another operation");
    ParamSlot& out = args.params[slot];
    out.present = true;
    out.is_float = false;
    if (const auto* expr = std::get_if<IntId>(&p.value)) {
      if (!expr->valid()) {
        out.present = false;
        continue;
      }
      if (!ints_.known(*expr)) return unknown(*expr, p.name.c_str(), instr.source);
      out.i = ints_[*expr];
    } else if (const auto* integer = std::get_if<int64_t>(&p.value)) {
      out.i = *integer;
    } else if (const auto* boolean = std::get_if<bool>(&p.value)) {
      out.i = *boolean ? 1 : 0;
    } else if (const auto* real = std::get_if<double>(&p.value)) {
      out.is_float = true;
      out.f = *real;
      out.i = *real >= -9e18 && *real <= 9e18 ? static_cast<int64_t>(*real) : 0;
      continue;
    } else {
      out.i = code_of(instr.operation, p.name, std::get<std::string>(p.value));
      AXON_CHECK(out.i >= 0, "a code that no kernel knows");
    }
    out.f = static_cast<double>(out.i);
  }
  return {};
}

Result<void> Executor::resolve_all(const View* inputs, const View* states) {
  const Phase& phase = *bound_phase_->phase;
  for (size_t i = 0; i < phase.values.size(); ++i) {
    AXON_TRY_VOID(resolve_value(phase.values.id_at(i), inputs, states));
  }
  for (size_t i = 0; i < phase.code.size(); ++i) {
    const Instr& instr = phase.code[i];
    KernelArgs& args = steps_[i].args;
    args.operation = instr.operation;
    args.policy = instr.policy;
    args.input_count = static_cast<int8_t>(instr.inputs.size());
    args.output_count = static_cast<int8_t>(instr.outputs.size());
    for (size_t s = 0; s < instr.inputs.size(); ++s) {
      if (instr.inputs[s].valid()) args.in[s] = values_[static_cast<size_t>(instr.inputs[s].index)];
    }
    for (size_t s = 0; s < instr.outputs.size(); ++s) {
      if (instr.outputs[s].valid()) {
        args.out[s] = values_[static_cast<size_t>(instr.outputs[s].index)];
      }
    }
    AXON_TRY_VOID(set_params(i));
    if (args.operation == Operation::Attention) complete_attention(steps_[i].args);
  }
  return choose_kernels();
}

// The calls between changes of shape: only pointers, offsets and numbers from data symbols move.
Result<void> Executor::patch(const View* inputs, const View* states) {
  for (ValId id : dynamic_values_) AXON_TRY_VOID(resolve_value(id, inputs, states));
  for (const OperandPatch& p : operand_patches_) {
    KernelArgs& args = steps_[static_cast<size_t>(p.instr)].args;
    (p.output ? args.out : args.in)[p.slot] = values_[static_cast<size_t>(p.value.index)];
  }
  for (const ParamPatch& p : param_patches_) {
    if (!ints_.known(p.expr)) {
      return unknown(p.expr, "a parameter",
                     bound_phase_->phase->code[static_cast<size_t>(p.instr)].source);
    }
    ParamSlot& slot = steps_[static_cast<size_t>(p.instr)].args.params[p.slot];
    slot.i = ints_[p.expr];
    slot.f = static_cast<double>(slot.i);
  }
  for (Step& step : steps_) {
    if (step.args.operation == Operation::Attention) complete_attention(step.args);
  }
  return {};
}

Result<void> Executor::choose_kernels() {
  const int parts = pool_->threads();
  scratch_bytes_ = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    step.kernel = nullptr;
    for (const Kernel* kernel : bound_phase_->code[i].kernels) {
      const View& weight = step.args.in[step.args.operation == Operation::ExpertLinear ? 2 : 1];
      if (kernel->pack_format != 0 && weight.pack_format != kernel->pack_format) continue;
      if (!kernel->supports(step.args)) continue;
      step.kernel = kernel;
      break;
    }
    AXON_CHECK(step.kernel != nullptr, "an operation without a reference kernel");
    if (step.kernel->workspace != nullptr) {
      scratch_bytes_ = std::max(scratch_bytes_, aligned(step.kernel->workspace(step.args, parts)));
    }
  }
  const Phase& phase = *bound_phase_->phase;
  if (phase.arena_bytes.valid() && !ints_.known(phase.arena_bytes)) {
    return unknown(phase.arena_bytes, "the arena size", phase.name);
  }
  arena_bytes_ = phase.arena_bytes.valid() ? aligned(ints_[phase.arena_bytes]) : 0;
  return {};
}

namespace {

struct Range {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
};

// The bytes between a view's first and last element.
Range range_of(const View& view) {
  if (!view.present() || view.data == nullptr || view.part_count > 0) return {};
  const StorageInfo& info = storage_info(view.storage);
  if (view.quantised_rows) {
    const int64_t rows = view.last() > 0 ? view.count() / view.last() : 0;
    return {view.data, view.data + rows * quantised_row_bytes(view.last())};
  }
  int64_t low = 0, high = 0;
  for (int a = 0; a < view.rank; ++a) {
    if (view.shape[a] == 0) return {};
    const int64_t reach = (view.shape[a] - 1) * view.stride[a];
    (reach < 0 ? low : high) += reach;
  }
  return {view.data + low / info.block * info.block_bytes,
          view.data + (high / info.block + 1) * info.block_bytes};
}

bool overlap(const std::vector<Range>& ranges, Range r) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](Range other) { return r.begin < other.end && other.begin < r.end; });
}

// Weights and constants never change while a phase runs; what a packed weight was made from may
// even be given back, and its addresses be those of the arena.
bool never_written(const Phase& phase, ValId id) {
  if (!id.valid()) return true;
  const Value* value = &phase.values[id];
  if (const auto* view = std::get_if<PlaceView>(&value->place)) value = &phase.values[view->of];
  return std::holds_alternative<PlaceWeight>(value->place) ||
         std::holds_alternative<PlaceConstant>(value->place);
}

}  // namespace

// The planner's barriers, and one more wherever memory written since the last barrier is read or
// written again, or memory read since then is written.
void Executor::place_barriers() {
  std::vector<Range> read, written;
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    std::vector<Range> reads, writes;
    const Instr& instr = bound_phase_->phase->code[i];
    for (int s = 0; s < step.args.input_count; ++s) {
      if (!never_written(*bound_phase_->phase, instr.inputs[static_cast<size_t>(s)]))
        reads.push_back(range_of(step.args.in[s]));
    }
    for (int s = 0; s < step.args.output_count; ++s) writes.push_back(range_of(step.args.out[s]));
    if (step.args.operation == Operation::StoreWrite) writes.push_back(range_of(step.args.in[0]));
    step.barrier = i > 0 && instr.barrier;
    for (const Range& r : reads) step.barrier |= overlap(written, r);
    for (const Range& r : writes) step.barrier |= overlap(written, r) || overlap(read, r);
    if (step.barrier) {
      read.clear();
      written.clear();
    }
    read.insert(read.end(), reads.begin(), reads.end());
    written.insert(written.end(), writes.begin(), writes.end());
  }
}

}  // namespace axon::runtime
