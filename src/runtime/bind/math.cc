// Rewriting of products for a numeric preset.
#include "runtime/bind/math.h"

#include <iterator>
#include <utility>
#include <vector>

#include "runtime/core/barriers.h"
#include "runtime/core/quant_rows.h"

namespace axon::runtime {
namespace {

constexpr std::string_view kNames[] = {"exact", "auto", "fast"};

NumericPolicy int8_policy() {
  NumericPolicy policy;
  policy.activations = NumericPolicy::Activations::Int8Block;
  policy.products = NumericPolicy::Products::Int;
  return policy;
}

// Whether a kernel besides the reference multiplies int8 rows with such a weight.
bool multiplies_int8(const Weight& weight, const KernelChoice& choice) {
  if (!storage_info(weight.storage).quantised || weight.shape.size() != 2) return false;
  KernelArgs probe;
  probe.operation = Operation::Linear;
  probe.policy = int8_policy();
  const int64_t rows = weight.shape[0], k = weight.shape[1];
  auto set = [](View& view, int64_t a, int64_t b) {
    view.rank = 2;
    view.shape[0] = a;
    view.shape[1] = b;
    set_contiguous(view);
  };
  set(probe.in[0], 1, k);
  set(probe.in[1], rows, k);
  set(probe.out[0], 1, rows);
  probe.in[0].quantised_rows = true;
  probe.in[1].storage = weight.storage;
  const PackFormat* format = pack_format_for(probe.in[1], probe.policy, choice);
  probe.in[1].pack_format = format != nullptr ? format->id : 0;
  for (const Kernel* kernel : kernels_of(Operation::Linear, choice)) {
    if (kernel->isa == "ref") continue;
    if (kernel->pack_format != 0 && kernel->pack_format != probe.in[1].pack_format) continue;
    if (kernel->supports(probe)) return true;
  }
  return false;
}

class PhaseRewriter {
 public:
  PhaseRewriter(Program& program, Phase& phase, const std::vector<uint8_t>& int8)
      : p_(program), phase_(phase), int8_(int8) {}

  void run() {
    std::vector<Instr> old = std::move(phase_.code);
    phase_.code.clear();
    region_ = p_.constant(0);
    for (Instr& instr : old) {
      if (instr.operation == Operation::Linear && wants_int8(instr)) rewrite(instr);
      phase_.code.push_back(std::move(instr));
    }
    if (users_.empty()) return;
    const IntId line = p_.constant(64);
    const IntId used = phase_.arena_bytes.valid() ? phase_.arena_bytes : p_.constant(0);
    const IntId base =
        p_.make(IntExpr::Kind::Mul, p_.make(IntExpr::Kind::CeilDiv, used, line), line);
    for (const auto& [value, slot] : users_) {
      const IntId offset = p_.make(IntExpr::Kind::Mul, p_.constant(slot), region_);
      phase_.values[value].place = PlaceArena{p_.make(IntExpr::Kind::Add, base, offset)};
    }
    const IntId both = p_.make(IntExpr::Kind::Mul, p_.constant(2), region_);
    phase_.arena_bytes = p_.make(IntExpr::Kind::Add, base, both);
  }

 private:
  bool wants_int8(const Instr& instr) const {
    const auto* weight = std::get_if<PlaceWeight>(&phase_.values[instr.inputs[1]].place);
    if (weight == nullptr || int8_[static_cast<size_t>(weight->weight.index)] == 0) return false;
    const Value& x = phase_.values[instr.inputs[0]];
    return x.dtype == DType::F32 && !x.quantised && !x.shape.empty();
  }

  void rewrite(Instr& instr) {
    const ValId x = instr.inputs[0];
    ValId blocks;
    for (const auto& [from, to] : held_) {
      if (from == x) blocks = to;
    }
    if (!blocks.valid()) blocks = quantise(x, instr);
    instr.inputs[0] = blocks;
    instr.policy = int8_policy();
  }

  ValId quantise(ValId x, const Instr& before) {
    Value value = phase_.values[x];
    value.quantised = true;
    value.name += value.name.empty() ? "" : ".int8";
    IntId bytes = p_.constant(quantised_row_bytes(p_.ints[value.shape.back()].value));
    for (size_t a = 0; a + 1 < value.shape.size(); ++a) {
      bytes = p_.make(IntExpr::Kind::Mul, bytes, value.shape[a]);
    }
    region_ = p_.make(IntExpr::Kind::Max, region_, bytes);
    const ValId made = phase_.values.add(std::move(value));
    const int slot = static_cast<int>(users_.size() % 2);
    users_.emplace_back(made, slot);
    if (held_.size() == 2) held_.erase(held_.begin());  // its memory is taken over
    held_.emplace_back(x, made);
    Instr instr;
    instr.operation = Operation::QuantizeRows;
    instr.inputs = {x};
    instr.outputs = {made};
    instr.policy = int8_policy();
    instr.source = before.source;
    instr.scope = before.scope;
    phase_.code.push_back(std::move(instr));
    return made;
  }

  Program& p_;
  Phase& phase_;
  const std::vector<uint8_t>& int8_;           // by WeightId
  IntId region_;                               // bytes of the largest quantised value
  std::vector<std::pair<ValId, int>> users_;   // quantised values and their places
  std::vector<std::pair<ValId, ValId>> held_;  // x and its blocks, the last two
};

}  // namespace

std::optional<Math> parse_math(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Math>(i);
  }
  return {};
}

std::string_view spelling(Math math) { return kNames[static_cast<size_t>(math)]; }

DType store_of(Math math) { return math == Math::Exact ? DType::F32 : DType::F16; }

void apply_math(Program& program, const MathOptions& options, const KernelChoice& choice) {
  const bool exact = options.preset == Math::Exact;
  const bool int8 = options.int8_activations.value_or(!exact);
  for (Phase& phase : program.phases) {
    for (Instr& instr : phase.code) {
      const bool product = instr.operation == Operation::Linear ||
                           instr.operation == Operation::ExpertLinear ||
                           instr.operation == Operation::Matmul;
      instr.policy = {};
      instr.policy.store = store_of(options.preset);
      if (!product || exact) continue;
      const bool fast = options.preset == Math::Fast;
      instr.policy.products =
          fast ? NumericPolicy::Products::BF16 : NumericPolicy::Products::SplitBF16;
    }
  }
  if (!int8) return;
  std::vector<uint8_t> able;
  for (const Weight& weight : program.weights) able.push_back(multiplies_int8(weight, choice));
  for (Phase& phase : program.phases) {
    PhaseRewriter(program, phase, able).run();
    place_barriers(phase);
  }
}

}  // namespace axon::runtime
