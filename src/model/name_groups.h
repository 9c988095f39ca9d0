// Names of tensors for messages: those that differ only by numbers shown as one, and likely typos.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace axon::model {

// `model.layers.{0..29}.mlp.up_proj.weight` stands for 30 names.
struct NameGroup {
  std::string text;
  std::vector<std::string> names;  // in the order given
};

// Groups in the order of their first names; a name that is like no other is a group of its own.
std::vector<NameGroup> group_names(const std::vector<std::string>& names);

// Up to three of the names that look like `key`, the closest first.
std::vector<std::string> near_names(std::string_view key, const std::vector<std::string>& names);

}  // namespace axon::model
