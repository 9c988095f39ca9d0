// Sums over the instructions, with sizes from the Program's own expressions.
#include "runtime/core/needs.h"

#include <algorithm>
#include <limits>

#include "runtime/core/barriers.h"
#include "runtime/core/int_table.h"

namespace axon::runtime {
namespace {

class Sum {
 public:
  Sum(const Program& program, const Phase& phase, const Bindings& bindings,
      const std::vector<WeightBytes>& weights, DType token_dtype)
      : program_(program),
        phase_(phase),
        ints_(program),
        weights_(weights),
        token_dtype_(token_dtype) {
    ints_.evaluate(bindings);
  }

  Result<PhaseNeeds> run() {
    for (const Instr& instr : phase_.code) {
      add_flops(instr);
      for (size_t slot = 0; slot < instr.inputs.size(); ++slot) {
        if (instr.inputs[slot].valid()) add_read(instr, slot);
      }
    }
    needs_.barriers = count_barriers(phase_);
    if (unknown_) return Error{"RUN-OVERFLOW", "the cost of `" + phase_.name + "` is not known"};
    return needs_;
  }

 private:
  int64_t number(IntId id) {
    if (ints_.known(id)) return ints_[id];
    unknown_ = true;
    return 0;
  }
  int64_t extent(ValId id, size_t axis) { return number(phase_.values[id].shape[axis]); }
  int64_t last(ValId id) { return number(phase_.values[id].shape.back()); }
  int64_t count(ValId id) {
    int64_t n = 1;
    for (IntId dim : phase_.values[id].shape) n *= number(dim);
    return n;
  }
  int64_t integer(const Instr& instr, std::string_view name, int64_t absent) {
    const ParamValue* value = instr.param(name);
    if (value == nullptr) return absent;
    if (const auto* plain = std::get_if<int64_t>(value)) return *plain;
    const auto* expr = std::get_if<IntId>(value);
    return expr != nullptr && expr->valid() ? number(*expr) : absent;
  }

  const Value& base(ValId id) const {
    const Value& value = phase_.values[id];
    const auto* view = std::get_if<PlaceView>(&value.place);
    return view != nullptr ? phase_.values[view->of] : value;
  }

  // Keys that some query of an attention sees: those from the first one's window on.
  int64_t keys_of(const Instr& instr) {
    const int64_t all = extent(instr.inputs[1], 2);
    const int64_t keys = std::min(integer(instr, "length", all), all);
    const int64_t window = integer(instr, "window", std::numeric_limits<int64_t>::max());
    const int64_t first = integer(instr, "offset", 0) - std::min(window, keys) + 1;
    return window < keys ? keys - std::max<int64_t>(first, 0) : keys;
  }

  void add_read(const Instr& instr, size_t slot) {
    const ValId id = instr.inputs[slot];
    const Value& value = base(id);
    if (const auto* weight = std::get_if<PlaceWeight>(&value.place)) {
      const WeightBytes& bytes = weights_[static_cast<size_t>(weight->weight.index)];
      const bool rows = instr.operation == Operation::Embedding && slot == 1;
      needs_.weight_bytes += rows ? count(instr.inputs[0]) * bytes.row : bytes.whole;
    }
    const auto* state = std::get_if<PlaceState>(&value.place);
    if (state == nullptr || (instr.operation == Operation::StoreWrite && slot == 0)) return;
    int64_t elements = count(id);
    if (instr.operation == Operation::Attention && (slot == 1 || slot == 2))
      elements = extent(id, 0) * extent(id, 1) * keys_of(instr) * extent(id, 3);
    const State& store = program_.states[state->state];
    const bool narrowed = store.kind == State::Kind::Token && store.dtype == DType::F32;
    needs_.state_bytes +=
        elements * static_cast<int64_t>(dtype_size(narrowed ? token_dtype_ : store.dtype));
  }

  void add_flops(const Instr& instr) {
    switch (instr.operation) {
      case Operation::Linear:
      case Operation::ExpertLinear:
      case Operation::Matmul:
        needs_.flops += 2 * count(instr.outputs[0]) * last(instr.inputs[0]);
        break;
      case Operation::Attention: {
        const int64_t rows = count(instr.inputs[0]) / std::max<int64_t>(last(instr.inputs[0]), 1);
        needs_.flops += 2 * rows * keys_of(instr) * (last(instr.inputs[0]) + last(instr.inputs[2]));
        break;
      }
      default:
        break;
    }
  }

  const Program& program_;
  const Phase& phase_;
  IntTable ints_;
  const std::vector<WeightBytes>& weights_;
  DType token_dtype_;
  PhaseNeeds needs_;
  bool unknown_ = false;
};

}  // namespace

Result<PhaseNeeds> needs_of(const Program& program, const Phase& phase, const Bindings& bindings,
                            const std::vector<WeightBytes>& weights, DType token_dtype) {
  return Sum(program, phase, bindings, weights, token_dtype).run();
}

}  // namespace axon::runtime
