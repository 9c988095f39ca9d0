// The kernel table built from kernels.def, and the choices made from it.
#include <string>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/ref/ref.h"
#include "runtime/kernels/simd/entry.h"
#include "runtime/kernels/simd/pack.h"

namespace axon::runtime {
namespace {

bool any(const KernelArgs&) { return true; }

const std::vector<Kernel>& rows() {
  static const std::vector<Kernel> table = {
#define AXON_KERNEL(operation, isa, name, partition, pack_format, supports, workspace, run) \
  Kernel{Operation::operation, name,     spelling(Isa::isa), Partition::partition,          \
         pack_format,          supports, workspace,          run},
#include "runtime/kernels/kernels.def"
  };
  return table;
}

constexpr Isa kRowIsa[] = {
#define AXON_KERNEL(operation, isa, name, partition, pack_format, supports, workspace, run) \
  Isa::isa,
#include "runtime/kernels/kernels.def"
};

const std::vector<PackFormat>& formats() {
  static const std::vector<PackFormat> table = {
#define AXON_PACK_FORMAT(id, name, isa, accepts, bytes, pack) \
  PackFormat{id, name, isa, accepts, bytes, pack},
#include "runtime/kernels/pack_formats.def"
  };
  return table;
}

}  // namespace

Result<KernelChoice> choose_kernels(std::string_view isa_option) {
  KernelChoice choice;
  const IsaSet machine = machine_isa();
  choice.isa = machine;
  if (isa_option.empty()) return choice;
  choice.forced = std::string(isa_option);
  choice.isa = isa_up_to(isa_option, machine);
  if (choice.isa == 0) {
    return Error{"USE-ISA",
                 "this machine has no `" + choice.forced + "`; it has " + show_isa(machine)};
  }
  return choice;
}

std::vector<const Kernel*> kernels_of(Operation operation, const KernelChoice& choice) {
  std::vector<const Kernel*> found;
  for (size_t i = 0; i < rows().size(); ++i) {
    const Kernel& kernel = rows()[i];
    if (kernel.operation == operation && (choice.isa & isa_bit(kRowIsa[i])) != 0) {
      found.push_back(&kernel);
    }
  }
  return found;
}

const PackFormat* pack_format_for(const View& weight, const NumericPolicy& policy,
                                  const KernelChoice& choice) {
  for (const PackFormat& format : formats()) {
    if ((format.isa & choice.isa) == format.isa && format.accepts(weight, policy)) return &format;
  }
  return nullptr;
}

const PackFormat* find_pack_format(int32_t id) {
  for (const PackFormat& format : formats()) {
    if (format.id == id) return &format;
  }
  return nullptr;
}

const std::vector<Kernel>& all_kernels() { return rows(); }

}  // namespace axon::runtime
