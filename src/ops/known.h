// What is known of a value while compiling, next to its type.
#pragma once

#include <cstdint>
#include <vector>

#include "types/dim.h"

namespace axon::ops {

struct Known {
  enum class Kind : uint8_t { Nothing, NotNull, Null, Bool, Dim, String, List };
  Kind kind = Kind::Nothing;
  bool boolean = false;
  DimId dim;                 // Dim: the value as a symbolic integer; also of optional values, where
                             // it is the value unless null
  NameId text;               // String
  std::vector<Known> items;  // List: items of a list or tuple

  static Known of(DimId value) { return {Kind::Dim, false, value, {}, {}}; }
  static Known of(bool value) { return {Kind::Bool, value, {}, {}, {}}; }
  static Known null() { return {Kind::Null, false, {}, {}, {}}; }
  static Known not_null() { return {Kind::NotNull, false, {}, {}, {}}; }
  static Known string(NameId text) { return {Kind::String, false, {}, text, {}}; }
  static Known list(std::vector<Known> items) {
    return {Kind::List, false, {}, {}, std::move(items)};
  }
  bool is_null() const { return kind == Kind::Null; }
  bool is_dim() const { return kind == Kind::Dim; }
  bool is_bool() const { return kind == Kind::Bool; }
  bool is_list() const { return kind == Kind::List; }
  friend bool operator==(const Known&, const Known&) = default;
};

}  // namespace axon::ops
