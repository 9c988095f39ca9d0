// Names of roles.
#include "runtime/gen/roles.h"

#include <cmath>

#include "runtime/core/number.h"
#include "runtime/gen/model.h"
#include "runtime/general/datum.h"

namespace axon::runtime {

std::string_view main_name(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_mask_name(std::string_view name) { return name == "attn_mask" || name == "attention_mask"; }

namespace {

Result<double> element_of(const NamedTensor& t) {
  for (int64_t extent : t.shape) {
    if (extent != 1)
      return run_error(Diag::RunInput, {t.name, "does not have one element, which it needs"});
  }
  const Storage storage = plain_storage(t.dtype);
  const auto* at = reinterpret_cast<const uint8_t*>(t.bytes.data());
  return is_float(t.dtype) ? static_cast<double>(load_float(storage, at))
                           : static_cast<double>(load_int(storage, at));
}

}  // namespace

Result<int64_t> integer_of(const NamedTensor& t) {
  AXON_TRY(const double value, element_of(t));
  if (!is_float(t.dtype))
    return load_int(plain_storage(t.dtype), reinterpret_cast<const uint8_t*>(t.bytes.data()));
  if (value != std::floor(value) || std::fabs(value) >= 0x1p63)
    return run_error(Diag::RunInput, {t.name, "is no whole number"});
  return static_cast<int64_t>(value);
}

Result<bool> truth_of(const NamedTensor& t) {
  AXON_TRY(const double value, element_of(t));
  if (value != 0 && value != 1)
    return run_error(Diag::RunInput, {t.name, "is no truth value, 0 or 1"});
  return value != 0;
}

InputRole role_of(const Input& input) {
  if (input.name == "input_ids") return InputRole::Ids;
  if (input.name == "decoder_input_ids") return InputRole::DecoderIds;
  if (input.name == "capacity") return InputRole::Capacity;
  if (input.name == "logit_rows") return InputRole::LogitRows;
  const std::string_view main = main_name(input.name);
  if (!is_mask_name(main) && main != "decoder_attention_mask") return InputRole::Other;
  if (main_name(input.name) == input.name) return InputRole::Mask;
  return input.is_scalar ? InputRole::MaskLength : InputRole::MaskStore;
}

}  // namespace axon::runtime
