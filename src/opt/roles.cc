// Roles by name, first match.
#include "opt/roles.h"

#include <initializer_list>

namespace axon::opt {
namespace {

template <class NameAt>
int find(size_t count, std::initializer_list<std::string_view> wanted, NameAt name_at) {
  for (std::string_view name : wanted) {
    for (size_t i = 0; i < count; ++i) {
      if (name_at(i) == name) return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace

Roles find_roles(const graph::Module& main, const Interner& names) {
  auto input = [&](std::initializer_list<std::string_view> wanted) {
    return find(main.inputs.size(), wanted,
                [&](size_t i) { return names.text(main.values[main.inputs[i]].name); });
  };
  auto output = [&](std::initializer_list<std::string_view> wanted) {
    return find(main.output_names.size(), wanted,
                [&](size_t i) { return names.text(main.output_names[i]); });
  };
  Roles roles;
  roles.ids = input({"input_ids"});
  roles.mask = input({"attn_mask", "attention_mask"});
  if (int decoded = input({"decoder_input_ids"}); decoded >= 0) {
    roles.encoder = true;
    roles.source = roles.ids;
    roles.source_mask = roles.mask;
    roles.ids = decoded;
    roles.mask = input({"decoder_attention_mask"});
  }
  roles.cache = input({"past_kv", "past_cache"});
  roles.use_cache = input({"use_cache"});
  roles.capacity = input({"capacity"});
  roles.logits = output({"logits"});
  roles.new_cache = output({"new_kv", "past_kv", "cache"});
  return roles;
}

}  // namespace axon::opt
