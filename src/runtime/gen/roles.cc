// Names of roles.
#include "runtime/gen/roles.h"

#include "support/text.h"

namespace axon::runtime {

std::string_view main_name(std::string_view name) { return name.substr(0, name.find('.')); }

bool is_mask_name(std::string_view name) { return name == "attn_mask" || name == "attention_mask"; }

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
