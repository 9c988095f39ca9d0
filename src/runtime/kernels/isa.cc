// Detection of instruction sets by cpuid, and the permission for tile data.
#include "runtime/kernels/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace axon::runtime {
namespace {

constexpr std::string_view kNames[] = {"ref",         "avx2",     "avx512",   "avx512_vnni",
                                       "avx512_bf16", "amx_int8", "amx_bf16", "neon"};
static_assert(sizeof kNames / sizeof kNames[0] == static_cast<size_t>(Isa::Count));

#if defined(__x86_64__)
struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
Leaf leaf(unsigned number, unsigned sub) {
  Leaf r;
  if (__get_cpuid_count(number, sub, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}
bool bit(unsigned word, int index) { return ((word >> index) & 1u) != 0; }

// The kernel hands out tile state only on request (it makes the signal frame larger).
bool ask_for_tiles() {
  constexpr long kArchReqXcompPerm = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kTileData) == 0;
}

uint64_t enabled_state() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

IsaSet detect() {
  IsaSet set = isa_bit(Isa::Ref);
  const Leaf one = leaf(1, 0), seven = leaf(7, 0), seven_one = leaf(7, 1);
  if (!bit(one.c, 27)) return set;
  const uint64_t state = enabled_state();
  const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6;
  if (!ymm || !bit(seven.b, 5) || !bit(one.c, 12) || !bit(one.c, 29)) return set;
  set |= isa_bit(Isa::Avx2);
  const bool f = bit(seven.b, 16), dq = bit(seven.b, 17), bw = bit(seven.b, 30),
             vl = bit(seven.b, 31);
  if (!zmm || !f || !dq || !bw || !vl) return set;
  set |= isa_bit(Isa::Avx512);
  if (bit(seven.c, 11)) set |= isa_bit(Isa::Avx512Vnni);
  if (bit(seven_one.a, 5)) set |= isa_bit(Isa::Avx512Bf16);
  const bool tiles = bit(seven.d, 24) && (state & 0x60000) == 0x60000 && ask_for_tiles();
  if (tiles && bit(seven.d, 25)) set |= isa_bit(Isa::AmxInt8);
  if (tiles && bit(seven.d, 22)) set |= isa_bit(Isa::AmxBf16);
  return set;
}
#elif defined(__aarch64__)
IsaSet detect() { return isa_bit(Isa::Ref) | isa_bit(Isa::Neon); }
#else
IsaSet detect() { return isa_bit(Isa::Ref); }
#endif

}  // namespace

std::string_view spelling(Isa isa) { return kNames[static_cast<size_t>(isa)]; }

IsaSet machine_isa() {
  static const IsaSet set = detect();
  return set;
}

IsaSet isa_up_to(std::string_view name, IsaSet machine) {
  for (size_t i = 0; i < static_cast<size_t>(Isa::Count); ++i) {
    if (kNames[i] != name) continue;
    const IsaSet wanted = isa_bit(static_cast<Isa>(i));
    return (machine & wanted) != 0 ? machine & (wanted | (wanted - 1)) : 0;
  }
  return 0;
}

std::string show_isa(IsaSet set) {
  std::string out;
  for (size_t i = 0; i < static_cast<size_t>(Isa::Count); ++i) {
    if ((set & isa_bit(static_cast<Isa>(i))) == 0) continue;
    if (!out.empty()) out += ' ';
    out += kNames[i];
  }
  return out;
}

}  // namespace axon::runtime
