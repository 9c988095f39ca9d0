// Presets of `--math`: how a bound Program may compute (design.md 4.4).
#pragma once

#include <optional>
#include <string_view>

#include "runtime/core/program.h"
#include "runtime/kernels/kernel.h"

namespace axon::runtime {

enum class Math : uint8_t {
  Exact,  // f32 activations, products and stores
  Auto,   // int8 blocks against block-quantised weights, split bf16 for float weights, f16 stores
  Fast,   // as Auto, with bf16 products for float weights
};
std::optional<Math> parse_math(std::string_view name);
std::string_view spelling(Math math);
DType store_of(Math math);

struct MathOptions {
  Math preset = Math::Exact;
  std::optional<bool> int8_activations;  // `--activations`: overrides the preset
};

// Sets the policy of every product, and puts a quantize_rows in front of the products whose weights
// the machine can multiply with int8 rows. Products of one x share the instruction. The arena grows
// by room for two quantised values per phase, used in turn.
void apply_math(Program& program, const MathOptions& options, const KernelChoice& choice);

}  // namespace axon::runtime
