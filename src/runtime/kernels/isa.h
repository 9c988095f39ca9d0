// Instruction sets: what this machine and its operating system offer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace axon::runtime {

enum class Isa : uint8_t {
  Ref,     // plain C++
  Avx2,    // with FMA and F16C
  Avx512,  // F, BW, DQ, VL
  Avx512Vnni,
  Avx512Bf16,
  AmxInt8,  // tiles permitted by the operating system
  AmxBf16,
  Neon,
  Count
};
using IsaSet = uint32_t;
constexpr IsaSet isa_bit(Isa isa) { return IsaSet{1} << static_cast<int>(isa); }

std::string_view spelling(Isa isa);
// What can run here; asks the operating system for tile data once.
IsaSet machine_isa();
// Everything up to and including the named level, of what the machine has; 0 for an unknown or
// missing name.
IsaSet isa_up_to(std::string_view name, IsaSet machine);
std::string show_isa(IsaSet set);

}  // namespace axon::runtime
