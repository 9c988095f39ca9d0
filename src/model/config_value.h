// The configuration of a checkpoint: JSON values by dotted key, with a record of what was asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axon::model {

struct ConfigValue {
  enum class Kind : uint8_t { Null, Bool, Int, Float, String, List, Map } kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<ConfigValue> items;
  std::vector<std::pair<std::string, ConfigValue>> members;  // Map, in file order

  static ConfigValue null() { return {}; }
  static ConfigValue of(bool v);
  static ConfigValue of(int64_t v);
  static ConfigValue of(double v);
  static ConfigValue of(std::string v);
  const ConfigValue* member(std::string_view name) const;
  void set(std::string name, ConfigValue value);
  // Canonical JSON text.
  std::string show() const;
};

enum class LookupState : uint8_t { Found, Absent, NotAMap };
struct Lookup {
  LookupState state = LookupState::Absent;
  const ConfigValue* value = nullptr;  // Found (may be a Null value)
  std::string stuck_at;                // NotAMap: the key that is not a mapping
};
// Walks a dotted key (language.md 8.7): every step must be a mapping; absent or null steps make it
// absent.
Lookup lookup(const ConfigValue& root, std::string_view dotted_key);

}  // namespace axon::model
