// The buffers that published checkpoints hold, by the ends of their names.
#include "model/buffers.h"

#include "support/text.h"

namespace axon::model {
namespace {

constexpr std::string_view kBuffers[] = {"rotary_emb.inv_freq", "rotary_pos_emb.inv_freq",
                                         "masked_bias", "position_ids", "token_type_ids"};
// Causal masks bear the name of a bias, but have the axes of scores.
constexpr std::string_view kMasks[] = {"attn.bias", "attention.bias"};

bool ends_in(std::string_view name, std::string_view end) {
  return name == end || (ends_with(name, end) && name[name.size() - end.size() - 1] == '.');
}

}  // namespace

bool is_saved_buffer(const TensorInfo& tensor) {
  for (std::string_view end : kBuffers) {
    if (ends_in(tensor.name, end)) return true;
  }
  for (std::string_view end : kMasks) {
    if (tensor.shape.size() == 4 && ends_in(tensor.name, end)) return true;
  }
  return false;
}

}  // namespace axon::model
