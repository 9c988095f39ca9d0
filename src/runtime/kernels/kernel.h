// The table of kernels: which implementations of an operation exist, in which order they are tried.
//
// To add one: write `supports`, `workspace` and `run` (core/kernel.h), declare `run` & co. in the
// header of its folder, add a row to kernels.def above the rows that it should win against. To read
// weights in a form of its own, add a row to `pack_formats` as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/kernel.h"
#include "runtime/kernels/isa.h"
#include "support/result.h"

namespace axon::runtime {

// A form in which a matrix weight [O,K] (or a bank [E,O,K]) is kept for the product kernels.
// Formats with sub-byte or interleaved codes describe their own layout beside their kernels.
struct PackFormat {
  int32_t id = 0;         // stable, > 0
  std::string_view name;  // for reports
  IsaSet isa = 0;         // needs all of these
  // Whether a weight of this storage and shape can take the form, under this policy.
  bool (*accepts)(const View& weight, const NumericPolicy& policy) = nullptr;
  int64_t (*bytes)(const View& weight) = nullptr;
  // Rows are packed in independent shares: writes the share `part` of `parts` of `packed`.
  void (*pack)(const View& weight, uint8_t* packed, int part, int parts) = nullptr;
};

// The choice that a machine and the options leave.
struct KernelChoice {
  IsaSet isa = 0;      // what may be used
  std::string forced;  // `--isa NAME`, empty: the best
};
// Reads `--isa`: "ref", or a name of isa.h that this machine has. Errors: USE-ISA.
Result<KernelChoice> choose_kernels(std::string_view isa_option);

// The implementations of an operation that this machine may use, best first. The last one is the
// reference, which supports everything that a valid Program can ask.
std::vector<const Kernel*> kernels_of(Operation operation, const KernelChoice& choice);

// The form that the best product kernels want for a weight, or null when stored bytes are best.
const PackFormat* pack_format_for(const View& weight, const NumericPolicy& policy,
                                  const KernelChoice& choice);
const PackFormat* find_pack_format(int32_t id);

// All rows in order, for tests and reports.
const std::vector<Kernel>& all_kernels();

// Dense reading of any weight: writes elements [from, from + count) of the last axis of the row
// whose other indices are `outer` (row-major over the leading axes) as f32. Handles every storage,
// joined parts and any strides.
void read_weight_row(const View& weight, int64_t outer, int64_t from, int64_t count, float* out);

}  // namespace axon::runtime
