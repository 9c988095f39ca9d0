// What the inputs of a phase mean to generation, found by their names (language.md 14).
#pragma once

#include <string_view>
#include <vector>

#include "runtime/core/program.h"
#include "support/result.h"

namespace axon::runtime {

enum class InputRole : uint8_t {
  Ids,         // input_ids [B,S]; of a program with decoder ids, those of the encoder
  DecoderIds,  // decoder_input_ids [B,T]
  Mask,        // attn_mask or attention_mask [B,K]: valid keys, past and present
  MaskStore,   // its static form: the store [B,C] …
  MaskLength,  // … and how much of it is valid
  Capacity,    // positions that stores are made for
  LogitRows,   // rows of the flattened [B*S] whose logits are wanted
  Other,
};
InputRole role_of(const Input& input);
// The name of MAIN's input that an input of a phase comes from: `attn_mask` of `attn_mask.0`.
std::string_view main_name(std::string_view name);
bool is_mask_name(std::string_view name);

struct NamedTensor;
// The one element as an integer, as a truth value. Errors: RUN-INPUT.
Result<int64_t> integer_of(const NamedTensor& tensor);
Result<bool> truth_of(const NamedTensor& tensor);

}  // namespace axon::runtime
